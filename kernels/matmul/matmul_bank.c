/* What MatMul has to do with the tables of operator libraries: rows of banks as problems and
 * tilings, and back; and the even tilings that such a library's tuner chooses from.
 *
 * Two forms of rows: the 51 numbers of CANN's banks, which count blocks of 16 and say "all" by [],
 * and the fields of AscendC's TCubeTiling, which count elements. Both become the axes of `cann` by
 * arithmetic alone. What a form has no words for is supplied (the order of loops, as CANN's public
 * schedule chooses it) and on the way back refused where the tiling says otherwise.
 *
 * Parts of k in the fields of a TCubeTiling: singleCoreK below k cuts it; who does which part is
 * said by usedCoreNum and, in runtime tables, by the units of tilingEnable, whose numbers are those
 * of MatMulV3 (Huawei's ops-nn, mat_mul_v3, 2025). One of its forms is that of the space `tcube`:
 * every core stores the sum over its part in a workspace, and the vector cores add up.
 *
 * The even tilings of a problem are walked by nested loops over divisors, in the order grid, L0
 * tiles, L1 tiles, buffers. What follows is at its least while a tile is tried, so that one that
 * does not fit ends its loop, for larger ones do not fit either. What is left is judged by the
 * space itself. Of a slab in L0B that is no larger than a tile, and of orders of loops that run
 * once, the agreed tiling stands for all that mean the same kernel, so that none is visited twice.
 */
#include "kernels/matmul/matmul_bank.h"
#include "core/least.h"
#include "core/stop.h"
#include "formats/bank_row.h"
#include "kernels/limits.h"
#include "kernels/matmul/matmul.h"
#include "kernels/matmul/matmul_cann.h"
#include "kernels/matmul/matmul_cann_internal.h"
#include "kernels/operator_bank.h"
#include "kernels/slices.h"

#include <math.h>

enum { FRACTAL = 16, BUFFERS_MOST = 2 };
enum { ONE_BY_ONE = 0, SHARED_B = 2, SEVERAL_AT_ONCE = 3 }; /* batch_type */

/* ---- even tilings ---------------------------------------------------------------------------- */

enum { BUFFERS = CANN_L0C_BUFFERS - CANN_L1A_BUFFERS + 1 };

struct walk {
    const struct space *space;
    const struct cann *cann;
    bool several; /* of a batch may be loaded at once */
    bool tcube;   /* only what a TCubeTiling has words for */
    tiling_visitor *visit;
    void *context;
    struct tiling tiling;
};

/* The least divisor of `whole` above `divisor` >= 0, or 0: up to the root one by one, beyond it by
 * what they are multiplied with. */
static int64_t next_divisor(int64_t whole, int64_t divisor)
{
    int64_t d = divisor + 1;
    for (; d * d <= whole; d++)
        if (whole % d == 0)
            return d;
    for (int64_t times = least_of(whole / (divisor + 1), d - 1); times > 0; times--)
        if (whole % times == 0)
            return whole / times;
    return 0;
}

/* n is outer, but m is for the L1 tiles where that loads less: with n outer those of A are fetched
 * again for every one of n, with m outer those of B for every one of m. Told by CANN's public
 * schedule for chips with FIXP. */
enum cann_outer matmul_bank_outer(const struct tiling *tiling)
{
    const int64_t *x = tiling->value;
    double a = (double)x[CANN_BASE_M] * (double)x[CANN_STEP_M];
    double b = (double)x[CANN_BASE_N] * (double)x[CANN_STEP_N];
    double tiles_m = ceil((double)x[CANN_SINGLE_M] / a);
    double tiles_n = ceil((double)x[CANN_SINGLE_N] / b);
    bool both = tiles_m > 1 && tiles_n > 1;
    bool m_loads_less = a * tiles_m * tiles_n + b * tiles_n > a * tiles_m + b * tiles_n * tiles_m;
    return both && m_loads_less ? OUTER_M_N : OUTER_N;
}

