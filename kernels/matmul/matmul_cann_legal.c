/* What fits, and which of the tilings that mean the same kernel stands for them.
 *
 * A tiling is legal when the chip can hold its tiles, the nest of loops can say it, and all that is
 * cut is cut into sizes of this space (kernels/slices.h). Of the legal tilings that mean the same
 * kernel the agreed one is the point of the space. */
#include "core/least.h"
#include "kernels/limits.h"
#include "kernels/matmul/matmul_cann_nesting.h"

#include <stdio.h>
#include <string.h>

enum need { NEED_L0A, NEED_L0B, NEED_L0C, NEED_L1, NEED_BT, NEEDS };

static const char *const need_names[NEEDS] = {"l0a", "l0b", "l0c", "l1", "bt"};
static const char *const need_contents[NEEDS] = {
    "A tiles for the matrix unit take", "B tiles for the matrix unit take",
    "accumulated tiles of C take", "parts of A and B take", "a row of the bias takes"};

static void count_needs(const struct cann *cann, const struct cann_plan *plan,
                        int64_t needed[NEEDS], int64_t available[NEEDS])
{
    static const enum cann_live_range holds[NEEDS] = {[NEED_L0A] = LIVE_A_L0,
                                                      [NEED_L0B] = LIVE_B_L0,
                                                      [NEED_L0C] = LIVE_C,
                                                      [NEED_L1] = LIVE_A_L1,
                                                      [NEED_BT] = LIVE_BIAS_BT};
    const struct cann_machine *machine = &cann->machine;
    const int buffers[NEEDS] = {machine->l0a, machine->l0b, machine->l0c, machine->l1, machine->bt};
    for (int n = 0; n < NEEDS; n++) {
        const struct cann_scope *scope = &plan->scope[holds[n]];
        needed[n] = scope->used ? product_of(scope->bytes, scope->copies) : 0;
        available[n] = buffers[n] < 0 ? INT64_MAX : capacity_of(machine->hw, buffers[n]);
    }
    needed[NEED_L1] = plan->l1_bytes;
}

/* ---- rules that are not about bytes --------------------------------------------------------- */

/* What a rule looks at. */
struct view {
    const struct cann *cann;
    const struct cann_plan *plan;
    const int64_t *value;
};

/* The L1 part of an operand is a whole block along k, and along m or n. */
static bool whole_k(const struct view *v, enum cann_axis step)
{
    return product_of(v->value[step], v->value[CANN_BASE_K]) >= v->plan->extent[CANN_K];
}

static bool whole_block(const struct view *v, bool of_a)
{
    enum cann_axis step = of_a ? CANN_STEP_M : CANN_STEP_N;
    int64_t base = v->value[of_a ? CANN_BASE_M : CANN_BASE_N];
    return whole_k(v, of_a ? CANN_STEP_KA : CANN_STEP_KB) &&
           product_of(v->value[step], base) >= v->plan->extent[of_a ? CANN_M : CANN_N];
}

static bool enough_cores(const struct view *v)
{
    return v->value[CANN_CORES] <= v->cann->cores;
}

/* No core computes two parts: it would add them up in L0C. */
static bool parts_apart(const struct view *v)
{
    return v->plan->parts == 1 || v->plan->extent[CANN_BATCH] == 1;
}

static bool step_m_one(const struct view *v)
{
    return v->value[CANN_STEP_M] == 1 || whole_k(v, CANN_STEP_KA);
}

static bool step_n_one(const struct view *v)
{
    return v->value[CANN_STEP_N] == 1 || whole_k(v, CANN_STEP_KB);
}

static bool batch_a_whole(const struct view *v)
{
    return v->value[CANN_STEP_BATCH_A] == 1 || whole_block(v, true);
}

static bool batch_b_whole(const struct view *v)
{
    return v->value[CANN_STEP_BATCH_B] == 1 || whole_block(v, false);
}

static bool along_a_batch(const struct view *v)
{
    int64_t step = least_of(v->value[CANN_STEP_BATCH_A], v->plan->extent[CANN_BATCH]);
    int64_t other = least_of(v->value[CANN_STEP_BATCH_B], v->plan->extent[CANN_BATCH]);
    return v->cann->size[CANN_BATCH] > 1 || (step == 1 && other == 1);
}

static bool chunks_divide(const struct view *v)
{
    return v->plan->chunks_a % v->plan->chunks_b == 0 || v->plan->chunks_b % v->plan->chunks_a == 0;
}

static bool few_buffers(const struct view *v)
{
    for (int a = CANN_L1A_BUFFERS; a <= CANN_L0C_BUFFERS; a++)
        if (v->value[a] > 2)
            return false;
    return true;
}

static bool has_words(const struct view *v)
{
    return !v->cann->tcube ||
           (v->value[CANN_OUTER] != OUTER_M_N && v->value[CANN_L0B_HOLDS] == HOLDS_TILE);
}

