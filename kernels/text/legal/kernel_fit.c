/* The sums of room that can be too large: the tiles that live around an innermost loop, of each
 * stage of a loop one, a buffer at a time; a sum that is part of another one is left out. */
#include "kernels/text/legal/kernel_fit.h"

#include "core/array.h"
#include "kernels/limits.h"
#include "kernels/slices.h"
#include "kernels/text/plan/kernel_structure.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ what grows */

static bool is_constant(const struct expression *e)
{
    return e->op == EXPRESSION_NUMBER || e->op == EXPRESSION_LANES;
}

static bool subtracts(const struct kernel_text *kernel, const struct expression *e)
{
    if (e->op == EXPRESSION_LET)
        return subtracts(kernel, kernel->lets[e->number].value);
    for (const struct expression *arg = e->args; arg; arg = arg->next)
        if (subtracts(kernel, arg))
            return true;
    return e->op == EXPRESSION_SUBTRACT;
}

bool kernel_grows(const struct kernel_text *kernel, const struct expression *e)
{
    const struct expression *arg = e->args;
    switch (e->op) {
    case EXPRESSION_NUMBER:
    case EXPRESSION_SIZE:
    case EXPRESSION_WHOLE:
    case EXPRESSION_AXIS:
    case EXPRESSION_LOOP:
    case EXPRESSION_LANES:
        return true;
    case EXPRESSION_LET:
        return kernel_grows(kernel, kernel->lets[e->number].value);
    case EXPRESSION_MULTIPLY: /* of what is below 0 it would fall */
        for (; arg; arg = arg->next)
            if (!kernel_grows(kernel, arg) || subtracts(kernel, arg))
                return false;
        return true;
    case EXPRESSION_SUBTRACT:
    case EXPRESSION_DIVIDE:
    case EXPRESSION_UP:
    case EXPRESSION_CDIV:
        for (const struct expression *rest = arg->next; rest; rest = rest->next)
            if (!is_constant(rest))
                return false;
        return kernel_grows(kernel, arg);
    case EXPRESSION_ADD:
    case EXPRESSION_MIN:
    case EXPRESSION_MAX:
        for (; arg; arg = arg->next)
            if (!kernel_grows(kernel, arg))
                return false;
        return true;
    default:
        return false;
    }
}

/* Its own, or those of loops around its life: a range inside would have to be climbed. */
static bool is_plain(const struct kernel_plan *plan, const struct plan_tile *tile, int d)
{
    for (int n = 0; n < plan->kernel->loop_count; n++) {
        int loop = plan->plan_loop_of[n];
        if (tile->dims[d]->loops >> n & 1 && (loop < 0 || !plan_is_within(plan, tile->life, loop)))
            return false;
    }
    return !(tile->dims[d]->asks & ASKS_BEGIN);
}

static bool tiles_grow(const struct kernel_plan *plan)
{
    for (int t = 0; t < plan->kernel->tile_count; t++)
        for (int d = 0; plan->tiles[t].is_there && d < plan->tiles[t].dim_count; d++)
            if (!is_plain(plan, &plan->tiles[t], d) ||
                !kernel_grows(plan->kernel, plan->tiles[t].dims[d]))
                return false;
    return true;
}

static bool loops_grow(const struct kernel_plan *plan)
{
    for (int loop = 1; loop < plan->loop_count; loop++) {
        const struct kernel_loop *text = &plan->kernel->loops[plan->loops[loop].text_loop];
        if (!kernel_grows(plan->kernel, text->in) || !kernel_grows(plan->kernel, text->by) ||
            (text->in->asks | text->by->asks) & ASKS_BEGIN)
            return false;
    }
    return true;
}

/* ------------------------------------------------------------------ sums */

struct summing {
    const struct kernel_plan *plan;
    struct kernel_fit *fit;
    bool is_open[KERNEL_MAX_LOOPS + 1]; /* plan loops whose tiles live */
    struct error *error;
};

/* Two with the same last tile of a buffer have the same ones. */
static bool is_known(const struct kernel_fit *fit, const struct fit_sum *sum)
{
    for (int s = 0; s < fit->sum_count; s++)
        if (fit->sums[s].buffer == sum->buffer && fit->sums[s].count == sum->count &&
            memcmp(fit->sums[s].tiles, sum->tiles, (size_t)sum->count * sizeof *sum->tiles) == 0)
            return true;
    return false;
}

static enum status add_sum(struct summing *s, int buffer)
{
    struct kernel_fit *fit = s->fit;
    struct fit_sum sum = {.buffer = buffer};
    for (int t = 0; t < s->plan->kernel->tile_count; t++) {
        const struct plan_tile *tile = &s->plan->tiles[t];
        if (tile->is_there && tile->buffer == buffer && s->is_open[tile->life])
            sum.tiles[sum.count++] = (int16_t)t;
    }
    if (!sum.count || is_known(fit, &sum))
        return STATUS_OK;
    if (!array_room(&fit->sums, fit->sum_count, sizeof *fit->sums))
        return error_memory(s->error);
    fit->sums[fit->sum_count++] = sum;
    return STATUS_OK;
}

