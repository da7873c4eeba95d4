/* Plans in numbers: rounds, the shapes of tiles, what parts pick, and what a step is as an
 * instruction. */
#include "kernels/limits.h"
#include "kernels/slices.h"
#include "kernels/text/plan/kernel_structure.h"

#include <assert.h>

/* ------------------------------------------------------------------ rounds */

void plan_deal_out(const struct kernel_plan *plan, struct kernel_env *env)
{
    env->values.dealt = plan->dealt;
    env->values.dealers = plan->dealers;
}

enum status plan_rounds(const struct kernel_plan *plan, const struct kernel_env *env, int loop,
                        int64_t *rounds, bool *last_differs, struct error *error)
{
    struct kernel_range range;
    int64_t step;
    int text_loop = plan->loops[loop].text_loop;
    *rounds = 1;
    *last_differs = false;
    if (text_loop < 0)
        return STATUS_OK;
    TRY(kernel_loop_played(&env->values, text_loop, &range, &step, error));
    *rounds = range.length > 0 ? divide_up(range.length, step) : 0;
    *last_differs = *rounds > 1 && range.length % step != 0;
    return STATUS_OK;
}

/* ------------------------------------------------------------------ tiles */

/* What the loops inside a life stand for there: all that their rounds make together. */
static enum status climb(const struct kernel_plan *plan, struct kernel_env *env, int life,
                         uint64_t named, struct error *error)
{
    for (int n = plan->kernel->loop_count - 1; n > 0; n--)
        if (named >> n & 1)
            named |= plan->kernel->loops[n].in->loops;
    for (int n = 0; n < plan->kernel->loop_count; n++) {
        int loop = plan->plan_loop_of[n];
        bool is_around = loop >= 0 && plan_is_within(plan, life, loop);
        if (named >> n & 1 && !is_around)
            TRY(kernel_loop_range(&env->values, n, &env->values.loops[n], error));
    }
    return STATUS_OK;
}

static int64_t begin_of(const struct kernel_values *values, const struct expression *dim)
{
    if (dim->op == EXPRESSION_LOOP)
        return values->loops[dim->number].begin;
    if (dim->op == EXPRESSION_SIZE)
        return values->sizes[dim->number].begin;
    if (dim->op == EXPRESSION_LET && values->is_shared[dim->number])
        return values->lets[dim->number].begin;
    return 0;
}

static enum status shape_dim(const struct kernel_values *values, const struct expression *dim,
                             struct tile_shape *shape, int d, struct error *error)
{
    shape->begin[d] = begin_of(values, dim);
    TRY(kernel_number(values, dim, &shape->room[d], error));
    shape->extent[d] = shape->room[d];
    if (dim->op == EXPRESSION_UP)
        TRY(kernel_number(values, dim->args, &shape->extent[d], error));
    if (shape->extent[d] >= 1)
        return STATUS_OK;
    return plan_fail(error, dim->at, "%lld elements of a tile's dimension, expected 1 or more",
                     (long long)shape->extent[d]);
}

enum status plan_enter(const struct kernel_plan *plan, struct kernel_env *env, int loop,
                       int64_t round, struct error *error)
{
    const struct kernel_text *kernel = plan->kernel;
    if (plan->loops[loop].text_loop >= 0)
        TRY(kernel_loop_enter(&env->values, plan->loops[loop].text_loop, round, error));
    for (int t = 0; t < kernel->tile_count; t++) {
        const struct plan_tile *tile = &plan->tiles[t];
        if (!tile->is_there || tile->life != loop)
            continue;
        for (int d = 0; d < tile->dim_count; d++) {
            TRY(climb(plan, env, loop, tile->dims[d]->loops, error));
            TRY(shape_dim(&env->values, tile->dims[d], &env->tiles[t], d, error));
        }
    }
    return STATUS_OK;
}

enum status plan_runs(const struct kernel_plan *plan, const struct kernel_env *env, int number,
                      bool *runs, struct error *error)
{
    const struct plan_step *step = &plan->steps[number];
    int64_t holds = 1;
    *runs = false;
    for (int loop = 0; step->once >> loop; loop++)
        if (step->once >> loop & 1 && !env->values.loops[loop].is_first)
            return STATUS_OK;
    if (step->condition)
        TRY(kernel_number(&env->values, step->condition, &holds, error));
    *runs = holds != 0;
    return STATUS_OK;
}

/* ------------------------------------------------------------------ parts */

const struct expression *kernel_tensor_dim(const struct kernel_text *kernel, int tensor, int d)
{
    const struct expression *dim = kernel->tensors[tensor].dims;
    assert(dim);
    while (d-- > 0 && dim->next)
        dim = dim->next;
    return dim;
}

/* All of a tensor's dimension: sizes are the whole ones there. */
enum status plan_tensor_extent(const struct kernel_env *env, int tensor, int d, int64_t *extent,
                               struct error *error)
{
    struct kernel_values whole = env->values;
    const struct expression *dim = kernel_tensor_dim(env->values.kernel, tensor, d);
    for (int s = 0; s < whole.kernel->size_count; s++)
        whole.sizes[s] = (struct kernel_range){.length = whole.wholes[s]};
    for (int l = 0; l < whole.kernel->let_count; l++)
        whole.is_shared[l] = false;
    whole.kept = 0;
    return kernel_number(&whole, dim, extent, error);
}

