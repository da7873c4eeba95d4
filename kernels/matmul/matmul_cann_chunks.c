/* Of every split and base k: the chunks of k that are sizes of the space, and which of A and B
 * divide each other. What counting pairs of parts in L1 looks up (matmul_cann_count.c). */
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

static enum status make_chunks(const struct cann *cann, int64_t k, int64_t base_k,
                               struct cann_chunks *chunks, struct error *error)
{
    int64_t most = cann_room_of(cann, 0).l1 / cann->machine.block_mn;
    int64_t steps = divide_up(k, base_k);
    size_t ways = 1, tiles = (size_t)cann->count[CANN_BASE_M] * (size_t)cann->count[CANN_BASE_N];
    for (int64_t s = 0; (s = next_cut(steps, s));)
        ways++;
    chunks->k = calloc(ways, sizeof *chunks->k);
    chunks->dividing = malloc(ways * ways * sizeof *chunks->dividing);
    chunks->cut_pairs = calloc(tiles, sizeof *chunks->cut_pairs);
    if (!chunks->k || !chunks->dividing || !chunks->cut_pairs)
        return error_memory(error);
    fill_chunks(steps, base_k, most, chunks);
    return STATUS_OK;
}

enum status cann_make_chunks(struct cann *cann, struct error *error)
{
    int count = cann->count[CANN_BASE_K], splits = cann->count[CANN_SPLIT_K];
    size_t tiles = (size_t)cann->count[CANN_BASE_M] * (size_t)cann->count[CANN_BASE_N];
    cann->chunks = calloc((size_t)count * (size_t)splits, sizeof *cann->chunks);
    cann->sums = calloc(tiles * CANN_SUMS, sizeof *cann->sums);
    cann->row_fs = calloc((size_t)4 * CANN_ROWS, sizeof *cann->row_fs);
    if (!cann->chunks || !cann->sums || !cann->row_fs)
        return error_memory(error);
    for (int s = 0; s < splits; s++) {
        int64_t k = cann_part_k(cann, cann->values[CANN_SPLIT_K][s]);
        for (int i = 0; i < count; i++) {
            int64_t base_k = cann->values[CANN_BASE_K][i];
            if (is_cut_of(k, base_k, cann->machine.block_k))
                TRY(make_chunks(cann, k, base_k, &cann->chunks[s * count + i], error));
        }
    }
    return STATUS_OK;
}

void cann_free_chunks(struct cann *cann)
{
    int count = cann->count[CANN_BASE_K] * cann->count[CANN_SPLIT_K];
    for (int i = 0; cann->chunks && i < count; i++) {
        free(cann->chunks[i].k);
        free(cann->chunks[i].dividing);
        free(cann->chunks[i].cut_pairs);
    }
    free(cann->chunks);
    free(cann->sums);
    free(cann->row_fs);
}