static void set_buffers(struct walk *w, int doubled)
{
    for (int i = 0; i < BUFFERS; i++)
        w->tiling.value[CANN_L1A_BUFFERS + i] = 1 + (doubled >> i & 1);
}

static bool is_legal_with(struct walk *w, int doubled)
{
    set_buffers(w, doubled);
    return w->space->kind->legal(w->space, &w->tiling);
}

/* All counts of buffers. L0A, L0B and L0C are apart, and A and B share L1: so one buffer of each
 * and the larger counts one by one say which of the 32 fit, but for the pair in L1. */
static void over_buffers(struct walk *w)
{
    enum { L1_PAIR = 1 << 0 | 1 << 1 }; /* bits from CANN_L1A_BUFFERS on */
    int may = 0;
    bool legal = is_legal_with(w, 0);
    for (int i = 0; legal && i < BUFFERS; i++)
        may |= is_legal_with(w, 1 << i) << i;
    bool pair = (may & L1_PAIR) == L1_PAIR && is_legal_with(w, L1_PAIR);
    for (int doubled = 0; legal && doubled < 1 << BUFFERS; doubled++)
        if (!(doubled & ~may) && (pair || (doubled & L1_PAIR) != L1_PAIR)) {
            set_buffers(w, doubled);
            w->visit(w->context, &w->tiling);
        }
    set_buffers(w, 0);
}

/* The order of loops is the kernel's to choose, or free in a TCubeTiling. */
static void over_orders(struct walk *w)
{
    int64_t *v = w->tiling.value;
    int64_t m = v[CANN_SINGLE_M] / v[CANN_BASE_M], n = v[CANN_SINGLE_N] / v[CANN_BASE_N];
    if (!w->tcube) {
        v[CANN_OUTER] = matmul_bank_outer(&w->tiling);
        v[CANN_OUTER] = cann_agreed_order(v, m, n);
        over_buffers(w);
        return;
    }
    for (int order = OUTER_M; order <= OUTER_N; order++) {
        v[CANN_OUTER] = order;
        if (cann_agreed_order(v, m, n) == order)
            over_buffers(w);
    }
}

/* Does what is chosen fit with the least of all that follows? Only what takes too many bytes cannot
 * be mended by that. */
static bool fits_with_least(const struct walk *w)
{
    struct violation list[MAX_VIOLATIONS];
    int count = w->space->kind->violations(w->space, &w->tiling, list);
    for (int i = 0; i < count; i++)
        if (list[i].needed_bytes > list[i].available_bytes)
            return false;
    return true;
}

static void over_batch_steps(struct walk *w)
{
    int64_t *v = w->tiling.value;
    const int64_t *size = w->cann->size;
    int64_t grid = size[CANN_M] / v[CANN_SINGLE_M] * (size[CANN_N] / v[CANN_SINGLE_N]);
    int64_t blocks = w->several ? size[CANN_BATCH] * grid / v[CANN_CORES] : 1;
    for (int64_t a = 0; (a = next_divisor(blocks, a));)
        for (int64_t b = 0; (b = next_divisor(blocks, b));) {
            v[CANN_STEP_BATCH_A] = a;
            v[CANN_STEP_BATCH_B] = b;
            over_orders(w);
        }
    v[CANN_STEP_BATCH_A] = v[CANN_STEP_BATCH_B] = 1;
}

/* What stands in L1, in the order of these loops: more than one L0 tile of m or n only where k is
 * whole. */
static const int step_axes[] = {CANN_STEP_KA, CANN_STEP_KB, CANN_STEP_M, CANN_STEP_N};
enum { STEP_AXES = sizeof step_axes / sizeof *step_axes };

static int64_t most_steps(const int64_t *v, const int64_t *size, int axis)
{
    int64_t k = size[CANN_K] / v[CANN_BASE_K];
    if (axis == CANN_STEP_M)
        return v[CANN_STEP_KA] == k ? v[CANN_SINGLE_M] / v[CANN_BASE_M] : 1;
    if (axis == CANN_STEP_N)
        return v[CANN_STEP_KB] == k ? v[CANN_SINGLE_N] / v[CANN_BASE_N] : 1;
    return k;
}

