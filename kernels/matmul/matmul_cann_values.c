/* The values of the axes of the space `cann` for one problem (docs/matmul.md has the family), and
 * how they are thinned where there would be too many points. */
#include "core/least.h"
#include "kernels/limits.h"
#include "kernels/matmul/matmul_cann_nesting.h"

#include <stdlib.h>

static enum status fill(struct cann *cann, int axis, int64_t first, int64_t last,
                        struct error *error)
{
    int64_t count = last - first + 1;
    cann->values[axis] = malloc((size_t)count * sizeof *cann->values[axis]);
    if (!cann->values[axis])
        return error_memory(error);
    cann->count[axis] = (int)count;
    for (int64_t i = 0; i < count; i++)
        cann->values[axis][i] = first + i;
    return STATUS_OK;
}

/* The union of what several sizes are cut into, up to `most`: all in multiples of block. Marks of
 * all multiples are few: `most` is what a buffer of the chip holds. */
static enum status fill_cuts(struct cann *cann, int axis, const int64_t sizes[], int size_count,
                             int64_t block, int64_t most, struct error *error)
{
    int64_t marks = most / block;
    bool *seen = calloc((size_t)marks + 1, sizeof *seen);
    int64_t *values = malloc(((size_t)marks + 1) * sizeof *values);
    int count = 0;
    cann->values[axis] = values;
    bool complete = seen && values;
    for (int i = 0; complete && i < size_count; i++)
        for (int64_t cut = 0; (cut = next_cut(sizes[i] / block, cut)) && cut <= marks;)
            seen[cut] = true;
    for (int64_t i = 1; complete && i <= marks; i++)
        if (seen[i])
            values[count++] = i * block;
    free(seen);
    cann->count[axis] = count;
    return complete ? STATUS_OK : error_memory(error);
}

static int64_t buffer_elements(const struct cann *cann, int buffer, int bytes)
{
    int64_t capacity = capacity_of(cann->machine.hw, buffer);
    return least_of(capacity, INT64_C(1) << 32) / bytes;
}

/* The base of m or n: slices of every single size. */
static enum status fill_base(struct cann *cann, int axis, int single, int l0, struct error *error)
{
    const struct cann_machine *m = &cann->machine;
    int64_t most = least_of(buffer_elements(cann, l0, m->type_bytes) / m->block_k,
                            buffer_elements(cann, m->l0c, m->accumulator_bytes) / m->block_mn);
    most = least_of(most, cann->values[single][cann->count[single] - 1]);
    return fill_cuts(cann, axis, cann->values[single], cann->count[single], m->block_mn, most,
                     error);
}

/* The numbers of tiles that each size is cut into by each of some slices. */
static int64_t *tile_counts(const int64_t sizes[], int size_count, const int64_t slices[],
                            int slice_count)
{
    int64_t *counts = malloc((size_t)size_count * (size_t)slice_count * sizeof *counts);
    for (int i = 0; counts && i < size_count * slice_count; i++)
        counts[i] = divide_up(sizes[i / slice_count], slices[i % slice_count]);
    return counts;
}

static enum status fill_steps(struct cann *cann, int axis, const int64_t sizes[], int size_count,
                              int base, int64_t most, struct error *error)
{
    int slice_count = cann->count[base];
    int64_t *counts = tile_counts(sizes, size_count, cann->values[base], slice_count);
    if (!counts)
        return error_memory(error);
    enum status status =
        fill_cuts(cann, axis, counts, size_count * slice_count, 1, most > 1 ? most : 1, error);
    free(counts);
    return status;
}

/* The k of each way to split it, descending, for the caller to free. */
static int64_t *list_parts(const struct cann *cann)
{
    int count = cann->count[CANN_SPLIT_K];
    int64_t *k = malloc((size_t)(count > 1 ? count : 1) * sizeof *k);
    for (int i = 0; k && i < count; i++)
        k[i] = cann_part_k(cann, cann->values[CANN_SPLIT_K][i]);
    return k;
}

static enum status fill_steps_k(struct cann *cann, int axis, int64_t most, struct error *error)
{
    int64_t *k = list_parts(cann);
    if (!k)
        return error_memory(error);
    enum status status =
        fill_steps(cann, axis, k, cann->count[CANN_SPLIT_K], CANN_BASE_K, most, error);
    free(k);
    return status;
}

/* What the blocks of a core are cut into, on any number of cores and for all sizes of them. */
static enum status fill_batch_steps(struct cann *cann, int axis, int64_t most, struct error *error)
{
    int m_count = cann->count[CANN_SINGLE_M], n_count = cann->count[CANN_SINGLE_N];
    int count = 0;
    if (cann->size[CANN_BATCH] == 1 || most < 1 || cann->tcube)
        return fill(cann, axis, 1, 1, error);
    int64_t *blocks =
        malloc((size_t)m_count * (size_t)n_count * (size_t)cann->cores * sizeof *blocks);
    if (!blocks)
        return error_memory(error);
    for (int m = 0; m < m_count; m++)
        for (int n = 0; n < n_count; n++) {
            int64_t all = cann_all_blocks(cann, cann->values[CANN_SINGLE_M][m],
                                          cann->values[CANN_SINGLE_N][n]);
            for (int cores = 1; cores <= cann->cores && cores <= all; cores++)
                if (cores == 1 || divide_up(all, cores) != blocks[count - 1])
                    blocks[count++] = divide_up(all, cores);
        }
    enum status status = fill_cuts(cann, axis, blocks, count, 1, most, error);
    free(blocks);
    return status;
}

