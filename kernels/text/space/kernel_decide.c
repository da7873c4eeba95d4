/* The plans of a space: one for each structure that its tilings have. The conditions and numbers
 * that a structure hangs on are a tape; where all of them are one number each for a part of a block
 * all its tilings have one plan, else it is halved along an axis that they ask. Halves are a tree,
 * by which the plan of a tiling is found. */
#include "core/array.h"
#include "kernels/text/space/kernel_space_internal.h"
#include "kernels/text/tape/kernel_trace.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ the tree of a tiling */

static bool is_of_block(const struct kernel_space *ks, const struct space_block *block,
                        const int64_t value[])
{
    for (int a = 0; a <= ks->kernel->axis_count; a++)
        if (ks->block_axes >> a & 1 && block->values[a][0] != value[a])
            return false;
    return true;
}

/* The slot of the block with such values of the axes that have one in a block, or the empty one
 * where it would be. Fibonacci hashing (Knuth 1973), a value after another. */
static int find_slot(const struct kernel_space *ks, const int64_t value[])
{
    const struct decisions *decisions = &ks->decisions;
    uint64_t hash = 0;
    for (int a = 0; a <= ks->kernel->axis_count; a++)
        if (ks->block_axes >> a & 1)
            hash = (hash ^ (uint64_t)value[a]) * UINT64_C(0x9E3779B97F4A7C15);
    int slot = (int)(hash >> 32) & (decisions->capacity - 1);
    while (decisions->slots[slot] >= 0 &&
           !is_of_block(ks, &ks->blocks[decisions->slots[slot]], value))
        slot = (slot + 1) & (decisions->capacity - 1);
    return slot;
}

/* What lies between two values of an axis that are next to each other is on neither side. */
const struct space_plan *kernel_find_plan(const struct kernel_space *ks,
                                          const struct tiling *tiling)
{
    const struct decisions *decisions = &ks->decisions;
    int number = decisions->slots[find_slot(ks, tiling->value)];
    if (number < 0)
        return NULL;
    const struct space_block *block = &ks->blocks[number];
    for (unsigned axes = decisions->axes; axes; axes &= axes - 1) {
        int a = __builtin_ctz(axes);
        if (tiling->value[a] < block->values[a][0] ||
            tiling->value[a] > block->values[a][block->count[a] - 1])
            return NULL;
    }
    const struct decision *at = &decisions->items[decisions->trees[number]];
    while (at->axis >= 0) {
        const int64_t *middle = &block->values[at->axis][at->middle];
        int64_t value = tiling->value[at->axis];
        if (value > middle[0] && value < middle[1])
            return NULL;
        at = &decisions->items[value <= middle[0] ? at->below : at->above];
    }
    return at->plan >= 0 ? ks->plans[at->plan] : NULL;
}

void kernel_space_values(const struct kernel_space *ks, struct interval *axes)
{
    for (int a = 0; a <= ks->kernel->axis_count; a++)
        axes[a] = (struct interval){INFINITY, -INFINITY};
    for (int b = 0; b < ks->block_count; b++)
        for (int a = 0; a <= ks->kernel->axis_count; a++) {
            const struct space_block *block = &ks->blocks[b];
            axes[a].lo = fmin(axes[a].lo, (double)block->values[a][0]);
            axes[a].hi = fmax(axes[a].hi, (double)block->values[a][block->count[a] - 1]);
        }
}

static enum status open_decisions(struct kernel_space *ks, struct error *error)
{
    struct decisions *decisions = &ks->decisions;
    for (decisions->capacity = 4; decisions->capacity < 2 * ks->block_count;)
        decisions->capacity *= 2;
    decisions->slots = malloc((size_t)decisions->capacity * sizeof *decisions->slots);
    decisions->trees = calloc((size_t)ks->block_count + 1, sizeof *decisions->trees);
    if (!decisions->slots || !decisions->trees)
        return error_memory(error);
    memset(decisions->slots, -1, (size_t)decisions->capacity * sizeof *decisions->slots);
    for (int b = 0; b < ks->block_count; b++) {
        int64_t value[SPACE_MAX_AXES];
        for (int a = 0; a <= ks->kernel->axis_count; a++)
            value[a] = ks->blocks[b].values[a][0];
        decisions->slots[find_slot(ks, value)] = b;
    }
    return STATUS_OK;
}

/* ------------------------------------------------------------------ plans */

static int find_plan(const struct kernel_space *ks, const struct plan_choices *choices)
{
    for (int p = 0; p < ks->plan_count; p++)
        if (memcmp(ks->plans[p]->choices.values, choices->values,
                   (size_t)choices->count * sizeof *choices->values) == 0)
            return p;
    return -1;
}