/* The steps of step_axes[level …]. Does the least of them fit? */
static bool over_steps(struct walk *w, int level)
{
    int64_t *v = w->tiling.value, steps = 0;
    bool any = false;
    if (level == STEP_AXES) {
        if (!fits_with_least(w))
            return false;
        over_batch_steps(w);
        return true;
    }
    int axis = step_axes[level];
    int64_t most = most_steps(v, w->cann->size, axis);
    while ((steps = next_divisor(most, steps))) {
        v[axis] = steps;
        if (!over_steps(w, level + 1))
            break;
        any = true;
    }
    v[axis] = 1;
    return any;
}

static void over_k(struct walk *w)
{
    const struct cann_machine *machine = &w->cann->machine;
    int64_t *v = w->tiling.value;
    for (int64_t k = 0; (k = next_divisor(w->cann->size[CANN_K] / machine->block_k, k));) {
        v[CANN_BASE_K] = k * machine->block_k;
        v[CANN_L0B_HOLDS] = HOLDS_TILE;
        if (!fits_with_least(w) || stop_due(w->space->stop))
            return;
        over_steps(w, 0);
        v[CANN_L0B_HOLDS] = HOLDS_SLAB;
        if (!w->tcube)
            over_steps(w, 0);
    }
}

static void over_l0_tiles(struct walk *w)
{
    int64_t *v = w->tiling.value, block = w->cann->machine.block_mn;
    for (int64_t m = 0; (m = next_divisor(v[CANN_SINGLE_M] / block, m));)
        for (int64_t n = 0; (n = next_divisor(v[CANN_SINGLE_N] / block, n));) {
            v[CANN_BASE_M] = m * block;
            v[CANN_BASE_N] = n * block;
            over_k(w);
        }
}

void matmul_even_tilings(const struct space *space, const struct bank_row *row, int64_t least_cores,
                         tiling_visitor *visit, void *context)
{
    const struct cann *cann = cann_of(space);
    struct walk w = {.space = space,
                     .cann = cann,
                     .several = row->batch_type == SEVERAL_AT_ONCE,
                     .tcube = !bank_has_numbers(row),
                     .visit = visit,
                     .context = context};
    const int64_t *size = cann->size, block = cann->machine.block_mn;
    for (int a = 0; a < CANN_AXES; a++)
        w.tiling.value[a] = 1;
    for (int64_t m = 0; (m = next_divisor(size[CANN_M] / block, m));)
        for (int64_t n = 0; (n = next_divisor(size[CANN_N] / block, n));)
            for (int64_t batch = 0; (batch = next_divisor(size[CANN_BATCH], batch));) {
                if (m * n > cann->cores || m * n * batch < least_cores ||
                    m * n * batch > cann->cores)
                    continue;
                w.tiling.value[CANN_SINGLE_M] = size[CANN_M] / m;
                w.tiling.value[CANN_SINGLE_N] = size[CANN_N] / n;
                w.tiling.value[CANN_CORES] = m * n * batch;
                over_l0_tiles(&w);
            }
}

bool matmul_even_grid(const struct space *space, int64_t cores)
{
    const struct cann *cann = cann_of(space);
    const int64_t *size = cann->size, block = cann->machine.block_mn;
    for (int64_t m = 0; (m = next_divisor(size[CANN_M] / block, m));)
        for (int64_t n = 0; (n = next_divisor(size[CANN_N] / block, n));)
            for (int64_t batch = 0; (batch = next_divisor(size[CANN_BATCH], batch));)
                if (m * n <= cores && m * n * batch == cores)
                    return true;
    return false;
}

/* ---- parts of k ------------------------------------------------------------------------------ */

