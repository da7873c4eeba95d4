/* The nest of a plan: which loops stand in which once orders are decided, and which steps and tiles
 * are there. A loop has a seat, the place of some loop in the text; an order seats loops anew. What
 * cannot run is left out: steps whose condition never holds, loops without steps, tiles that no
 * step uses. */
#include "kernels/text/plan/kernel_structure.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void plan_say(struct error *error, struct kernel_place at, const char *format, ...)
{
    char text[sizeof error->text];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    error_set(error, STATUS_INVALID, "%d:%d: %s", at.line, at.column, text);
}

enum status plan_chosen(const struct kernel_values *values, const struct expression *e,
                        const struct expression **chosen, struct error *error)
{
    while (e->op == EXPRESSION_IF && !e->args->asks) {
        int64_t truth;
        TRY(kernel_number(values, e->args, &truth, error));
        e = truth ? e->args->next : e->args->next->next;
    }
    *chosen = e;
    return STATUS_OK;
}

enum status plan_truth(const struct kernel_values *values, const struct expression *e,
                       enum plan_truth *truth, struct error *error)
{
    enum plan_truth left, right;
    *truth = TRUTH_SOMETIMES;
    if (!e->asks) {
        int64_t number;
        TRY(kernel_number(values, e, &number, error));
        *truth = number ? TRUTH_ALWAYS : TRUTH_NEVER;
        return STATUS_OK;
    }
    if (e->op != EXPRESSION_AND && e->op != EXPRESSION_OR && e->op != EXPRESSION_NOT)
        return STATUS_OK;
    TRY(plan_truth(values, e->args, &left, error));
    if (e->op == EXPRESSION_NOT) {
        *truth = left == TRUTH_SOMETIMES ? left : left == TRUTH_NEVER ? TRUTH_ALWAYS : TRUTH_NEVER;
        return STATUS_OK;
    }
    enum plan_truth decides = e->op == EXPRESSION_AND ? TRUTH_NEVER : TRUTH_ALWAYS;
    TRY(plan_truth(values, e->args->next, &right, error));
    if (left == decides || right == decides)
        *truth = decides;
    else if (left == right)
        *truth = left;
    return STATUS_OK;
}

bool kernel_is_range(const struct expression *e)
{
    return e->op == EXPRESSION_SIZE || e->op == EXPRESSION_LET || e->op == EXPRESSION_LOOP;
}

bool plan_is_within(const struct kernel_plan *plan, int inner, int outer)
{
    while (inner > outer)
        inner = plan->loops[inner].around;
    return inner == outer;
}

/* ------------------------------------------------------------------ seats */

bool plan_are_around(const struct kernel_plan *plan, uint64_t loops, int inner)
{
    for (uint64_t rest = loops; rest; rest &= rest - 1) {
        int loop = plan->plan_loop_of[__builtin_ctzll(rest)];
        if (loop < 0 || !plan_is_within(plan, inner, loop))
            return false;
    }
    return true;
}

/* Loops of an order number in the order of the text, one directly in another. */
static enum status seat_order(struct plan_maker *maker, const struct kernel_order *order)
{
    uint64_t named = 0;
    for (int i = 0; i < order->count; i++)
        named |= (uint64_t)1 << order->loops[i];
    for (int seat = 0, i = 0; seat < maker->kernel->loop_count; seat++) {
        if (!(named >> seat & 1))
            continue;
        if (maker->seated[seat] != seat)
            return plan_fail(maker->error, order->at,
                             "loop '%s' is in two orders that hold at once, expected one",
                             maker->kernel->loops[seat].name.text);
        maker->seated[seat] = order->loops[i++];
    }
    return STATUS_OK;
}

static enum status seat_loops(struct plan_maker *maker)
{
    for (int seat = 0; seat < maker->kernel->loop_count; seat++)
        maker->seated[seat] = seat;
    for (int o = 0; o < maker->kernel->order_count; o++) {
        const struct kernel_order *order = &maker->kernel->orders[o];
        int64_t holds = 1;
        if (order->condition)
            TRY(kernel_number(maker->values, order->condition, &holds, maker->error));
        if (holds)
            TRY(seat_order(maker, order));
    }
    return STATUS_OK;
}

/* ------------------------------------------------------------------ what runs */

