/* Turns rows of banks into problems and tilings, and back. Two forms of rows: the 51 numbers of
 * CANN's banks, which count blocks of 16 and say "all" by [], and the fields of AscendC's
 * TCubeTiling, which count elements. Both become the axes of `cann` by arithmetic alone. What a
 * form has no words for is supplied (the order of loops, as CANN's public schedule chooses it) and
 * on the way back refused where the tiling says otherwise. */
#include "kernels/matmul/matmul_bank.h"
#include "core/least.h"
#include "kernels/limits.h"
#include "kernels/matmul/matmul_bank_parts.h"
#include "kernels/matmul/matmul_cann_internal.h"
#include "kernels/matmul/matmul_even.h"
#include "kernels/slices.h"

enum { FRACTAL = 16, BUFFERS_MOST = 2 };
enum { ONE_BY_ONE = 0, SHARED_B = 2, SEVERAL_AT_ONCE = 3 }; /* batch_type */

enum status matmul_bank_problem(const struct bank_row *row, struct problem *problem,
                                struct error *error)
{
    if (row->m < 1 || row->k < 1 || row->n < 1 || row->batch < 1)
        return error_set(error, STATUS_INVALID, "a row that does not say m, k and n");
    *problem = (struct problem){
        .op = &matmul_operator,
        .size = {[MATMUL_M] = row->m,
                 [MATMUL_K] = row->k,
                 [MATMUL_N] = row->n,
                 [MATMUL_BATCH] = row->batch},
        .choice = {[MATMUL_TRANSPOSE] = row->transpose_a + 2 * row->transpose_b,
                   [MATMUL_A_LAYOUT] = row->nz_a,
                   [MATMUL_B_LAYOUT] = row->nz_b,
                   [MATMUL_C_LAYOUT] = row->nz_c,
                   [MATMUL_BIAS] = row->bias,
                   [MATMUL_SHARE_B] = row->share_b},
        .type = row->type,
    };
    int out = problem_choice_of_type(problem, MATMUL_OUT_TYPE, row->out_type);
    if (out < 0)
        return error_set(error, STATUS_INVALID,
                         "a result in %s of operands in %s, expected %s, %s, f16 or bf16",
                         dtype_name(row->out_type), dtype_name(row->type), dtype_name(row->type),
                         dtype_name(dtype_accumulator(row->type)));
    problem->choice[MATMUL_OUT_TYPE] = out;
    return problem_settle(problem, error);
}

/* ------------------------------------------------------------------ the 51 numbers */

/* Numbers that count something: one at least. */
static enum status check_counts(const struct bank_row *row, struct error *error)
{
    static const struct {
        const char *name;
        int number, most;
    } counts[] = {
        {"batch_dim", BANK_BATCH_DIM, INT32_MAX},
        {"m_dim", BANK_M_DIM, INT32_MAX},
        {"n_dim", BANK_N_DIM, INT32_MAX},
        {"mc", BANK_CL0_M, INT32_MAX / FRACTAL},
        {"nc", BANK_CL0_N, INT32_MAX / FRACTAL},
        {"AL1_shape_1", BANK_AL1_M, INT32_MAX},
        {"BL1_shape_1", BANK_BL1_N, INT32_MAX},
        {"AL1_shape_2", BANK_AL1_BATCH, INT32_MAX},
        {"BL1_shape_2", BANK_BL1_BATCH, INT32_MAX},
        {"AL1_pbuffer", BANK_AL1_BUFFERS, BUFFERS_MOST},
        {"BL1_pbuffer", BANK_BL1_BUFFERS, BUFFERS_MOST},
        {"AL0_pbuffer", BANK_AL0_BUFFERS, BUFFERS_MOST},
        {"BL0_pbuffer", BANK_BL0_BUFFERS, BUFFERS_MOST},
        {"CL0_pbuffer", BANK_CL0_BUFFERS, BUFFERS_MOST},
    };
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        int value = row->number[counts[i].number];
        if (value < 1 || value > counts[i].most)
            return error_set(error, STATUS_INVALID, "%s = %d, expected 1 to %d", counts[i].name,
                             value, counts[i].most);
    }
    if (row->number[BANK_AL0_K] < 1 && row->number[BANK_AL0_K] != BANK_WHOLE)
        return error_set(error, STATUS_INVALID, "ka = %d, expected [] or 1 and more",
                         row->number[BANK_AL0_K]);
    if (row->number[BANK_AL1_K] == BANK_ABSENT || row->number[BANK_BL1_K] == BANK_ABSENT)
        return error_set(error, STATUS_INVALID, "an operand that does not go by way of L1");
    return STATUS_OK;
}