/* The units of tilingEnable: one form of split K is read, and why the others are not. */
enum { PARTS_ON_CORES = 3, FORMS = 10 };
static const char *unread_form(int form)
{
    static const char *const why[FORMS] = {
        [0] = "k is not split, and a core's k is not all of it",
        [2] = "a core adds up parts of its k in memory, which no space has",
        [4] = "cores add up in C by atomic additions, in no fixed order, which no space has",
        [5] = "a core adds up parts of its k in memory, which no space has",
    };
    return why[form] ? why[form] : "no form of split K has this number";
}

/* The k of a part: in whole blocks, the last one's may be less. */
static int64_t k_of_part(const struct problem *p, int64_t parts)
{
    int64_t block = bank_block_k(p->type);
    return divide_up(divide_up(p->size[MATMUL_K], block), parts) * block;
}

/* Parts are on cores of their own: every core has one part of one block. */
static enum status check_parts_on_cores(const struct bank_row *row, const struct problem *p,
                                        int64_t blocks, struct error *error)
{
    const int32_t *v = row->number;
    int64_t parts = divide_up(p->size[MATMUL_K], v[BANK_SINGLE_K]);
    if (v[BANK_USED_CORES] != product_of(blocks, parts))
        return error_set(error, STATUS_INVALID,
                         "singleCoreK = %d cuts k into %lld parts of %lld blocks, and usedCoreNum "
                         "is %d: a core adds up several of them in memory, which no space has",
                         v[BANK_SINGLE_K], (long long)parts, (long long)blocks, v[BANK_USED_CORES]);
    if (v[BANK_SINGLE_K] != k_of_part(p, parts))
        return error_set(error, STATUS_INVALID,
                         "singleCoreK = %d, expected %lld for %lld parts of k in equal numbers of "
                         "blocks",
                         v[BANK_SINGLE_K], (long long)k_of_part(p, parts), (long long)parts);
    return STATUS_OK;
}

/* MatMulV3's kernel for parts on cores has all of them work at one block after the other, and L0
 * tiles of its own (matmul_cann_split.c). */
static enum status check_library_parts(const struct bank_row *row, const struct problem *p,
                                       struct error *error)
{
    const int32_t *v = row->number;
    if (v[BANK_SINGLE_M] < p->size[MATMUL_M] || v[BANK_SINGLE_N] < p->size[MATMUL_N])
        return error_set(error, STATUS_INVALID,
                         "tilingEnable = %d with several blocks: all cores work at one after the "
                         "other, which no space has",
                         v[BANK_TILING_ENABLE]);
    int64_t base_k = CANN_LIBRARY_K_BYTES / dtype_bytes(p->type);
    if (v[BANK_BASE_M] != CANN_LIBRARY_MN || v[BANK_BASE_N] != CANN_LIBRARY_MN ||
        v[BANK_BASE_K] != base_k)
        return error_set(error, STATUS_INVALID,
                         "tilingEnable = %d with tiles of %dx%d, %d of k: the kernel's are %dx%d, "
                         "%lld of k, whatever a row says",
                         v[BANK_TILING_ENABLE], v[BANK_BASE_M], v[BANK_BASE_N], v[BANK_BASE_K],
                         CANN_LIBRARY_MN, CANN_LIBRARY_MN, (long long)base_k);
    return STATUS_OK;
}

/* Does the row split k as the space tcube does, or not at all? `blocks`: of singleCoreM by
 * singleCoreN, in all. */