static enum status find_running(struct plan_maker *maker)
{
    const struct kernel_text *kernel = maker->kernel;
    for (int line = 0; line < kernel->line_count; line++) {
        if (kernel->lines[line].kind != LINE_STEP)
            continue;
        enum plan_truth truth = TRUTH_ALWAYS;
        if (kernel->lines[line].step->condition)
            TRY(plan_truth(maker->values, kernel->lines[line].step->condition, &truth,
                           maker->error));
        if (truth == TRUTH_NEVER)
            continue;
        maker->runs[line] = true;
        for (int loop = kernel->lines[line].around; loop >= 0;
             loop = kernel_loop_around(kernel, loop))
            maker->runs[kernel->loops[loop].line] = true;
    }
    return STATUS_OK;
}

static enum status find_stage(struct plan_maker *maker, int line, int *stage)
{
    const struct expression *e = maker->kernel->lines[line].stage;
    int64_t number = 0;
    if (e)
        TRY(kernel_number(maker->values, e, &number, maker->error));
    if (number < 0 || number > KERNEL_MAX_STAGE)
        return plan_fail(maker->error, e->at, "stage %lld, expected 0 to %d", (long long)number,
                         KERNEL_MAX_STAGE);
    *stage = (int)number;
    return STATUS_OK;
}

/* ------------------------------------------------------------------ the nest */

static enum status make_step(struct plan_maker *maker, int line, int around, int stage)
{
    struct kernel_plan *plan = maker->plan;
    const struct kernel_step *text = maker->kernel->lines[line].step;
    if (plan->step_count == PLAN_MAX_STEPS)
        return plan_fail(maker->error, maker->kernel->lines[line].at, "more than %d steps",
                         PLAN_MAX_STEPS);
    struct plan_step *step = &plan->steps[plan->step_count++];
    *step = (struct plan_step){.text = text, .line = line, .around = around, .stage = stage};
    enum plan_truth truth = TRUTH_ALWAYS;
    if (text->condition)
        TRY(plan_truth(maker->values, text->condition, &truth, maker->error));
    step->condition = truth == TRUTH_SOMETIMES ? text->condition : NULL;
    return STATUS_OK;
}

static int make_loop(struct plan_maker *maker, int seat, int around, int stage)
{
    struct kernel_plan *plan = maker->plan;
    int number = plan->loop_count++;
    plan->loops[number] = (struct plan_loop){
        .text_loop = seat < 0 ? -1 : maker->seated[seat],
        .around = around,
        .depth = around < 0 ? 0 : plan->loops[around].depth + 1,
        .stage = stage,
        .first_step = plan->step_count,
    };
    if (seat >= 0) {
        maker->seat_loop[seat] = number;
        plan->plan_loop_of[maker->seated[seat]] = number;
    }
    return number;
}

/* The body of the loop in a seat, -1: the kernel's; items of one body stand together. */
static enum status make_body(struct plan_maker *maker, int seat, int number)
{
    const struct kernel_text *kernel = maker->kernel;
    struct kernel_plan *plan = maker->plan;
    int first = seat < 0 ? 0 : kernel->loops[seat].line + 1;
    int end = seat < 0 ? kernel->line_count : kernel->loops[seat].end;
    int item = plan->item_count, lines[PLAN_MAX_ITEMS], count = 0;
    for (int line = first; line < end; line++)
        if (maker->runs[line] && kernel->lines[line].around == seat) {
            if (item + count == PLAN_MAX_ITEMS)
                return plan_fail(maker->error, kernel->lines[line].at,
                                 "more than %d loops and steps", PLAN_MAX_ITEMS);
            lines[count++] = line;
        }
    plan->loops[number].first_item = item;
    plan->loops[number].item_count = count;
    plan->item_count += count;
    for (int i = 0; i < count; i++, item++) {
        int line = lines[i], inner = kernel->lines[line].number, stage = 0;
        bool is_loop = kernel->lines[line].kind == LINE_FOR;
        TRY(find_stage(maker, is_loop ? kernel->loops[maker->seated[inner]].line : line, &stage));
        plan->items[item] =
            (struct plan_item){is_loop, is_loop ? plan->loop_count : plan->step_count, stage};
        if (stage > plan->loops[number].last_stage)
            plan->loops[number].last_stage = stage;
        if (is_loop)
            TRY(make_body(maker, inner, make_loop(maker, inner, number, stage)));
        else
            TRY(make_step(maker, line, number, stage));
    }
    plan->loops[number].end_step = plan->step_count;
    return STATUS_OK;
}