/* Most kernels need few tokens. */
static struct kernel_flags *without_spare(struct kernel_flags *flags)
{
    size_t bytes = offsetof(struct kernel_flags, tokens) +
                   (size_t)(flags->token_count + 1) * sizeof *flags->tokens;
    struct kernel_flags *smaller = bytes < sizeof *flags ? realloc(flags, bytes) : NULL;
    return smaller ? smaller : flags;
}

enum status kernel_make_plan(const struct kernel_values *values, struct space_plan *plan,
                             struct error *error)
{
    struct error reason = {.text = ""};
    enum status status = kernel_plan_make(values, &plan->plan, &reason);
    plan->is_possible = status == STATUS_OK;
    snprintf(plan->reason, sizeof plan->reason, "%.470s", reason.text);
    if (status != STATUS_OK)
        return status == STATUS_NO_MEMORY ? error_memory(error) : STATUS_OK;
    plan->is_certain = true;
    for (int s = 0; s < plan->plan.step_count; s++)
        plan->is_certain &= plan->plan.steps[s].is_certain;
    plan->flags = malloc(sizeof *plan->flags);
    if (!plan->flags)
        return error_memory(error);
    status = kernel_flags_find(&plan->plan, values, plan->flags, &reason);
    if (status == STATUS_OK)
        status = kernel_flags_check(&plan->plan, plan->flags, &reason);
    plan->flags = without_spare(plan->flags);
    if (status != STATUS_OK) {
        plan->is_possible = false;
        snprintf(plan->reason, sizeof plan->reason, "%.470s", reason.text);
        return status == STATUS_NO_MEMORY ? error_memory(error) : STATUS_OK;
    }
    plan->is_certain &= !plan->flags->written_out; /* else how long its program is is asked */
    kernel_find_asked(plan);
    kernel_find_doubts(values, &plan->plan, &plan->doubts);
    TRY(kernel_work_make(&plan->plan, &plan->work, error));
    return kernel_fit_make(&plan->plan, &plan->fit, error);
}

void kernel_plan_free(struct space_plan *plan)
{
    kernel_plan_clear(&plan->plan);
    free(plan->flags);
    kernel_fit_clear(&plan->fit);
    kernel_work_free(plan->work);
    free(plan);
}

/* *number: of the plan that values come to, -1: a choice cannot be made. */
static enum status plan_of(struct kernel_space *ks, const struct kernel_values *values, int *number,
                           struct error *error)
{
    struct plan_choices choices;
    struct error reason;
    *number = -1;
    if (kernel_plan_choices(values, &choices, &reason) != STATUS_OK)
        return STATUS_OK;
    *number = find_plan(ks, &choices);
    if (*number >= 0)
        return STATUS_OK;
    if (ks->plan_count == KERNEL_MAX_PLANS)
        return error_set(error, STATUS_TOO_LARGE, "kernel '%s' has more than %d structures",
                         ks->kernel->name.text, KERNEL_MAX_PLANS);
    struct space_plan *plan = calloc(1, sizeof *plan);
    if (!plan || !array_room(&ks->plans, ks->plan_count, sizeof(struct space_plan *))) {
        free(plan);
        return error_memory(error);
    }
    *number = plan->number = ks->plan_count;
    ks->plans[ks->plan_count++] = plan;
    plan->choices = choices;
    return kernel_make_plan(values, plan, error);
}

/* ------------------------------------------------------------------ what decides */

/* A number or a condition that a plan hangs on. */
struct decider {
    const struct expression *e;
    unsigned axes; /* that it asks, bits */
    bool is_copies;
    bool is_traced; /* its value is on the tape; else it is known of one tiling only */
};

struct deciding {
    struct kernel_space *ks;
    const struct space_block *block;
    struct kernel_values values;
    struct error *error;
    int count;
    struct decider *deciders; /* owned, as the next three */
    double *scratch;
    struct interval *results;
    struct kernel_trace trace; /* of all that are traced */
    struct interval axes[SPACE_MAX_AXES], inputs[TRACE_INPUTS];
    bool no_memory;
};

/* Copies that may have less where an axis grows decide like all others. */
static void add_decider(void *context, const struct expression *e, bool is_copies)
{
    struct deciding *d = context;
    unsigned axes = kernel_axes_of(d->ks->kernel, e);
    d->no_memory = d->no_memory || !array_room(&d->deciders, d->count, sizeof *d->deciders);
    if (!d->no_memory)
        d->deciders[d->count++] = (struct decider){
            .e = e, .axes = axes, .is_copies = is_copies && !(axes & d->ks->word_axes)};
}