static enum status check_parts(const struct bank_row *row, const struct problem *p, int64_t blocks,
                               struct error *error)
{
    const int32_t *v = row->number;
    int form = row->format == BANK_RUNTIME_KB ? v[BANK_TILING_ENABLE] % FORMS : PARTS_ON_CORES;
    bool whole = v[BANK_SINGLE_K] >= p->size[MATMUL_K];
    if (whole && row->format == BANK_RUNTIME_KB && form == PARTS_ON_CORES)
        return error_set(error, STATUS_INVALID,
                         "tilingEnable = %d with singleCoreK = %d, expected less than k = %lld",
                         v[BANK_TILING_ENABLE], v[BANK_SINGLE_K], (long long)p->size[MATMUL_K]);
    if (whole)
        return STATUS_OK;
    if (form != PARTS_ON_CORES)
        return error_set(error, STATUS_INVALID, "singleCoreK = %d with tilingEnable = %d: %s",
                         v[BANK_SINGLE_K], v[BANK_TILING_ENABLE], unread_form(form));
    if (row->format == BANK_RUNTIME_KB)
        TRY(check_library_parts(row, p, error));
    return check_parts_on_cores(row, p, blocks, error);
}

/* Parts on cores, in the words of MatMulV3's kernel for them: m and n as they are, its L0 tiles. */
static enum status write_parts(const struct problem *p, const struct tiling *t,
                               struct bank_row *row, struct error *error)
{
    const int64_t *x = t->value, m = p->size[MATMUL_M], n = p->size[MATMUL_N];
    int32_t *v = row->number;
    int64_t parts = x[CANN_SPLIT_K], k = k_of_part(p, parts);
    int64_t base_k = CANN_LIBRARY_K_BYTES / dtype_bytes(p->type);
    if (parts == 1)
        return STATUS_OK;
    if (p->size[MATMUL_BATCH] > 1 || x[CANN_CORES] != parts || x[CANN_SINGLE_M] < m ||
        x[CANN_SINGLE_N] < n || x[CANN_BASE_M] != least_of(CANN_LIBRARY_MN, round_up(m, FRACTAL)) ||
        x[CANN_BASE_N] != least_of(CANN_LIBRARY_MN, round_up(n, FRACTAL)) ||
        x[CANN_BASE_K] != least_of(base_k, k))
        return error_set(error, STATUS_INVALID,
                         "split_k: a TCubeTiling has words for parts of one block in tiles of "
                         "%dx%d, %lld of k; those of --space tcube are such",
                         CANN_LIBRARY_MN, CANN_LIBRARY_MN, (long long)base_k);
    v[BANK_SINGLE_M] = (int32_t)m;
    v[BANK_SINGLE_N] = (int32_t)n;
    v[BANK_SINGLE_K] = (int32_t)k;
    v[BANK_BASE_M] = v[BANK_BASE_N] = CANN_LIBRARY_MN;
    v[BANK_BASE_K] = (int32_t)base_k;
    v[BANK_TILING_ENABLE] = row->format == BANK_RUNTIME_KB ? PARTS_ON_CORES : 0;
    return STATUS_OK;
}

/* ---- rows ------------------------------------------------------------------------------------ */

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

static void set_l1(int64_t *x, const struct held *held, int32_t k_elements, int32_t multiple,
                   int64_t k)
{
    bool whole = k_elements == BANK_WHOLE;
    int64_t base_k = x[CANN_BASE_K], all_k = divide_up(k, base_k);
    int64_t all = divide_up(x[held->single], x[held->base]);
    x[held->step_k] = whole ? all_k : least_of(all_k, divide_up(k_elements + !k_elements, base_k));
    x[held->step] = whole ? all : least_of(all, multiple);
}