static bool library_parts(const struct view *v)
{
    static const struct {
        enum cann_direction direction;
        enum cann_axis base;
    } tiles[] = {{CANN_M, CANN_BASE_M}, {CANN_N, CANN_BASE_N}, {CANN_K, CANN_BASE_K}};
    int64_t parts = v->plan->parts;
    const int64_t *core = v->plan->extent;
    for (int i = 0; i < 3; i++)
        if (!cann_is_parts_tile(v->cann, parts, tiles[i].direction, core[tiles[i].direction],
                                v->value[tiles[i].base]))
            return false;
    return cann_is_parts_block(v->cann, parts, core[CANN_M], core[CANN_N]);
}

static const struct {
    bool (*holds)(const struct view *v);
    const char *limit, *text;
    bool outside; /* can such a kernel be written and simulated all the same? */
} rules[] = {
    {enough_cores, "cores", "cores: more than may work", false},
    {parts_apart, "split_k", "split_k: more than 1 where a core gets several blocks", false},
    {step_m_one, "step_m", "step_m: more than 1 where the k of A is not whole in l1", false},
    {step_n_one, "step_n", "step_n: more than 1 where the k of B is not whole in l1", false},
    {batch_a_whole, "step_batch_a", "step_batch_a: more than 1 block where one of A is not whole",
     false},
    {batch_b_whole, "step_batch_b", "step_batch_b: more than 1 block where one of B is not whole",
     false},
    {along_a_batch, "step_batch", "step_batch_a, step_batch_b: more than 1 block without a batch",
     true},
    {chunks_divide, "step_ka", "step_ka, step_kb: neither number of chunks divides the other",
     false},
    {few_buffers, "buffers", "buffers: 1 or 2 of each kind", false},
    {has_words, "tcube", "a TCubeTiling has no word for outer=m_n and l0b_holds=slab", false},
    {library_parts, "split_k",
     "split_k: the library's kernel takes all of m and n in tiles of 128x128, 256 bytes of k",
     true},
};
enum { RULES = sizeof rules / sizeof *rules };

static double instructions_at_most(const struct view *v)
{
    const int64_t *value = v->value, *core = v->plan->extent;
    int64_t m = divide_up(core[CANN_M], value[CANN_BASE_M]);
    int64_t n = divide_up(core[CANN_N], value[CANN_BASE_N]);
    return cann_instructions_at_most((double)core[CANN_BATCH] * (double)m * (double)n,
                                     divide_up(core[CANN_K], value[CANN_BASE_K]), v->plan->slab);
}

static void add_rules(const struct view *v, struct violation list[MAX_VIOLATIONS], int *count)
{
    for (int r = 0; r < RULES; r++)
        if (!rules[r].holds(v)) {
            list[*count] = (struct violation){.outside = rules[r].outside};
            snprintf(list[*count].limit, sizeof list->limit, "%s", rules[r].limit);
            snprintf(list[*count].text, sizeof list->text, "%s", rules[r].text);
            ++*count;
        }
}

/* ---- sizes ---------------------------------------------------------------------------------- */

/* What is cut along an axis of sizes or steps, and into multiples of what. Later ones depend on the
 * values of those before them. */
static const int cut_axes[] = {CANN_SINGLE_M, CANN_SINGLE_N,     CANN_BASE_M,      CANN_BASE_N,
                               CANN_BASE_K,   CANN_STEP_KA,      CANN_STEP_KB,     CANN_STEP_M,
                               CANN_STEP_N,   CANN_STEP_BATCH_A, CANN_STEP_BATCH_B};
enum { CUT_AXES = sizeof cut_axes / sizeof *cut_axes };

static int64_t whole_of(const struct view *v, int axis, int64_t *unit)
{
    const int64_t *size = v->cann->size, *core = v->plan->extent, *value = v->value;
    *unit = axis == CANN_BASE_K   ? v->cann->machine.block_k
            : axis <= CANN_BASE_N ? v->cann->machine.block_mn
                                  : 1;
    switch (axis) {
    case CANN_SINGLE_M:
        return size[CANN_M];
    case CANN_SINGLE_N:
        return size[CANN_N];
    case CANN_BASE_M:
        return core[CANN_M];
    case CANN_BASE_N:
        return core[CANN_N];
    case CANN_BASE_K:
        return core[CANN_K];
    case CANN_STEP_M:
        return divide_up(core[CANN_M], value[CANN_BASE_M]);
    case CANN_STEP_N:
        return divide_up(core[CANN_N], value[CANN_BASE_N]);
    case CANN_STEP_BATCH_A:
        return core[CANN_BATCH];
    case CANN_STEP_BATCH_B:
        return v->plan->one_b ? 1 : core[CANN_BATCH];
    default:
        return divide_up(core[CANN_K], value[CANN_BASE_K]);
    }
}

