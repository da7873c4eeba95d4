#include "kernels/matmul/matmul_cann.h"
#include "core/least.h"
#include "kernels/limits.h"
#include "kernels/matmul/matmul_bank.h"
#include "kernels/matmul/matmul_cann_nesting.h"

#include <math.h>
#include <stdlib.h>

static const char *const outer_names[OUTER_KINDS] = {"m", "n", "m_n"};
static const char *const holds_names[HOLDS_KINDS] = {"tile", "slab"};

/* All that get a block. */
static int64_t usual_cores(const struct space *space, const struct tiling *tiling)
{
    struct tiling all = *tiling;
    struct cann_plan plan;
    all.value[CANN_CORES] = cann_of(space)->cores;
    cann_plan_make(cann_of(space), &all, &plan);
    return plan.cores;
}

const struct axis cann_axes[CANN_AXES] = {
    [CANN_SINGLE_M] = {.name = "single_m", .unit = "elements"},
    [CANN_SINGLE_N] = {.name = "single_n", .unit = "elements"},
    [CANN_CORES] = {.name = "cores", .counts_cores = true, .usual = usual_cores},
    [CANN_OUTER] = {.name = "outer", .value_names = outer_names, .name_count = OUTER_KINDS},
    [CANN_BASE_M] = {.name = "base_m", .unit = "elements"},
    [CANN_BASE_N] = {.name = "base_n", .unit = "elements"},
    [CANN_BASE_K] = {.name = "base_k", .unit = "elements"},
    [CANN_L0B_HOLDS] = {.name = "l0b_holds", .value_names = holds_names, .name_count = HOLDS_KINDS},
    [CANN_STEP_KA] = {.name = "step_ka", .unit = "tiles"},
    [CANN_STEP_KB] = {.name = "step_kb", .unit = "tiles"},
    [CANN_STEP_M] = {.name = "step_m", .unit = "tiles"},
    [CANN_STEP_N] = {.name = "step_n", .unit = "tiles"},
    [CANN_STEP_BATCH_A] = {.name = "step_batch_a", .unit = "blocks"},
    [CANN_STEP_BATCH_B] = {.name = "step_batch_b", .unit = "blocks"},
    [CANN_L1A_BUFFERS] = {.name = "l1a_buffers"},
    [CANN_L1B_BUFFERS] = {.name = "l1b_buffers"},
    [CANN_L0A_BUFFERS] = {.name = "l0a_buffers"},
    [CANN_L0B_BUFFERS] = {.name = "l0b_buffers"},
    [CANN_L0C_BUFFERS] = {.name = "l0c_buffers"},
};

/* ---- the values of the axes ----------------------------------------------------------------- */

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

/* What the blocks of a core are cut into, on any number of cores and for all sizes of them. */
static enum status fill_batch_steps(struct cann *cann, int axis, int64_t most, struct error *error)
{
    int m_count = cann->count[CANN_SINGLE_M], n_count = cann->count[CANN_SINGLE_N];
    int count = 0;
    if (cann->size[CANN_BATCH] == 1 || most < 1)
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
    int64_t steps = l1 / product_of(k, least_base);
    enum status status = fill_steps(cann, CANN_STEP_KA, &k, 1, CANN_BASE_K, steps_k, error);
    if (status == STATUS_OK)
        status = fill_steps(cann, CANN_STEP_KB, &k, 1, CANN_BASE_K, steps_k, error);
    if (status == STATUS_OK)
        status =
            fill_steps(cann, CANN_STEP_M, cann->values[CANN_SINGLE_M], cann->count[CANN_SINGLE_M],
                       CANN_BASE_M, least_of(steps, cann->size[CANN_M] / least_base), error);
    if (status == STATUS_OK)
        status =
            fill_steps(cann, CANN_STEP_N, cann->values[CANN_SINGLE_N], cann->count[CANN_SINGLE_N],
                       CANN_BASE_N, least_of(steps, cann->size[CANN_N] / least_base), error);
    if (status == STATUS_OK)
        status = fill_batch_steps(cann, CANN_STEP_BATCH_A, steps, error);
    if (status == STATUS_OK)
        status = fill_batch_steps(cann, CANN_STEP_BATCH_B, steps, error);
    return status;
}

