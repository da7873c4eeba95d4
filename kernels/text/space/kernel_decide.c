/* The plans of a space: one for each structure that its tilings have. Which one a tiling has is
 * looked up by the values of the axes that decide it and by its cores, all combinations of which
 * are listed when the space is made. */
#include "core/array.h"
#include "kernels/text/space/kernel_space_internal.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ the table */

static void key_of(const struct decisions *decisions, const struct tiling *tiling,
                   int64_t key[SPACE_MAX_AXES])
{
    for (int i = 0; i < decisions->axis_count; i++)
        key[i] = tiling->value[decisions->axes[i]];
}

/* Fibonacci hashing (Knuth 1973), a value after another. */
static int slot_of(const struct decisions *decisions, const int64_t key[])
{
    uint64_t hash = 0;
    for (int i = 0; i < decisions->axis_count; i++)
        hash = (hash ^ (uint64_t)key[i]) * UINT64_C(0x9E3779B97F4A7C15);
    return (int)(hash >> 32) & (decisions->capacity - 1);
}

/* The slot of a key, or the empty one where it would be. */
static int find_slot(const struct decisions *decisions, const int64_t key[])
{
    int slot = slot_of(decisions, key);
    while (decisions->slots[slot] >= 0 && memcmp(decisions->items[decisions->slots[slot]].key, key,
                                                 (size_t)decisions->axis_count * sizeof *key) != 0)
        slot = (slot + 1) & (decisions->capacity - 1);
    return slot;
}

const struct space_plan *kernel_find_plan(const struct kernel_space *ks,
                                          const struct tiling *tiling)
{
    int64_t key[SPACE_MAX_AXES];
    key_of(&ks->decisions, tiling, key);
    int item = ks->decisions.slots[find_slot(&ks->decisions, key)];
    int plan = item >= 0 ? ks->decisions.items[item].plan : -1;
    return plan >= 0 ? ks->plans[plan] : NULL;
}

static enum status enlarge(struct decisions *decisions, struct error *error)
{
    int capacity = decisions->capacity ? 2 * decisions->capacity : 64;
    int *slots = malloc((size_t)capacity * sizeof *slots);
    if (!slots)
        return error_memory(error);
    memset(slots, -1, (size_t)capacity * sizeof *slots);
    free(decisions->slots);
    decisions->slots = slots;
    decisions->capacity = capacity;
    for (int i = 0; i < decisions->count; i++)
        slots[find_slot(decisions, decisions->items[i].key)] = i;
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

static enum status decide(struct kernel_space *ks, const struct tiling *tiling, struct error *error)
{
    struct decisions *decisions = &ks->decisions;
    struct kernel_values values;
    struct decision decision = {.plan = -1};
    if (2 * decisions->count >= decisions->capacity)
        TRY(enlarge(decisions, error));
    key_of(decisions, tiling, decision.key);
    int slot = find_slot(decisions, decision.key);
    if (decisions->slots[slot] >= 0)
        return STATUS_OK;
    if (decisions->count == KERNEL_MAX_DECISIONS)
        return error_set(error, STATUS_TOO_LARGE,
                         "kernel '%s': more than %d combinations of axes decide its structure",
                         ks->kernel->name.text, KERNEL_MAX_DECISIONS);
    if (kernel_set_tiling(ks, tiling, &values, NULL))
        TRY(plan_of(ks, &values, &decision.plan, error));
    if (!array_room(&decisions->items, decisions->count, sizeof *decisions->items))
        return error_memory(error);
    decisions->slots[slot] = decisions->count;
    decisions->items[decisions->count++] = decision;
    return STATUS_OK;
}

/* Every combination of the deciding axes from number i on; others do not matter. */
static enum status decide_all(struct kernel_space *ks, const struct space_block *block,
                              struct tiling *tiling, int i, struct error *error)
{
    if (i == ks->decisions.axis_count)
        return decide(ks, tiling, error);
    int axis = ks->decisions.axes[i];
    for (int v = 0; v < block->count[axis]; v++) {
        tiling->value[axis] = block->values[axis][v];
        TRY(decide_all(ks, block, tiling, i + 1, error));
    }
    return STATUS_OK;
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
    struct decisions *decisions = &ks->decisions;
    unsigned axes = kernel_plan_axes(ks->kernel, true) | ks->block_axes;
    ks->word_axes = kernel_plan_axes(ks->kernel, false) & ~ks->block_axes;
    ks->word_axes |= kernel_plan_axes(ks->kernel, true) & ~of_copies(ks) & ~ks->block_axes;
    ks->copy_axes = axes & ~ks->word_axes & ~ks->block_axes;
    for (int a = 0; a < space->axis_count; a++)
        if (axes >> a & 1)
            decisions->axes[decisions->axis_count++] = a;
    TRY(enlarge(decisions, error));
    struct tiling tiling = {.value = {0}};
    for (int a = 0; a < space->axis_count; a++)
        tiling.value[a] = ks->least[a];
    for (int b = 0; b < space->block_count; b++)
        TRY(decide_all(ks, &space->blocks[b], &tiling, 0, error));
    return make_layouts(ks, error);
}
