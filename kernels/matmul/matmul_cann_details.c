/* What an answer and `explain` say of a tiling that splits k: the workspace that the caller has to
 * bring, and in which order parts are added up, on which the last bits of a result depend. */
#include "kernels/details.h"
#include "kernels/matmul/matmul_cann_internal.h"

enum status cann_picture(const struct space *space, const struct tiling *tiling, json_t *picture,
                         struct error *error)
{
    const struct cann *cann = cann_of(space);
    int64_t parts = cann_parts(cann, tiling->value[CANN_SPLIT_K]);
    if (parts == 1)
        return STATUS_OK;
    json_t *split =
        json_pack("{s:I, s:I, s:I, s:s, s:s}", "parts", (json_int_t)parts, "k_of_a_part",
                  (json_int_t)cann_part_k(cann, parts), "workspace_bytes",
                  (json_int_t)cann_workspace_bytes(cann, parts), "added_up_by",
                  "the vector cores, when all cores have stored their parts", "order_of_additions",
                  "the same every time, but another than that of one part");
    return json_object_set_new(picture, "split_k", split) ? error_memory(error) : STATUS_OK;
}

enum status cann_details(const struct problem *problem, const struct space *space,
                         const struct search_result *result, const struct details_options *options,
                         json_t *details, struct error *error)
{
    (void)problem, (void)options;
    return result->count ? cann_picture(space, &result->best[0].tiling, details, error) : STATUS_OK;
}