/* What stands in L1 bounds the steps: of k over one row of blocks, of m and n and the batch over
 * whole rows. */
static enum status fill_all_steps(struct cann *cann, struct error *error)
{
    const struct cann_machine *m = &cann->machine;
    int64_t l1 = buffer_elements(cann, m->l1, m->type_bytes);
    int64_t k = cann->size[CANN_K], least_base = (int64_t)m->block_mn;
    int64_t steps_k = least_of(k / m->block_k, l1 / (least_base * m->block_k));
    int splits = cann->count[CANN_SPLIT_K];
    k = cann_part_k(cann, cann->values[CANN_SPLIT_K][splits - 1]);
    int64_t steps = l1 / product_of(k, least_base);
    TRY(fill_steps_k(cann, CANN_STEP_KA, steps_k, error));
    TRY(fill_steps_k(cann, CANN_STEP_KB, steps_k, error));
    TRY(fill_steps(cann, CANN_STEP_M, cann->values[CANN_SINGLE_M], cann->count[CANN_SINGLE_M],
                   CANN_BASE_M, least_of(steps, cann->size[CANN_M] / least_base), error));
    TRY(fill_steps(cann, CANN_STEP_N, cann->values[CANN_SINGLE_N], cann->count[CANN_SINGLE_N],
                   CANN_BASE_N, least_of(steps, cann->size[CANN_N] / least_base), error));
    TRY(fill_batch_steps(cann, CANN_STEP_BATCH_A, steps, error));
    return fill_batch_steps(cann, CANN_STEP_BATCH_B, steps, error);
}

static enum status fill_splits(struct cann *cann, struct error *error)
{
    TRY(fill(cann, CANN_SPLIT_K, 1, cann->most_parts, error));
    int64_t *values = cann->values[CANN_SPLIT_K];
    int count = 0;
    for (int64_t split = 1; split <= cann->most_parts; split++)
        if (cann_is_split(cann, split))
            values[count++] = split;
    cann->count[CANN_SPLIT_K] = count;
    return STATUS_OK;
}

static enum status fill_sizes(struct cann *cann, struct error *error)
{
    const struct cann_machine *m = &cann->machine;
    const int64_t *size = cann->size;
    int64_t most = least_of(buffer_elements(cann, m->l0a, m->type_bytes),
                            buffer_elements(cann, m->l0b, m->type_bytes)) /
                   m->block_mn;
    TRY(fill_cuts(cann, CANN_SINGLE_M, &size[CANN_M], 1, m->block_mn, size[CANN_M], error));
    TRY(fill_cuts(cann, CANN_SINGLE_N, &size[CANN_N], 1, m->block_mn, size[CANN_N], error));
    TRY(fill_splits(cann, error));
    int64_t *k = list_parts(cann);
    if (!k)
        return error_memory(error);
    enum status status = fill_cuts(cann, CANN_BASE_K, k, cann->count[CANN_SPLIT_K], m->block_k,
                                   least_of(size[CANN_K], most), error);
    free(k);
    return status;
}

static enum status fill_values(struct cann *cann, struct error *error)
{
    TRY(fill_sizes(cann, error));
    TRY(fill(cann, CANN_CORES, 1, cann->cores, error));
    TRY(fill(cann, CANN_OUTER, 0, cann->tcube ? OUTER_N : OUTER_KINDS - 1, error));
    TRY(fill(cann, CANN_L0B_HOLDS, 0, cann->tcube ? HOLDS_TILE : HOLDS_KINDS - 1, error));
    TRY(fill_base(cann, CANN_BASE_M, CANN_SINGLE_M, cann->machine.l0a, error));
    TRY(fill_base(cann, CANN_BASE_N, CANN_SINGLE_N, cann->machine.l0b, error));
    TRY(fill_all_steps(cann, error));
    for (int a = CANN_L1A_BUFFERS; a < CANN_AXES; a++)
        TRY(fill(cann, a, 1, 2, error));
    return STATUS_OK;
}

/* Points of the space; INT64_MAX: too many to be numbered. */
int64_t cann_count_points(const struct cann *cann)
{
    int64_t points = 1;
    for (int a = 0; a < CANN_AXES; a++)
        points = product_of(points, cann->count[a]);
    return points;
}

void cann_free_values(struct cann *cann)
{
    for (int a = 0; a < CANN_AXES; a++) {
        free(cann->values[a]);
        cann->values[a] = NULL;
    }
}

/* Of a batch's blocks powers of two only are loaded at once. */
static void thin_batch_steps(struct cann *cann)
{
    cann->few_batch_steps = true;
    for (int a = CANN_STEP_BATCH_A; a <= CANN_STEP_BATCH_B; a++) {
        int64_t *values = cann->values[a], most = values[cann->count[a] - 1];
        cann->count[a] = 0;
        for (int64_t power = 1; power <= most; power *= 2)
            values[cann->count[a]++] = power;
    }
}

enum status cann_fill_values(struct cann *cann, struct error *error)
{
    TRY(fill_values(cann, error));
    if (cann_count_points(cann) == INT64_MAX && cann->most_parts > 1) {
        cann->most_parts = 1;
        cann_free_values(cann);
        TRY(fill_values(cann, error));
    }
    if (cann_count_points(cann) == INT64_MAX)
        thin_batch_steps(cann);
    return STATUS_OK;
}
