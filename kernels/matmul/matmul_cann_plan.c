/* From a tiling to its nest of loops, and to the scopes in which operands are held. */
#include "core/least.h"
#include "kernels/limits.h"
#include "kernels/matmul/matmul_cann_internal.h"

#include <math.h>
#include <string.h>

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

int64_t cann_parts(const struct cann *cann, int64_t split)
{
    int64_t blocks = cann->size[CANN_K] / cann->machine.block_k;
    return divide_up(blocks, divide_up(blocks, least_of(split, blocks)));
}

int64_t cann_part_k(const struct cann *cann, int64_t parts)
{
    int64_t block = cann->machine.block_k;
    return divide_up(cann->size[CANN_K] / block, parts) * block;
}

/* What one core computes: the blocks of the core with most of them, all of full size. */
static void divide_work(const struct cann *cann, const int64_t *v, struct cann_plan *plan)
{
    int64_t m =
        least_of(round_up(least_of(v[CANN_SINGLE_M], cann->size[CANN_M]), cann->machine.block_mn),
                 cann->size[CANN_M]);
    int64_t n =
        least_of(round_up(least_of(v[CANN_SINGLE_N], cann->size[CANN_N]), cann->machine.block_mn),
                 cann->size[CANN_N]);
    int64_t grid = product_of(divide_up(cann->size[CANN_M], m), divide_up(cann->size[CANN_N], n));
    plan->parts = cann_parts(cann, v[CANN_SPLIT_K]);
    int64_t blocks = product_of(product_of(cann->size[CANN_BATCH], grid), plan->parts);
    plan->cores = (int)least_of(least_of(v[CANN_CORES], blocks), INT32_MAX);
    plan->extent[CANN_BATCH] = blocks / plan->cores + (blocks % plan->cores != 0);
    plan->extent[CANN_M] = m;
    plan->extent[CANN_N] = n;
    plan->extent[CANN_K] = cann_part_k(cann, plan->parts);
}

/* Fills levels [first, last] with their directions and slices, cut down to what they find. */
static void nest_levels(struct cann_plan *plan, int first, int last,
                        const enum cann_direction direction[], const int64_t slice[])
{
    int64_t tile[CANN_DIRECTIONS];
    memcpy(tile, plan->extent, sizeof tile);
    for (int l = first; l <= last; l++) {
        enum cann_direction d = direction[l - first];
        plan->level[l].direction = d;
        plan->level[l].parent = tile[d];
        plan->level[l].slice = tile[d] = least_of(slice[l - first], tile[d]);
    }
}

static void make_levels(const int64_t *v, struct cann_plan *plan)
{
    bool n_l1_outer = v[CANN_OUTER] == OUTER_N, n_l0_outer = v[CANN_OUTER] != OUTER_M;
    int64_t m = v[CANN_BASE_M], n = v[CANN_BASE_N], k = v[CANN_BASE_K];
    int64_t m_l1 = product_of(v[CANN_STEP_M], m), n_l1 = product_of(v[CANN_STEP_N], n);
    int64_t ka = product_of(v[CANN_STEP_KA], k), kb = product_of(v[CANN_STEP_KB], k);
    int64_t a = v[CANN_STEP_BATCH_A], b = v[CANN_STEP_BATCH_B];
    const enum cann_direction directions[] = {CANN_BATCH,
                                              CANN_BATCH,
                                              CANN_BATCH,
                                              n_l1_outer ? CANN_N : CANN_M,
                                              n_l1_outer ? CANN_M : CANN_N,
                                              n_l0_outer ? CANN_N : CANN_M,
                                              n_l0_outer ? CANN_M : CANN_N,
                                              CANN_K,
                                              CANN_K,
                                              CANN_K};
    const int64_t slices[] = {most(a, b),
                              least_of(a, b),
                              1,
                              n_l1_outer ? n_l1 : m_l1,
                              n_l1_outer ? m_l1 : n_l1,
                              n_l0_outer ? n : m,
                              n_l0_outer ? m : n,
                              most(ka, kb),
                              least_of(ka, kb),
                              k};
    nest_levels(plan, 0, LEVEL_STEP, directions, slices);
    const enum cann_direction slab[] = {CANN_N, CANN_K, CANN_N};
    nest_levels(plan, SLAB_N_L1, SLAB_TILE, slab, (const int64_t[]){n_l1, kb, n});
}

