/* What an expression is a multiple of, whatever axes and rounds are; and so which parts begin where
 * their buffer lets them. A part begins at a sum over its dimensions: where it begins there, times
 * the blocks and rooms of others (kernel_layout.c). Where that is not known to be aligned every
 * tiling is asked (kernel_steps_fit). */
#include "kernels/text/plan/kernel_structure.h"

struct units {
    const struct kernel_values *values;
    const struct kernel_text *kernel;
};

static int64_t unit_of(const struct units *u, const struct expression *e);

/* Greatest common divisor (Euclid); 0 is a multiple of all. */
static int64_t common(int64_t a, int64_t b)
{
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a < 0 ? -a : a;
}

static int64_t common_of(const struct units *u, const struct expression *list)
{
    int64_t unit = 0;
    for (; list; list = list->next)
        unit = common(unit, unit_of(u, list));
    return unit;
}

/* Slices of a size are multiples of its pad, those of an axis go by its own unit. */
static int64_t unit_of_axis(const struct units *u, int number)
{
    const struct kernel_axis *axis = &u->kernel->axes[number];
    switch (axis->cut) {
    case CUT_LIST:
        return common_of(u, axis->values);
    case CUT_MULTIPLES:
    case CUT_POWERS:
        return unit_of(u, axis->values);
    case CUT_SLICES:
    case CUT_DIVISORS:
        if (axis->values->op == EXPRESSION_SIZE)
            return u->values->pads[axis->values->number];
        if (axis->values->op == EXPRESSION_AXIS &&
            u->kernel->axes[axis->values->number].cut != CUT_LIST)
            return unit_of_axis(u, (int)axis->values->number);
        return 1;
    default:
        return 1;
    }
}

int64_t plan_axis_unit(const struct kernel_values *values, int axis)
{
    return unit_of_axis(&(struct units){values, values->kernel}, axis);
}

/* Sizes and their shares begin at 0. */
static int64_t unit_of_begin(const struct units *u, int loop)
{
    const struct expression *in = u->kernel->loops[loop].in;
    int64_t unit = unit_of(u, u->kernel->loops[loop].by);
    if (in->op == EXPRESSION_IF)
        return 1;
    return in->op == EXPRESSION_LOOP ? common(unit, unit_of_begin(u, (int)in->number)) : unit;
}

static int64_t unit_of_round(const struct units *u, int loop)
{
    return common(unit_of(u, u->kernel->loops[loop].in), unit_of(u, u->kernel->loops[loop].by));
}

/* A core has whole blocks of a size; of a let any number. */
static int64_t unit_of_let(const struct units *u, const struct expression *e)
{
    for (int c = 0; c < u->kernel->cores_count; c++)
        if (kernel_names(u->kernel->cores[c].what, e))
            return 1;
    return unit_of(u, u->kernel->lets[e->number].value);
}

static int64_t unit_of_product(const struct units *u, const struct expression *e)
{
    int64_t unit = 1;
    for (const struct expression *arg = e->args; arg; arg = arg->next)
        if (__builtin_mul_overflow(unit, unit_of(u, arg), &unit))
            return 1;
    return unit;
}

static int64_t unit_of_quotient(const struct units *u, const struct expression *e)
{
    const struct expression *by = e->args->next;
    int64_t unit = unit_of(u, e->args);
    return by->op == EXPRESSION_NUMBER && by->number > 0 && unit % by->number == 0
               ? unit / by->number
               : 1;
}

static int64_t unit_of(const struct units *u, const struct expression *e)
{
    struct error error;
    int64_t number;
    switch (e->op) {
    case EXPRESSION_NUMBER:
        return e->number;
    case EXPRESSION_LANES:
        return kernel_number(u->values, e, &number, &error) == STATUS_OK ? number : 1;
    case EXPRESSION_SIZE:
    case EXPRESSION_WHOLE:
        return u->values->pads[e->number];
    case EXPRESSION_AXIS:
        return unit_of_axis(u, (int)e->number);
    case EXPRESSION_LET:
        return unit_of_let(u, e);
    case EXPRESSION_LOOP:
        return unit_of_round(u, (int)e->number);
    case EXPRESSION_BEGIN:
        return unit_of_begin(u, (int)e->number);
    case EXPRESSION_IF:
        return common_of(u, e->args->next);
    case EXPRESSION_ADD:
    case EXPRESSION_SUBTRACT:
    case EXPRESSION_REMAINDER:
    case EXPRESSION_NEGATE:
    case EXPRESSION_MIN:
    case EXPRESSION_MAX:
        return common_of(u, e->args);
    case EXPRESSION_MULTIPLY:
        return unit_of_product(u, e);
    case EXPRESSION_DIVIDE:
        return unit_of_quotient(u, e);
    case EXPRESSION_UP:
        return unit_of(u, e->args->next);
    default:
        return 1;
    }
}

/* ------------------------------------------------------------------ parts */