static void set_all_buffers(struct tiling *t, const int32_t depths[5])
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
    set_l1(x, &held_a, v[BANK_AL1_K], v[BANK_AL1_M], p->size[MATMUL_K]);
    set_l1(x, &held_b, v[BANK_BL1_K], v[BANK_BL1_N], p->size[MATMUL_K]);
    x[CANN_OUTER] = matmul_bank_outer(t);
    bool several = row->batch_type == SEVERAL_AT_ONCE;
    x[CANN_STEP_BATCH_A] = several ? v[BANK_AL1_BATCH] : 1;
    x[CANN_STEP_BATCH_B] = several ? v[BANK_BL1_BATCH] : 1;
    set_all_buffers(t,
                    (const int32_t[]){v[BANK_AL1_BUFFERS], v[BANK_BL1_BUFFERS], v[BANK_AL0_BUFFERS],
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
    TRY(check_parts(row, p, blocks, error));
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
    k = k_of_part(p, x[CANN_SPLIT_K]);
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
    set_all_buffers(t, (const int32_t[]){buffers_of(v, BANK_DEPTH_A1, BANK_STEP_M, BANK_STEP_KA),
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

static void write_problem(const struct problem *p, struct bank_row *row)
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
static void write_l1_numbers(const int64_t *x, const struct held *held, int64_t k,
                             int32_t *k_elements, int32_t *multiple)
{
    int64_t elements = x[held->step_k] * x[CANN_BASE_K];
    bool whole = elements >= k && x[held->step] * x[held->base] >= x[held->single];
    *k_elements = whole ? BANK_WHOLE : (int32_t)elements;
    *multiple = whole ? 1 : (int32_t)x[held->step];
}

/* The grid says a block's size only up to equal shares. */
static enum status write_grid(const struct problem *p, const struct tiling *t, int32_t *v,
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

static enum status write_numbers(const struct problem *p, const struct tiling *t,
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
    write_l1_numbers(x, &held_a, p->size[MATMUL_K], &v[BANK_AL1_K], &v[BANK_AL1_M]);
    write_l1_numbers(x, &held_b, p->size[MATMUL_K], &v[BANK_BL1_K], &v[BANK_BL1_N]);
    v[BANK_AL1_BATCH] = (int32_t)x[CANN_STEP_BATCH_A];
    v[BANK_BL1_BATCH] = (int32_t)x[CANN_STEP_BATCH_B];
    v[BANK_AL1_BUFFERS] = (int32_t)x[CANN_L1A_BUFFERS];
    v[BANK_BL1_BUFFERS] = (int32_t)x[CANN_L1B_BUFFERS];
    v[BANK_AL0_BUFFERS] = (int32_t)x[CANN_L0A_BUFFERS];
    v[BANK_BL0_BUFFERS] = (int32_t)x[CANN_L0B_BUFFERS];
    v[BANK_CL0_BUFFERS] = (int32_t)x[CANN_L0C_BUFFERS];
    row->batch_type = row->share_b ? SHARED_B : several ? SEVERAL_AT_ONCE : ONE_BY_ONE;
    return write_grid(p, t, v, error);
}

/* The whole operand as one of a batch: rows and columns of the layout B, S, N, G, D. */
static void write_layout(int32_t *layout, int64_t batch, int64_t rows, int64_t columns)
{
    const int64_t extents[5] = {batch, rows, 1, 1, columns};
    for (int i = 0; i < 5; i++)
        layout[i] = (int32_t)extents[i];
}

static enum status write_fields(const struct problem *p, const struct tiling *t,
                                struct bank_row *row, struct error *error)
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
    TRY(write_parts(p, t, row, error));
    if (batch == 1)
        return STATUS_OK;
    v[BANK_BATCH_COUNT] = (int32_t)batch;
    write_layout(&v[BANK_A_LAYOUT], batch, m, k);
    write_layout(&v[BANK_B_LAYOUT], row->share_b ? 1 : batch, n, k);
    write_layout(&v[BANK_C_LAYOUT], batch, m, n);
    return STATUS_OK;
}

enum status matmul_bank_row(const struct problem *problem, const struct tiling *tiling,
                            enum bank_format format, struct bank_row *row, struct error *error)
{
    *row = (struct bank_row){.format = format, .record = 1};
    write_problem(problem, row);
    return bank_has_numbers(row) ? write_numbers(problem, tiling, row, error)
                                 : write_fields(problem, tiling, row, error);
}

/* Without a problem or a chip; every axis must be given once. */
static enum status parse_tiling(const char *text, struct tiling *tiling, struct error *error)
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
    .parse = parse_tiling,
    .even_grid = matmul_even_grid,
    .even_tilings = matmul_even_tilings,
};