static bool runs_once(const struct cann_plan *plan, int level)
{
    return plan->level[level].slice >= plan->level[level].parent;
}

/* Outwards over loops that run once or cut a direction the operand does not have. */
static int widen(const struct cann_plan *plan, int level, int stop, unsigned has)
{
    while (level > stop && (runs_once(plan, level) || !(has >> plan->level[level].direction & 1)))
        level--;
    return level;
}

/* The loop that cuts out the part of an operand which stands in L1. */
static int l1_level(const struct cann_plan *plan, enum cann_direction direction, int64_t chunk,
                    int64_t batch)
{
    if (chunk < plan->extent[CANN_K])
        return chunk >= plan->level[LEVEL_K_WIDE].slice ? LEVEL_K_WIDE : LEVEL_K_NARROW;
    if (least_of(batch, plan->extent[CANN_BATCH]) > 1)
        return batch >= plan->level[LEVEL_BATCH_WIDE].slice ? LEVEL_BATCH_WIDE : LEVEL_BATCH_NARROW;
    return plan->level[LEVEL_X_L1].direction == direction ? LEVEL_X_L1 : LEVEL_Y_L1;
}

#define HAS(direction) (1u << (direction))

/* B's slab: brought into L0B by loops of its own, out of a part in L1 whose scope may be one of
 * these loops or, where all of the block stands in L1, wider. */
static void place_slab(const int64_t *v, unsigned has, struct cann_plan *plan)
{
    bool whole = product_of(v[CANN_STEP_KB], v[CANN_BASE_K]) >= plan->extent[CANN_K];
    int level = widen(plan, whole ? SLAB_N_L1 : SLAB_K_L1, SLAB_N_L1 - 1, has);
    if (level < SLAB_N_L1) {
        level = LEVEL_BLOCK;
        if (least_of(v[CANN_STEP_BATCH_B], plan->extent[CANN_BATCH]) > 1)
            level = v[CANN_STEP_BATCH_B] >= plan->level[LEVEL_BATCH_WIDE].slice
                        ? LEVEL_BATCH_WIDE
                        : LEVEL_BATCH_NARROW;
        level = widen(plan, level, SCOPE_PROGRAM, has);
    }
    plan->scope[LIVE_B_L1].level = level;
    plan->scope[LIVE_B_L0].level = widen(plan, LEVEL_BLOCK, SCOPE_PROGRAM, has);
}

static void place_operands(const struct cann *cann, const int64_t *v, struct cann_plan *plan)
{
    /* blocks are dealt out column by column, the batch before the next column */
    bool one_b =
        cann->share_b && plan->parts == 1 &&
        product_of(cann->size[CANN_BATCH], divide_up(cann->size[CANN_M], plan->extent[CANN_M])) >=
            plan->extent[CANN_BATCH];
    unsigned a = HAS(CANN_BATCH) | HAS(CANN_M) | HAS(CANN_K);
    unsigned b = (one_b ? 0 : HAS(CANN_BATCH)) | HAS(CANN_N) | HAS(CANN_K);
    struct cann_scope *scope = plan->scope;
    int64_t ka = product_of(v[CANN_STEP_KA], v[CANN_BASE_K]);
    int64_t kb = product_of(v[CANN_STEP_KB], v[CANN_BASE_K]);
    plan->one_b = one_b;
    plan->slab = v[CANN_L0B_HOLDS] == HOLDS_SLAB;
    scope[LIVE_A_L1].level =
        widen(plan, l1_level(plan, CANN_M, ka, v[CANN_STEP_BATCH_A]), SCOPE_PROGRAM, a);
    scope[LIVE_A_L0].level = widen(plan, LEVEL_STEP, SCOPE_PROGRAM, a);
    scope[LIVE_B_L1].level =
        widen(plan, l1_level(plan, CANN_N, kb, v[CANN_STEP_BATCH_B]), SCOPE_PROGRAM, b);
    scope[LIVE_B_L0].level = widen(plan, LEVEL_STEP, SCOPE_PROGRAM, b);
    if (plan->slab)
        place_slab(v, b, plan);
    scope[LIVE_C].level = scope[LIVE_BIAS_L1].level = scope[LIVE_BIAS_BT].level = LEVEL_TILE;
    plan->chunks_a = divide_up(plan->extent[CANN_K], least_of(ka, plan->extent[CANN_K]));
    plan->chunks_b = divide_up(plan->extent[CANN_K], least_of(kb, plan->extent[CANN_K]));
}