/* Where nothing divides it that is all. */
static enum status tensor_share(const struct kernel_env *env, int tensor, int d,
                                struct part_numbers *n, struct error *error)
{
    const struct expression *dim;
    const struct kernel_range *range = NULL;
    TRY(plan_chosen(&env->values, kernel_tensor_dim(env->values.kernel, tensor, d), &dim, error));
    if (dim->op == EXPRESSION_SIZE)
        range = &env->values.sizes[dim->number];
    else if (env->values.is_shared[dim->number])
        range = &env->values.lets[dim->number];
    if (!range)
        return plan_tensor_extent(env, tensor, d, &n->extent[d], error);
    n->begin[d] = range->begin;
    n->extent[d] = range->length;
    return STATUS_OK;
}

static enum status number_or(const struct kernel_env *env, const struct expression *e,
                             int64_t otherwise, int64_t *number, struct error *error)
{
    *number = otherwise;
    return e ? kernel_number(&env->values, e, number, error) : STATUS_OK;
}

bool plan_counts_from_tile(const struct kernel_text *kernel, const struct expression *name,
                           const struct plan_dim *dim)
{
    if (name->op == EXPRESSION_LOOP)
        return dim->loops >> name->number & 1;
    if (name->args || name->op == EXPRESSION_NUMBER)
        return false;
    for (int loop = dim->loop;;) {
        const struct expression *in = kernel->loops[loop].in;
        if (in->op != EXPRESSION_LOOP)
            return in->op == EXPRESSION_IF || (in->op == name->op && in->number == name->number);
        loop = (int)in->number;
    }
}

static enum status round_numbers(const struct kernel_plan *plan, const struct kernel_env *env,
                                 const struct plan_part *part, int d, struct part_numbers *n)
{
    const struct kernel_range *range = &env->values.loops[part->dims[d].loop];
    n->extent[d] = range->length;
    n->begin[d] = range->begin;
    if (part->tile >= 0 &&
        plan_counts_from_tile(plan->kernel, plan->tiles[part->tile].dims[d], &part->dims[d]))
        n->begin[d] -= env->tiles[part->tile].begin[d];
    return STATUS_OK;
}

static enum status dim_numbers(const struct kernel_plan *plan, const struct kernel_env *env,
                               const struct plan_part *part, int d, struct part_numbers *n,
                               struct error *error)
{
    const struct plan_dim *dim = &part->dims[d];
    n->begin[d] = 0;
    n->by[d] = 1;
    n->extent[d] = 1;
    switch (dim->reach) {
    case REACH_SHARE:
        return tensor_share(env, part->tensor, d, n, error);
    case REACH_ALL:
        if (part->tile < 0)
            return plan_tensor_extent(env, part->tensor, d, &n->extent[d], error);
        n->extent[d] = env->tiles[part->tile].extent[d];
        return STATUS_OK;
    case REACH_ROUND:
        return round_numbers(plan, env, part, d, n);
    case REACH_ONE:
        return kernel_number(&env->values, dim->from, &n->begin[d], error);
    case REACH_SOME:
        TRY(kernel_number(&env->values, dim->count, &n->extent[d], error));
        TRY(number_or(env, dim->by, 1, &n->by[d], error));
        return number_or(env, dim->from, -1, &n->begin[d], error);
    }
    return STATUS_OK;
}

/* Inside the tile: nothing before its first element or behind its last one. */
static enum status check_inside(const struct kernel_plan *plan, const struct kernel_env *env,
                                int step, const struct plan_part *part, int d,
                                const struct part_numbers *n, struct error *error)
{
    struct kernel_place at = plan->kernel->lines[plan->steps[step].line].at;
    bool is_known = part->dims[d].reach != REACH_SOME || part->dims[d].from;
    if (n->extent[d] < 1 || n->by[d] < 1)
        return plan_fail(error, at, "a part of %lld elements, %lld apart, expected 1 or more",
                         (long long)n->extent[d], (long long)n->by[d]);
    if (part->tile < 0 || !is_known)
        return STATUS_OK;
    int64_t end = sum_of(n->begin[d], product_of(n->extent[d] - 1, n->by[d]));
    if (n->begin[d] >= 0 && end < env->tiles[part->tile].extent[d])
        return STATUS_OK;
    return plan_fail(
        error, at, "elements %lld to %lld of tile '%s', which has %lld in dimension %d",
        (long long)n->begin[d], (long long)end, plan->kernel->tiles[part->tile].name.text,
        (long long)env->tiles[part->tile].extent[d], d + 1);
}

enum status plan_part(const struct kernel_plan *plan, const struct kernel_env *env, int step,
                      int number, struct part_numbers *n, struct error *error)
{
    assert(env && n);
    const struct plan_part *part = &plan->steps[step].parts[number];
    n->elements = n->room_elements = 1;
    for (int d = 0; d < part->dim_count; d++) {
        TRY(dim_numbers(plan, env, part, d, n, error));
        TRY(check_inside(plan, env, step, part, d, n, error));
        const struct tile_shape *shape = part->tile >= 0 ? &env->tiles[part->tile] : NULL;
        bool is_all = shape && n->extent[d] == shape->extent[d];
        n->room[d] = is_all ? shape->room[d] : n->extent[d];
        n->elements = product_of(n->elements, n->extent[d]);
        n->room_elements = product_of(n->room_elements, n->room[d]);
    }
    return STATUS_OK;
}
