/* Which steps fit whatever the sizes are: their parts are products of the same ranges, and lie
 * inside their tiles because they are cut from what these hold. Of the others every tiling is asked
 * (kernel_legal.c). Fitting is decided by comparing what the extents are called, not how large they
 * are: a "no" is no mistake. */
#include "kernels/text/plan/kernel_structure.h"

#include <string.h>

/* What an extent is: a loop's round, or an expression; neither: one element. */
struct factor {
    int loop; /* text loop, -1: none */
    const struct expression *e;
};

struct factors {
    int count;
    struct factor list[KERNEL_MAX_DIMS];
};

bool kernel_is_same(const struct expression *a, const struct expression *b)
{
    if (a == b || !a || !b)
        return a == b;
    if (a->op != b->op || a->number != b->number || a->real != b->real ||
        (a->text && b->text ? strcmp(a->text, b->text) != 0 : a->text != b->text))
        return false;
    const struct expression *left = a->args, *right = b->args;
    for (; left && right; left = left->next, right = right->next)
        if (!kernel_is_same(left, right))
            return false;
    return left == right;
}

static bool is_constant(const struct expression *e)
{
    return e->op == EXPRESSION_NUMBER || e->op == EXPRESSION_LANES;
}

static bool is_equal(const struct factor *a, const struct factor *b)
{
    if (a->loop >= 0 || b->loop >= 0)
        return a->loop == b->loop;
    return kernel_is_same(a->e, b->e);
}

/* Is a core's share of a size, or of a let that is computed with such, less than all? */
static bool is_divided(const struct kernel_text *kernel, const struct expression *e)
{
    for (int c = 0; c < kernel->cores_count; c++)
        if (kernel_names(kernel->cores[c].what, e))
            return true;
    if (e->op == EXPRESSION_LET && is_divided(kernel, kernel->lets[e->number].value))
        return true;
    for (const struct expression *arg = e->args; arg; arg = arg->next)
        if (is_divided(kernel, arg))
            return true;
    return false;
}

bool kernel_names(const struct expression *where, const struct expression *name)
{
    if (where->op == name->op && where->number == name->number && !where->args)
        return true;
    for (const struct expression *arg = where->args; arg; arg = arg->next)
        if (kernel_names(arg, name))
            return true;
    return false;
}

/* All that a tile holds in a dimension; NULL: what rounds inside its life make together. */
static const struct expression *held(const struct kernel_plan *plan, int tile, int d)
{
    const struct expression *e = plan->tiles[tile].dims[d];
    if (e->op == EXPRESSION_UP)
        e = e->args;
    return plan_are_around(plan, e->loops, plan->tiles[tile].life) ? e : NULL;
}

/* All of a tensor's dimension, or a core's share; NULL: not known what that is. */
static const struct expression *given(const struct kernel_values *values,
                                      const struct kernel_plan *plan, const struct plan_part *part,
                                      int d)
{
    const struct expression *e = kernel_tensor_dim(plan->kernel, part->tensor, d);
    if (plan_chosen(values, e, &e, NULL) != STATUS_OK || e->args)
        return NULL;
    bool is_share = part->dims[d].reach == REACH_SHARE && e->op == EXPRESSION_SIZE;
    return is_share || !is_divided(plan->kernel, e) ? e : NULL;
}

/* Appends the extent of a dimension; false where it is not known what it is. */
static bool add_factor(const struct kernel_values *values, const struct kernel_plan *plan,
                       const struct plan_part *part, int d, struct factors *factors)
{
    const struct plan_dim *dim = &part->dims[d];
    const struct expression *e = dim->count;
    struct factor factor = {dim->loop, NULL};
    if (dim->reach == REACH_ONE)
        return true;
    if (dim->reach == REACH_ALL || dim->reach == REACH_SHARE)
        e = part->tile >= 0 ? held(plan, part->tile, d) : given(values, plan, part, d);
    if (dim->reach != REACH_ROUND) {
        if (!e)
            return false;
        factor = e->op == EXPRESSION_LOOP ? (struct factor){(int)e->number, NULL}
                                          : (struct factor){-1, e};
    }
    const struct expression *one = factor.e ? factor.e : plan->kernel->loops[factor.loop].by;
    if (one->op == EXPRESSION_NUMBER && one->number == 1)
        return true;
    factors->list[factors->count++] = factor;
    return true;
}