/* The slice of the last loop that cuts a direction, up to `level`. */
static int64_t tile_at(const struct cann_plan *plan, int level, enum cann_direction direction)
{
    while (level >= 0 && plan->level[level].direction != direction)
        level--;
    return level < 0 ? plan->extent[direction] : plan->level[level].slice;
}

static void reserve(struct cann_plan *plan, enum cann_live_range which, int64_t copies,
                    int64_t elements, int bytes)
{
    plan->scope[which].used = true;
    plan->scope[which].copies = (int)least_of(copies, 2);
    plan->scope[which].bytes = product_of(elements, bytes);
}

static int64_t copies_bytes(const struct cann_scope *scope)
{
    return scope->used ? product_of(scope->bytes, scope->copies) : 0;
}

/* What stands there of a direction, in the L0 tiles that a buffer has room for. */
static int64_t laid_out(const struct cann *cann, const struct cann_plan *plan,
                        enum cann_direction direction, int64_t elements)
{
    return cann_laid_out(cann, plan->parts, direction, elements,
                         tile_at(plan, LEVEL_STEP, direction));
}

static void measure(const struct cann *cann, const int64_t *v, struct cann_plan *plan)
{
    const struct cann_machine *machine = &cann->machine;
    struct cann_scope *scope = plan->scope;
    int64_t whole_k = plan->extent[CANN_K];
    int64_t m = laid_out(cann, plan, CANN_M, tile_at(plan, LEVEL_STEP, CANN_M));
    int64_t n = laid_out(cann, plan, CANN_N, tile_at(plan, LEVEL_STEP, CANN_N));
    int64_t k = laid_out(cann, plan, CANN_K, tile_at(plan, LEVEL_STEP, CANN_K));
    int64_t batch_a = least_of(v[CANN_STEP_BATCH_A], plan->extent[CANN_BATCH]);
    int64_t batch_b = plan->one_b ? 1 : least_of(v[CANN_STEP_BATCH_B], plan->extent[CANN_BATCH]);
    int64_t m_l1 = laid_out(cann, plan, CANN_M, tile_at(plan, LEVEL_Y_L1, CANN_M));
    int64_t n_l1 = laid_out(cann, plan, CANN_N, tile_at(plan, LEVEL_Y_L1, CANN_N));
    int64_t ka = laid_out(cann, plan, CANN_K,
                          least_of(product_of(v[CANN_STEP_KA], v[CANN_BASE_K]), whole_k));
    int64_t kb = laid_out(cann, plan, CANN_K,
                          least_of(product_of(v[CANN_STEP_KB], v[CANN_BASE_K]), whole_k));
    int type = machine->type_bytes;
    reserve(plan, LIVE_A_L1, v[CANN_L1A_BUFFERS], product_of(product_of(batch_a, m_l1), ka), type);
    reserve(plan, LIVE_B_L1, v[CANN_L1B_BUFFERS], product_of(product_of(batch_b, n_l1), kb), type);
    reserve(plan, LIVE_A_L0, v[CANN_L0A_BUFFERS], product_of(m, k), type);
    reserve(plan, LIVE_B_L0, v[CANN_L0B_BUFFERS],
            plan->slab ? product_of(plan->extent[CANN_N], whole_k) : product_of(n, k), type);
    reserve(plan, LIVE_C, v[CANN_L0C_BUFFERS], product_of(m, n), machine->accumulator_bytes);
    if (cann_row_bytes(cann))
        reserve(plan, LIVE_BIAS_L1, 1, n, cann_row_bytes(cann));
    if (cann->bias_bytes && machine->feed_bias >= 0)
        reserve(plan, LIVE_BIAS_BT, 1, n, cann->bias_bytes);
    scope[LIVE_B_L1].offset_bytes = copies_bytes(&scope[LIVE_A_L1]);
    scope[LIVE_BIAS_L1].offset_bytes =
        sum_of(scope[LIVE_B_L1].offset_bytes, copies_bytes(&scope[LIVE_B_L1]));
    plan->l1_bytes = sum_of(scope[LIVE_BIAS_L1].offset_bytes, copies_bytes(&scope[LIVE_BIAS_L1]));
}

