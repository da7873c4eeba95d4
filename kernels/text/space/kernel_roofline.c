/* What no tiling of a kernel beats, from what all of them have to do. A step that always runs does
 * so for every element of the ranges that its parts name, once at least: over all rounds of the
 * loops around it that is the product of the sizes from which these ranges are cut. So many bytes
 * go over buses, at their best rate, and through pipes, and so many products through the matrix
 * unit, of all cores together. What is not known to be swept counts as one element, vector
 * operations not at all. Of structures the least. */
#include "kernels/text/space/kernel_space_internal.h"

#include <string.h>

#define ROUNDING (1 - 1e-9) /* far more than the sums err */

struct roofline {
    const struct kernel_space *ks;
    const struct kernel_plan *plan;
    double bus_bytes[HARDWARE_MAX_BUSES], pipe_fs[HARDWARE_MAX_PIPES];
};

/* What a product of lengths has so far: a loop's range counts once, and a size that cores share,
 * for each has a part of it only. */
struct sweep {
    uint64_t loops;
    unsigned sizes;
    double elements;
};

static bool is_in(const struct expression *e, int size)
{
    for (const struct expression *arg = e->args; arg; arg = arg->next)
        if (is_in(arg, size))
            return true;
    return e->op == EXPRESSION_SIZE && e->number == size;
}

/* May cores have a part of it only? Lets are sizes in disguise. */
static bool may_be_shared(const struct kernel_text *kernel, int size)
{
    for (int c = 0; c < kernel->cores_count; c++)
        if (is_in(kernel->cores[c].what, size))
            return true;
    return false;
}

static void sweep_size(const struct roofline *roofline, int size, struct sweep *sweep)
{
    if (sweep->sizes >> size & 1)
        return;
    if (may_be_shared(roofline->plan->kernel, size))
        sweep->sizes |= 1U << size;
    sweep->elements *= (double)roofline->ks->base.wholes[size];
}

/* The loop that cuts a size or a number, -1: none that is known. */
static int root_of(const struct kernel_text *kernel, int loop)
{
    const struct expression *in = kernel->loops[loop].in;
    while (in->op == EXPRESSION_LOOP) {
        loop = (int)in->number;
        in = kernel->loops[loop].in;
    }
    return in->op == EXPRESSION_SIZE || (in->op == EXPRESSION_NUMBER && in->number > 0) ? loop : -1;
}

static void sweep_loop(const struct roofline *roofline, int loop, struct sweep *sweep)
{
    int root = root_of(roofline->plan->kernel, loop);
    if (root < 0 || sweep->loops >> root & 1)
        return;
    const struct expression *in = roofline->plan->kernel->loops[root].in;
    sweep->loops |= UINT64_C(1) << root;
    if (in->op == EXPRESSION_SIZE)
        sweep_size(roofline, (int)in->number, sweep);
    else
        sweep->elements *= (double)in->number;
}

static const struct expression *dim_of(const struct roofline *roofline,
                                       const struct plan_part *part, int d)
{
    if (part->tile >= 0)
        return roofline->plan->tiles[part->tile].dims[d];
    const struct expression *dim = roofline->plan->kernel->tensors[part->tensor].dims;
    while (d-- > 0)
        dim = dim->next;
    return dim;
}

/* Of a + n - 1 with a size n of 1 or more it is a that surely is swept. */
static const struct expression *less_than(const struct kernel_text *kernel,
                                          const struct expression *e)
{
    const struct expression *left = e->args;
    if (e->op == EXPRESSION_UP)
        return left;
    if (e->op != EXPRESSION_SUBTRACT || left->next->op != EXPRESSION_NUMBER ||
        left->next->number > 1 || left->op != EXPRESSION_ADD ||
        left->args->next->op != EXPRESSION_SIZE ||
        kernel_may_be_0(&kernel->sizes[left->args->next->number]))
        return NULL;
    return left->args;
}

/* An extent: ranges, sizes, numbers and their products. */
static void sweep_extent(const struct roofline *roofline, const struct expression *e,
                         struct sweep *sweep)
{
    const struct expression *less = less_than(roofline->plan->kernel, e);
    if (less)
        sweep_extent(roofline, less, sweep);
    else if (e->op == EXPRESSION_LOOP)
        sweep_loop(roofline, (int)e->number, sweep);
    else if (e->op == EXPRESSION_SIZE)
        sweep_size(roofline, (int)e->number, sweep);
    else if (e->op == EXPRESSION_NUMBER && e->number > 0)
        sweep->elements *= (double)e->number;
    else if (e->op == EXPRESSION_MULTIPLY)
        for (const struct expression *arg = e->args; arg; arg = arg->next)
            sweep_extent(roofline, arg, sweep);
}

