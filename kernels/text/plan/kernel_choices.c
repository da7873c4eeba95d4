/* What decides a plan: conditions, lives, names that are chosen, what cores share among them,
 * orders, stages and copies, and whether a move transposes. */
#include "kernels/text/plan/kernel_structure.h"

#include <string.h>

struct chooser {
    const struct kernel_values *values;
    struct plan_choices *choices;
    struct error *error;
};

static enum status add(const struct chooser *c, int64_t value)
{
    if (c->choices->count == PLAN_MAX_CHOICES)
        return error_set(c->error, STATUS_TOO_LARGE, "more than %d choices in a kernel",
                         PLAN_MAX_CHOICES);
    c->choices->values[c->choices->count++] = value;
    return STATUS_OK;
}

static enum status add_number(const struct chooser *c, const struct expression *e)
{
    int64_t value;
    if (!e || e->op == EXPRESSION_NUMBER)
        return STATUS_OK;
    TRY(kernel_number(c->values, e, &value, c->error));
    return add(c, value);
}

/* Which of the names of `a if c else b` is meant. */
static enum status add_name(const struct chooser *c, const struct expression *e)
{
    const struct expression *chosen;
    if (!e || e->op != EXPRESSION_IF)
        return STATUS_OK;
    TRY(plan_chosen(c->values, e, &chosen, c->error));
    return add(c, (int64_t)chosen->at.line << 32 | chosen->at.column);
}

static enum status add_names(const struct chooser *c, const struct expression *list)
{
    for (; list; list = list->next)
        TRY(add_name(c, list));
    return STATUS_OK;
}

static enum status add_part(const struct chooser *c, const struct kernel_part *part)
{
    for (const struct kernel_pick *pick = part->picks; pick; pick = pick->next)
        if (pick->kind == PICK_RANGE)
            TRY(add_name(c, pick->count));
    return STATUS_OK;
}

static enum status add_step(const struct chooser *c, const struct kernel_step *step)
{
    if (step->condition) {
        enum plan_truth truth;
        TRY(plan_truth(c->values, step->condition, &truth, c->error));
        TRY(add(c, truth));
    }
    if (step->source_count)
        TRY(add_part(c, &step->to));
    for (int s = 0; s < step->source_count; s++)
        TRY(add_part(c, &step->from[s]));
    TRY(add_number(c, step->keys[STEP_RELU]));
    return add_number(c, step->keys[STEP_TRANSPOSE]);
}

static enum status add_line(const struct chooser *c, const struct kernel_line *line)
{
    const struct kernel_text *kernel = c->values->kernel;
    TRY(add_number(c, line->stage));
    switch (line->kind) {
    case LINE_FOR:
        return add_name(c, kernel->loops[line->number].in);
    case LINE_TILE:
        TRY(add_number(c, kernel->tiles[line->number].copies));
        TRY(add_names(c, kernel->tiles[line->number].dims));
        return add_name(c, kernel->tiles[line->number].life);
    case LINE_STEP:
        return add_step(c, line->step);
    case LINE_LET:
        break;
    }
    return STATUS_OK;
}

enum status kernel_plan_choices(const struct kernel_values *values, struct plan_choices *choices,
                                struct error *error)
{
    const struct kernel_text *kernel = values->kernel;
    const struct chooser chooser = {values, choices, error};
    choices->count = 0;
    for (int n = 0; n < kernel->cores_count; n++)
        TRY(add_name(&chooser, kernel->cores[n].what));
    for (int o = 0; o < kernel->order_count; o++)
        TRY(add_number(&chooser, kernel->orders[o].condition));
    for (int t = 0; t < kernel->tensor_count; t++)
        TRY(add_names(&chooser, kernel->tensors[t].dims));
    for (int l = 0; l < kernel->line_count; l++)
        TRY(add_line(&chooser, &kernel->lines[l]));
    return STATUS_OK;
}

/* ------------------------------------------------------------------ by which axes */

static unsigned axes_in(const struct kernel_text *kernel, const struct expression *e)
{
    unsigned axes = 0;
    if (!e)
        return 0;
    if (e->op == EXPRESSION_AXIS)
        axes = 1U << e->number;
    if (e->op == EXPRESSION_LET)
        axes = axes_in(kernel, kernel->lets[e->number].value);
    for (const struct expression *arg = e->args; arg; arg = arg->next)
        axes |= axes_in(kernel, arg);
    return axes;
}

unsigned kernel_axes_of(const struct kernel_text *kernel, const struct expression *e)
{
    return axes_in(kernel, e);
}

/* Of a choice of names: what its conditions ask. */
static unsigned axes_of_name(const struct kernel_text *kernel, const struct expression *e)
{
    if (!e || e->op != EXPRESSION_IF)
        return 0;
    return axes_in(kernel, e->args) | axes_of_name(kernel, e->args->next) |
           axes_of_name(kernel, e->args->next->next);
}

static unsigned axes_of_part(const struct kernel_text *kernel, const struct kernel_part *part)
{
    unsigned axes = 0;
    for (const struct kernel_pick *pick = part->picks; pick; pick = pick->next)
        axes |= pick->kind == PICK_RANGE ? axes_of_name(kernel, pick->count) : 0;
    return axes;
}

static unsigned axes_of_line(const struct kernel_text *kernel, const struct kernel_line *line,
                             bool with_copies)
{
    unsigned axes = axes_in(kernel, line->stage);
    if (line->kind == LINE_FOR)
        axes |= axes_of_name(kernel, kernel->loops[line->number].in);
    if (line->kind == LINE_TILE) {
        const struct kernel_tile *tile = &kernel->tiles[line->number];
        axes |=
            (with_copies ? axes_in(kernel, tile->copies) : 0) | axes_of_name(kernel, tile->life);
        for (const struct expression *dim = tile->dims; dim; dim = dim->next)
            axes |= axes_of_name(kernel, dim);
    }
    if (line->kind == LINE_STEP) {
        axes |= axes_in(kernel, line->step->condition) |
                axes_in(kernel, line->step->keys[STEP_RELU]) |
                axes_in(kernel, line->step->keys[STEP_TRANSPOSE]);
        for (int s = -1; s < line->step->source_count; s++)
            axes |= line->step->source_count
                        ? axes_of_part(kernel, s < 0 ? &line->step->to : &line->step->from[s])
                        : 0;
    }
    return axes;
}

unsigned kernel_plan_axes(const struct kernel_text *kernel, bool with_copies)
{
    unsigned axes = 0;
    for (int n = 0; n < kernel->cores_count; n++)
        axes |= axes_of_name(kernel, kernel->cores[n].what);
    for (int o = 0; o < kernel->order_count; o++)
        axes |= axes_in(kernel, kernel->orders[o].condition);
    for (int t = 0; t < kernel->tensor_count; t++)
        for (const struct expression *dim = kernel->tensors[t].dims; dim; dim = dim->next)
            axes |= axes_of_name(kernel, dim);
    for (int l = 0; l < kernel->line_count; l++)
        axes |= axes_of_line(kernel, &kernel->lines[l], with_copies);
    return axes;
}