/* How often a core loads each byte of its part of an operand. */
static double fetches(const struct cann_plan *plan, enum cann_live_range range)
{
    int level = plan->scope[range].level;
    enum cann_direction other = range == LIVE_A_L1 ? CANN_N : CANN_M;
    if (level >= SLAB_N_L1)
        return 1;
    double times = (double)cann_bodies(plan, other, SCOPE_PROGRAM, level, plan->extent[other]);
    if (range == LIVE_B_L1 && plan->one_b)
        times *=
            (double)cann_bodies(plan, CANN_BATCH, SCOPE_PROGRAM, level, plan->extent[CANN_BATCH]);
    return times;
}

double cann_touches(const struct cann *cann, int64_t m, int64_t n, bool is_a, int64_t cores)
{
    double grid_m = (double)divide_up(cann->size[CANN_M], m);
    double grid_n = (double)divide_up(cann->size[CANN_N], n);
    double batch = (double)cann->size[CANN_BATCH];
    double parts = is_a ? batch * grid_m : (cann->share_b ? 1 : batch) * grid_n;
    return fmin(parts / (cores ? (double)cores : batch * grid_m * grid_n), 1);
}

/* The share of an operand's loads that are the first of all cores to touch what they bring. */
static double first_touches(const struct cann *cann, const struct cann_plan *plan,
                            enum cann_live_range range)
{
    bool is_a = range == LIVE_A_L1, once = !is_a && plan->one_b;
    return cann_touches(cann, plan->extent[CANN_M], plan->extent[CANN_N], is_a,
                        once ? plan->cores : 0) /
           fetches(plan, range);
}

void cann_plan_make(const struct cann *cann, const struct tiling *tiling, struct cann_plan *plan)
{
    memset(plan, 0, sizeof *plan);
    divide_work(cann, tiling->value, plan);
    make_levels(tiling->value, plan);
    place_operands(cann, tiling->value, plan);
    measure(cann, tiling->value, plan);
    const struct cann_scope *a = &plan->scope[LIVE_A_L1], *b = &plan->scope[LIVE_B_L1];
    plan->one_set = cann->tcube && a->level == b->level && a->copies == 1 && b->copies == 1;
    for (int h = LIVE_A_L1; h <= LIVE_B_L1 && cann->miss_share > 0; h++)
        plan->miss_share[h] = cann->miss_share * first_touches(cann, plan, (enum cann_live_range)h);
}

bool cann_is_batch_step(const struct cann *cann, int64_t whole, int64_t step)
{
    if (cann->tcube)
        return step == 1;
    if (cann->few_batch_steps)
        return step > 0 && step <= whole && (step & (step - 1)) == 0;
    return is_cut(whole, step);
}

int64_t cann_next_batch_step(const struct cann *cann, int64_t whole, int64_t step)
{
    if (cann->tcube)
        return step < 1;
    if (cann->few_batch_steps)
        return step ? (2 * step <= whole ? 2 * step : 0) : 1;
    return next_cut(whole, step);
}

int64_t cann_bodies(const struct cann_plan *plan, enum cann_direction direction, int outer,
                    int inner, int64_t extent)
{
    int level = outer + 1;
    while (level <= inner && plan->level[level].direction != direction)
        level++;
    if (level > inner)
        return 1;
    int64_t slice = plan->level[level].slice, full = extent / slice, rest = extent % slice;
    int64_t bodies = full ? full * cann_bodies(plan, direction, level, inner, slice) : 0;
    return bodies + (rest ? cann_bodies(plan, direction, level, inner, rest) : 0);
}

