/* What fits: every live buffer of the pipeline, all copies counted, against the chip. */
#include "kernels/cubefx_segments.h"

#include <stdio.h>

enum need { NEED_L0A, NEED_L0B, NEED_L0C, NEED_UB, NEED_L1, NEEDS };

/* Places, where matrices of one row and one step count, of both copies together. */
static int64_t places(const struct cubefx_plan *plan)
{
    int64_t first = plan->rows * plan->groups.slice;
    return plan->copies == 1 ? first : first + plan->second_rows * plan->second_steps;
}

static void count_needs(const struct cubefx_space *cubefx, const struct cubefx_plan *plan,
                        int64_t needs[NEEDS])
{
    const struct cubefx_machine *machine = &cubefx->machine;
    int64_t type = machine->type_bytes, inputs = plan->rows * machine->block * type;
    int64_t fed = plan->sequences_stay ? plan->steps : 2 * plan->groups.slice;
    needs[NEED_L0A] = inputs + plan->rows * plan->groups.slice * plan->powers * type;
    needs[NEED_L0B] = fed * plan->sequence_bytes + plan->coefficient_bytes;
    needs[NEED_L0C] = places(plan) * (plan->powers + plan->outputs) * machine->accumulator_bytes;
    needs[NEED_UB] = inputs + places(plan) * (plan->powers + plan->outputs) * type;
    needs[NEED_L1] = plan->steps * plan->sequence_bytes + plan->coefficient_bytes + inputs +
                     places(plan) * plan->powers * type;
}

static int64_t capacity(const struct cubefx_machine *machine, enum need need)
{
    const int buffers[NEEDS] = {[NEED_L0A] = machine->l0a,
                                [NEED_L0B] = machine->l0b,
                                [NEED_L0C] = machine->l0c,
                                [NEED_UB] = machine->ub,
                                [NEED_L1] = machine->l1};
    int64_t bytes = machine->hw->buffers[buffers[need]].capacity_bytes;
    return bytes ? bytes : INT64_MAX;
}

static bool fits(const struct cubefx_space *cubefx, const struct cubefx_plan *plan)
{
    int64_t needs[NEEDS];
    count_needs(cubefx, plan, needs);
    for (int n = 0; n < NEEDS; n++)
        if (needs[n] > capacity(&cubefx->machine, (enum need)n))
            return false;
    return true;
}

/* More segments never need more, so they are left open; one copy and, in L0B, one step's matrices
 * are the least. All of this grows with merge within a block, and with the tile. */
bool cubefx_possible(const struct space *space, const struct tiling *tiling, int fixed)
{
    const struct cubefx_space *cubefx = cubefx_of(space);
    struct cubefx_plan plan;
    struct tiling least = *tiling;
    int64_t square = (int64_t)cubefx->machine.block * cubefx->machine.block;
    if (fixed <= CUBEFX_TILE)
        least.value[CUBEFX_TILE] = square;
    least.value[CUBEFX_SEGMENTS] = cubefx->machine.block;
    cubefx_plan(&cubefx->machine, &cubefx->share, &least, &plan);
    plan.copies = 1;
    plan.steps = 1;
    plan.sequences_stay = true;
    return fits(cubefx, &plan);
}

/* More instructions than the program has: 36 a group, 2 a step, 20 a tile. */
static double instructions_at_most(const struct cubefx_plan *plan)
{
    return (double)plan->tiles.count *
               (36 * (double)plan->groups.count + 2 * (double)plan->steps + 20) +
           64;
}

static bool playable(const struct cubefx_plan *plan)
{
    return instructions_at_most(plan) <= (double)PROGRAM_MAX_PLAYED;
}

bool cubefx_legal(const struct space *space, const struct tiling *tiling)
{
    const struct cubefx_space *cubefx = cubefx_of(space);
    struct cubefx_plan plan;
    cubefx_plan(&cubefx->machine, &cubefx->share, tiling, &plan);
    return fits(cubefx, &plan) && playable(&plan);
}

static bool among(const struct space_block *block, int axis, int64_t value)
{
    for (int i = 0; i < block->count[axis]; i++)
        if (block->values[axis][i] == value)
            return true;
    return false;
}

