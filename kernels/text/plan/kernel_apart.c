/* Do cores store apart? They all play one program, each with its own shares of what `cores` names.
 * A part that begins at the same place whichever share it is would be stored by all of them, so a
 * store needs a dimension that is a range of the share, or begins with one, or add=1. */
#include "kernels/text/plan/kernel_structure.h"

static bool is_same_name(const struct expression *a, const struct expression *b)
{
    return a->op == b->op && a->number == b->number;
}

/* Text loops, bits, of which an expression asks where their rounds begin. */
static uint64_t begins_asked(const struct kernel_text *kernel, const struct expression *e)
{
    uint64_t loops = e->op == EXPRESSION_BEGIN ? (uint64_t)1 << e->number : 0;
    if (e->op == EXPRESSION_LET)
        loops = begins_asked(kernel, kernel->lets[e->number].value);
    for (const struct expression *arg = e->args; arg; arg = arg->next)
        loops |= begins_asked(kernel, arg);
    return loops;
}

/* Is one of the loops, or what one of them is cut from, a range of the share? */
static enum status are_cut_from(const struct kernel_values *values, uint64_t loops,
                                const struct expression *share, bool *any, struct error *error)
{
    for (int n = 0; n < values->kernel->loop_count; n++) {
        const struct expression *in;
        if (!(loops >> n & 1))
            continue;
        TRY(plan_chosen(values, values->kernel->loops[n].in, &in, error));
        *any |= is_same_name(in, share);
    }
    return STATUS_OK;
}

/* Does dimension d of what is stored begin elsewhere with another share? */
static enum status moves(const struct kernel_values *values, const struct plan_part *part, int d,
                         const struct expression *share, bool *any, struct error *error)
{
    const struct plan_dim *dim = &part->dims[d];
    const struct expression *declared;
    uint64_t loops;
    switch (dim->reach) {
    case REACH_ALL:
        return STATUS_OK;
    case REACH_SHARE:
        declared = kernel_tensor_dim(values->kernel, part->tensor, d);
        TRY(plan_chosen(values, declared, &declared, error));
        *any |= is_same_name(declared, share);
        return STATUS_OK;
    case REACH_ROUND:
        return are_cut_from(values, dim->loops, share, any, error);
    case REACH_ONE:
    case REACH_SOME:
        if (!dim->from) {
            *any = true; /* data decide */
            return STATUS_OK;
        }
        TRY(plan_chains(values, begins_asked(values->kernel, dim->from), &loops, error));
        return are_cut_from(values, loops, share, any, error);
    }
    return STATUS_OK;
}

enum status plan_is_apart(const struct kernel_values *values, const struct plan_part *part,
                          const struct expression *share, bool *is_apart, struct error *error)
{
    *is_apart = false;
    for (int d = 0; d < part->dim_count; d++)
        TRY(moves(values, part, d, share, is_apart, error));
    return STATUS_OK;
}

static bool adds(const struct plan_step *step)
{
    const struct expression *add = step->text->keys[STEP_ADD];
    return add && !(add->op == EXPRESSION_NUMBER && add->number == 0);
}

enum status plan_check_apart(const struct kernel_values *values, const struct kernel_plan *plan,
                             int number, struct error *error)
{
    const struct kernel_text *kernel = values->kernel;
    const struct plan_step *step = &plan->steps[number];
    if (!step->part_count || step->parts[0].tensor < 0 || adds(step))
        return STATUS_OK;
    for (int c = 0; c < kernel->cores_count; c++) {
        const struct expression *share;
        bool is_apart = false;
        TRY(plan_chosen(values, kernel->cores[c].what, &share, error));
        TRY(plan_is_apart(values, &step->parts[0], share, &is_apart, error));
        const char *name = share->op == EXPRESSION_SIZE ? kernel->sizes[share->number].name.text
                                                        : kernel->lets[share->number].name.text;
        if (!is_apart)
            return plan_fail(error, kernel->lines[step->line].at,
                             "cores that share %s all store the same elements of '%s', expected "
                             "add=1 or a part cut from %s",
                             name, kernel->tensors[step->parts[0].tensor].name.text, name);
    }
    return STATUS_OK;
}
