/* In how many pieces a part of a tensor lies, whose rows follow each other there: what is whole in
 * its last dimensions is one piece with the next; and what the pieces' starts are multiples of.
 * Both are expressions of ranges, sizes and numbers, as a text would say them (`bursts=`,
 * `align=`), of moves on paths that have a price for short pieces. What the text says itself
 * counts. */
#include "kernels/text/plan/kernel_structure.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_NODES = 512, MOST_ALIGN = 512 };

struct pieces {
    const struct kernel_values *values;
    struct kernel_plan *plan;
    const struct plan_part *part;
    struct kernel_place at;
    int64_t extent[KERNEL_MAX_DIMS]; /* the tensor's, with the pads of sizes, */
    int64_t pitch[KERNEL_MAX_DIMS];  /* and without, as it lies in memory */
    int bytes;                       /* of an element */
    struct expression *nodes;
    int count; /* of nodes; beyond MOST_NODES: there are too many */
    struct error *error;
};

/* ------------------------------------------------------------------ nodes */

static struct expression *new_node(struct pieces *p)
{
    struct expression *node = &p->nodes[p->count < MOST_NODES ? p->count : MOST_NODES - 1];
    p->count++;
    return node;
}

static const struct expression *number(struct pieces *p, int64_t value)
{
    struct expression *node = new_node(p);
    *node = (struct expression){
        .op = EXPRESSION_NUMBER, .at = p->at, .number = value, .terms = 1, .depth = 1};
    return node;
}

/* Of copies of its arguments, so that each may stand in several lists. */
static const struct expression *apply(struct pieces *p, enum expression_op op,
                                      const struct expression *const args[], int count)
{
    struct expression *node = new_node(p), *last = NULL;
    *node = (struct expression){.op = op, .at = p->at, .terms = 1, .depth = 1};
    if (op == EXPRESSION_EQUAL)
        node->kind = EXPRESSION_IS_TRUTH;
    for (int a = 0; a < count; a++) {
        struct expression *copy = new_node(p);
        *copy = *args[a];
        copy->next = NULL;
        *(last ? &last->next : &node->args) = copy;
        last = copy;
        node->terms += copy->terms;
        node->depth = copy->depth >= node->depth ? copy->depth + 1 : node->depth;
        node->asks |= copy->asks;
        node->loops |= copy->loops;
    }
    return node;
}

static bool is_number(const struct expression *e, int64_t value)
{
    return e->op == EXPRESSION_NUMBER && e->number == value;
}

static const struct expression *multiply(struct pieces *p, const struct expression *a,
                                         const struct expression *b)
{
    if (is_number(a, 1) || is_number(b, 1))
        return is_number(a, 1) ? b : a;
    return apply(p, EXPRESSION_MULTIPLY, (const struct expression *[]){a, b}, 2);
}

/* NULL: a multiple of everything. */
static const struct expression *divisor(struct pieces *p, const struct expression *a,
                                        const struct expression *b)
{
    if (!a || !b)
        return a ? a : b;
    return apply(p, EXPRESSION_GCD, (const struct expression *[]){a, b}, 2);
}

/* ------------------------------------------------------------------ dimensions */

static enum status extent_of(struct pieces *p, int d, const struct expression **extent)
{
    const struct plan_dim *dim = &p->part->dims[d];
    struct expression *node;
    switch (dim->reach) {
    case REACH_ALL:
        *extent = number(p, p->extent[d]);
        break;
    case REACH_SHARE:
        return plan_chosen(p->values, kernel_tensor_dim(p->plan->kernel, p->part->tensor, d),
                           extent, p->error);
    case REACH_ROUND:
        node = new_node(p);
        *node = (struct expression){.op = EXPRESSION_LOOP,
                                    .asks = ASKS_LENGTH,
                                    .loops = UINT64_C(1) << dim->loop,
                                    .at = p->at,
                                    .terms = 1,
                                    .depth = 1,
                                    .number = dim->loop};
        *extent = node;
        break;
    case REACH_ONE:
        *extent = number(p, 1);
        break;
    case REACH_SOME:
        *extent = dim->count;
        break;
    }
    return STATUS_OK;
}

/* What the begin of a share is a multiple of: its length, where cores share what the name means. */
static enum status unit_of_share(struct pieces *p, const struct expression *name,
                                 const struct expression **unit)
{
    const struct kernel_text *kernel = p->plan->kernel;
    *unit = NULL;
    for (int c = 0; c < kernel->cores_count; c++) {
        const struct expression *share;
        TRY(plan_chosen(p->values, kernel->cores[c].what, &share, p->error));
        if (share->op == name->op && share->number == name->number)
            *unit = name;
    }
    return STATUS_OK;
}

