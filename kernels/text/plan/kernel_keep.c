/* What is loaded or copied once. A load runs in the first round only of a loop inside its tile's
 * life that changes neither its parts nor its source: in later rounds it would bring the same
 * again; and so does a copy, which nothing but loads and copies writes beside. Whether a source
 * changes is asked of its own writers, which may be such loads themselves. */
#include "kernels/text/plan/kernel_structure.h"

#include <string.h>

struct keeper {
    const struct kernel_values *values;
    struct kernel_plan *plan;
    struct error *error;
    bool is_known[PLAN_MAX_STEPS];
};

static void find_once(struct keeper *keeper, int number);

/* Does the tile's content change from round to round of a plan loop? */
static bool changes(struct keeper *keeper, int tile, int loop)
{
    struct kernel_plan *plan = keeper->plan;
    if (plan_is_within(plan, plan->tiles[tile].life, loop))
        return true;
    for (int s = plan->loops[loop].first_step; s < plan->loops[loop].end_step; s++) {
        if (!plan->steps[s].part_count || plan->steps[s].parts[0].tile != tile)
            continue;
        find_once(keeper, s);
        if (!(plan->steps[s].once >> plan->loops[loop].text_loop & 1))
            return true;
    }
    return false;
}

/* Does it bring what one other tile holds, as it is or in another type? */
static bool is_copy(const struct kernel_plan *plan, const struct plan_step *step)
{
    if (step->part_count != 2 || step->parts[0].tile < 0 || step->parts[1].tile < 0 ||
        step->parts[0].tile == step->parts[1].tile)
        return false;
    if (step->text->verb == VERB_MOVE)
        return true;
    const struct operation *operation =
        step->kind == INSTRUCTION_VECTOR ? &plan->hw->operations[step->what] : NULL;
    return operation && operation->result == RESULT_ELEMENTS && strcmp(operation->value, "a") == 0;
}

static bool is_kept_by(const struct kernel_plan *plan, const struct plan_step *step)
{
    if (step->text->verb == VERB_LOAD)
        return step->parts[0].tile >= 0;
    if (!is_copy(plan, step))
        return false;
    for (int s = 0; s < plan->step_count; s++)
        if (plan->steps[s].part_count && plan->steps[s].parts[0].tile == step->parts[0].tile &&
            plan->steps[s].text->verb != VERB_LOAD && !is_copy(plan, &plan->steps[s]))
            return false;
    return true;
}

/* On which a copy's keys hang, and whether it runs. */
static uint64_t loops_of_keys(const struct kernel_step *step)
{
    uint64_t loops = step->condition ? step->condition->loops : 0;
    for (int k = 0; k < STEP_KEYS; k++)
        loops |= step->keys[k] ? step->keys[k]->loops : 0;
    return loops;
}

static void find_once(struct keeper *keeper, int number)
{
    struct kernel_plan *plan = keeper->plan;
    struct plan_step *step = &plan->steps[number];
    if (keeper->is_known[number])
        return;
    keeper->is_known[number] = true;
    if (!is_kept_by(plan, step))
        return;
    uint64_t changing = step->parts[0].loops | step->parts[1].loops;
    if (step->text->verb != VERB_LOAD)
        changing |= kernel_asked(plan->kernel, loops_of_keys(step->text));
    for (int p = 0; p < step->part_count; p++)
        for (int d = 0; d < step->parts[p].dim_count; d++)
            if (step->parts[p].dims[d].reach == REACH_SOME && !step->parts[p].dims[d].from)
                return; /* data decide, anew in each round */
    int source = step->parts[1].tile;
    for (int loop = step->around; loop != plan->tiles[step->parts[0].tile].life;
         loop = plan->loops[loop].around) {
        uint64_t bit = (uint64_t)1 << plan->loops[loop].text_loop;
        if (!(changing & bit) && (source < 0 || !changes(keeper, source, loop)))
            step->once |= bit;
    }
}

/* A kept tile must hold what was loaded: nothing else may write it. */
static enum status check_writers(const struct keeper *keeper, int number)
{
    struct kernel_plan *plan = keeper->plan;
    int tile = plan->steps[number].parts[0].tile;
    plan->tiles[tile].is_kept = true;
    for (int s = 0; s < plan->step_count; s++)
        if (plan->steps[s].part_count && plan->steps[s].parts[0].tile == tile &&
            !is_kept_by(plan, &plan->steps[s]))
            return plan_fail(keeper->error, plan->steps[s].text->to.at,
                             "tile '%s' is kept over rounds in which it is not loaded, expected "
                             "loads and copies alone to write it",
                             keeper->values->kernel->tiles[tile].name.text);
    return STATUS_OK;
}

enum status plan_keep(const struct kernel_values *values, struct kernel_plan *plan,
                      struct error *error)
{
    struct keeper keeper = {.values = values, .plan = plan, .error = error};
    for (int s = 0; s < plan->step_count; s++)
        find_once(&keeper, s);
    for (int s = 0; s < plan->step_count; s++)
        if (plan->steps[s].once)
            TRY(check_writers(&keeper, s));
    return STATUS_OK;
}