static void add_split(const struct view *v, struct violation list[MAX_VIOLATIONS], int *count)
{
    int64_t split = v->value[CANN_SPLIT_K], below = split, above = split;
    if (cann_is_split(v->cann, split))
        return;
    while (!cann_is_split(v->cann, below = least_of(below - 1, v->cann->most_parts)))
        continue;
    while (++above <= v->cann->most_parts && !cann_is_split(v->cann, above))
        continue;
    add_value(list, count, cann_axes[CANN_SPLIT_K].name, split, "number of parts here", below,
              above <= v->cann->most_parts ? above : 0);
}

/* Values of an agreed tiling into which nothing is cut. A tile that is no multiple of the matrix
 * unit's block is none at all; the others could be written and simulated. */
static void add_sizes(const struct view *v, struct violation list[MAX_VIOLATIONS], int *count)
{
    for (int i = 0; i < CUT_AXES; i++) {
        int axis = cut_axes[i];
        int64_t unit, whole = whole_of(v, axis, &unit), value = v->value[axis];
        bool batch = axis == CANN_STEP_BATCH_A || axis == CANN_STEP_BATCH_B;
        if (batch ? cann_is_batch_step(v->cann, whole, value) : is_cut_of(whole, value, unit))
            continue;
        int64_t below = 0, above = 0;
        do {
            below = above;
            above = batch ? cann_next_batch_step(v->cann, whole, above)
                          : next_cut(whole / unit, above / unit) * unit;
        } while (above && above < value);
        add_value(list, count, cann_axes[axis].name, value, "size of this space", below, above);
        list[*count - 1].outside = value % unit == 0;
    }
}

/* ---- one tiling a kernel -------------------------------------------------------------------- */

int64_t cann_agreed_order(const int64_t *v, int64_t m, int64_t n)
{
    if (m == 1 || n == 1)
        return OUTER_M;
    if (v[CANN_OUTER] != OUTER_M_N)
        return v[CANN_OUTER];
    if (v[CANN_STEP_M] == 1 || v[CANN_STEP_N] == 1)
        return OUTER_M;
    return v[CANN_STEP_M] < m && v[CANN_STEP_N] < n ? OUTER_M_N : OUTER_N;
}

/* No size beyond what is cut, no core without a block, no second buffer where a tile is fetched
 * once. */
void cann_agree(const struct space *space, struct tiling *tiling)
{
    static const enum cann_live_range holds[] = {LIVE_A_L1, LIVE_B_L1, LIVE_A_L0, LIVE_B_L0,
                                                 LIVE_C};
    const struct cann *cann = cann_of(space);
    struct cann_plan plan;
    struct view view = {cann, &plan, tiling->value};
    int64_t *v = tiling->value, unit;
    cann_plan_make(cann, tiling, &plan);
    v[CANN_SINGLE_M] = plan.extent[CANN_M];
    v[CANN_SINGLE_N] = plan.extent[CANN_N];
    v[CANN_SPLIT_K] = plan.parts;
    if (v[CANN_CORES] <= cann->cores)
        v[CANN_CORES] = plan.cores;
    for (int i = 0; i < CUT_AXES; i++)
        v[cut_axes[i]] = least_of(v[cut_axes[i]], whole_of(&view, cut_axes[i], &unit));
    int64_t m = whole_of(&view, CANN_STEP_M, &unit), n = whole_of(&view, CANN_STEP_N, &unit);
    v[CANN_OUTER] = cann_agreed_order(v, m, n);
    if (n * whole_of(&view, CANN_STEP_KB, &unit) == 1)
        v[CANN_L0B_HOLDS] = HOLDS_TILE;
    cann_plan_make(cann, tiling, &plan);
    for (int i = 0; i < 5; i++)
        if (v[CANN_L1A_BUFFERS + i] == 2 &&
            cann_openings(&plan, holds[i], SCOPE_PROGRAM, plan.extent) < 2)
            v[CANN_L1A_BUFFERS + i] = 1;
}

/* ---- all together --------------------------------------------------------------------------- */

int cann_violations(const struct space *space, const struct tiling *tiling,
                    struct violation list[MAX_VIOLATIONS])
{
    const struct cann *cann = cann_of(space);
    struct tiling agreed = *tiling;
    struct cann_plan plan;
    int64_t needed[NEEDS], available[NEEDS];
    int count = 0;
    cann_agree(space, &agreed);
    cann_plan_make(cann, &agreed, &plan);
    struct view view = {cann, &plan, agreed.value};
    add_rules(&view, list, &count);
    add_split(&view, list, &count);
    add_sizes(&view, list, &count);
    count_needs(cann, &plan, needed, available);
    for (int n = 0; n < NEEDS; n++)
        add_excess(list, &count, need_names[n], need_contents[n], needed[n], available[n]);
    if (count == 0)
        add_length(list, &count, instructions_at_most(&view));
    return count;
}

bool cann_legal(const struct space *space, const struct tiling *tiling)
{
    struct violation list[MAX_VIOLATIONS];
    struct tiling agreed = *tiling;
    cann_agree(space, &agreed);
    return memcmp(agreed.value, tiling->value, CANN_AXES * sizeof *agreed.value) == 0 &&
           cann_violations(space, tiling, list) == 0;
}