/* Of a loop: steps of those that its range is cut from, too. */
static enum status unit_of_loop(struct pieces *p, int text_loop, const struct expression **unit)
{
    const struct expression *in;
    *unit = NULL;
    for (;; text_loop = (int)in->number) {
        *unit = divisor(p, *unit, p->plan->kernel->loops[text_loop].by);
        TRY(plan_chosen(p->values, p->plan->kernel->loops[text_loop].in, &in, p->error));
        if (in->op != EXPRESSION_LOOP)
            break;
    }
    const struct expression *share;
    TRY(unit_of_share(p, in, &share));
    *unit = divisor(p, *unit, share);
    return STATUS_OK;
}

static enum status unit_of_number(struct pieces *p, const struct expression *e,
                                  const struct expression **unit)
{
    const struct expression *a = NULL, *b = NULL;
    *unit = number(p, 1);
    if (p->count > MOST_NODES / 2)
        return STATUS_OK;
    switch (e->op) {
    case EXPRESSION_NUMBER:
        *unit = e->number ? number(p, e->number > 0 ? e->number : -e->number) : NULL;
        return STATUS_OK;
    case EXPRESSION_BEGIN:
        return unit_of_loop(p, (int)e->number, unit);
    case EXPRESSION_ADD:
    case EXPRESSION_SUBTRACT:
        TRY(unit_of_number(p, e->args, &a));
        TRY(unit_of_number(p, e->args->next, &b));
        *unit = divisor(p, a, b);
        return STATUS_OK;
    case EXPRESSION_MULTIPLY:
        TRY(unit_of_number(p, e->args, &a));
        TRY(unit_of_number(p, e->args->next, &b));
        *unit = a && b ? multiply(p, a, b) : NULL;
        return STATUS_OK;
    default:
        return STATUS_OK;
    }
}

/* Of where the part begins in a dimension. */
static enum status unit_of(struct pieces *p, int d, const struct expression **unit)
{
    const struct plan_dim *dim = &p->part->dims[d];
    switch (dim->reach) {
    case REACH_ROUND:
        return unit_of_loop(p, dim->loop, unit);
    case REACH_SHARE: {
        const struct expression *name;
        TRY(extent_of(p, d, &name));
        return unit_of_share(p, name, unit);
    }
    case REACH_ONE:
    case REACH_SOME:
        if (dim->from)
            return unit_of_number(p, dim->from, unit);
        *unit = number(p, 1);
        return STATUS_OK;
    case REACH_ALL:
        break;
    }
    *unit = NULL;
    return STATUS_OK;
}

/* ------------------------------------------------------------------ pieces */

/* In elements: of the starts of pieces that end with dimension d. */
static enum status align_at(struct pieces *p, int d, const struct expression **align)
{
    const struct expression *unit;
    int64_t inner = 1;
    bool overflow = false;
    for (int i = d + 1; i < p->part->dim_count; i++)
        overflow |= __builtin_mul_overflow(inner, p->pitch[i], &inner);
    TRY(unit_of(p, d, &unit));
    unit = divisor(p, unit, number(p, p->pitch[d]));
    overflow |= __builtin_mul_overflow(inner, (int64_t)p->bytes, &inner);
    *align = divisor(p, multiply(p, unit, number(p, overflow ? 1 : inner)), number(p, MOST_ALIGN));
    return STATUS_OK;
}

/* From the last dimension on: where the part has all of it, pieces go on in the one before. */
static enum status find_pieces(struct pieces *p, struct plan_step *step)
{
    const struct expression *extent[KERNEL_MAX_DIMS], *outer = number(p, 1);
    const struct expression *bursts = number(p, 1), *align = number(p, MOST_ALIGN);
    for (int d = 0; d < p->part->dim_count; d++) {
        const struct expression *at;
        bool is_apart = p->part->dims[d].by && !is_number(p->part->dims[d].by, 1);
        TRY(extent_of(p, d, &extent[d]));
        if (p->part->dims[d].reach == REACH_ALL) {
            outer = multiply(p, outer, extent[d]);
            continue;
        }
        TRY(align_at(p, d, &at));
        const struct expression *here = is_apart ? multiply(p, outer, extent[d]) : outer;
        const struct expression *is_all =
            apply(p, EXPRESSION_EQUAL,
                  (const struct expression *[]){extent[d], number(p, p->extent[d])}, 2);
        bursts = is_apart ? here
                          : apply(p, EXPRESSION_IF,
                                  (const struct expression *[]){is_all, bursts, here}, 3);
        align = is_apart
                    ? at
                    : apply(p, EXPRESSION_IF, (const struct expression *[]){is_all, align, at}, 3);
        outer = multiply(p, outer, extent[d]);
    }
    step->bursts = bursts;
    step->align = align;
    return STATUS_OK;
}