static enum status fill_sizes(struct cann *cann, struct error *error)
{
    const struct cann_machine *m = &cann->machine;
    const struct {
        int axis, block;
        enum cann_direction direction;
        int64_t most;
    } sizes[] = {
        {CANN_SINGLE_M, m->block_mn, CANN_M, INT64_MAX},
        {CANN_SINGLE_N, m->block_mn, CANN_N, INT64_MAX},
        {CANN_BASE_K, m->block_k, CANN_K,
         least_of(buffer_elements(cann, m->l0a, m->type_bytes),
                  buffer_elements(cann, m->l0b, m->type_bytes)) /
             m->block_mn},
    };
    for (int i = 0; i < 3; i++) {
        int axis = sizes[i].axis;
        int64_t size = cann->size[sizes[i].direction], most = least_of(size, sizes[i].most);
        enum status status = fill_cuts(cann, axis, &size, 1, sizes[i].block, most, error);
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

static enum status fill_values(struct cann *cann, struct error *error)
{
    enum status status = fill_sizes(cann, error);
    if (status == STATUS_OK)
        status = fill(cann, CANN_CORES, 1, cann->cores, error);
    if (status == STATUS_OK)
        status = fill(cann, CANN_OUTER, 0, OUTER_KINDS - 1, error);
    if (status == STATUS_OK)
        status = fill(cann, CANN_L0B_HOLDS, 0, HOLDS_KINDS - 1, error);
    if (status == STATUS_OK)
        status = fill_base(cann, CANN_BASE_M, CANN_SINGLE_M, cann->machine.l0a, error);
    if (status == STATUS_OK)
        status = fill_base(cann, CANN_BASE_N, CANN_SINGLE_N, cann->machine.l0b, error);
    if (status == STATUS_OK)
        status = fill_all_steps(cann, error);
    for (int a = CANN_L1A_BUFFERS; a < CANN_AXES && status == STATUS_OK; a++)
        status = fill(cann, a, 1, 2, error);
    return status;
}

/* Points of the space; INT64_MAX: too many to be numbered. */
static int64_t count_points(const struct cann *cann)
{
    int64_t points = 1;
    for (int a = 0; a < CANN_AXES; a++)
        points = product_of(points, cann->count[a]);
    return points;
}

/* Of a batch's blocks powers of two only are loaded at once where there would be too many points.
 */
static void thin_batch_steps(struct cann *cann)
{
    if (count_points(cann) < INT64_MAX)
        return;
    cann->few_batch_steps = true;
    for (int a = CANN_STEP_BATCH_A; a <= CANN_STEP_BATCH_B; a++) {
        int64_t *values = cann->values[a], most = values[cann->count[a] - 1];
        cann->count[a] = 0;
        for (int64_t power = 1; power <= most; power *= 2)
            values[cann->count[a]++] = power;
    }
}

/* ---- the space ------------------------------------------------------------------------------ */

static void destroy(struct space *space)
{
    struct cann *cann = space->detail;
    for (int a = 0; cann && a < CANN_AXES; a++)
        free(cann->values[a]);
    if (cann)
        free(cann->work_layouts);
    if (cann)
        cann_free_chunks(cann);
    free(cann);
}

/* Blocks of 16×16 lie column of blocks by column, the inside of a column row by row. */
static void make_layouts(struct cann *cann, const struct problem *problem)
{
    int transposed = problem->choice[MATMUL_TRANSPOSE]; /* none, a, b, both: bits */
    const struct {
        enum cann_direction rows, columns;
        int layout;
    } operands[CANN_OPERANDS] = {
        {CANN_M, CANN_K, MATMUL_A_LAYOUT},
        {CANN_K, CANN_N, MATMUL_B_LAYOUT},
        {CANN_M, CANN_N, MATMUL_C_LAYOUT},
    };
    const struct cann_machine *m = &cann->machine;
    const int element_bytes[CANN_OPERANDS] = {m->type_bytes, m->type_bytes, m->out_bytes};
    static const int sizes[CANN_DIRECTIONS] = {MATMUL_BATCH, MATMUL_M, MATMUL_N, MATMUL_K};
    for (int o = 0; o < CANN_OPERANDS; o++) {
        bool blocks = problem->choice[operands[o].layout] == 1, turned = transposed >> o & 1;
        bool columns_outer = blocks != turned;
        enum cann_direction outer = columns_outer ? operands[o].columns : operands[o].rows;
        enum cann_direction inner = columns_outer ? operands[o].rows : operands[o].columns;
        int block = outer == CANN_K ? m->block_k : m->block_mn;
        cann->layout[o] = (struct cann_layout){.outer = outer, .inner = inner, .unit = block};
        int64_t length = cann->size[inner];
        if (!blocks) {
            cann->layout[o].unit = 1;
            length = problem->size[sizes[inner]];
        }
        cann->layout[o].pitch_bytes =
            product_of(length, (int64_t)cann->layout[o].unit * element_bytes[o]);
    }
}

/* Bytes of A, B and C together: what has to stand in the cache. */
static double footprint(const struct cann *cann)
{
    const int64_t *size = cann->size;
    double m = (double)size[CANN_M], n = (double)size[CANN_N], k = (double)size[CANN_K];
    double batch = (double)size[CANN_BATCH], type = cann->machine.type_bytes;
    return batch * m * k * type + (cann->share_b ? 1 : batch) * k * n * type +
           batch * m * n * cann->machine.out_bytes;
}

static enum status take_problem(struct cann *cann, const struct problem *problem, int cores,
                                const struct hardware *hw, struct error *error)
{
    enum status status = cann_machine_find(hw, problem, &cann->machine, error);
    if (status != STATUS_OK)
        return status;
    const struct cann_machine *m = &cann->machine;
    cann->cores = cores;
    cann->size[CANN_BATCH] = problem->size[MATMUL_BATCH];
    cann->size[CANN_M] = round_up(problem->size[MATMUL_M], m->block_mn);
    cann->size[CANN_N] = round_up(problem->size[MATMUL_N], m->block_mn);
    cann->size[CANN_K] = round_up(problem->size[MATMUL_K], m->block_k);
    cann->share_b = problem->choice[MATMUL_SHARE_B] == 1;
    cann->bias = problem->choice[MATMUL_BIAS] == 1;
    cann->bias_bytes = m->out_bytes;
    make_layouts(cann, problem);
    cann->miss_share = m->miss < 0 ? 0 : hardware_miss_share(hw, footprint(cann));
    /* results that do not stay in the cache leave at the rate of what is behind it */
    if (cann->miss_share >= 0.5 && m->store_behind_price >= 0 &&
        m->hw->paths[m->store_behind].pipe == m->fixp) {
        cann->machine.store = m->store_behind;
        cann->machine.store_price = m->store_behind_price;
    }
    return STATUS_OK;
}

static enum status create(struct space *space, const struct problem *problem, int cores,
                          struct error *error)
{
    struct cann *cann = calloc(1, sizeof *cann);
    if (!cann)
        return error_memory(error);
    space->detail = cann;
    space->axis_count = CANN_AXES;
    space->axes = cann_axes;
    enum status status = take_problem(cann, problem, cores, space->hw, error);
    if (status == STATUS_OK)
        status = fill_values(cann, error);
    if (status == STATUS_OK)
        thin_batch_steps(cann);
    if (status == STATUS_OK)
        status = cann_make_work_layouts(space, cann, error);
    if (status == STATUS_OK)
        status = cann_make_chunks(cann, error);
    if (status != STATUS_OK)
        return status;
    struct space_block *block = space_add_block(space);
    if (!block)
        return error_memory(error);
    for (int a = 0; a < CANN_AXES; a++) {
        block->values[a] = cann->values[a];
        block->count[a] = cann->count[a];
    }
    if (count_points(cann) == INT64_MAX)
        return error_set(error, STATUS_TOO_LARGE,
                         "space cann has more than 2^63 candidates for this shape");
    return STATUS_OK;
}

static int cores_used(const struct space *space, const struct tiling *tiling, int part)
{
    (void)part;
    struct cann_plan plan;
    cann_plan_make(cann_of(space), tiling, &plan);
    return plan.cores;
}

/* Compulsory traffic: A and B in and C out, once, at the best rate of the path they take. What is
 * behind the cache is loaded no faster (hardware/rules.c), but it may leave the stores more of
 * their bus; how much of it misses at least depends on the tiling. */
static double roofline_ns(const struct space *space)
{
    const struct cann *cann = cann_of(space);
    const struct cann_machine *m = &cann->machine;
    const struct price *prices = m->hw->prices, *matrix = &prices[m->matrix_price];
    const struct price *load = &prices[m->load_price], *store = &prices[m->store_price];
    const int64_t *size = cann->size;
    double out = (double)size[CANN_BATCH] * (double)size[CANN_M] * (double)size[CANN_N];
    double in = footprint(cann) - out * m->out_bytes;
    double hits = in * (1 - cann->miss_share);
    double store_fs = price_least_fs(m->hw, store, cann->cores, out * m->accumulator_bytes);
    double memory_fs = fmax(price_least_fs(m->hw, load, cann->cores, in), store_fs);
    if (load->bus >= 0 && load->bus == store->bus)
        memory_fs = fmax(memory_fs, price_least_fs(m->hw, load, cann->cores, hits) + store_fs);
    double blocks = out / ((double)m->block_mn * m->block_mn) * (double)size[CANN_K] / m->block_k;
    double compute_fs = blocks / cann->cores * (double)matrix->rate.fs / (double)matrix->rate.units;
    return fmax(compute_fs, memory_fs) / 1e6;
}

static const char *const parts[] = {"kernel", NULL};

static const struct operator_nesting nesting = {
    .lengths = cann_lengths,
    .begins = cann_begins,
    .summarise = cann_summarise_least,
    .completions = cann_completions,
    .alike = cann_alike,
};

const struct operator_space matmul_cann = {
    .name = "cann",
    .title = "blocks over cores, tiles in L1 and in L0, what is loaded once, buffers of each",
    .create = create,
    .destroy = destroy,
    .agree = cann_agree,
    .legal = cann_legal,
    .violations = cann_violations,
    .cores_used = cores_used,
    .summarise = cann_summarise,
    .nesting = &nesting,
    .parts = parts,
    .generate = cann_generate,
    .roofline_ns = roofline_ns,
    .cost = {7.842, {0.267, 0.825, 0.277}}, /* 25 shapes on ascend910b1 */
    .bank = &matmul_bank,
};
