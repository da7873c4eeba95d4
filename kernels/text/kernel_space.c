/* The space of a kernel's tilings. Its plans are made with it: one for each combination of what
 * decides the structure, looked up by those choices. */
#include "kernels/text/kernel_space.h"

#include "core/array.h"
#include "kernels/text/kernel_shares.h"
#include "kernels/text/kernel_space_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ plans */

bool kernel_set_tiling(const struct kernel_space *ks, const struct tiling *tiling,
                       struct kernel_values *values)
{
    int axes = ks->kernel->axis_count;
    int64_t cores = tiling->value[axes], used;
    struct error error;
    *values = ks->base;
    memcpy(values->axes, tiling->value, (size_t)axes * sizeof *values->axes);
    return cores >= 1 && cores <= ks->cores &&
           kernel_share(values, cores, &used, &error) == STATUS_OK && used == cores;
}

static const struct space_plan *find_plan(const struct kernel_space *ks,
                                          const struct plan_choices *choices)
{
    for (int p = 0; p < ks->plan_count; p++)
        if (memcmp(ks->plans[p]->choices.values, choices->values,
                   (size_t)choices->count * sizeof *choices->values) == 0)
            return ks->plans[p];
    return NULL;
}

const struct space_plan *kernel_find_plan(const struct kernel_space *ks,
                                          const struct kernel_values *values)
{
    struct plan_choices choices;
    struct error error;
    return kernel_plan_choices(values, &choices, &error) == STATUS_OK ? find_plan(ks, &choices)
                                                                      : NULL;
}

static enum status add_plan(struct kernel_space *ks, const struct kernel_values *values,
                            struct error *error)
{
    struct plan_choices choices;
    struct error reason = {.text = ""};
    if (kernel_plan_choices(values, &choices, &reason) != STATUS_OK || find_plan(ks, &choices))
        return STATUS_OK;
    if (ks->plan_count == KERNEL_MAX_PLANS)
        return error_set(error, STATUS_TOO_LARGE, "kernel '%s' has more than %d structures",
                         ks->kernel->name.text, KERNEL_MAX_PLANS);
    struct space_plan *plan = calloc(1, sizeof *plan);
    if (!plan || !array_room(&ks->plans, ks->plan_count, sizeof *ks->plans)) {
        free(plan);
        return error_memory(error);
    }
    ks->plans[ks->plan_count++] = plan;
    plan->choices = choices;
    enum status status = kernel_plan_make(values, &plan->plan, &reason);
    plan->is_possible = status == STATUS_OK;
    snprintf(plan->reason, sizeof plan->reason, "%.190s", reason.text);
    return status == STATUS_NO_MEMORY ? error_memory(error) : STATUS_OK;
}

/* Every combination of the axes that decide a plan, in a block; others are at their first value. */
static enum status add_plans(struct kernel_space *ks, const struct space *space,
                             const struct space_block *block, unsigned axes, struct tiling *tiling,
                             int axis, struct error *error)
{
    struct kernel_values values;
    if (axis == space->axis_count)
        return kernel_set_tiling(ks, tiling, &values) ? add_plan(ks, &values, error) : STATUS_OK;
    int count = axes >> axis & 1 ? block->count[axis] : 1;
    for (int i = 0; i < count; i++) {
        tiling->value[axis] = block->values[axis][i];
        TRY(add_plans(ks, space, block, axes, tiling, axis + 1, error));
    }
    return STATUS_OK;
}

static enum status make_plans(struct kernel_space *ks, const struct space *space,
                              struct error *error)
{
    unsigned axes = kernel_plan_axes(ks->kernel);
    struct tiling tiling;
    for (int b = 0; b < space->block_count; b++) {
        bool is_empty = false;
        for (int a = 0; a < space->axis_count; a++)
            is_empty |= space->blocks[b].count[a] == 0;
        if (!is_empty)
            TRY(add_plans(ks, space, &space->blocks[b], axes, &tiling, 0, error));
    }
    return STATUS_OK;
}

/* Where no structure can be, the first one's reason is the kernel's. */
static enum status check_plans(const struct kernel_space *ks, struct error *error)
{
    for (int p = 0; p < ks->plan_count; p++)
        if (ks->plans[p]->is_possible)
            return STATUS_OK;
    return ks->plan_count ? error_set(error, STATUS_INVALID, "kernel '%s':%s",
                                      ks->kernel->name.text, ks->plans[0]->reason)
                          : STATUS_OK;
}

/* ------------------------------------------------------------------ the space */

enum status kernel_space_create(struct space *space, const struct kernel_text *kernel,
                                const int64_t given[], enum dtype type, enum dtype result_type,
                                int cores, struct error *error)
{
    struct kernel_space *ks = calloc(1, sizeof *ks);
    if (!ks)
        return error_memory(error);
    space->detail = ks;
    ks->kernel = kernel;
    ks->cores = cores;
    TRY(kernel_values_set(&ks->base, kernel, space->hw, type, given, error));
    ks->base.result = result_type;
    TRY(kernel_make_axes(space, ks, error));
    TRY(kernel_make_blocks(space, ks, error));
    space_number(space);
    TRY(make_plans(ks, space, error));
    return check_plans(ks, error);
}

static void destroy(struct space *space)
{
    struct kernel_space *ks = space->detail;
    if (!ks)
        return;
    for (int a = 0; a < SPACE_MAX_AXES; a++)
        free(ks->words[a]);
    for (int l = 0; l < ks->list_count; l++)
        free(ks->lists[l]);
    free(ks->lists);
    for (int p = 0; p < ks->plan_count; p++) {
        kernel_plan_clear(&ks->plans[p]->plan);
        free(ks->plans[p]);
    }
    free(ks->plans);
    free(ks);
}

static int cores_used(const struct space *space, const struct tiling *tiling, int part)
{
    (void)part;
    return (int)tiling->value[space->axis_count - 1];
}

static const char *const parts[] = {"kernel", NULL};

const struct operator_space kernel_space_tile = {
    .name = "tile",
    .title = "the axes of a kernel's text",
    .destroy = destroy,
    .possible = kernel_possible,
    .legal = kernel_is_legal,
    .violations = kernel_violations,
    .cores_used = cores_used,
    .parts = parts,
};
