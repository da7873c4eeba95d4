/* What fits: every live buffer of the pipeline, all copies counted, against the chip. */
#include "kernels/cubefx/cubefx_segments.h"
#include "kernels/limits.h"

#include <stdio.h>

/* Places, where matrices of one row and one step count, of both copies together. */
static int64_t places(const struct cubefx_plan *plan)
{
    int64_t first = plan->rows * plan->groups.slice;
    return plan->copies == 1 ? first : first + plan->second_rows * plan->second_steps;
}

static struct core_needs needs_of(const struct cubefx_machine *machine,
                                  const struct cubefx_plan *plan)
{
    int64_t type = machine->type_bytes, inputs = plan->rows * machine->block * type;
    int64_t fed = plan->sequences_stay ? plan->steps : 2 * plan->groups.slice;
    int64_t columns = plan->powers + plan->outputs;
    return (struct core_needs){
        machine->hw,
        {machine->l0a, machine->l0b, machine->l0c, machine->ub, machine->l1},
        {[CORE_L0A] = inputs + plan->rows * plan->groups.slice * plan->powers * type,
         [CORE_L0B] = fed * plan->sequence_bytes + plan->coefficient_bytes,
         [CORE_L0C] = places(plan) * columns * machine->accumulator_bytes,
         [CORE_UB] = inputs + places(plan) * columns * type,
         [CORE_L1] = plan->steps * plan->sequence_bytes + plan->coefficient_bytes + inputs +
                     places(plan) * plan->powers * type},
    };
}

static bool fits(const struct cubefx_machine *machine, const struct cubefx_plan *plan)
{
    struct core_needs needs = needs_of(machine, plan);
    return needs_fit(&needs, CORE_L1);
}

/* More instructions than the program has: 36 a group, 2 a step, 20 a tile. */
static double instructions_at_most(const struct cubefx_plan *plan)
{
    return (double)plan->tiles.count *
               (36 * (double)plan->groups.count + 2 * (double)plan->steps + 20) +
           64;
}

/* More segments never need more, so they are left open; one copy and, in L0B, one step's matrices
 * are the least. All of this grows with merge within a block, and with the tile. */
bool cubefx_possible(const struct space *space, const struct tiling *tiling, int fixed)
{
    const struct cubefx_space *cubefx = cubefx_of(space);
    const struct cubefx_share *share = &cubefx_part_of(space, tiling)->share;
    struct cubefx_plan plan;
    struct tiling least = *tiling;
    if (fixed == CUBEFX_AXES) {
        cubefx_plan(&cubefx->machine, share, tiling, &plan);
        return fits(&cubefx->machine, &plan) && is_executable(instructions_at_most(&plan));
    }
    if (fixed <= CUBEFX_TILE)
        least.value[CUBEFX_TILE] = (int64_t)cubefx->machine.block * cubefx->machine.block;
    least.value[CUBEFX_SEGMENTS] = cubefx->machine.block;
    cubefx_plan(&cubefx->machine, share, &least, &plan);
    plan.copies = 1;
    plan.steps = 1;
    plan.sequences_stay = true;
    return fits(&cubefx->machine, &plan);
}

/* Values that the axes do not have. The segments depend on merge and the tiles on the cores, so
 * they are asked in their block. */
static int off_axis(const struct space *space, const struct tiling *tiling,
                    struct violation list[MAX_VIOLATIONS])
{
    const struct cubefx_space *cubefx = cubefx_of(space);
    const struct cubefx_part *part = cubefx_part_of(space, tiling);
    int64_t merge = tiling->value[CUBEFX_MERGE], s = cubefx->machine.block, below, above;
    int count = 0;
    char groups[64];
    if (merge > s) {
        if (list) {
            list[count] = (struct violation){.limit = "merge"};
            snprintf(list[count].text, sizeof list->text,
                     "merge=%lld: at most %lld matrices stand side by side", (long long)merge,
                     (long long)s);
        }
        return count + 1;
    }
    const struct space_block *block = space->blocks;
    while (block->values[CUBEFX_CORES][0] != part->cores_used ||
           !block_has(block, CUBEFX_MERGE, merge))
        block++;
    snprintf(groups, sizeof groups, "number of groups of this space with merge=%lld",
             (long long)merge);
    for (int a = CUBEFX_TILE; a <= CUBEFX_SEGMENTS; a++)
        if (!on_axis(block, a, tiling->value[a], &below, &above))
            add_value(list, &count, cubefx_axes[a].name, tiling->value[a],
                      a == CUBEFX_TILE ? "equal slice of this space" : groups, below, above);
    add_core_count(list, &count, tiling->value[CUBEFX_CORES], cubefx->padded_inputs / (s * s), 1,
                   cubefx->parts[cubefx->cores - 1].cores_used);
    return count;
}

int cubefx_violations(const struct space *space, const struct tiling *tiling,
                      struct violation list[MAX_VIOLATIONS])
{
    static const char *const contents[CORE_NEEDS] = {
        "logarithms and powers take", "Sequence and coefficient matrices take",
        "powers and results of groups take", "inputs, powers and results of groups take",
        "matrices, logarithms and powers take"};
    const struct cubefx_space *cubefx = cubefx_of(space);
    struct cubefx_plan plan;
    int count = off_axis(space, tiling, list);
    cubefx_plan(&cubefx->machine, &cubefx_part_of(space, tiling)->share, tiling, &plan);
    struct core_needs needs = needs_of(&cubefx->machine, &plan);
    add_needs(list, &count, &needs, contents);
    add_length(list, &count, instructions_at_most(&plan));
    return count;
}

bool cubefx_legal(const struct space *space, const struct tiling *tiling)
{
    return cubefx_violations(space, tiling, NULL) == 0;
}
