/* The nest of a plan: which loops stand in which once orders are decided, and which steps and tiles
 * are there. A loop has a seat, the place of some loop in the text; an order seats loops anew. What
 * cannot run is left out: steps whose condition never holds, loops without steps, tiles that no
 * step uses. */
#include "kernels/text/kernel_structure.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct maker {
    const struct kernel_values *values;
    const struct kernel_text *kernel;
    struct kernel_plan *plan;
    struct error *error;
    int seated[KERNEL_MAX_LOOPS];    /* by seat: the text loop that sits there */
    int seat_loop[KERNEL_MAX_LOOPS]; /* by seat: the plan loop, -1: none */
    bool runs[KERNEL_MAX_LINES];     /* by line: a step that is there, or a loop around one */
};

enum status plan_fail(struct error *error, struct kernel_place at, const char *format, ...)
{
    char text[320];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    error_set(error, STATUS_INVALID, "%d:%d: %s", at.line, at.column, text);
    return STATUS_INVALID;
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

bool plan_is_within(const struct kernel_plan *plan, int inner, int outer)
{
    while (inner > outer)
        inner = plan->loops[inner].around;
    return inner == outer;
}

/* ------------------------------------------------------------------ seats */

/* Loops of an order number in the order of the text, one directly in another. */
static enum status seat_order(struct maker *maker, const struct kernel_order *order)
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

static enum status seat_loops(struct maker *maker)
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

static enum status find_running(struct maker *maker)
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

static enum status find_stage(struct maker *maker, int line, int *stage)
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

static enum status make_step(struct maker *maker, int line, int around, int stage)
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

static int make_loop(struct maker *maker, int seat, int around, int stage)
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
static enum status make_body(struct maker *maker, int seat, int number)
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

/* ------------------------------------------------------------------ tiles */

static enum status find_life(struct maker *maker, int number, int *life)
{
    const struct kernel_text *kernel = maker->kernel;
    const struct kernel_tile *tile = &kernel->tiles[number];
    int seat = kernel->lines[tile->line].around;
    while (seat >= 0 && maker->seat_loop[seat] < 0) /* its loop has no steps: the next around */
        seat = kernel_loop_around(kernel, seat);
    int home = seat < 0 ? 0 : maker->seat_loop[seat];
    const struct expression *e;
    *life = home;
    if (!tile->life)
        return STATUS_OK;
    TRY(plan_chosen(maker->values, tile->life, &e, maker->error));
    *life = e->op == EXPRESSION_TOP ? 0 : maker->plan->plan_loop_of[e->number];
    if (*life < 0 || !plan_is_within(maker->plan, home, *life))
        return plan_fail(maker->error, e->at,
                         "tile '%s' lives in '%s', which is not around it in this order of loops",
                         tile->name.text, kernel->loops[e->number].name.text);
    return STATUS_OK;
}

/* A range of a loop inside its life becomes what that is cut from. */
static enum status climb(struct maker *maker, int life, const struct expression *dim,
                         const struct expression **climbed)
{
    TRY(plan_chosen(maker->values, dim, climbed, maker->error));
    while ((*climbed)->op == EXPRESSION_LOOP) {
        int loop = maker->plan->plan_loop_of[(*climbed)->number];
        if (loop >= 0 && (loop == life || !plan_is_within(maker->plan, loop, life)))
            return STATUS_OK;
        TRY(plan_chosen(maker->values, maker->kernel->loops[(*climbed)->number].in, climbed,
                        maker->error));
    }
    return STATUS_OK;
}

static enum status find_copies(struct maker *maker, int number, int life, int64_t *copies)
{
    const struct kernel_tile *tile = &maker->kernel->tiles[number];
    int seat = maker->kernel->lines[tile->line].around;
    *copies = 1;
    if (!tile->copies || life == 0 || seat < 0 || maker->seat_loop[seat] != life)
        return STATUS_OK;
    TRY(kernel_number(maker->values, tile->copies, copies, maker->error));
    if (*copies < 1 || *copies > KERNEL_MAX_COPIES)
        return plan_fail(maker->error, tile->copies->at,
                         "tile '%s' has %lld copies, expected 1 to %d", tile->name.text,
                         (long long)*copies, KERNEL_MAX_COPIES);
    return STATUS_OK;
}

static bool uses(const struct kernel_step *step, int tile)
{
    bool any = step->source_count && step->to.tile == tile;
    for (int s = 0; s < step->source_count; s++)
        any |= step->from[s].tile == tile;
    return any;
}

static enum status make_tile(struct maker *maker, int number)
{
    const struct kernel_tile *text = &maker->kernel->tiles[number];
    const struct hardware *hw = maker->values->hw;
    struct plan_tile *tile = &maker->plan->tiles[number];
    *tile = (struct plan_tile){.copies = 1, .dim_count = text->dim_count};
    for (int s = 0; s < maker->plan->step_count; s++)
        tile->is_there |= uses(maker->plan->steps[s].text, number);
    if (!tile->is_there)
        return STATUS_OK;
    tile->buffer = hardware_buffer(hw, text->buffer, (int)strlen(text->buffer));
    if (tile->buffer < 0)
        return plan_fail(maker->error, text->name.at, "tile '%s': %s has no buffer '%s'",
                         text->name.text, hw->name, text->buffer);
    tile->type = kernel_type(maker->values, text->type);
    TRY(find_life(maker, number, &tile->life));
    TRY(find_copies(maker, number, tile->life, &tile->copies));
    int d = 0;
    for (const struct expression *dim = text->dims; dim; dim = dim->next)
        TRY(climb(maker, tile->life, dim, &tile->dims[d++]));
    return STATUS_OK;
}

/* A tile that the lines of a stage write is for that stage's round; those that read it later need
 * a copy for each round between. */
static int stage_within(const struct kernel_plan *plan, const struct plan_step *step, int life)
{
    int stage = step->stage;
    for (int loop = step->around; loop != life; loop = plan->loops[loop].around)
        stage = plan->loops[loop].stage;
    return stage;
}

static enum status check_life(struct maker *maker, int number)
{
    const struct kernel_plan *plan = maker->plan;
    for (int s = 0; s < plan->step_count; s++)
        if (uses(plan->steps[s].text, number) &&
            !plan_is_within(plan, plan->steps[s].around, plan->tiles[number].life))
            return plan_fail(maker->error, plan->steps[s].text->to.at,
                             "tile '%s' is used outside its life in this order of loops",
                             maker->kernel->tiles[number].name.text);
    return STATUS_OK;
}

static enum status check_stages(struct maker *maker, int number)
{
    const struct kernel_plan *plan = maker->plan;
    int first = KERNEL_MAX_STAGE, last = 0;
    for (int s = 0; s < plan->step_count; s++) {
        if (!uses(plan->steps[s].text, number))
            continue;
        int stage = stage_within(plan, &plan->steps[s], plan->tiles[number].life);
        first = stage < first ? stage : first;
        last = stage > last ? stage : last;
    }
    if (last - first < plan->tiles[number].copies)
        return STATUS_OK;
    return plan_fail(
        maker->error, maker->kernel->tiles[number].name.at,
        "tile '%s' lives over %d rounds of its loop, expected as many copies, has %lld",
        maker->kernel->tiles[number].name.text, last - first + 1,
        (long long)plan->tiles[number].copies);
}

/* ------------------------------------------------------------------ all of it */

/* Loops on which a step's work, or how often the loops around it run, depends. */
static enum status find_matters(struct maker *maker, int number)
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

static enum status make(struct maker *maker)
{
    const struct kernel_values *values = maker->values;
    struct kernel_plan *plan = maker->plan;
    int tiles = values->kernel->tile_count;
    TRY(seat_loops(maker));
    TRY(find_running(maker));
    TRY(make_body(maker, -1, make_loop(maker, -1, -1, 0)));
    for (int tile = 0; tile < tiles; tile++)
        TRY(make_tile(maker, tile));
    for (int tile = 0; tile < tiles; tile++)
        if (plan->tiles[tile].is_there)
            TRY(check_life(maker, tile));
    for (int step = 0; step < plan->step_count; step++) {
        TRY(plan_make_parts(values, plan, step, maker->error));
        TRY(plan_bind(values, plan, step, maker->error));
        plan_find_certain(values, plan, step);
        TRY(find_matters(maker, step));
    }
    TRY(plan_keep(values, plan, maker->error));
    for (int tile = 0; tile < tiles; tile++)
        if (plan->tiles[tile].is_there)
            TRY(check_stages(maker, tile));
    return STATUS_OK;
}

enum status kernel_plan_make(const struct kernel_values *values, struct kernel_plan *plan,
                             struct error *error)
{
    struct maker maker = {.values = values, .kernel = values->kernel, .plan = plan, .error = error};
    int steps = 0;
    memset(plan, 0, sizeof *plan);
    plan->kernel = values->kernel;
    plan->hw = values->hw;
    memset(plan->plan_loop_of, -1, sizeof plan->plan_loop_of);
    memset(maker.seat_loop, -1, sizeof maker.seat_loop);
    for (int line = 0; line < values->kernel->line_count; line++)
        steps += values->kernel->lines[line].kind == LINE_STEP;
    plan->steps = calloc((size_t)steps + 1, sizeof *plan->steps);
    if (!plan->steps)
        return error_memory(error);
    enum status status = make(&maker);
    if (status != STATUS_OK)
        kernel_plan_clear(plan);
    return status;
}

void kernel_plan_clear(struct kernel_plan *plan)
{
    free(plan->steps);
    plan->steps = NULL;
    plan->step_count = 0;
}
