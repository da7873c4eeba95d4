/* Which axes a condition of prefixes asks: those of its expressions and of the ranges that they
 * name. */
#include "kernels/text/nest/kernel_nest.h"

static unsigned axes_of_list(const struct kernel_text *kernel, const struct expression *list)
{
    unsigned axes = 0;
    for (; list; list = list->next)
        axes |= kernel_axes_of(kernel, list);
    return axes;
}

static unsigned unless_bare(const struct kernel_text *kernel, const struct expression *e)
{
    return e && e->op == EXPRESSION_AXIS ? 0 : kernel_axes_of(kernel, e);
}

static unsigned axes_of_part(const struct kernel_text *kernel, const struct kernel_part *part)
{
    unsigned axes = kernel_axes_of(kernel, part->value);
    for (const struct kernel_pick *pick = part->picks; pick; pick = pick->next)
        axes |= kernel_axes_of(kernel, pick->count) | kernel_axes_of(kernel, pick->from) |
                kernel_axes_of(kernel, pick->by);
    return axes;
}

static unsigned axes_of_step(const struct kernel_text *kernel, const struct kernel_step *step)
{
    unsigned axes = kernel_axes_of(kernel, step->condition);
    for (int k = 0; k < STEP_KEYS; k++)
        axes |= kernel_axes_of(kernel, step->keys[k]);
    for (int s = -1; step->source_count && s < step->source_count; s++)
        axes |= axes_of_part(kernel, s < 0 ? &step->to : &step->from[s]);
    return axes;
}

/* All but the structure, bare steps of loops, and bare numbers of copies. */
unsigned kernel_nest_told(const struct kernel_text *kernel)
{
    unsigned axes = 0;
    for (int r = 0; r < kernel->require_count; r++)
        axes |= kernel_axes_of(kernel, kernel->requires[r].truth);
    for (int t = 0; t < kernel->tensor_count; t++)
        axes |= axes_of_list(kernel, kernel->tensors[t].dims);
    for (int l = 0; l < kernel->loop_count; l++)
        axes |=
            kernel_axes_of(kernel, kernel->loops[l].in) | unless_bare(kernel, kernel->loops[l].by);
    for (int t = 0; t < kernel->tile_count; t++)
        axes |= axes_of_list(kernel, kernel->tiles[t].dims) |
                unless_bare(kernel, kernel->tiles[t].copies);
    for (int l = 0; l < kernel->line_count; l++)
        if (kernel->lines[l].kind == LINE_STEP)
            axes |= axes_of_step(kernel, kernel->lines[l].step);
    return axes;
}

/* Of an expression and the ranges that it names. */
static unsigned axes_of_ranges(const struct kernel_text *kernel, const struct expression *e)
{
    unsigned axes = kernel_axes_of(kernel, e);
    for (int loop = 0; loop < kernel->loop_count; loop++)
        if (e->loops >> loop & 1)
            axes |= axes_of_ranges(kernel, kernel->loops[loop].in) |
                    axes_of_ranges(kernel, kernel->loops[loop].by);
    return axes;
}

unsigned kernel_nest_axes_of_loop(const struct kernel_plan *plan, int loop)
{
    const struct kernel_loop *text = &plan->kernel->loops[plan->loops[loop].text_loop];
    return axes_of_ranges(plan->kernel, text->in) | axes_of_ranges(plan->kernel, text->by);
}

unsigned kernel_nest_axes_of_sum(const struct kernel_plan *plan, const struct fit_sum *sum)
{
    unsigned axes = 0;
    for (int t = 0; t < sum->count; t++) {
        const struct plan_tile *tile = &plan->tiles[sum->tiles[t]];
        for (int d = 0; d < tile->dim_count; d++)
            axes |= axes_of_ranges(plan->kernel, tile->dims[d]);
        axes |= kernel_axes_of(plan->kernel, tile->turns);
    }
    return axes;
}

unsigned kernel_nest_axes_of_use(const struct kernel_plan *plan, int axis)
{
    unsigned axes = 1U << axis;
    for (int s = 0; s < plan->step_count; s++)
        for (int loop = plan->steps[s].around;
             loop > 0 && kernel_nest_turns(plan, &plan->steps[s], axis);
             loop = plan->loops[loop].around)
            axes |= kernel_nest_axes_of_loop(plan, loop);
    for (int loop = 1; loop < plan->loop_count; loop++) {
        const struct kernel_loop *text = &plan->kernel->loops[plan->loops[loop].text_loop];
        if (text->by->op == EXPRESSION_AXIS && text->by->number == axis)
            axes |= axes_of_ranges(plan->kernel, text->in);
    }
    return axes;
}