/* The axes of what stands in L1 of an operand, along k and along its other direction. */
static const struct held {
    int step_k, step, base, single;
} held_a = {CANN_STEP_KA, CANN_STEP_M, CANN_BASE_M, CANN_SINGLE_M},
  held_b = {CANN_STEP_KB, CANN_STEP_N, CANN_BASE_N, CANN_SINGLE_N};

static void put_l1(int64_t *x, const struct held *held, int32_t k_elements, int32_t multiple,
                   int64_t k)
{
    bool whole = k_elements == BANK_WHOLE;
    int64_t base_k = x[CANN_BASE_K], all_k = divide_up(k, base_k);
    int64_t all = divide_up(x[held->single], x[held->base]);
    x[held->step_k] = whole ? all_k : least_of(all_k, divide_up(k_elements + !k_elements, base_k));
    x[held->step] = whole ? all : least_of(all, multiple);
}

static void put_buffers(struct tiling *t, const int32_t depths[5])
{
    static const int axes[] = {CANN_L1A_BUFFERS, CANN_L1B_BUFFERS, CANN_L0A_BUFFERS,
                               CANN_L0B_BUFFERS, CANN_L0C_BUFFERS};
    for (size_t i = 0; i < sizeof axes / sizeof *axes; i++)
        t->value[axes[i]] = depths[i];
}

/* Cores of the grid that have blocks. */
static int64_t grid_cores(const struct problem *p, int64_t single_m, int64_t single_n,
                          int64_t batch_dim)
{
    int64_t batch = p->size[MATMUL_BATCH], rounds = divide_up(batch, least_of(batch_dim, batch));
    return product_of(divide_up(batch, rounds), product_of(divide_up(p->size[MATMUL_M], single_m),
                                                           divide_up(p->size[MATMUL_N], single_n)));
}

static enum status tiling_of_numbers(const struct bank_row *row, const struct problem *p,
                                     struct tiling *t, struct error *error)
{
    const int32_t *v = row->number;
    TRY(check_counts(row, error));
    int64_t *x = t->value;
    x[CANN_SINGLE_M] = FRACTAL * divide_up(divide_up(p->size[MATMUL_M], FRACTAL), v[BANK_M_DIM]);
    x[CANN_SINGLE_N] = FRACTAL * divide_up(divide_up(p->size[MATMUL_N], FRACTAL), v[BANK_N_DIM]);
    x[CANN_CORES] = grid_cores(p, x[CANN_SINGLE_M], x[CANN_SINGLE_N], v[BANK_BATCH_DIM]);
    int64_t block_k = bank_block_k(p->type);
    x[CANN_BASE_M] = (int64_t)FRACTAL * v[BANK_CL0_M];
    x[CANN_BASE_N] = (int64_t)FRACTAL * v[BANK_CL0_N];
    x[CANN_BASE_K] = v[BANK_AL0_K] == BANK_WHOLE ? round_up(p->size[MATMUL_K], block_k)
                                                 : block_k * v[BANK_AL0_K];
    x[CANN_L0B_HOLDS] = v[BANK_BL0_K] == BANK_WHOLE ? HOLDS_SLAB : HOLDS_TILE;
    put_l1(x, &held_a, v[BANK_AL1_K], v[BANK_AL1_M], p->size[MATMUL_K]);
    put_l1(x, &held_b, v[BANK_BL1_K], v[BANK_BL1_N], p->size[MATMUL_K]);
    x[CANN_OUTER] = matmul_bank_outer(t);
    bool several = row->batch_type == SEVERAL_AT_ONCE;
    x[CANN_STEP_BATCH_A] = several ? v[BANK_AL1_BATCH] : 1;
    x[CANN_STEP_BATCH_B] = several ? v[BANK_BL1_BATCH] : 1;
    put_buffers(t, (const int32_t[]){v[BANK_AL1_BUFFERS], v[BANK_BL1_BUFFERS], v[BANK_AL0_BUFFERS],
                                     v[BANK_BL0_BUFFERS], v[BANK_CL0_BUFFERS]});
    return STATUS_OK;
}