static void close_deciding(struct deciding *d)
{
    kernel_trace_clear(&d->trace);
    free(d->deciders);
    free(d->scratch);
    free(d->results);
    free(d);
}

static enum status trace_deciders(struct deciding *d)
{
    const struct trace_scope scope = {~0U, d->axes, true};
    const struct expression **all = calloc((size_t)d->count + 1, sizeof(struct expression *));
    bool *is_traced = calloc((size_t)d->count + 1, sizeof *is_traced);
    enum status status = all && is_traced ? STATUS_OK : error_memory(d->error);
    for (int i = 0; all && i < d->count; i++)
        all[i] = d->deciders[i].e;
    kernel_space_values(d->ks, d->axes);
    if (status == STATUS_OK)
        status = kernel_trace_choices(&d->ks->base, &scope, all, d->count, is_traced, &d->trace,
                                      d->error);
    if (status == STATUS_TOO_LARGE) { /* then nothing is on the tape */
        memset(is_traced, 0, (size_t)d->count * sizeof *is_traced);
        status =
            kernel_trace_choices(&d->ks->base, &scope, NULL, 0, is_traced, &d->trace, d->error);
    }
    for (int i = 0; status == STATUS_OK && i < d->count; i++)
        d->deciders[i].is_traced = is_traced[i];
    free(all);
    free(is_traced);
    if (status == STATUS_OK)
        d->scratch = malloc((size_t)kernel_trace_room(&d->trace) * sizeof *d->scratch + 1);
    if (status == STATUS_OK)
        d->results = calloc((size_t)d->count + 1, sizeof *d->results);
    return status != STATUS_OK || (d->scratch && d->results) ? status : error_memory(d->error);
}

/* ------------------------------------------------------------------ halving */

/* The axes, bits, of which it matters for some decider which of several values they have. */
static unsigned open_axes(struct deciding *d, const struct space_box *box, bool copies)
{
    unsigned several = 0, open = 0;
    for (int a = 0; a < d->ks->kernel->axis_count; a++) {
        const int64_t *values = d->block->values[a];
        d->inputs[a] =
            (struct interval){(double)values[box->first[a]], (double)values[box->last[a]]};
        several |= box->last[a] > box->first[a] ? 1U << a : 0;
    }
    kernel_trace_choose(&d->trace, d->inputs, d->scratch, d->results);
    for (int i = 0; i < d->count; i++) {
        const struct decider *one = &d->deciders[i];
        bool is_known = one->is_traced && d->results[i].lo == d->results[i].hi;
        if (one->is_copies == copies && !is_known)
            open |= one->axes & several;
    }
    return open;
}

static enum status decide_leaf(struct deciding *d, const struct space_box *box, int *plan)
{
    struct kernel_space *ks = d->ks;
    struct kernel_values values;
    struct tiling first = {.value = {0}};
    for (int a = 0; a <= ks->kernel->axis_count; a++)
        first.value[a] = d->block->values[a][box->first[a]];
    *plan = -1;
    return kernel_set_tiling(ks, &first, &values, NULL) ? plan_of(ks, &values, plan, d->error)
                                                        : STATUS_OK;
}

static enum status decide(struct deciding *d, const struct space_box *box, int *number)
{
    struct decisions *decisions = &d->ks->decisions;
    struct decision decision = {.axis = -1, .plan = -1};
    unsigned open = open_axes(d, box, false);
    decision.copies = !open;
    if (!open)
        open = open_axes(d, box, true);
    if (decisions->count == KERNEL_MAX_DECISIONS)
        return error_set(d->error, STATUS_TOO_LARGE,
                         "kernel '%s': more than %d combinations of axes decide its structure",
                         d->ks->kernel->name.text, KERNEL_MAX_DECISIONS / 2);
    if (!array_room(&decisions->items, decisions->count, sizeof *decisions->items))
        return error_memory(d->error);
    *number = decisions->count++;
    if (open) {
        struct space_box half = *box;
        int axis = decision.axis = __builtin_ctz(open);
        decision.middle = half.last[axis] = (box->first[axis] + box->last[axis]) / 2;
        TRY(decide(d, &half, &decision.below));
        half.first[axis] = decision.middle + 1;
        half.last[axis] = box->last[axis];
        TRY(decide(d, &half, &decision.above));
    } else {
        TRY(decide_leaf(d, box, &decision.plan));
    }
    decisions->items[*number] = decision;
    return STATUS_OK;
}

