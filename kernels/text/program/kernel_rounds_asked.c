/* Which rounds of loops differ from others: those that expressions ask for with first and last,
 * those of loops that are written out because what is picked does not move evenly with them, and
 * the first and last ones in which alone a step runs. */
#include "kernels/text/plan/kernel_structure.h"
#include "kernels/text/program/kernel_flags_internal.h"

#include <string.h>

static uint64_t bit_of(int64_t loop)
{
    return (uint64_t)1 << loop;
}

/* Loops whose rounds change what these expressions' ranges begin with. */
static uint64_t chains_of(const struct kernel_plan *plan, uint64_t loops)
{
    uint64_t all = 0;
    for (int loop = 0; loop < KERNEL_MAX_LOOPS; loop++)
        if (loops >> loop & 1)
            all |= plan->chains[loop];
    return all;
}

static void mark_asked(struct flag_maker *maker, const struct expression *e)
{
    if (!e)
        return;
    if (e->op == EXPRESSION_FIRST)
        maker->flags->ask_first |= bit_of(e->number);
    else if (e->op == EXPRESSION_LAST)
        maker->flags->ask_last |= bit_of(e->number);
    else if (e->op == EXPRESSION_LET)
        mark_asked(maker, maker->plan->kernel->lets[e->number].value);
    for (const struct expression *arg = e->args; arg; arg = arg->next)
        mark_asked(maker, arg);
}

bool flags_asks_begin(const struct kernel_text *kernel, const struct expression *e)
{
    if (!e)
        return false;
    if (e->op == EXPRESSION_BEGIN)
        return true;
    if (e->op == EXPRESSION_LET && flags_asks_begin(kernel, kernel->lets[e->number].value))
        return true;
    for (const struct expression *arg = e->args; arg; arg = arg->next)
        if (flags_asks_begin(kernel, arg))
            return true;
    return false;
}

/* Asked for something that must not move with loops that stay loops. */
static void mark_fixed(struct flag_maker *maker, const struct expression *e)
{
    mark_asked(maker, e);
    if (e && flags_asks_begin(maker->plan->kernel, e))
        maker->flags->written_out |= chains_of(maker->plan, e->loops);
}

/* Does it move evenly with where ranges begin? */
static bool is_affine(const struct kernel_text *kernel, const struct expression *e)
{
    if (!e || e->op == EXPRESSION_BEGIN || !flags_asks_begin(kernel, e))
        return true;
    const struct expression *left = e->args, *right = left ? left->next : NULL;
    switch (e->op) {
    case EXPRESSION_LET:
        return is_affine(kernel, kernel->lets[e->number].value);
    case EXPRESSION_NEGATE:
        return is_affine(kernel, left);
    case EXPRESSION_ADD:
    case EXPRESSION_SUBTRACT:
        return is_affine(kernel, left) && is_affine(kernel, right);
    case EXPRESSION_MULTIPLY:
        return (!flags_asks_begin(kernel, left) || !flags_asks_begin(kernel, right)) &&
               is_affine(kernel, left) && is_affine(kernel, right);
    default:
        return false;
    }
}

static void mark_part(struct flag_maker *maker, const struct plan_part *part)
{
    for (int d = 0; d < part->dim_count; d++) {
        const struct plan_dim *dim = &part->dims[d];
        mark_fixed(maker, dim->count);
        mark_fixed(maker, dim->by);
        if (dim->from && is_affine(maker->plan->kernel, dim->from))
            mark_asked(maker, dim->from);
        else
            mark_fixed(maker, dim->from);
    }
}

/* Loops that a condition holds in first (last) rounds of alone, whatever else it asks. */
static uint64_t only_in(const struct expression *e, enum expression_op op)
{
    if (!e)
        return 0;
    if (e->op == EXPRESSION_AND)
        return only_in(e->args, op) | only_in(e->args->next, op);
    return e->op == op ? bit_of(e->number) : 0;
}

/* Does a product write to the tile? */
static bool is_sum(const struct kernel_plan *plan, int tile)
{
    bool any = false;
    for (int s = 0; s < plan->step_count; s++)
        any |= plan->steps[s].kind == INSTRUCTION_MATRIX && plan->steps[s].parts[0].tile == tile;
    return any;
}

static void mark_step(struct flag_maker *maker, int number)
{
    const struct plan_step *step = &maker->plan->steps[number];
    mark_fixed(maker, step->condition);
    for (int k = 0; k < STEP_KEYS; k++)
        mark_fixed(maker, step->text->keys[k]);
    for (int p = 0; p < step->part_count; p++)
        mark_part(maker, &step->parts[p]);
    maker->flags->first[number] = step->once | only_in(step->condition, EXPRESSION_FIRST);
    maker->flags->last[number] = only_in(step->condition, EXPRESSION_LAST);
    maker->flags->ask_first |= step->once;
    const struct plan_part *to = &step->parts[0];
    if (!step->part_count || !is_sum(maker->plan, to->tile))
        return;
    uint64_t in_life = flags_loops(maker, step->around, maker->plan->tiles[to->tile].life);
    maker->flags->ask_first |= in_life & ~to->loops;
    if (step->condition)
        maker->flags->ask_second |= in_life & ~to->loops & step->condition->loops;
}

void flags_find_rounds(struct flag_maker *maker)
{
    const struct kernel_plan *plan = maker->plan;
    for (int loop = 1; loop < plan->loop_count; loop++) {
        const struct kernel_loop *text = &plan->kernel->loops[plan->loops[loop].text_loop];
        mark_fixed(maker, text->in);
        mark_fixed(maker, text->by);
        maker->flags->written_out |= text->each ? bit_of(plan->loops[loop].text_loop) : 0;
    }
    for (int tile = 0; tile < plan->kernel->tile_count; tile++)
        for (int d = 0; d < plan->tiles[tile].dim_count && plan->tiles[tile].is_there; d++)
            mark_fixed(maker, plan->tiles[tile].dims[d]);
    for (int step = 0; step < plan->step_count; step++)
        mark_step(maker, step);
}
