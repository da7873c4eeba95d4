/* The space of a kernel's tilings. */
#include "kernels/text/space/kernel_space_internal.h"

#include "kernels/text/plan/kernel_shares.h"
#include "kernels/text/plan/kernel_structure.h"
#include "kernels/text/program/kernel_program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool kernel_set_tiling(const struct kernel_space *ks, const struct tiling *tiling,
                       struct kernel_values *values, struct error *error)
{
    int axes = ks->kernel->axis_count;
    int64_t cores = tiling->value[axes], used = 0;
    *values = ks->base;
    memcpy(values->axes, tiling->value, (size_t)axes * sizeof *values->axes);
    if (cores >= 1 && cores <= ks->cores && kernel_share(values, cores, &used, error) != STATUS_OK)
        return false;
    if (used != cores)
        error_set(error, STATUS_INVALID, "%lld cores, of which %lld have work", (long long)cores,
                  (long long)used);
    return used == cores;
}

/* Where no structure can be, the first one's reason is the kernel's. */
static enum status check_plans(const struct kernel_space *ks, struct error *error)
{
    for (int p = 0; p < ks->plan_count; p++)
        if (ks->plans[p]->is_possible)
            return STATUS_OK;
    return ks->plan_count ? error_set(error, STATUS_INVALID, "%s", ks->plans[0]->reason)
                          : STATUS_OK;
}

/* ------------------------------------------------------------------ the space */

static void find_least(struct kernel_space *ks, const struct space *space)
{
    for (int a = 0; a < space->axis_count; a++) {
        ks->least[a] = INT64_MAX;
        for (int b = 0; b < space->block_count; b++)
            if (space->blocks[b].count[a] && space->blocks[b].values[a][0] < ks->least[a])
                ks->least[a] = space->blocks[b].values[a][0];
    }
}

/* Where a tensor has a part of a size, as given, that part is one without a rest: half of its
 * columns are all of another's. */
static enum status check_division(const struct kernel_values *values, const struct expression *e,
                                  const struct kernel_tensor *tensor, struct error *error)
{
    const struct expression *left = e->args;
    int64_t all, parts;
    for (const struct expression *arg = left; arg; arg = arg->next)
        TRY(check_division(values, arg, tensor, error));
    if (e->op != EXPRESSION_DIVIDE || !left)
        return STATUS_OK;
    TRY(kernel_number(values, left, &all, error));
    TRY(kernel_number(values, left->next, &parts, error));
    return parts == 0 || all % parts == 0
               ? STATUS_OK
               : plan_fail(error, e->at, "%lld/%lld in an extent of tensor '%s', expected no rest",
                           (long long)all, (long long)parts, tensor->name.text);
}

static enum status check_tensors(const struct kernel_space *ks, struct error *error)
{
    struct kernel_values values = ks->base;
    for (int s = 0; s < ks->kernel->size_count; s++)
        values.sizes[s] = (struct kernel_range){.length = values.wholes[s] = ks->given[s]};
    for (int t = 0; t < ks->kernel->tensor_count; t++)
        for (const struct expression *dim = ks->kernel->tensors[t].dims; dim; dim = dim->next)
            TRY(check_division(&values, dim, &ks->kernel->tensors[t], error));
    return STATUS_OK;
}

/* Padded sizes are all that a tiling sees; sizes as they are given are asked by check_tensors only.
 */
int64_t kernel_size_class(const struct space *space, int size, int64_t value)
{
    const struct kernel_space *ks = kernel_space_of(space);
    struct kernel_space other = {.kernel = ks->kernel};
    memcpy(other.given, ks->given, sizeof other.given);
    other.given[size] = value;
    if (kernel_values_set(&other.base, ks->kernel, space->hw, ks->base.dtype, other.given, NULL) !=
            STATUS_OK ||
        check_tensors(&other, NULL) != STATUS_OK)
        return -value; /* of none: it is no size of this kernel */
    for (int s = 0; s < ks->kernel->size_count; s++)
        if (other.base.pads[s] != ks->base.pads[s])
            return value;
    return other.base.wholes[size];
}

static enum status make(struct space *space, struct kernel_space *ks, const int64_t given[],
                        enum dtype type, enum dtype result_type, int cores, struct error *error)
{
    ks->cores = cores;
    memcpy(ks->given, given, (size_t)ks->kernel->size_count * sizeof *given);
    TRY(kernel_values_set(&ks->base, ks->kernel, space->hw, type, given, error));
    ks->base.result = result_type;
    TRY(check_tensors(ks, error));
    TRY(kernel_make_axes(space, ks, error));
    TRY(kernel_make_blocks(space, ks, error));
    space_number(space);
    find_least(ks, space);
    TRY(kernel_make_plans(ks, space, error));
    space->layout_count = ks->plan_count * WORK_VARIANTS;
    space->layouts = ks->layouts;
    return check_plans(ks, error);
}