/* ------------------------------------------------------------------ TCubeTiling's fields */

/* depthA1 = stepM · stepKa · buffers, and the same for B. 0: it is neither once nor twice. */
static int32_t buffers_of(const int32_t *v, int depth, int step, int step_k)
{
    int64_t once = (int64_t)v[step] * v[step_k];
    return v[depth] == once ? 1 : v[depth] == 2 * once ? 2 : 0;
}

static enum status check_fields(const struct bank_row *row, const struct problem *p,
                                struct error *error)
{
    static const struct {
        int depth, step, step_k;
    } held[] = {{BANK_DEPTH_A1, BANK_STEP_M, BANK_STEP_KA},
                {BANK_DEPTH_B1, BANK_STEP_N, BANK_STEP_KB}};
    const int32_t *v = row->number;
    int64_t blocks = grid_cores(p, round_up(least_of(v[BANK_SINGLE_M], p->size[MATMUL_M]), FRACTAL),
                                round_up(least_of(v[BANK_SINGLE_N], p->size[MATMUL_N]), FRACTAL),
                                p->size[MATMUL_BATCH]);
    TRY(matmul_bank_check_parts(row, p, blocks, error));
    for (int i = 0; i < 2; i++)
        if (!buffers_of(v, held[i].depth, held[i].step, held[i].step_k))
            return error_set(error, STATUS_INVALID, "%s, expected %s·%s once or twice",
                             bank_field_names[held[i].depth], bank_field_names[held[i].step],
                             bank_field_names[held[i].step_k]);
    for (int f = BANK_DB_L0A; f <= BANK_DB_L0C; f++)
        if (v[f] > BUFFERS_MOST)
            return error_set(error, STATUS_INVALID, "%s = %d, expected 1 or 2", bank_field_names[f],
                             v[f]);
    return STATUS_OK;
}

static enum status tiling_of_fields(const struct bank_row *row, const struct problem *p,
                                    struct tiling *t, struct error *error)
{
    const int32_t *v = row->number;
    TRY(check_fields(row, p, error));
    int64_t *x = t->value, k = p->size[MATMUL_K];
    x[CANN_SINGLE_M] = round_up(least_of(v[BANK_SINGLE_M], p->size[MATMUL_M]), FRACTAL);
    x[CANN_SINGLE_N] = round_up(least_of(v[BANK_SINGLE_N], p->size[MATMUL_N]), FRACTAL);
    x[CANN_SPLIT_K] = v[BANK_SINGLE_K] < k ? divide_up(k, v[BANK_SINGLE_K]) : 1;
    k = matmul_bank_part_k(p, x[CANN_SPLIT_K]);
    int64_t blocks = grid_cores(p, x[CANN_SINGLE_M], x[CANN_SINGLE_N], p->size[MATMUL_BATCH]);
    x[CANN_CORES] = least_of(v[BANK_USED_CORES], product_of(blocks, x[CANN_SPLIT_K]));
    x[CANN_OUTER] = v[BANK_ITERATE_ORDER] ? OUTER_M : OUTER_N;
    x[CANN_BASE_M] = least_of(v[BANK_BASE_M], x[CANN_SINGLE_M]);
    x[CANN_BASE_N] = least_of(v[BANK_BASE_N], x[CANN_SINGLE_N]);
    x[CANN_BASE_K] = least_of(v[BANK_BASE_K], k);
    x[CANN_L0B_HOLDS] = HOLDS_TILE;
    x[CANN_STEP_KA] = least_of(v[BANK_STEP_KA], divide_up(k, v[BANK_BASE_K]));
    x[CANN_STEP_KB] = least_of(v[BANK_STEP_KB], divide_up(k, v[BANK_BASE_K]));
    x[CANN_STEP_M] = least_of(v[BANK_STEP_M], divide_up(x[CANN_SINGLE_M], v[BANK_BASE_M]));
    x[CANN_STEP_N] = least_of(v[BANK_STEP_N], divide_up(x[CANN_SINGLE_N], v[BANK_BASE_N]));
    x[CANN_STEP_BATCH_A] = x[CANN_STEP_BATCH_B] = 1;
    put_buffers(t, (const int32_t[]){buffers_of(v, BANK_DEPTH_A1, BANK_STEP_M, BANK_STEP_KA),
                                     buffers_of(v, BANK_DEPTH_B1, BANK_STEP_N, BANK_STEP_KB),
                                     v[BANK_DB_L0A], v[BANK_DB_L0B], v[BANK_DB_L0C]});
    return STATUS_OK;
}