/* Does the same decide in the same way as in the block before? */
static bool is_like(const struct deciding *d, const struct space_block *before)
{
    unsigned axes = d->ks->decisions.axes;
    bool like = d->trace.given_count == 0 && !(axes & d->ks->block_axes);
    for (int i = 0; i < d->count; i++)
        like = like && d->deciders[i].is_traced;
    for (; like && axes; axes &= axes - 1) {
        int a = __builtin_ctz(axes), count = d->block->count[a];
        like = count == before->count[a] &&
               memcmp(d->block->values[a], before->values[a], (size_t)count * sizeof(int64_t)) == 0;
    }
    return like;
}

static enum status decide_block(struct deciding *d, int number)
{
    struct kernel_space *ks = d->ks;
    struct space_box box = {.block = number};
    struct tiling first = {.value = {0}};
    d->block = &ks->blocks[number];
    if (number > 0 && is_like(d, d->block - 1)) {
        ks->decisions.trees[number] = ks->decisions.trees[number - 1];
        return STATUS_OK;
    }
    for (int a = 0; a <= ks->kernel->axis_count; a++) {
        box.last[a] = d->block->count[a] - 1;
        first.value[a] = d->block->values[a][0];
    }
    if (kernel_set_tiling(ks, &first, &d->values, NULL))
        kernel_trace_give(&d->trace, &d->values, d->inputs);
    return decide(d, &box, &ks->decisions.trees[number]);
}

static enum status decide_all(struct kernel_space *ks, struct error *error)
{
    struct deciding *d = calloc(1, sizeof *d);
    if (!d)
        return error_memory(error);
    d->ks = ks;
    d->error = error;
    kernel_plan_asks(ks->kernel, add_decider, d);
    enum status status = d->no_memory ? error_memory(error) : trace_deciders(d);
    for (int b = 0; status == STATUS_OK && b < ks->block_count; b++)
        status = decide_block(d, b);
    close_deciding(d);
    return status;
}

/* ------------------------------------------------------------------ axes */

struct asked_axes {
    const struct kernel_text *kernel;
    unsigned copies, others; /* bits */
};

static void add_axes(void *context, const struct expression *e, bool is_copies)
{
    struct asked_axes *asked = context;
    *(is_copies ? &asked->copies : &asked->others) |= kernel_axes_of(asked->kernel, e);
}

/* Axes whose only say is how many copies a tile has, one or more, which it has more of where they
 * grow. */
static unsigned of_copies(const struct kernel_space *ks)
{
    const struct kernel_text *kernel = ks->kernel;
    struct kernel_values values = ks->base;
    unsigned axes = 0, others = 0;
    for (int a = 0; a < kernel->axis_count; a++)
        values.axes[a] = ks->least[a];
    for (int t = 0; t < kernel->tile_count; t++) {
        const struct expression *copies = kernel->tiles[t].copies;
        int64_t least;
        if (!copies || !kernel_grows(kernel, copies))
            continue;
        bool any = kernel_number(&values, copies, &least, NULL) == STATUS_OK && least > 0;
        *(any ? &axes : &others) |= kernel_axes_of(kernel, copies);
    }
    return axes & ~others;
}

static enum status make_layouts(struct kernel_space *ks, struct error *error)
{
    ks->layouts = calloc((size_t)ks->plan_count * WORK_VARIANTS + 1, sizeof *ks->layouts);
    if (!ks->layouts)
        return error_memory(error);
    for (int p = 0; p < ks->plan_count; p++)
        for (int v = 0; v < WORK_VARIANTS && ks->plans[p]->work; v++)
            ks->layouts[p * WORK_VARIANTS + v] =
                *kernel_work_layout(ks->plans[p]->work, (enum work_variant)v);
    return STATUS_OK;
}

enum status kernel_make_plans(struct kernel_space *ks, const struct space *space,
                              struct error *error)
{
    struct asked_axes asked = {.kernel = ks->kernel};
    kernel_plan_asks(ks->kernel, add_axes, &asked);
    ks->decisions.axes = asked.copies | asked.others;
    ks->word_axes = (asked.others | (asked.copies & ~of_copies(ks))) & ~ks->block_axes;
    ks->copy_axes = asked.copies & ~ks->word_axes & ~ks->block_axes;
    ks->blocks = space->blocks;
    ks->block_count = space->block_count;
    TRY(open_decisions(ks, error));
    if (ks->block_count)
        TRY(decide_all(ks, error));
    return make_layouts(ks, error);
}
