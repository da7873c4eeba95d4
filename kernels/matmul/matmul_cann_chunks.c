/* Of every base k: the chunks of k that are sizes of the space, and which of A and B divide each
 * other. What counting pairs of parts in L1 looks up (matmul_cann_count.c). */
#include "kernels/limits.h"
#include "kernels/matmul/matmul_cann_nesting.h"

#include <stdlib.h>

/* Fills one entry for k in so many steps; `k` and `dividing` are large enough. */
static void fill_chunks(int64_t steps, int64_t base_k, int64_t most, struct cann_chunks *chunks)
{
    for (int64_t s = 0; (s = next_cut(steps, s)) && s < steps && s * base_k <= most;)
        chunks->k[chunks->count++] = s * base_k;
    int *sum = chunks->dividing;
    for (int i = 0; i < chunks->count; i++) {
        int64_t mine = divide_up(steps, chunks->k[i] / base_k);
        *sum++ = 0;
        for (int j = 0; j < chunks->count; j++, sum++) {
            int64_t other = divide_up(steps, chunks->k[j] / base_k);
            *sum = sum[-1] + (mine % other == 0 || other % mine == 0);
        }
    }
}

enum status cann_make_chunks(struct cann *cann, struct error *error)
{
    const struct cann_machine *m = &cann->machine;
    int64_t most = cann_room_of(cann, 0).l1 / m->block_mn, k = cann->size[CANN_K];
    int count = cann->count[CANN_BASE_K];
    cann->chunks = calloc((size_t)count, sizeof *cann->chunks);
    for (int i = 0; cann->chunks && i < count; i++) {
        int64_t steps = divide_up(k, cann->values[CANN_BASE_K][i]);
        size_t ways = 0;
        for (int64_t s = 0; (s = next_cut(steps, s));)
            ways++;
        cann->chunks[i].k = malloc((ways + 1) * sizeof *cann->chunks[i].k);
        cann->chunks[i].dividing =
            malloc((ways + 1) * (ways + 1) * sizeof *cann->chunks[i].dividing);
        cann->chunks[i].cut_pairs =
            calloc((size_t)cann->count[CANN_BASE_M] * (size_t)cann->count[CANN_BASE_N],
                   sizeof *cann->chunks[i].cut_pairs);
        if (!cann->chunks[i].k || !cann->chunks[i].dividing || !cann->chunks[i].cut_pairs)
            return error_memory(error);
        fill_chunks(steps, cann->values[CANN_BASE_K][i], most, &cann->chunks[i]);
    }
    return cann->chunks ? STATUS_OK : error_memory(error);
}

void cann_free_chunks(struct cann *cann)
{
    for (int i = 0; cann->chunks && i < cann->count[CANN_BASE_K]; i++) {
        free(cann->chunks[i].k);
        free(cann->chunks[i].dividing);
        free(cann->chunks[i].cut_pairs);
    }
    free(cann->chunks);
}