enum status matmul_bank_tiling(const struct bank_row *row, const struct problem *problem,
                               struct tiling *tiling, struct error *error)
{
    *tiling = (struct tiling){{0}};
    tiling->value[CANN_SPLIT_K] = 1;
    return bank_has_numbers(row) ? tiling_of_numbers(row, problem, tiling, error)
                                 : tiling_of_fields(row, problem, tiling, error);
}

static void put_problem(const struct problem *p, struct bank_row *row)
{
    int transpose = p->choice[MATMUL_TRANSPOSE];
    row->m = p->size[MATMUL_M];
    row->k = p->size[MATMUL_K];
    row->n = p->size[MATMUL_N];
    row->batch = p->size[MATMUL_BATCH];
    row->transpose_a = transpose & 1;
    row->transpose_b = transpose >> 1;
    row->nz_a = p->choice[MATMUL_A_LAYOUT];
    row->nz_b = p->choice[MATMUL_B_LAYOUT];
    row->nz_c = p->choice[MATMUL_C_LAYOUT];
    row->bias = p->choice[MATMUL_BIAS];
    row->share_b = p->choice[MATMUL_SHARE_B];
    row->type = p->type;
    row->out_type = problem_choice_type(p, MATMUL_OUT_TYPE);
    row->batch_type = -1;
}

/* What stands in L1 as a number of elements of k, or as the whole operand. */
static void put_l1_numbers(const int64_t *x, const struct held *held, int64_t k,
                           int32_t *k_elements, int32_t *multiple)
{
    int64_t elements = x[held->step_k] * x[CANN_BASE_K];
    bool whole = elements >= k && x[held->step] * x[held->base] >= x[held->single];
    *k_elements = whole ? BANK_WHOLE : (int32_t)elements;
    *multiple = whole ? 1 : (int32_t)x[held->step];
}

/* The grid says a block's size only up to equal shares. */
static enum status put_grid(const struct problem *p, const struct tiling *t, int32_t *v,
                            struct error *error)
{
    const int64_t *x = t->value;
    int64_t m_dim = divide_up(p->size[MATMUL_M], x[CANN_SINGLE_M]);
    int64_t n_dim = divide_up(p->size[MATMUL_N], x[CANN_SINGLE_N]);
    int64_t batch_dim = x[CANN_CORES] / (m_dim * n_dim);
    bool even_m = FRACTAL * divide_up(divide_up(p->size[MATMUL_M], FRACTAL), m_dim) ==
                  round_up(x[CANN_SINGLE_M], FRACTAL);
    bool even_n = FRACTAL * divide_up(divide_up(p->size[MATMUL_N], FRACTAL), n_dim) ==
                  round_up(x[CANN_SINGLE_N], FRACTAL);
    if (batch_dim * m_dim * n_dim != x[CANN_CORES] || !even_m || !even_n)
        return error_set(error, STATUS_INVALID,
                         "blocks of %lld x %lld on %lld cores are no grid of equal shares, and the "
                         "bank's form has no other words",
                         (long long)x[CANN_SINGLE_M], (long long)x[CANN_SINGLE_N],
                         (long long)x[CANN_CORES]);
    v[BANK_BATCH_DIM] = (int32_t)batch_dim;
    v[BANK_M_DIM] = (int32_t)m_dim;
    v[BANK_N_DIM] = (int32_t)n_dim;
    return STATUS_OK;
}

