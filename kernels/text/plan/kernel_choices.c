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

/* Of a choice of names its conditions. */
static void ask_name(const struct expression *e, plan_ask *ask, void *context)
{
    if (!e || e->op != EXPRESSION_IF)
        return;
    ask(context, e->args, false);
    ask_name(e->args->next, ask, context);
    ask_name(e->args->next->next, ask, context);
}

static void ask_names(const struct expression *list, plan_ask *ask, void *context)
{
    for (; list; list = list->next)
        ask_name(list, ask, context);
}

static void ask_number(const struct expression *e, plan_ask *ask, void *context)
{
    if (e && e->op != EXPRESSION_NUMBER)
        ask(context, e, false);
}

/* What asks for rounds decides nothing (plan_truth). */
static void ask_truth(const struct expression *e, plan_ask *ask, void *context)
{
    if (!e->asks)
        ask(context, e, false);
    else if (e->op == EXPRESSION_AND || e->op == EXPRESSION_OR || e->op == EXPRESSION_NOT)
        for (const struct expression *arg = e->args; arg; arg = arg->next)
            ask_truth(arg, ask, context);
}

static void ask_part(const struct kernel_part *part, plan_ask *ask, void *context)
{
    for (const struct kernel_pick *pick = part->picks; pick; pick = pick->next)
        if (pick->kind == PICK_RANGE)
            ask_name(pick->count, ask, context);
}

static void ask_step(const struct kernel_step *step, plan_ask *ask, void *context)
{
    if (step->condition)
        ask_truth(step->condition, ask, context);
    if (step->source_count)
        ask_part(&step->to, ask, context);
    for (int s = 0; s < step->source_count; s++)
        ask_part(&step->from[s], ask, context);
    ask_number(step->keys[STEP_RELU], ask, context);
    ask_number(step->keys[STEP_TRANSPOSE], ask, context);
}

static void ask_tile(const struct kernel_tile *tile, plan_ask *ask, void *context)
{
    if (tile->copies && tile->copies->op != EXPRESSION_NUMBER)
        ask(context, tile->copies, true);
    ask_names(tile->dims, ask, context);
    ask_name(tile->life, ask, context);
}

void kernel_plan_asks(const struct kernel_text *kernel, plan_ask *ask, void *context)
{
    for (int n = 0; n < kernel->cores_count; n++)
        ask_name(kernel->cores[n].what, ask, context);
    for (int o = 0; o < kernel->order_count; o++)
        ask_number(kernel->orders[o].condition, ask, context);
    for (int t = 0; t < kernel->tensor_count; t++)
        ask_names(kernel->tensors[t].dims, ask, context);
    for (int l = 0; l < kernel->line_count; l++) {
        const struct kernel_line *line = &kernel->lines[l];
        ask_number(line->stage, ask, context);
        if (line->kind == LINE_FOR)
            ask_name(kernel->loops[line->number].in, ask, context);
        if (line->kind == LINE_TILE)
            ask_tile(&kernel->tiles[line->number], ask, context);
        if (line->kind == LINE_STEP)
            ask_step(line->step, ask, context);
    }
}