/* Bodies of level `inner` in one body of level `outer`, both of one nest. */
static int64_t bodies_within(const struct cann_plan *plan, int outer, int inner,
                             const int64_t extent[CANN_DIRECTIONS])
{
    int64_t bodies = 1;
    for (int d = 0; d < CANN_DIRECTIONS; d++)
        bodies *= cann_bodies(plan, (enum cann_direction)d, outer, inner, extent[d]);
    return bodies;
}

int64_t cann_openings(const struct cann_plan *plan, enum cann_live_range range, int level,
                      const int64_t extent[CANN_DIRECTIONS])
{
    const struct cann_scope *scope = &plan->scope[range];
    if (!scope->used || scope->level < level)
        return 0;
    if (scope->level < CANN_LEVELS || level >= SLAB_N_L1)
        return bodies_within(plan, level, scope->level, extent);
    int slab = plan->scope[LIVE_B_L0].level;
    if (slab < level)
        return 0;
    return bodies_within(plan, level, slab, extent) *
           bodies_within(plan, SLAB_N_L1 - 1, scope->level, plan->extent);
}

int64_t cann_pieces(const struct cann *cann, enum cann_operand operand,
                    const int64_t extent[CANN_DIRECTIONS])
{
    const struct cann_layout *layout = &cann->layout[operand];
    bool one_batch = operand >= CANN_C || (operand == CANN_B && cann->share_b);
    int64_t batch = one_batch ? 1 : extent[CANN_BATCH];
    bool follow = layout->pitch_bytes % 64 == 0 || (operand >= CANN_C && layout->pitch_bytes < 64);
    if (extent[layout->inner] < cann->size[layout->inner] || !follow)
        return batch * divide_up(extent[layout->outer], layout->unit);
    return extent[layout->outer] < cann->size[layout->outer] ? batch : 1;
}

/* Rows at most one block wide are mostly narrower, padded in a bank: measured ones cost what such
 * rows do that begin anywhere. */
int64_t cann_alignment(const struct cann *cann, enum cann_operand operand)
{
    const struct cann_layout *layout = &cann->layout[operand];
    const struct cann_machine *m = &cann->machine;
    int block = layout->inner == CANN_K ? m->block_k : m->block_mn;
    bool narrow = layout->unit == 1 && cann->size[layout->inner] <= block;
    return least_of(layout->pitch_bytes & -layout->pitch_bytes, narrow ? CANN_NARROW : 512);
}

int64_t cann_load_alignment(const struct cann *cann, const struct cann_plan *plan,
                            enum cann_operand operand)
{
    const struct cann_layout *layout = &cann->layout[operand];
    enum cann_direction inner = layout->inner;
    int level = plan->scope[operand == CANN_A ? LIVE_A_L1 : LIVE_B_L1].level;
    int64_t starts = plan->extent[inner] < cann->size[inner] ? plan->extent[inner] : 0;
    for (int l = 0; l <= level; l++)
        /* a slab is brought by loops of its own */
        if ((level < CANN_LEVELS || l <= LEVEL_BLOCK || l >= SLAB_N_L1) &&
            plan->level[l].direction == inner && !runs_once(plan, l))
            starts |= plan->level[l].slice;
    int64_t bits = cann_alignment(cann, operand) | starts * layout->unit * cann->machine.type_bytes;
    return bits & -bits;
}

/* The part behind the cache comes last, in whole blocks of the matrix unit's FP16, and cuts one
 * piece in two at most; no piece gets longer. */
struct cann_load cann_load_split(double miss_share, int64_t bytes, int64_t pieces)
{
    int64_t miss = (int64_t)floor((double)bytes * miss_share / CANN_MISS_GRAIN) * CANN_MISS_GRAIN;
    if (miss_share >= 1)
        miss = bytes;
    int64_t piece = divide_up(bytes, pieces);
    return (struct cann_load){
        .hit_bytes = bytes - miss,
        .miss_bytes = miss,
        .hit_pieces = divide_up(bytes - miss, piece),
        .miss_pieces = divide_up(miss, piece),
    };
}
