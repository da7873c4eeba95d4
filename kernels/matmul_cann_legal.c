/* What fits, and which of the tilings that do the same stands for them.
 *
 * A tiling fits when the chip can hold its tiles and the nest of loops can say it: such a tiling
 * can be explained, written and played, a point of the space or not. A legal one is a point of the
 * space besides, and of all values that mean the same nest it has the agreed ones: slices
 * instead of sizes that leave a smaller rest only, no step beyond what there is, no second buffer
 * where a tile is fetched once, as few cores as take equally many blocks. */
#include "kernels/limits.h"
#include "kernels/matmul_cann_nesting.h"

#include <stdio.h>

enum need { NEED_L0A, NEED_L0B, NEED_L0C, NEED_L1, NEED_BT, NEEDS };

static const char *const need_names[NEEDS] = {"l0a", "l0b", "l0c", "l1", "bt"};
static const char *const need_contents[NEEDS] = {
    "A tiles for the matrix unit", "B tiles for the matrix unit", "accumulated tiles of C",
    "parts of A and B", "a row of the bias"};

static void count_needs(const struct cann *cann, const struct cann_plan *plan,
                        int64_t needed[NEEDS], int64_t available[NEEDS])
{
    static const enum cann_hold holds[NEEDS] = {[NEED_L0A] = HOLD_A_L0,
                                                [NEED_L0B] = HOLD_B_L0,
                                                [NEED_L0C] = HOLD_C,
                                                [NEED_L1] = HOLD_A_L1,
                                                [NEED_BT] = HOLD_BIAS_BT};
    const struct cann_machine *machine = &cann->machine;
    const int buffers[NEEDS] = {machine->l0a, machine->l0b, machine->l0c, machine->l1, machine->bt};
    for (int n = 0; n < NEEDS; n++) {
        const struct cann_scope *scope = &plan->scope[holds[n]];
        needed[n] = scope->used ? product_of(scope->bytes, scope->copies) : 0;
        available[n] = buffers[n] < 0 ? INT64_MAX : capacity_of(machine->hw, buffers[n]);
    }
    needed[NEED_L1] = plan->l1_bytes;
}

static bool holds_all(const struct cann *cann, const struct cann_plan *plan)
{
    int64_t needed[NEEDS], available[NEEDS];
    count_needs(cann, plan, needed, available);
    for (int n = 0; n < NEEDS; n++)
        if (needed[n] > available[n])
            return false;
    return true;
}

/* With the open sizes, steps and buffers at their least: what a tiling needs grows with each of
 * them. */