static enum status keep(struct pieces *p)
{
    struct kernel_plan *plan = p->plan;
    if (p->count > MOST_NODES)
        return plan_fail(p->error, p->at, "a part too long to find its pieces, expected bursts=");
    struct plan_made *made =
        realloc(plan->made, (size_t)(plan->made_count + 1) * sizeof *plan->made);
    if (!made)
        return error_memory(p->error);
    plan->made = made;
    plan->made[plan->made_count++].nodes = p->nodes;
    p->nodes = NULL;
    return STATUS_OK;
}

static enum status find(struct pieces *p, struct kernel_env *env, struct plan_step *step)
{
    struct kernel_values *values = &env->values;
    for (int d = 0; d < p->part->dim_count; d++) {
        memcpy(values->wholes, p->values->wholes, sizeof values->wholes);
        TRY(plan_tensor_extent(env, p->part->tensor, d, &p->extent[d], p->error));
        memcpy(values->wholes, p->values->given, sizeof values->wholes);
        TRY(plan_tensor_extent(env, p->part->tensor, d, &p->pitch[d], p->error));
        p->pitch[d] = p->pitch[d] > 0 ? p->pitch[d] : 1;
    }
    p->nodes = calloc(MOST_NODES, sizeof *p->nodes);
    if (!p->nodes)
        return error_memory(p->error);
    TRY(find_pieces(p, step));
    return keep(p);
}

/* Of a step with a part of a tensor. */
static enum status derive(struct kernel_plan *plan, struct kernel_env *env,
                          const struct kernel_values *values, struct plan_step *step,
                          struct error *error)
{
    const struct plan_part *part = &step->parts[step->parts[0].tensor < 0];
    struct pieces p = {
        .values = values,
        .plan = plan,
        .part = part,
        .at = plan->kernel->lines[step->line].at,
        .bytes = dtype_bytes(kernel_type(values, plan->kernel->tensors[part->tensor].type)),
        .error = error};
    enum status status = find(&p, env, step);
    free(p.nodes);
    return status;
}

void plan_clear_pieces(struct kernel_plan *plan)
{
    for (int i = 0; i < plan->made_count; i++)
        free(plan->made[i].nodes);
    free(plan->made);
    plan->made = NULL;
    plan->made_count = 0;
}

enum status plan_count_pieces(const struct kernel_plan *plan, const struct kernel_env *env,
                              int number, int64_t *pieces, struct error *error)
{
    struct kernel_plan keeper = *plan;
    struct plan_step step = plan->steps[number];
    struct kernel_env *whole = calloc(1, sizeof *whole);
    enum status status = whole ? STATUS_OK : error_memory(error);
    keeper.made = NULL;
    keeper.made_count = 0;
    if (whole && !step.bursts) {
        whole->values = env->values;
        status = derive(&keeper, whole, &env->values, &step, error);
    }
    if (status == STATUS_OK)
        status = kernel_number(&env->values, step.bursts, pieces, error);
    plan_clear_pieces(&keeper);
    free(whole);
    return status;
}

enum status plan_find_pieces(const struct kernel_values *values, struct kernel_plan *plan,
                             struct error *error)
{
    struct kernel_env *env = calloc(1, sizeof *env);
    enum status status = env ? STATUS_OK : error_memory(error);
    if (env)
        env->values = *values;
    for (int s = 0; s < plan->step_count && status == STATUS_OK; s++) {
        struct plan_step *step = &plan->steps[s];
        const struct plan_part *part = &step->parts[step->parts[0].tensor < 0];
        step->bursts = step->text->keys[STEP_BURSTS];
        step->align = step->text->keys[STEP_ALIGN];
        if (step->kind != INSTRUCTION_MOVE || step->bursts || step->align || part->tensor < 0 ||
            plan->hw->prices[step->price].burst_table < 0)
            continue;
        status = derive(plan, env, values, step, error);
    }
    free(env);
    return status;
}
