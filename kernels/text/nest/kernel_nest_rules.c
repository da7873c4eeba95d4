/* What is asked of boxes: each condition of a tiling's legality as a function of spans. */
#include "kernels/limits.h"
#include "kernels/text/nest/kernel_nest.h"
#include "kernels/text/plan/kernel_structure.h"

static enum verdict verdict_of(bool never, bool always)
{
    return never ? HOLDS_NEVER : always ? HOLDS_ALWAYS : HOLDS_SOMETIMES;
}

/* ------------------------------------------------------------------ room and length */

static enum verdict ask_room(const struct nest_choice *choice, const struct fit_sum *sum,
                             const struct kernel_box *box)
{
    const struct kernel_plan *plan = &choice->made->plan;
    int64_t capacity = plan->hw->buffers[sum->buffer].capacity_bytes, least = 0, most = 0;
    for (int t = 0; t < sum->count; t++) {
        struct span bytes = box_bytes(box, plan, sum->tiles[t]);
        if (bytes.least > bytes.most)
            return HOLDS_NEVER;
        least = sum_of(least, bytes.least);
        most = sum_of(most, bytes.most);
    }
    return verdict_of(least > capacity, most <= capacity);
}

/* As kernel_fits counts them. */
static enum verdict ask_length(const struct nest_choice *choice, const struct kernel_box *box)
{
    const struct kernel_plan *plan = &choice->made->plan;
    double least[KERNEL_MAX_LOOPS + 1] = {1}, most[KERNEL_MAX_LOOPS + 1] = {1};
    double least_played = 0, most_played = 0;
    for (int loop = 1; loop < plan->loop_count; loop++) {
        const struct plan_loop *body = &plan->loops[loop];
        struct span rounds = box_rounds(box, body->text_loop);
        least[loop] = least[body->around] * (double)rounds.least;
        most[loop] = most[body->around] * (double)rounds.most;
        least_played += least[loop] * body->item_count;
        most_played += most[loop] * body->item_count;
    }
    return verdict_of(!is_executable(7 * least_played), is_executable(7 * most_played));
}

/* ------------------------------------------------------------------ what means the same */

/* How often the loops around a step run together. */
static struct span runs_of(const struct kernel_plan *plan, const struct plan_step *step,
                           const struct kernel_box *box)
{
    struct span runs = {1, 1};
    for (int loop = step->around; loop > 0; loop = plan->loops[loop].around) {
        struct span rounds = box_rounds(box, plan->loops[loop].text_loop);
        runs.least = product_of(runs.least, rounds.least);
        runs.most = product_of(runs.most, rounds.most);
    }
    return runs;
}

bool kernel_nest_turns(const struct kernel_plan *plan, const struct plan_step *step, int axis)
{
    for (int p = 0; p < step->part_count; p++) {
        int tile = step->parts[p].tile;
        const struct expression *copies = tile >= 0 ? plan->kernel->tiles[tile].copies : NULL;
        if (copies && copies->op == EXPRESSION_AXIS && copies->number == axis)
            return true;
    }
    return false;
}

/* Of a tile with copies: how often a step that uses it runs, for as often registers of flags may
 * turn; of a loop: how long what it cuts is. */
struct span kernel_nest_use(const struct nest_choice *choice, int axis,
                            const struct kernel_box *box)
{
    const struct kernel_plan *plan = &choice->made->plan;
    struct span use = {0, 0};
    for (int s = 0; s < plan->step_count; s++) {
        if (!kernel_nest_turns(plan, &plan->steps[s], axis))
            continue;
        struct span runs = runs_of(plan, &plan->steps[s], box);
        use.least = runs.least > use.least ? runs.least : use.least;
        use.most = runs.most > use.most ? runs.most : use.most;
    }
    for (int loop = 1; loop < plan->loop_count; loop++) {
        const struct kernel_loop *text = &plan->kernel->loops[plan->loops[loop].text_loop];
        if (text->by->op != EXPRESSION_AXIS || text->by->number != axis)
            continue;
        struct span in = box_span(box, text->in);
        use.least = in.least > use.least ? in.least : use.least;
        use.most = in.most > use.most ? in.most : use.most;
    }
    return use;
}

/* The next smaller value of an axis; 0: it is the first one. */
static int64_t value_below(const struct nest_block *block, int axis, int64_t value)
{
    const int64_t *values = block->block->values[axis];
    int i = 0;
    while (i < block->block->count[axis] && values[i] < value)
        i++;
    return i ? values[i - 1] : 0;
}

static enum verdict ask_agreed(const struct nest_block *block, const struct nest_choice *choice,
                               int axis, const struct kernel_box *box)
{
    int64_t below_least = value_below(block, axis, box->axes[axis].least);
    int64_t below_most = value_below(block, axis, box->axes[axis].most);
    if (below_most == 0)
        return HOLDS_ALWAYS;
    struct span use = kernel_nest_use(choice, axis, box);
    return verdict_of(below_least > 0 && use.most <= below_least, use.least > below_most);
}

/* ------------------------------------------------------------------ copies */

/* A plan is looked up once all that decides it is known. */
static enum verdict ask_structure(const struct kernel_space *ks, const struct nest_block *block,
                                  const struct kernel_box *box)
{
    struct tiling tiling = {.value = {0}};
    for (int i = 0; i < ks->decisions.axis_count; i++) {
        int axis = ks->decisions.axes[i];
        if (ks->block_axes >> axis & 1) {
            tiling.value[axis] = block->block->values[axis][0];
            continue;
        }
        if (!span_is_known(box->axes[axis]))
            return HOLDS_SOMETIMES;
        tiling.value[axis] = box->axes[axis].least;
    }
    const struct space_plan *plan = kernel_find_plan(ks, &tiling);
    return plan && plan->is_possible ? HOLDS_ALWAYS : HOLDS_NEVER;
}

enum verdict kernel_nest_ask(const struct kernel_space *ks, const struct nest_block *block,
                             const struct nest_choice *choice, const struct nest_rule *rule,
                             const struct kernel_box *box)
{
    struct span truth;
    switch (rule->kind) {
    case RULE_REQUIRED:
        truth = box_span(box, rule->truth);
        return verdict_of(truth.most == 0, truth.least == 1);
    case RULE_ROOM:
        return ask_room(choice, rule->sum, box);
    case RULE_LENGTH:
        return ask_length(choice, box);
    case RULE_STRUCTURE:
        return ask_structure(ks, block, box);
    case RULE_AGREED:
        return ask_agreed(block, choice, rule->axis, box);
    }
    return HOLDS_SOMETIMES;
}