/* Does the kernel that reads the row run the tiling's loops? */
static bool keeps_order(const int64_t *x, struct tiling read, enum cann_outer outer)
{
    int64_t m = divide_up(x[CANN_SINGLE_M], x[CANN_BASE_M]);
    int64_t n = divide_up(x[CANN_SINGLE_N], x[CANN_BASE_N]);
    read.value[CANN_OUTER] = outer;
    return cann_agreed_order(x, m, n) == cann_agreed_order(read.value, m, n);
}

static enum status put_numbers(const struct problem *p, const struct tiling *t,
                               struct bank_row *row, struct error *error)
{
    const int64_t *x = t->value;
    int32_t *v = row->number;
    int64_t block_k = bank_block_k(p->type);
    bool several = x[CANN_STEP_BATCH_A] > 1 || x[CANN_STEP_BATCH_B] > 1;
    if (x[CANN_SPLIT_K] > 1)
        return error_set(error, STATUS_INVALID,
                         "split_k: a static bank has no word for parts of k; tilings of --space "
                         "static have one");
    if (!keeps_order(x, *t, matmul_bank_outer(t)))
        return error_set(error, STATUS_INVALID,
                         "outer: the kernels of a static bank choose another order of loops");
    if (several && row->share_b)
        return error_set(error, STATUS_INVALID,
                         "several of a batch at once with one B: a static bank says one of them");
    for (int i = 0; i < BANK_NUMBERS; i++)
        v[i] = 1;
    for (int i = 0; i < 4; i++)
        v[BANK_AUB_SHAPE + i] = v[BANK_BUB_SHAPE + i] = i ? 0 : BANK_ABSENT;
    v[BANK_A_OVERHEAD] = v[BANK_B_OVERHEAD] = v[BANK_CUB_CHANNEL_WISE] = 0;
    v[BANK_N_BEFORE_BATCH] = v[BANK_N_BEFORE_GROUP] = v[BANK_BATCH_BEFORE_GROUP] = 0;
    v[BANK_AL0_M] = v[BANK_CL0_M] = (int32_t)(x[CANN_BASE_M] / FRACTAL);
    v[BANK_AL0_K] = v[BANK_BL0_K] = (int32_t)(x[CANN_BASE_K] / block_k);
    v[BANK_BL0_N] = v[BANK_CL0_N] = (int32_t)(x[CANN_BASE_N] / FRACTAL);
    if (x[CANN_L0B_HOLDS] == HOLDS_SLAB) {
        v[BANK_BL0_K] = BANK_WHOLE;
        v[BANK_BL0_N] = 1;
    }
    put_l1_numbers(x, &held_a, p->size[MATMUL_K], &v[BANK_AL1_K], &v[BANK_AL1_M]);
    put_l1_numbers(x, &held_b, p->size[MATMUL_K], &v[BANK_BL1_K], &v[BANK_BL1_N]);
    v[BANK_AL1_BATCH] = (int32_t)x[CANN_STEP_BATCH_A];
    v[BANK_BL1_BATCH] = (int32_t)x[CANN_STEP_BATCH_B];
    v[BANK_AL1_BUFFERS] = (int32_t)x[CANN_L1A_BUFFERS];
    v[BANK_BL1_BUFFERS] = (int32_t)x[CANN_L1B_BUFFERS];
    v[BANK_AL0_BUFFERS] = (int32_t)x[CANN_L0A_BUFFERS];
    v[BANK_BL0_BUFFERS] = (int32_t)x[CANN_L0B_BUFFERS];
    v[BANK_CL0_BUFFERS] = (int32_t)x[CANN_L0C_BUFFERS];
    row->batch_type = row->share_b ? SHARED_B : several ? SEVERAL_AT_ONCE : ONE_BY_ONE;
    return put_grid(p, t, v, error);
}

/* The whole operand as one of a batch: rows and columns of the layout B, S, N, G, D. */
static void put_layout(int32_t *layout, int64_t batch, int64_t rows, int64_t columns)
{
    const int64_t extents[5] = {batch, rows, 1, 1, columns};
    for (int i = 0; i < 5; i++)
        layout[i] = (int32_t)extents[i];
}

