/* Which moves miss the cache, and so take the path from what is behind it. A structure decides that
 * for a step as a whole. Where all tensors do not fit and a kernel has no products, it goes over
 * them once: all come from behind and go there. (Products read much again that is in the cache
 * still.) In a cold cache a load misses where it is the first touch of a tensor: no step before it
 * names the same part, not all cores read the same, and each round brings something new. What is
 * read again and again, by cores or by rounds, is there but for the first time and hits; so does
 * what was stored. */
#include "kernels/emit.h"
#include "kernels/text/plan/kernel_structure.h"

struct misses {
    const struct kernel_values *values;
    struct kernel_plan *plan;
    struct error *error;
    bool spills; /* what tensors take does not fit, and each is gone over once */
};

/* What all tensors take, sizes being the whole ones. */
static enum status tensor_bytes(const struct misses *m, double *bytes)
{
    struct kernel_env env = {.values = *m->values};
    const struct kernel_text *kernel = m->plan->kernel;
    *bytes = 0;
    for (int t = 0; t < kernel->tensor_count; t++) {
        double elements = 1;
        int d = 0;
        for (const struct expression *dim = kernel->tensors[t].dims; dim; dim = dim->next) {
            int64_t extent = 0;
            TRY(plan_tensor_extent(&env, t, d++, &extent, m->error));
            elements *= (double)extent;
        }
        *bytes += elements * dtype_bytes(kernel_type(m->values, kernel->tensors[t].type));
    }
    return STATUS_OK;
}

static bool has_products(const struct kernel_text *kernel)
{
    for (int l = 0; l < kernel->line_count; l++)
        if (kernel->lines[l].step && kernel->lines[l].step->verb == VERB_MMAD)
            return true;
    return false;
}

/* ------------------------------------------------------------------ first touches */

/* Is it a size of no more than it is a multiple of? Nothing cuts it. */
static bool is_one_unit(const struct misses *m, const struct expression *name)
{
    return name->op == EXPRESSION_SIZE &&
           m->values->wholes[name->number] <= m->values->pads[name->number];
}

/* Does no round of the loops around bring again what another one has brought? */
static enum status is_new_in_rounds(const struct misses *m, const struct plan_step *step,
                                    bool *is_new)
{
    const struct kernel_plan *plan = m->plan;
    uint64_t changing = step->parts[1].loops | step->once;
    *is_new = true;
    for (int loop = step->around; loop > 0 && *is_new; loop = plan->loops[loop].around) {
        int text_loop = plan->loops[loop].text_loop;
        const struct expression *in;
        if (changing >> text_loop & 1)
            continue;
        TRY(plan_chosen(m->values, plan->kernel->loops[text_loop].in, &in, m->error));
        while (in->op == EXPRESSION_LOOP)
            TRY(plan_chosen(m->values, plan->kernel->loops[in->number].in, &in, m->error));
        *is_new = is_one_unit(m, in) || (in->op == EXPRESSION_NUMBER && in->number == 1);
    }
    return STATUS_OK;
}

/* Has each core a part of its own? */
static enum status is_of_one_core(const struct misses *m, const struct plan_part *part,
                                  bool *is_own)
{
    const struct kernel_text *kernel = m->plan->kernel;
    *is_own = true;
    for (int c = 0; c < kernel->cores_count && *is_own; c++) {
        const struct expression *share;
        TRY(plan_chosen(m->values, kernel->cores[c].what, &share, m->error));
        if (!is_one_unit(m, share))
            TRY(plan_is_apart(m->values, part, share, is_own, m->error));
    }
    return STATUS_OK;
}

/* Of one tensor: parts that begin at different places by the text alone do not meet. */
static bool may_meet(const struct plan_part *a, const struct plan_part *b)
{
    for (int d = 0; d < a->dim_count; d++)
        if (a->dims[d].from && b->dims[d].from && !kernel_is_same(a->dims[d].from, b->dims[d].from))
            return false;
    return true;
}

/* Has a step before this one touched the same in any case? */
static bool was_touched(const struct kernel_plan *plan, int number)
{
    const struct plan_part *part = &plan->steps[number].parts[1];
    for (int s = 0; s < number; s++)
        for (int p = 0; p < plan->steps[s].part_count && !plan->steps[s].condition; p++)
            if (plan->steps[s].parts[p].tensor == part->tensor &&
                may_meet(&plan->steps[s].parts[p], part))
                return true;
    return false;
}

static enum status is_first_touch(const struct misses *m, int number, bool *is_first)
{
    const struct plan_step *step = &m->plan->steps[number];
    *is_first = step->parts[1].tensor >= 0 && !was_touched(m->plan, number);
    if (*is_first)
        TRY(is_new_in_rounds(m, step, is_first));
    if (*is_first)
        TRY(is_of_one_core(m, &step->parts[1], is_first));
    return STATUS_OK;
}

/* ------------------------------------------------------------------ paths */

/* The path behind the cache is on the same pipe, where there is one (hardware/build.c). */
static enum status go_behind(const struct misses *m, struct plan_step *step)
{
    const struct hardware *hw = m->plan->hw;
    const struct cache *cache = &hw->cache;
    const struct path *path = &hw->paths[step->what];
    int from = path->source == cache->buffer ? cache->behind : path->source;
    int to = path->destination == cache->buffer ? cache->behind : path->destination;
    int behind = hardware_path(hw, from, to);
    const struct expression *transpose = step->text->keys[STEP_TRANSPOSE];
    int64_t transposes = 0;
    if (behind < 0 || hw->paths[behind].pipe != step->pipe)
        return STATUS_OK;
    if (transpose)
        TRY(kernel_number(m->values, transpose, &transposes, m->error));
    int price = transposes ? hw->paths[behind].transposed_price
                           : hardware_move_price(hw, behind, (enum dtype)step->type, step->to_type);
    if (price < 0)
        return STATUS_OK;
    step->what = behind;
    step->price = price;
    return STATUS_OK;
}

enum status plan_find_misses(const struct kernel_values *values, struct kernel_plan *plan,
                             struct error *error)
{
    struct misses m = {.values = values, .plan = plan, .error = error};
    const struct cache *cache = &plan->hw->cache;
    double bytes = 0;
    if (cache->behind < 0)
        return STATUS_OK;
    TRY(tensor_bytes(&m, &bytes));
    m.spills = hardware_spills(plan->hw, bytes) && !has_products(plan->kernel);
    for (int s = 0; s < plan->step_count; s++) {
        struct plan_step *step = &plan->steps[s];
        bool misses = m.spills;
        if (step->kind != INSTRUCTION_MOVE)
            continue;
        if (!misses && cache->is_cold)
            TRY(is_first_touch(&m, s, &misses));
        if (misses)
            TRY(go_behind(&m, step));
    }
    return STATUS_OK;
}