/* Those of dimensions [first, end) of a part. */
static bool find_factors(const struct kernel_values *values, const struct kernel_plan *plan,
                         const struct plan_part *part, int first, int end, struct factors *factors)
{
    factors->count = 0;
    for (int d = first; d < end; d++)
        if (!add_factor(values, plan, part, d, factors))
            return false;
    return true;
}

/* The same factors in any order. */
static bool agree(const struct factors *a, const struct factors *b)
{
    bool taken[KERNEL_MAX_DIMS] = {false};
    for (int i = 0; i < a->count; i++) {
        int j = 0;
        while (j < b->count && (taken[j] || !is_equal(&a->list[i], &b->list[j])))
            j++;
        if (j == b->count)
            return false;
        taken[j] = true;
    }
    return a->count == b->count;
}

static bool is_inside(const struct kernel_plan *plan, const struct plan_part *part)
{
    for (int d = 0; d < part->dim_count; d++) {
        const struct plan_dim *dim = &part->dims[d];
        if (dim->reach == REACH_SOME || (part->tile >= 0 && dim->reach == REACH_ONE) ||
            (part->tile >= 0 && dim->reach == REACH_ROUND &&
             !plan_counts_from_tile(plan->kernel, plan->tiles[part->tile].dims[d], dim)))
            return false;
    }
    return true;
}

/* Do [from, to) of part p and [from2, to2) of part q hold equally many elements? */
static bool fits(const struct kernel_values *values, const struct kernel_plan *plan,
                 const struct plan_step *step, int p, int first_p, int end_p, int q, int first_q,
                 int end_q)
{
    struct factors a, b;
    return find_factors(values, plan, &step->parts[p], first_p, end_p, &a) &&
           find_factors(values, plan, &step->parts[q], first_q, end_q, &b) && agree(&a, &b);
}

/* Has part p an element for each column of part q? */
static bool row_fits(const struct kernel_values *values, const struct kernel_plan *plan,
                     const struct plan_step *step, int p, int q)
{
    int columns = step->parts[q].dim_count - 1;
    return fits(values, plan, step, p, 0, step->parts[p].dim_count, q, columns, columns + 1);
}

static bool move_fits(const struct kernel_values *values, const struct kernel_plan *plan,
                      const struct plan_step *step)
{
    return fits(values, plan, step, 0, 0, step->parts[0].dim_count, 1, 0,
                step->parts[1].dim_count) &&
           (step->part_count < 3 || row_fits(values, plan, step, 2, 1));
}

static bool matrix_fits(const struct kernel_values *values, const struct kernel_plan *plan,
                        const struct plan_step *step)
{
    int c = step->parts[0].dim_count - 1, a = step->parts[1].dim_count - 1,
        b = step->parts[2].dim_count - 1;
    return fits(values, plan, step, 0, 0, c, 1, 0, a) &&
           fits(values, plan, step, 0, c, c + 1, 2, b, b + 1) &&
           fits(values, plan, step, 1, a, a + 1, 2, 0, b) &&
           (step->part_count < 4 || row_fits(values, plan, step, 3, 0));
}

/* ------------------------------------------------------------------ what is hardly meant */

static bool is_turned(const struct kernel_values *values, const struct kernel_plan *plan,
                      const struct plan_step *step)
{
    struct factors to, from;
    if (step->text->keys[STEP_TRANSPOSE] ||
        !find_factors(values, plan, &step->parts[0], 0, step->parts[0].dim_count, &to) ||
        !find_factors(values, plan, &step->parts[1], 0, step->parts[1].dim_count, &from) ||
        !agree(&to, &from))
        return false;
    for (int i = 0; i < to.count; i++)
        if (!is_equal(&to.list[i], &from.list[i]))
            return true;
    return false;
}

static bool is_swapped(const struct kernel_values *values, const struct kernel_plan *plan,
                       const struct plan_step *step)
{
    struct plan_step other = *step;
    other.parts[1] = step->parts[2];
    other.parts[2] = step->parts[1];
    return !matrix_fits(values, plan, step) && matrix_fits(values, plan, &other);
}