/* The two values next to one that is none. */
static void describe_axis(const struct space_block *block, const struct tiling *tiling, int axis,
                          struct violation *violation)
{
    static const char *const kinds[CUBEFX_AXES] = {"number of matrices", "equal slice",
                                                   "number of groups"};
    int64_t value = tiling->value[axis], below = 0, above = 0;
    for (int i = 0; i < block->count[axis]; i++) {
        int64_t v = block->values[axis][i];
        below = v < value ? v : below;
        above = v > value && !above ? v : above;
    }
    *violation = (struct violation){0};
    snprintf(violation->limit, sizeof violation->limit, "%s", cubefx_axes[axis].name);
    int used = snprintf(violation->text, sizeof violation->text, "%s=%lld is no %s of this space",
                        cubefx_axes[axis].name, (long long)value, kinds[axis]);
    if (axis == CUBEFX_SEGMENTS)
        used += snprintf(violation->text + used, sizeof violation->text - (size_t)used,
                         " with merge=%lld", (long long)tiling->value[CUBEFX_MERGE]);
    used += snprintf(violation->text + used, sizeof violation->text - (size_t)used, "; next");
    const int64_t next[] = {below, above};
    for (int i = 0; i < 2; i++)
        if (next[i])
            used += snprintf(violation->text + used, sizeof violation->text - (size_t)used, " %lld",
                             (long long)next[i]);
}

/* Values that the axes do not have. The segments depend on merge, so they are asked in its block.
 */
static int off_axis(const struct space *space, const struct tiling *tiling,
                    struct violation list[MAX_VIOLATIONS])
{
    const struct cubefx_space *cubefx = cubefx_of(space);
    int64_t merge = tiling->value[CUBEFX_MERGE], s = cubefx->machine.block;
    int count = 0;
    if (merge > s) {
        list[count] = (struct violation){.limit = "merge"};
        snprintf(list[count++].text, sizeof list->text,
                 "merge=%lld: at most %lld matrices stand side by side", (long long)merge,
                 (long long)s);
        return count;
    }
    const struct space_block *block = space->blocks;
    while (!among(block, CUBEFX_MERGE, merge))
        block++;
    for (int a = CUBEFX_TILE; a < CUBEFX_AXES; a++)
        if (!among(block, a, tiling->value[a]))
            describe_axis(block, tiling, a, &list[count++]);
    return count;
}

int cubefx_violations(const struct space *space, const struct tiling *tiling,
                      struct violation list[MAX_VIOLATIONS])
{
    static const char *const names[NEEDS] = {"l0a", "l0b", "l0c", "ub", "l1"};
    static const char *const contents[NEEDS] = {
        "logarithms and powers", "Sequence and coefficient matrices",
        "powers and results of groups", "inputs, powers and results of groups",
        "matrices, logarithms and powers"};
    const struct cubefx_space *cubefx = cubefx_of(space);
    struct cubefx_plan plan;
    int count = off_axis(space, tiling, list);
    int64_t needs[NEEDS];
    cubefx_plan(&cubefx->machine, &cubefx->share, tiling, &plan);
    count_needs(cubefx, &plan, needs);
    for (int n = 0; n < NEEDS; n++) {
        int64_t available = capacity(&cubefx->machine, (enum need)n);
        if (needs[n] <= available)
            continue;
        struct violation *v = &list[count++];
        *v = (struct violation){.needed_bytes = needs[n], .available_bytes = available};
        snprintf(v->limit, sizeof v->limit, "%s", names[n]);
        snprintf(v->text, sizeof v->text, "%s: %s take %lld bytes of %lld, %lld too many", names[n],
                 contents[n], (long long)needs[n], (long long)available,
                 (long long)(needs[n] - available));
    }
    if (!playable(&plan)) {
        list[count] = (struct violation){.limit = "instructions"};
        snprintf(list[count++].text, sizeof list->text,
                 "instructions: about %.2g, more than the %lld that are played",
                 instructions_at_most(&plan), PROGRAM_MAX_PLAYED);
    }
    return count;
}