/* ------------------------------------------------------------------ all of it */

/* Loops on which a step's work, or how often the loops around it run, depends. */
static enum status find_matters(struct plan_maker *maker, int number)
{
    struct kernel_plan *plan = maker->plan;
    const struct plan_step *step = &plan->steps[number];
    uint64_t named = 0;
    for (int p = 0; p < step->part_count; p++) {
        const struct plan_part *part = &step->parts[p];
        for (int d = 0; d < part->dim_count; d++) {
            named |= part->dims[d].reach == REACH_ROUND ? (uint64_t)1 << part->dims[d].loop : 0;
            named |= part->dims[d].count ? part->dims[d].count->loops : 0;
            named |= part->dims[d].reach == REACH_ALL && part->tile >= 0
                         ? plan->tiles[part->tile].dims[d]->loops
                         : 0;
        }
    }
    for (int k = 0; k < STEP_KEYS; k++)
        named |= step->text->keys[k] ? step->text->keys[k]->loops : 0;
    named |= step->condition ? step->condition->loops : 0;
    for (int loop = step->around; loop > 0; loop = plan->loops[loop].around) {
        const struct kernel_loop *text = &maker->kernel->loops[plan->loops[loop].text_loop];
        named |= text->in->loops | text->by->loops;
    }
    return plan_chains(maker->values, named, &plan->matters[number], maker->error);
}

static enum status make(struct plan_maker *maker)
{
    const struct kernel_values *values = maker->values;
    struct kernel_plan *plan = maker->plan;
    int tiles = values->kernel->tile_count;
    TRY(seat_loops(maker));
    TRY(find_running(maker));
    TRY(make_body(maker, -1, make_loop(maker, -1, -1, 0)));
    for (int tile = 0; tile < tiles; tile++)
        TRY(plan_make_tile(maker, tile));
    for (int tile = 0; tile < tiles; tile++)
        if (plan->tiles[tile].is_there)
            TRY(plan_check_life(maker, tile));
    for (int step = 0; step < plan->step_count; step++) {
        TRY(plan_make_parts(values, plan, step, maker->error));
        TRY(plan_bind(values, plan, step, maker->error));
        TRY(plan_check_apart(values, plan, step, maker->error));
        TRY(find_matters(maker, step));
    }
    TRY(plan_find_layout(values, plan, maker->error));
    for (int step = 0; step < plan->step_count; step++)
        plan_find_certain(values, plan, step);
    TRY(plan_keep(values, plan, maker->error));
    TRY(plan_find_misses(values, plan, maker->error));
    TRY(plan_find_pieces(values, plan, maker->error));
    plan_deal(plan);
    for (int tile = 0; tile < tiles; tile++)
        if (plan->tiles[tile].is_there)
            TRY(plan_check_stages(maker, tile));
    return STATUS_OK;
}

enum status kernel_plan_make(const struct kernel_values *values, struct kernel_plan *plan,
                             struct error *error)
{
    struct plan_maker maker = {
        .values = values, .kernel = values->kernel, .plan = plan, .error = error};
    int steps = 0;
    memset(plan, 0, sizeof *plan);
    plan->kernel = values->kernel;
    plan->hw = values->hw;
    memset(plan->plan_loop_of, -1, sizeof plan->plan_loop_of);
    memset(maker.seat_loop, -1, sizeof maker.seat_loop);
    for (int line = 0; line < values->kernel->line_count; line++)
        steps += values->kernel->lines[line].kind == LINE_STEP;
    plan->steps = calloc(2 * (size_t)steps + 1, sizeof *plan->steps); /* with shares */
    if (!plan->steps)
        return error_memory(error);
    enum status status = make(&maker);
    if (status != STATUS_OK)
        kernel_plan_clear(plan);
    return status;
}

void kernel_plan_clear(struct kernel_plan *plan)
{
    plan_clear_pieces(plan);
    free(plan->steps);
    plan->steps = NULL;
    plan->step_count = 0;
}