bool cann_possible(const struct space *space, const struct tiling *tiling, int fixed)
{
    const struct cann *cann = cann_of(space);
    struct tiling least = *tiling;
    struct cann_plan plan;
    for (int a = fixed; a < CANN_AXES; a++)
        least.value[a] = cann->values[a][0];
    cann_plan_make(cann, &least, &plan);
    return plan.cores <= cann->cores && holds_all(cann, &plan);
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

static bool base_m_blocks(const struct view *v)
{
    return v->value[CANN_BASE_M] % v->cann->machine.block_mn == 0;
}

static bool base_n_blocks(const struct view *v)
{
    return v->value[CANN_BASE_N] % v->cann->machine.block_mn == 0;
}

static bool base_k_blocks(const struct view *v)
{
    return v->value[CANN_BASE_K] % v->cann->machine.block_k == 0;
}

static bool enough_cores(const struct view *v)
{
    return v->value[CANN_CORES] <= v->cann->cores;
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

static const struct {
    bool (*holds)(const struct view *v);
    const char *limit, *text;
} rules[] = {
    {enough_cores, "cores", "cores: more than may work"},
    {base_m_blocks, "base_m", "base_m: no multiple of the matrix unit's block"},
    {base_n_blocks, "base_n", "base_n: no multiple of the matrix unit's block"},
    {base_k_blocks, "base_k", "base_k: no multiple of the matrix unit's block"},
    {step_m_one, "step_m", "step_m: more than 1 where the k of A is not whole in l1"},
    {step_n_one, "step_n", "step_n: more than 1 where the k of B is not whole in l1"},
    {batch_a_whole, "step_batch_a", "step_batch_a: more than 1 block where one of A is not whole"},
    {batch_b_whole, "step_batch_b", "step_batch_b: more than 1 block where one of B is not whole"},
    {chunks_divide, "step_ka", "step_ka, step_kb: neither number of chunks divides the other"},
    {few_buffers, "buffers", "buffers: 1 or 2 of each kind"},
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

static bool follows_rules(const struct view *v)
{
    for (int r = 0; r < RULES; r++)
        if (!rules[r].holds(v))
            return false;
    return true;
}

static bool fits(const struct view *v)
{
    return follows_rules(v) && holds_all(v->cann, v->plan) &&
           instructions_at_most(v) <= (double)PROGRAM_MAX_PLAYED;
}

bool cann_fits(const struct space *space, const struct tiling *tiling)
{
    struct cann_plan plan;
    cann_plan_make(cann_of(space), tiling, &plan);
    return fits(&(struct view){cann_of(space), &plan, tiling->value});
}

int cann_violations(const struct space *space, const struct tiling *tiling,
                    struct violation list[MAX_VIOLATIONS])
{
    const struct cann *cann = cann_of(space);
    struct cann_plan plan;
    int64_t needed[NEEDS], available[NEEDS];
    int count = 0;
    cann_plan_make(cann, tiling, &plan);
    struct view view = {cann, &plan, tiling->value};
    for (int r = 0; r < RULES; r++)
        if (!rules[r].holds(&view)) {
            list[count] = (struct violation){0};
            snprintf(list[count].limit, sizeof list->limit, "%s", rules[r].limit);
            snprintf(list[count++].text, sizeof list->text, "%s", rules[r].text);
        }
    count_needs(cann, &plan, needed, available);
    for (int n = 0; n < NEEDS; n++)
        add_excess(list, &count, need_names[n], need_contents[n], needed[n], available[n]);
    if (count == 0)
        add_length(list, &count, instructions_at_most(&view));
    return count;
}

/* ---- one tiling a meaning ------------------------------------------------------------------- */

static bool sizes_agreed(const struct view *v)
{
    const int64_t *value = v->value, *size = v->cann->size, *core = v->plan->extent;
    int block = v->cann->machine.block_mn;
    return is_cut_of(size[CANN_M], value[CANN_SINGLE_M], block) &&
           is_cut_of(size[CANN_N], value[CANN_SINGLE_N], block) &&
           is_cut_of(core[CANN_M], value[CANN_BASE_M], block) &&
           is_cut_of(core[CANN_N], value[CANN_BASE_N], block) &&
           is_cut_of(core[CANN_K], value[CANN_BASE_K], v->cann->machine.block_k);
}

/* No core without a block. */
static bool cores_agreed(const struct view *v)
{
    return v->value[CANN_CORES] == v->plan->cores;
}

/* The order of loops of which one runs once is that of outer = m; a third order says something
 * where both the L1 tiles and the L0 tiles of both directions are several. */
static bool order_agreed(const struct view *v, int64_t m, int64_t n)
{
    const int64_t *value = v->value;
    if (m == 1 || n == 1)
        return value[CANN_OUTER] == OUTER_M;
    return value[CANN_OUTER] != OUTER_M_N || (value[CANN_STEP_M] > 1 && value[CANN_STEP_M] < m &&
                                              value[CANN_STEP_N] > 1 && value[CANN_STEP_N] < n);
}

static bool steps_agreed(const struct view *v)
{
    const int64_t *value = v->value, *core = v->plan->extent;
    int64_t m = divide_up(core[CANN_M], value[CANN_BASE_M]);
    int64_t n = divide_up(core[CANN_N], value[CANN_BASE_N]);
    int64_t k = divide_up(core[CANN_K], value[CANN_BASE_K]);
    return is_cut(m, value[CANN_STEP_M]) && is_cut(n, value[CANN_STEP_N]) &&
           is_cut(k, value[CANN_STEP_KA]) && is_cut(k, value[CANN_STEP_KB]) &&
           order_agreed(v, m, n) && (n * k > 1 || value[CANN_L0B_HOLDS] == HOLDS_TILE);
}

/* Blocks are loaded together along the batch only, and one B is loaded once anyhow. */
static bool batches_agreed(const struct view *v)
{
    int64_t blocks = v->cann->size[CANN_BATCH] > 1 ? v->plan->extent[CANN_BATCH] : 1;
    return is_cut(blocks, v->value[CANN_STEP_BATCH_A]) &&
           is_cut(v->plan->one_b ? 1 : blocks, v->value[CANN_STEP_BATCH_B]);
}

static bool buffers_agreed(const struct view *v)
{
    static const enum cann_hold holds[] = {HOLD_A_L1, HOLD_B_L1, HOLD_A_L0, HOLD_B_L0, HOLD_C};
    for (int i = 0; i < 5; i++)
        if (v->value[CANN_L1A_BUFFERS + i] == 2 &&
            cann_openings(v->plan, holds[i], SCOPE_PROGRAM, v->plan->extent) < 2)
            return false;
    return true;
}

bool cann_legal(const struct space *space, const struct tiling *tiling)
{
    struct cann_plan plan;
    cann_plan_make(cann_of(space), tiling, &plan);
    struct view v = {cann_of(space), &plan, tiling->value};
    return sizes_agreed(&v) && cores_agreed(&v) && steps_agreed(&v) && batches_agreed(&v) &&
           fits(&v) && buffers_agreed(&v);
}