/* Of how long a dimension's blocks are, or all of it. */
static int64_t unit_of_blocks(const struct units *u, const struct kernel_plan *plan, int tile,
                              int d)
{
    int64_t unit = unit_of(u, plan->tiles[tile].dims[d]);
    for (int s = 0; s < plan->step_count; s++)
        for (int p = 0; p < plan->steps[s].part_count; p++) {
            const struct plan_part *part = &plan->steps[s].parts[p];
            if (part->tile == tile && part->dims[d].reach == REACH_ROUND)
                unit = common(unit, unit_of_round(u, part->dims[d].loop));
        }
    return unit;
}

static int64_t unit_of_start(const struct units *u, const struct plan_dim *dim)
{
    if (dim->reach == REACH_ROUND)
        return unit_of_begin(u, dim->loop);
    return dim->from ? unit_of(u, dim->from) : 0;
}

bool plan_must_align(const struct kernel_plan *plan, int step, int part)
{
    int tile = plan->steps[step].parts[part].tile;
    return tile >= 0 && plan->steps[step].kind != INSTRUCTION_SCALAR &&
           plan->hw->buffers[plan->tiles[tile].buffer].alignment_bytes > 1 &&
           !(part > 0 && plan_spreads(plan, step));
}

/* How far apart neighbours in a dimension are: rows of what follows; blocks, of what comes before,
 * too. Of each factor only what it has in common with the alignment matters. */
static int64_t unit_of_weight(const struct units *u, const struct kernel_plan *plan,
                              const struct plan_part *part, int d, bool is_block, int64_t alignment)
{
    int64_t unit = common(dtype_bytes(plan->tiles[part->tile].type), alignment);
    for (int j = is_block ? 0 : d + 1; j < part->dim_count; j++)
        if (j != d)
            unit =
                common(unit * common(unit_of_blocks(u, plan, part->tile, j), alignment), alignment);
    return unit;
}

/* Where it begins in a dimension; and the stride there, should it have one. */
static bool dim_aligns(const struct units *u, const struct kernel_plan *plan,
                       const struct plan_part *part, int d, bool has_strides, int64_t alignment)
{
    const struct plan_dim *dim = &part->dims[d];
    int block = plan->tiles[part->tile].block[d];
    bool is_block = dim->reach == REACH_ROUND && block >= 0 && plan->alike[block] >> dim->loop & 1;
    int64_t unit = unit_of_weight(u, plan, part, d, is_block, alignment);
    if (has_strides && unit_of_weight(u, plan, part, d, false, alignment) != alignment)
        return false;
    return dim->reach == REACH_ALL ||
           common(unit * common(unit_of_start(u, dim), alignment), alignment) == alignment;
}

static bool part_aligns(const struct units *u, const struct kernel_plan *plan, int step, int number)
{
    const struct plan_part *part = &plan->steps[step].parts[number];
    if (!plan_must_align(plan, step, number) || part->is_whole)
        return true;
    bool has_strides = plan_strides(plan, step, number) > 0;
    for (int d = 0; d < part->dim_count; d++)
        if (!dim_aligns(u, plan, part, d, has_strides && d < part->dim_count - 1,
                        plan->hw->buffers[plan->tiles[part->tile].buffer].alignment_bytes))
            return false;
    return true;
}

/* Is a part of whole blocks, all of whose rows are so many and columns so many? */
static bool has_blocks(const struct units *u, const struct kernel_plan *plan,
                       const struct plan_part *part, int64_t rows, int64_t columns)
{
    int64_t unit = 1;
    for (int d = 0; d < part->dim_count; d++) {
        const struct plan_dim *dim = &part->dims[d];
        bool is_last = d == part->dim_count - 1;
        int64_t block = is_last ? columns : rows, own = 1;
        if (dim->reach == REACH_ALL)
            own = unit_of(u, plan->tiles[part->tile].dims[d]);
        else if (dim->reach == REACH_ROUND)
            own = unit_of_round(u, dim->loop);
        else if (dim->reach == REACH_SOME)
            own = unit_of(u, dim->count);
        unit = is_last ? common(own, block) : common(unit * common(own, block), block);
        if (unit != block && (is_last || d == part->dim_count - 2))
            return false;
    }
    return part->dim_count > 1 || rows == 1;
}

bool plan_has_blocks(const struct kernel_values *values, const struct kernel_plan *plan, int step)
{
    const struct units units = {values, values->kernel};
    const struct plan_step *s = &plan->steps[step];
    const struct matrix_type *type = hardware_matrix_type(plan->hw, s->type);
    return has_blocks(&units, plan, &s->parts[0], type->block_m, type->block_n) &&
           has_blocks(&units, plan, &s->parts[1], type->block_m, type->block_k) &&
           has_blocks(&units, plan, &s->parts[2], type->block_k, type->block_n);
}

bool plan_aligns(const struct kernel_values *values, const struct kernel_plan *plan, int step)
{
    const struct units units = {values, values->kernel};
    for (int p = 0; p < plan->steps[step].part_count; p++)
        if (!part_aligns(&units, plan, step, p))
            return false;
    return true;
}