const char *plan_doubt(const struct kernel_values *values, const struct kernel_plan *plan,
                       int number)
{
    const struct plan_step *step = &plan->steps[number];
    if (step->kind == INSTRUCTION_MOVE && is_turned(values, plan, step))
        return "its two ends have the same ranges in another order, and elements go row by row: "
               "transpose=1 turns rows into columns";
    if (step->kind == INSTRUCTION_MATRIX && is_swapped(values, plan, step))
        return "its sources fit in the other order, m x k before k x n; in this one by chance";
    return NULL;
}

/* A dimension of cdiv(e, lanes) takes what e elements fold to. */
bool plan_fold_fills(const struct kernel_values *values, const struct kernel_plan *plan, int number)
{
    const struct plan_step *step = &plan->steps[number];
    struct factors to, from;
    int64_t lanes;
    if (step->text->keys[STEP_ELEMENTS] || step->parts[1].value ||
        !find_factors(values, plan, &step->parts[0], 0, step->parts[0].dim_count, &to) ||
        !find_factors(values, plan, &step->parts[1], 0, step->parts[1].dim_count, &from))
        return false;
    const struct expression *cdiv = to.count == 1 && from.count == 1 ? to.list[0].e : NULL;
    if (!cdiv || cdiv->op != EXPRESSION_CDIV)
        return false;
    const struct expression *folded = cdiv->args;
    struct factor all = {-1, folded};
    if (folded->op == EXPRESSION_LOOP)
        all = (struct factor){(int)folded->number, NULL};
    return is_equal(&all, &from.list[0]) && is_constant(folded->next) &&
           kernel_number(values, folded->next, &lanes, NULL) == STATUS_OK &&
           lanes == plan->hw->vector_repeat_bytes / dtype_bytes(step->type);
}

/* Bursts may be more than bytes, alignments no power of two. */
static bool key_fits(const struct expression *e, enum kernel_key key)
{
    if (!e || key == STEP_FILL)
        return true;
    bool is_number = e->op == EXPRESSION_NUMBER;
    if (key == STEP_BURSTS || key == STEP_ALIGN)
        return is_number && (e->number == 0 || e->number == 1);
    return is_number && key != STEP_ELEMENTS && key != STEP_COUNT;
}

/* Has each row of a part room behind what the tile holds? */
static bool has_row_room(const struct kernel_plan *plan, const struct plan_part *part)
{
    for (int d = 1; d < part->dim_count; d++)
        if (plan->tiles[part->tile].dims[d]->op == EXPRESSION_UP)
            return true;
    return false;
}

/* Moves take a stride, other instructions may take none. */
static bool strides_fit(const struct kernel_plan *plan, int number)
{
    const struct plan_step *step = &plan->steps[number];
    bool fit = true;
    for (int p = 0; p < step->part_count; p++)
        fit &= step->parts[p].tile < 0 || step->kind == INSTRUCTION_SCALAR ||
               (plan_strides(plan, number, p) <= (step->kind == INSTRUCTION_MOVE) &&
                !has_row_room(plan, &step->parts[p]));
    return fit;
}

void plan_find_certain(const struct kernel_values *values, struct kernel_plan *plan, int number)
{
    struct plan_step *step = &plan->steps[number];
    bool certain = plan_aligns(values, plan, number) && strides_fit(plan, number) &&
                   !plan_repeats(plan, number);
    for (int k = 0; k < STEP_KEYS; k++)
        certain &= key_fits(step->text->keys[k], (enum kernel_key)k);
    for (int p = 0; p < step->part_count; p++)
        certain &= is_inside(plan, &step->parts[p]);
    if (step->kind == INSTRUCTION_MATRIX)
        certain &= matrix_fits(values, plan, step) && plan_has_blocks(values, plan, number);
    else if (step->kind == INSTRUCTION_MOVE)
        certain &= move_fits(values, plan, step);
    else if (step->kind == INSTRUCTION_VECTOR &&
             plan->hw->operations[step->what].result == RESULT_ONE_PER_REPEAT)
        certain &= plan_fold_fills(values, plan, number);
    else if (plan_pairs(plan, number))
        certain = false;
    else if (step->kind != INSTRUCTION_SCALAR && !plan_spreads(plan, number))
        for (int p = 1; p < step->part_count; p++)
            certain &=
                step->parts[p].value || fits(values, plan, step, 0, 0, step->parts[0].dim_count, p,
                                             0, step->parts[p].dim_count);
    step->is_certain = certain;
}