static enum status add_sums(struct summing *s)
{
    for (int b = 0; b < s->plan->hw->buffer_count; b++)
        if (s->plan->hw->buffers[b].capacity_bytes)
            TRY(add_sum(s, b));
    return STATUS_OK;
}

static enum status choose(struct summing *s, int loop, int stage, const int waiting[], int count);

/* Enters the last of the loops that wait. */
static enum status descend(struct summing *s, const int waiting[], int count)
{
    if (!count)
        return add_sums(s);
    int loop = waiting[count - 1];
    s->is_open[loop] = true;
    enum status status = choose(s, loop, 0, waiting, count - 1);
    s->is_open[loop] = false;
    return status;
}

/* Of the loops in the body that are of one stage each in its turn. */
static enum status choose(struct summing *s, int loop, int stage, const int waiting[], int count)
{
    const struct plan_loop *body = &s->plan->loops[loop];
    int more[KERNEL_MAX_LOOPS + 1];
    bool any = false;
    if (stage > body->last_stage)
        return descend(s, waiting, count);
    memcpy(more, waiting, (size_t)count * sizeof *more);
    for (int i = body->first_item; i < body->first_item + body->item_count; i++) {
        if (!s->plan->items[i].is_loop || s->plan->items[i].stage != stage)
            continue;
        any = true;
        more[count] = s->plan->items[i].number;
        TRY(choose(s, loop, stage + 1, more, count + 1));
    }
    return any ? STATUS_OK : choose(s, loop, stage + 1, waiting, count);
}

enum status kernel_fit_make(const struct kernel_plan *plan, struct kernel_fit *fit,
                            struct error *error)
{
    *fit = (struct kernel_fit){.grows = tiles_grow(plan) && loops_grow(plan)};
    struct summing summing = {.plan = plan, .fit = fit, .error = error};
    return descend(&summing, (int[]){0}, 1);
}

void kernel_fit_clear(struct kernel_fit *fit)
{
    free(fit->sums);
    *fit = (struct kernel_fit){.grows = false};
}

/* ------------------------------------------------------------------ asking */

/* What most numbers are needs no walk along an expression. */
static bool number_of(const struct kernel_values *values, const struct expression *e,
                      int64_t *number)
{
    struct error error;
    switch (e->op) {
    case EXPRESSION_NUMBER:
        *number = e->number;
        return true;
    case EXPRESSION_AXIS:
        *number = values->axes[e->number];
        return true;
    case EXPRESSION_SIZE:
        *number = values->sizes[e->number].length;
        return true;
    case EXPRESSION_LOOP:
        *number = values->loops[e->number].length;
        return true;
    default:
        return kernel_number(values, e, number, &error) == STATUS_OK;
    }
}

/* How often each plan loop runs, which may be never. */
static bool enter_loops(const struct kernel_plan *plan, struct kernel_values *values,
                        double runs[KERNEL_MAX_LOOPS + 1], double *played)
{
    runs[0] = 1;
    *played = 0;
    for (int loop = 1; loop < plan->loop_count; loop++) {
        int number = plan->loops[loop].text_loop;
        int64_t in, by;
        if (!number_of(values, plan->kernel->loops[number].in, &in) ||
            !number_of(values, plan->kernel->loops[number].by, &by) || by < 1)
            return false;
        values->loops[number].length = in < by ? in : by;
        double rounds = in < 1 ? 0 : in <= by ? 1 : (double)divide_up(in, by);
        runs[loop] = runs[plan->loops[loop].around] * rounds;
        *played += runs[loop] * plan->loops[loop].item_count;
    }
    return true;
}

/* Up to INT64_MAX. */
static bool bytes_of(const struct kernel_plan *plan, const struct kernel_values *values, int number,
                     int64_t *bytes)
{
    const struct plan_tile *tile = &plan->tiles[number];
    int64_t unit = plan->hw->buffers[tile->buffer].alignment_bytes, extent;
    *bytes = dtype_bytes(tile->type);
    for (int d = 0; d < tile->dim_count; d++) {
        if (!number_of(values, tile->dims[d], &extent) || extent < 1)
            return false;
        *bytes = product_of(*bytes, extent);
    }
    if (unit > 1)
        *bytes = *bytes < INT64_MAX - unit ? round_up(*bytes, unit) : INT64_MAX;
    *bytes = product_of(*bytes, tile->copies);
    return true;
}

enum fit_verdict kernel_fits(const struct kernel_plan *plan, const struct kernel_fit *fit,
                             struct kernel_values *values, double *played)
{
    double runs[KERNEL_MAX_LOOPS + 1];
    if (!enter_loops(plan, values, runs, played))
        return FIT_NO_NUMBER;
    for (int s = 0; s < fit->sum_count; s++) {
        int64_t left = plan->hw->buffers[fit->sums[s].buffer].capacity_bytes;
        for (int t = 0; t < fit->sums[s].count; t++) {
            int64_t bytes;
            if (runs[plan->tiles[fit->sums[s].tiles[t]].life] == 0)
                continue;
            if (!bytes_of(plan, values, fit->sums[s].tiles[t], &bytes))
                return FIT_NO_NUMBER;
            if (bytes > left)
                return FIT_NOT;
            left -= bytes;
        }
    }
    return FIT_YES;
}