static enum status put_fields(const struct problem *p, const struct tiling *t, struct bank_row *row,
                              struct error *error)
{
    static const int same[][2] = {
        {BANK_USED_CORES, CANN_CORES},   {BANK_SINGLE_M, CANN_SINGLE_M},
        {BANK_SINGLE_N, CANN_SINGLE_N},  {BANK_BASE_M, CANN_BASE_M},
        {BANK_BASE_N, CANN_BASE_N},      {BANK_BASE_K, CANN_BASE_K},
        {BANK_STEP_M, CANN_STEP_M},      {BANK_STEP_N, CANN_STEP_N},
        {BANK_STEP_KA, CANN_STEP_KA},    {BANK_STEP_KB, CANN_STEP_KB},
        {BANK_DB_L0A, CANN_L0A_BUFFERS}, {BANK_DB_L0B, CANN_L0B_BUFFERS},
        {BANK_DB_L0C, CANN_L0C_BUFFERS},
    };
    const int64_t *x = t->value, batch = p->size[MATMUL_BATCH];
    const int64_t m = p->size[MATMUL_M], n = p->size[MATMUL_N], k = p->size[MATMUL_K];
    int32_t *v = row->number;
    if (x[CANN_L0B_HOLDS] != HOLDS_TILE || x[CANN_STEP_BATCH_A] > 1 || x[CANN_STEP_BATCH_B] > 1 ||
        !keeps_order(x, *t, x[CANN_OUTER] == OUTER_N ? OUTER_N : OUTER_M))
        return error_set(error, STATUS_INVALID,
                         "a TCubeTiling has no word for outer=m_n, l0b_holds=slab and several of "
                         "a batch at once; those of --space tcube have none of these");
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        v[same[i][0]] = (int32_t)x[same[i][1]];
    v[BANK_M] = (int32_t)m;
    v[BANK_N] = (int32_t)n;
    v[BANK_KA] = v[BANK_KB] = v[BANK_SINGLE_K] = (int32_t)k;
    v[BANK_DEPTH_A1] = (int32_t)(x[CANN_STEP_M] * x[CANN_STEP_KA] * x[CANN_L1A_BUFFERS]);
    v[BANK_DEPTH_B1] = (int32_t)(x[CANN_STEP_N] * x[CANN_STEP_KB] * x[CANN_L1B_BUFFERS]);
    v[BANK_IS_BIAS] = row->bias;
    v[BANK_ITERATE_ORDER] = x[CANN_OUTER] != OUTER_N; /* of the L1 tiles */
    v[BANK_L2_M_TILES] = v[BANK_L2_N_TILES] = 1;      /* one piece of all blocks: not used */
    v[BANK_L2_M_BLOCKS] = (int32_t)divide_up(m, x[CANN_SINGLE_M]);
    v[BANK_L2_N_BLOCKS] = (int32_t)divide_up(n, x[CANN_SINGLE_N]);
    TRY(matmul_bank_put_parts(p, t, row, error));
    if (batch == 1)
        return STATUS_OK;
    v[BANK_BATCH_COUNT] = (int32_t)batch;
    put_layout(&v[BANK_A_LAYOUT], batch, m, k);
    put_layout(&v[BANK_B_LAYOUT], row->share_b ? 1 : batch, n, k);
    put_layout(&v[BANK_C_LAYOUT], batch, m, n);
    return STATUS_OK;
}

enum status matmul_bank_row(const struct problem *problem, const struct tiling *tiling,
                            enum bank_format format, struct bank_row *row, struct error *error)
{
    *row = (struct bank_row){.format = format, .record = 1};
    put_problem(problem, row);
    return bank_has_numbers(row) ? put_numbers(problem, tiling, row, error)
                                 : put_fields(problem, tiling, row, error);
}

enum status matmul_bank_parse(const char *text, struct tiling *tiling, struct error *error)
{
    const struct space axes_only = {
        .kind = &matmul_cann, .axis_count = CANN_AXES, .axes = cann_axes};
    *tiling = (struct tiling){{0}};
    return tiling_parse(&axes_only, text, tiling, error);
}

const struct operator_bank matmul_bank = {
    .cores_axis = CANN_CORES,
    .spaces = {&matmul_static, &matmul_static, &matmul_tcube, &matmul_tcube},
    .problem = matmul_bank_problem,
    .tiling = matmul_bank_tiling,
    .row = matmul_bank_row,
    .parse = matmul_bank_parse,
    .even_grid = matmul_even_grid,
    .even_tilings = matmul_even_tilings,
};
