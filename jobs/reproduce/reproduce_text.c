/* Opens for each question the space of the tilings that are asked about, and searches it, which
 * bounds make quick. */
#include "jobs/reproduce/reproduce_parts.h"

#include "kernels/registry.h"
#include "search/search.h"

#include <string.h>

enum status text_open(const struct hardware *hw, const char *name, struct text_kernel *kernel,
                      struct error *error)
{
    *kernel = (struct text_kernel){.hw = hw};
    TRY(kernels_open(NULL, &kernel->kernels, error));
    enum status status =
        kernels_get(kernel->kernels, name, hardware_cores_apart(hw), &kernel->op, error);
    if (status != STATUS_OK)
        text_close(kernel);
    return status;
}

enum status text_parse(const struct hardware *hw, const char *text, struct text_kernel *kernel,
                       struct error *error)
{
    *kernel = (struct text_kernel){.hw = hw};
    return operator_parse("a text", text, strlen(text), &kernel->op, error);
}

void text_close(struct text_kernel *kernel)
{
    if (!kernel->kernels)
        operator_free(kernel->op);
    kernels_close(kernel->kernels);
}

static enum status fix_axes(const struct space *space, const struct text_fixed fixed[],
                            struct tiling *tiling, struct error *error)
{
    for (int a = 0; a < space->axis_count; a++)
        tiling->value[a] = AXIS_FREE;
    for (; fixed->axis; fixed++) {
        int axis = space_axis(space, fixed->axis, (int)strlen(fixed->axis));
        if (axis < 0)
            return error_set(error, STATUS_INVALID, "the kernel has no axis %s", fixed->axis);
        tiling->value[axis] = fixed->value;
    }
    return STATUS_OK;
}

enum status text_best(const struct text_kernel *kernel, int threads, const int64_t sizes[],
                      const struct text_fixed fixed[], struct found *found, struct error *error)
{
    struct problem problem = {.op = kernel->op, .type = DTYPE_F16};
    const struct operator_space *kind = kernel->op->spaces[0];
    struct search_options options = {.threads = threads, .top = 1};
    struct search_result result = {0};
    struct tiling tiling;
    struct space space;
    memcpy(problem.size, sizes, (size_t)kernel->op->size_count * sizeof *sizes);
    TRY(problem_settle(&problem, error));
    TRY(space_open(&problem, kind, kernel->hw, kernel->hw->cores, &space, error));
    enum status status = fix_axes(&space, fixed, &tiling, error);
    space_close(&space);
    TRY(status);
    TRY(space_open_at(&problem, kind, kernel->hw, kernel->hw->cores, &tiling, &space, error));
    status = search(&space, &options, &result, error);
    if (status == STATUS_OK && result.count == 0)
        status = error_set(error, STATUS_INVALID, "no tiling with %s %lld is legal", fixed->axis,
                           (long long)fixed->value);
    if (status == STATUS_OK)
        *found = result.best[0];
    search_result_clear(&result);
    space_close(&space);
    return status;
}
