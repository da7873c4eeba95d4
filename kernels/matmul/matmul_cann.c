/* Opens the space: sizes padded to whole blocks, how each operand lies in memory, which share of
 * the loads misses the cache (by what A, B and C take together), the values of the axes, and
 * tables that plans and bounds look up later. The axes are those of AscendC's TCubeTiling, and a
 * few that CANN's MatMul bank adds. */
#include "kernels/matmul/matmul_cann.h"
#include "core/element.h"
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

/* As in rows and texts that do not know of it. */
static int64_t unsplit(const struct space *space, const struct tiling *tiling)
{
    (void)space, (void)tiling;
    return 1;
}

const struct axis cann_axes[CANN_AXES] = {
    [CANN_SINGLE_M] = {.name = "single_m", .unit = "elements"},
    [CANN_SINGLE_N] = {.name = "single_n", .unit = "elements"},
    [CANN_SPLIT_K] = {.name = "split_k", .unit = "parts", .usual = unsplit},
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

/* ---- the space ------------------------------------------------------------------------------ */

static void destroy(struct space *space)
{
    struct cann *cann = space->detail;
    if (!cann)
        return;
    free(cann->work_layouts);
    cann_free_chunks(cann);
    cann_free_values(cann);
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
        {CANN_M, CANN_N, MATMUL_C_LAYOUT},
    };
    const struct cann_machine *m = &cann->machine;
    const int element_bytes[CANN_OPERANDS] = {m->type_bytes, m->type_bytes, m->out_bytes,
                                              m->accumulator_bytes};
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

double cann_operand_bytes(const struct cann *cann)
{
    const int64_t *size = cann->size;
    double m = (double)size[CANN_M], n = (double)size[CANN_N], k = (double)size[CANN_K];
    double batch = (double)size[CANN_BATCH], type = cann->machine.type_bytes;
    return batch * m * k * type + (cann->share_b ? 1 : batch) * k * n * type;
}

/* Bytes of A, B and C together: what has to stand in the cache. */
static double footprint(const struct cann *cann)
{
    const int64_t *size = cann->size;
    double c = (double)size[CANN_BATCH] * (double)size[CANN_M] * (double)size[CANN_N];
    return cann_operand_bytes(cann) + c * cann->machine.out_bytes;
}

/* A bias is of the type of C, or of the sums' where that is no type to add in. FIXP multiplies sums
 * of integers that leave as others by a scale for each column, in the 8 bytes that it reads one in.
 */
static void take_rows(struct cann *cann, const struct problem *problem)
{
    const struct cann_machine *m = &cann->machine;
    bool dequantised = element_takes_scale(m->accumulator, m->out);
    bool in_sums = dequantised || m->out == DTYPE_BF16;
    if (problem->choice[MATMUL_BIAS] == 1)
        cann->bias_bytes = in_sums ? m->accumulator_bytes : m->out_bytes;
    cann->scale_bytes = dequantised ? ELEMENT_SCALE_BYTES : 0;
}

static enum status take_problem(struct cann *cann, const struct problem *problem, int cores,
                                const struct hardware *hw, struct error *error)
{
    TRY(cann_machine_find(hw, problem, &cann->machine, error));
    const struct cann_machine *m = &cann->machine;
    cann->cores = cores;
    cann->size[CANN_BATCH] = problem->size[MATMUL_BATCH];
    cann->size[CANN_M] = round_up(problem->size[MATMUL_M], m->block_mn);
    cann->size[CANN_N] = round_up(problem->size[MATMUL_N], m->block_mn);
    cann->size[CANN_K] = round_up(problem->size[MATMUL_K], m->block_k);
    cann->share_b = problem->choice[MATMUL_SHARE_B] == 1;
    take_rows(cann, problem);
    make_layouts(cann, problem);
    cann->miss_share = m->miss < 0 ? 0 : hardware_miss_share(hw, footprint(cann));
    /* results that do not stay in the cache leave at the rate of what is behind it */
    if (hardware_spills(hw, footprint(cann)) && m->store_behind_price >= 0 &&
        m->hw->paths[m->store_behind].pipe == m->fixp) {
        cann->machine.store = m->store_behind;
        cann->machine.store_price = m->store_behind_price;
    }
    cann_find_adder(cann);
    return STATUS_OK;
}

static enum status create(struct space *space, const struct problem *problem, int cores,
                          struct error *error)
{
    struct cann *cann = calloc(1, sizeof *cann);
    if (!cann)
        return error_memory(error);
    cann->tcube = space->kind == &matmul_tcube;
    cann->most_parts = space->kind == &matmul_static ? 1 : cores;
    space->detail = cann;
    space->axis_count = CANN_AXES;
    space->axes = cann_axes;
    TRY(take_problem(cann, problem, cores, space->hw, error));
    if (cann->tcube)
        cann_take_library_parts(cann);
    TRY(cann_fill_values(cann, error));
    TRY(cann_make_work_layouts(space, cann, error));
    TRY(cann_make_chunks(cann, error));
    struct space_block *block = space_add_block(space);
    if (!block)
        return error_memory(error);
    for (int a = 0; a < CANN_AXES; a++) {
        block->values[a] = cann->values[a];
        block->count[a] = cann->count[a];
    }
    if (cann_count_points(cann) == INT64_MAX)
        return error_set(error, STATUS_TOO_LARGE,
                         "space %s has more than 2^63 candidates for this shape",
                         space->kind->name);
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
 * behind the cache is loaded no faster (hardware/build.c), but it may leave the stores more of
 * their bus; how much of it misses at least depends on the tiling. */
static double roofline_ns(const struct space *space)
{
    const struct cann *cann = cann_of(space);
    const struct cann_machine *m = &cann->machine;
    const struct price *prices = m->hw->prices, *matrix = &prices[m->matrix_price];
    const struct price *load = &prices[m->load_price], *store = &prices[m->store_price];
    const int64_t *size = cann->size;
    double out = (double)size[CANN_BATCH] * (double)size[CANN_M] * (double)size[CANN_N];
    double in = cann_operand_bytes(cann);
    double hits = in * (1 - cann->miss_share);
    double store_fs = price_least_fs(m->hw, store, cann->cores, out * m->accumulator_bytes);
    if (m->adder.exists) /* parts of k are stored as they are */
        store_fs = fmin(store_fs, price_least_fs(m->hw, &prices[m->adder.part_price], cann->cores,
                                                 out * m->accumulator_bytes));
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
    .leaf_count = cann_leaf_count,
    .alike = cann_alike,
    .same = cann_same,
};

/* Of all three. */
#define CANN_KERNELS                                                                               \
    .create = create, .destroy = destroy, .size_class = cann_size_class, .agree = cann_agree,      \
    .legal = cann_legal, .violations = cann_violations, .cores_used = cores_used,                  \
    .summarise = cann_summarise, .nesting = &nesting, .parts = parts, .generate = cann_generate,   \
    .roofline_ns = roofline_ns, .even = cann_even, .evens = CANN_EVENS, .picture = cann_picture,   \
    .details = cann_details,                                                                       \
    .cost = {7.842, {0.267, 0.825, 0.277}}, /* 25 shapes on ascend910b1 */                         \
        .bank = &matmul_bank

const struct operator_space matmul_cann = {
    .name = "cann",
    .title = "blocks over cores, tiles in L1 and in L0, what is loaded once, buffers of each",
    CANN_KERNELS,
};

const struct operator_space matmul_static = {
    .name = "static",
    .title = "those tilings of cann that CANN's static bank has words for: k is not split",
    CANN_KERNELS,
};

const struct operator_space matmul_tcube = {
    .name = "tcube",
    .title = "those tilings of cann that AscendC's TCubeTiling has words for",
    CANN_KERNELS,
};