static enum status open(struct space *space, struct error *error)
{
    space->detail = calloc(1, sizeof(struct kernel_space));
    return space->detail ? STATUS_OK : error_memory(error);
}

enum status kernel_space_create(struct space *space, const struct kernel_text *kernel,
                                const int64_t given[], enum dtype type, enum dtype result_type,
                                int cores, struct error *error)
{
    TRY(open(space, error));
    struct kernel_space *ks = kernel_space_of(space);
    ks->kernel = kernel;
    return make(space, ks, given, type, result_type, cores, error);
}

enum status kernel_space_parse(struct space *space, const char *file, const char *text,
                               const int64_t given[], enum dtype type, enum dtype result_type,
                               int cores, struct error *error)
{
    TRY(open(space, error));
    struct kernel_space *ks = kernel_space_of(space);
    TRY(kernel_text_parse(file, text, strlen(text), &ks->own, error));
    ks->kernel = &ks->own;
    enum status status = kernel_text_locate(
        &ks->own, make(space, ks, given, type, result_type, cores, error), error);
    if (status != STATUS_OK && error)
        error->excerpt[0] = 0; /* nobody has the text before him */
    return status;
}

void kernel_destroy(struct space *space)
{
    struct kernel_space *ks = space->detail;
    if (!ks)
        return;
    for (int a = 0; a < SPACE_MAX_AXES; a++)
        free(ks->words[a]);
    for (int l = 0; l < ks->list_count; l++)
        free(ks->lists[l]);
    free(ks->lists);
    for (int p = 0; p < ks->plan_count; p++)
        kernel_plan_free(ks->plans[p]);
    free(ks->plans);
    if (ks->kernel == &ks->own)
        kernel_text_clear(&ks->own);
    kernel_boxes_free(ks->boxes);
    free(ks->layouts);
    free(ks->decisions.items);
    free(ks->decisions.slots);
    free(ks->decisions.trees);
    free(ks);
}

int kernel_cores_used(const struct space *space, const struct tiling *tiling, int part)
{
    (void)part;
    return (int)tiling->value[space->axis_count - 1];
}

void kernel_space_summarise(const struct space *space, const struct tiling *tiling,
                            struct work *work)
{
    const struct kernel_space *ks = kernel_space_of(space);
    const struct space_plan *plan = kernel_find_plan(ks, tiling);
    struct kernel_values values;
    struct error error;
    int cores = (int)tiling->value[ks->kernel->axis_count];
    if (!plan || !plan->work || !kernel_set_tiling(ks, tiling, &values, NULL) ||
        kernel_summarise(plan->work, &values, cores, work, &error) != STATUS_OK)
        *work = (struct work){.cores = cores}; /* of no legal tiling */
    else
        work->layout += plan->number * WORK_VARIANTS;
}

static enum status set_env(const struct space *space, const struct tiling *tiling,
                           const struct space_plan **plan, struct kernel_env *env,
                           struct error *error)
{
    const struct kernel_space *ks = kernel_space_of(space);
    *plan = kernel_find_plan(ks, tiling);
    if (!*plan || !(*plan)->is_possible || !kernel_set_tiling(ks, tiling, &env->values, NULL))
        return error_set(error, STATUS_INVALID, "kernel '%s' has no such tiling",
                         ks->kernel->name.text);
    kernel_keep_lets(&env->values);
    return STATUS_OK;
}

enum status kernel_content(const struct space *space, const struct tiling *tiling, bool *sure,
                           struct error *error)
{
    const struct space_plan *plan;
    struct kernel_env env;
    enum status status = set_env(space, tiling, &plan, &env, error);
    if (status == STATUS_OK)
        status = kernel_content_check(&plan->plan, &plan->doubts, &env, space->stop, error);
    *sure = status != STATUS_TOO_LARGE && status != STATUS_STOPPED;
    return *sure ? kernel_text_locate(kernel_space_of(space)->kernel, status, error) : STATUS_OK;
}

enum status kernel_generate(const struct space *space, const struct tiling *tiling, int part,
                            struct program *program, struct error *error)
{
    const struct space_plan *plan;
    struct kernel_env env;
    struct kernel_room room;
    (void)part;
    enum status status = set_env(space, tiling, &plan, &env, error);
    if (status == STATUS_OK)
        status = kernel_room_find(&plan->plan, &env, &room, error);
    if (status == STATUS_OK)
        status = kernel_program(&plan->plan, plan->flags, &env, &room, space->stop, program, error);
    return kernel_text_locate(kernel_space_of(space)->kernel, status, error);
}

const char *const kernel_parts[] = {"kernel", NULL};