static void sweep_dim(const struct roofline *roofline, const struct plan_part *part, int d,
                      struct sweep *sweep)
{
    const struct plan_dim *dim = &part->dims[d];
    if (dim->reach == REACH_ROUND)
        sweep_loop(roofline, dim->loop, sweep);
    else if (dim->reach == REACH_ALL || dim->reach == REACH_SHARE)
        sweep_extent(roofline, dim_of(roofline, part, d), sweep);
    else if (dim->reach == REACH_SOME)
        sweep_extent(roofline, dim->count, sweep);
}

/* Does it run in some round, whatever the sizes are? */
static bool always_runs(const struct roofline *roofline, const struct plan_step *step)
{
    const struct kernel_plan *plan = roofline->plan;
    if (step->condition)
        return false;
    for (int loop = step->around; loop > 0; loop = plan->loops[loop].around)
        if (root_of(plan->kernel, plan->loops[loop].text_loop) < 0)
            return false;
    return true;
}

static double fs_of(const struct price *price, double units)
{
    return units * (double)price->rate.fs / (double)price->rate.units;
}

/* Between a tensor and the chip. */
static void add_move(struct roofline *roofline, const struct plan_step *step)
{
    const struct price *price = &roofline->plan->hw->prices[step->price];
    const struct plan_part *part = &step->parts[step->parts[0].tensor >= 0 ? 0 : 1];
    struct sweep sweep = {.elements = 1};
    int from = dtype_bytes(step->type), to = dtype_bytes(step->to_type);
    if (part->tensor < 0)
        return;
    for (int d = 0; d < part->dim_count; d++)
        sweep_dim(roofline, part, d, &sweep);
    double bytes = sweep.elements * (from < to ? from : to);
    if (price->bus >= 0)
        roofline->bus_bytes[price->bus] += bytes;
    roofline->pipe_fs[step->pipe] += fs_of(price, bytes);
}

static void add_product(struct roofline *roofline, const struct plan_step *step)
{
    const struct hardware *hw = roofline->plan->hw;
    const struct matrix_type *matrix = hardware_matrix_type(hw, step->type);
    const struct plan_part *left = &step->parts[1];
    struct sweep sweep = {.elements = 1};
    for (int d = 0; d < step->parts[0].dim_count; d++)
        sweep_dim(roofline, &step->parts[0], d, &sweep);
    sweep_dim(roofline, left, left->dim_count - 1, &sweep);
    double block = (double)matrix->block_m * matrix->block_k * matrix->block_n;
    roofline->pipe_fs[step->pipe] += fs_of(&hw->prices[step->price], sweep.elements / block);
}

static double plan_ns(const struct kernel_space *ks, const struct kernel_plan *plan)
{
    struct roofline roofline = {.ks = ks, .plan = plan};
    double most_fs = 0;
    uint32_t pipes = 0;
    for (int s = 0; s < plan->step_count; s++) {
        const struct plan_step *step = &plan->steps[s];
        pipes |= 1u << step->pipe;
        if (!always_runs(&roofline, step))
            continue;
        if (step->kind == INSTRUCTION_MOVE)
            add_move(&roofline, step);
        else if (step->kind == INSTRUCTION_MATRIX)
            add_product(&roofline, step);
    }
    for (int b = 0; b < plan->hw->bus_count; b++) {
        const struct bus *bus = &plan->hw->buses[b];
        double fs = roofline.bus_bytes[b] * 1e15 / (double)bus->total_bytes_per_s[bus->sharers - 1];
        most_fs = fs > most_fs ? fs : most_fs;
    }
    for (int p = 0; p < plan->hw->pipe_count; p++) {
        double fs = roofline.pipe_fs[p] / ks->cores / hardware_in_step(plan->hw, pipes, p);
        most_fs = fs > most_fs ? fs : most_fs;
    }
    return most_fs * ROUNDING / FS_PER_NS;
}

double kernel_roofline_ns(const struct space *space)
{
    const struct kernel_space *ks = kernel_space_of(space);
    double least = -1;
    for (int p = 0; p < ks->plan_count; p++) {
        double ns = ks->plans[p]->is_possible ? plan_ns(ks, &ks->plans[p]->plan) : -1;
        if (ns >= 0 && (least < 0 || ns < least))
            least = ns;
    }
    return least > 0 ? least : 0;
}
