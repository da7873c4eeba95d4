/* Which bytes miss the cache, and so take the path from what is behind it: the rule of --op matmul
 * (docs/hardware.md, "cache"). What all tensors of a kernel take decides which share of them a warm
 * cache does not hold; a cold one holds nothing. That share misses of what is loaded for the first
 * time by any core; what the same load brings again, in other rounds or on other cores, hits, as
 * does what an earlier step touched and a warm cache holds. Of loads that bring the same each
 * misses an equal part. Results go behind the cache where most of all does not fit.
 *
 * A structure decides which loads miss at all. One of which all bytes do takes the other path; one
 * of which some do becomes two steps, whose bytes are found in each round. Windows that overlap
 * count as new, and so do elements that data pick. */
#include "kernels/limits.h"
#include "kernels/slices.h"
#include "kernels/text/plan/kernel_structure.h"

#include <math.h>
#include <string.h>

struct misses {
    const struct kernel_values *values;
    struct kernel_plan *plan;
    struct error *error;
    bool spills;    /* most of what tensors take does not fit */
    int warm_parts; /* of MISS_PARTS, that do not; of what is loaded first: */
    int first_parts;
};

/* Of the tensors that steps touch, sizes being the whole ones. */
static enum status tensor_bytes(const struct misses *m, double *bytes)
{
    struct kernel_env env = {.values = *m->values};
    const struct kernel_text *kernel = m->plan->kernel;
    bool is_touched[KERNEL_MAX_TENSORS] = {false};
    *bytes = 0;
    for (int s = 0; s < m->plan->step_count; s++)
        for (int p = 0; p < m->plan->steps[s].part_count; p++)
            if (m->plan->steps[s].parts[p].tensor >= 0)
                is_touched[m->plan->steps[s].parts[p].tensor] = true;
    for (int t = 0; t < kernel->tensor_count; t++) {
        double elements = 1;
        int d = 0;
        for (const struct expression *dim = kernel->tensors[t].dims; dim && is_touched[t];
             dim = dim->next) {
            int64_t extent = 0;
            TRY(plan_tensor_extent(&env, t, d++, &extent, m->error));
            elements *= (double)extent;
        }
        *bytes += is_touched[t]
                      ? elements * dtype_bytes(kernel_type(m->values, kernel->tensors[t].type))
                      : 0;
    }
    return STATUS_OK;
}

/* ------------------------------------------------------------------ what is loaded again */

/* Is it a size of no more than it is a multiple of? Nothing cuts it. */
static bool is_one_unit(const struct misses *m, const struct expression *name)
{
    return name->op == EXPRESSION_SIZE &&
           m->values->wholes[name->number] <= m->values->pads[name->number];
}

/* In rounds of loops around it that it runs in, whatever they are. */
static enum status find_again(const struct misses *m, struct plan_step *step)
{
    const struct kernel_plan *plan = m->plan;
    uint64_t changing = step->parts[1].loops | step->once;
    changing |= step->condition ? step->condition->loops : 0;
    for (int loop = step->around; loop > 0; loop = plan->loops[loop].around) {
        int text_loop = plan->loops[loop].text_loop;
        const struct expression *in;
        TRY(plan_chosen(m->values, plan->kernel->loops[text_loop].in, &in, m->error));
        while (in->op == EXPRESSION_LOOP)
            TRY(plan_chosen(m->values, plan->kernel->loops[in->number].in, &in, m->error));
        bool is_one = is_one_unit(m, in) || (in->op == EXPRESSION_NUMBER && in->number == 1);
        if (!(changing >> text_loop & 1) && !is_one)
            step->again |= UINT64_C(1) << text_loop;
    }
    return STATUS_OK;
}

/* By other cores, of what they share sizes of. */
static enum status find_alike(const struct misses *m, struct plan_step *step)
{
    const struct kernel_text *kernel = m->plan->kernel;
    for (int c = 0; c < kernel->cores_count; c++) {
        const struct expression *share;
        bool is_apart = false;
        TRY(plan_chosen(m->values, kernel->cores[c].what, &share, m->error));
        if (share->op != EXPRESSION_SIZE || is_one_unit(m, share))
            continue;
        TRY(plan_is_apart(m->values, &step->parts[1], share, &is_apart, m->error));
        if (!is_apart)
            step->alike[step->alike_count++] =
                (struct plan_alike){share, m->values->wholes[share->number]};
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

enum status plan_missed_bytes(const struct kernel_plan *plan, const struct kernel_env *env,
                              int number, int64_t bytes, int64_t *missed, struct error *error)
{
    const struct plan_step *step = &plan->steps[number];
    int64_t again = 1, rounds;
    bool differs;
    for (int loop = step->around; loop > 0; loop = plan->loops[loop].around)
        if (plan_loads_again(plan, number, loop)) {
            TRY(plan_rounds(plan, env, loop, &rounds, &differs, error));
            again = product_of(again, rounds);
        }
    for (int a = 0; a < step->alike_count; a++) {
        int64_t share;
        TRY(kernel_number(&env->values, step->alike[a].name, &share, error));
        again = product_of(again, divide_up(step->alike[a].whole, share > 0 ? share : 1));
    }
    int64_t each = product_of(again, (int64_t)MISS_PARTS * MISS_GRAIN);
    bool all = again == 1 && step->missed_parts == MISS_PARTS;
    *missed = all ? bytes : product_of(bytes, step->missed_parts) / each * MISS_GRAIN;
    return STATUS_OK;
}

/* ------------------------------------------------------------------ steps */

/* The same behind the cache: on the same pipe, where there is such a path (hardware/build.c). */
static enum status find_behind(const struct misses *m, const struct plan_step *step,
                               struct plan_step *behind, bool *is_there)
{
    const struct hardware *hw = m->plan->hw;
    const struct cache *cache = &hw->cache;
    const struct path *path = &hw->paths[step->what];
    int from = path->source == cache->buffer ? cache->behind : path->source;
    int to = path->destination == cache->buffer ? cache->behind : path->destination;
    int what = hardware_path(hw, from, to);
    const struct expression *transpose = step->text->keys[STEP_TRANSPOSE];
    int64_t transposes = 0;
    *is_there = false;
    if (what < 0 || what == step->what || hw->paths[what].pipe != step->pipe)
        return STATUS_OK;
    if (transpose)
        TRY(kernel_number(m->values, transpose, &transposes, m->error));
    int price = transposes ? hw->paths[what].transposed_price
                           : hardware_move_price(hw, what, (enum dtype)step->type, step->to_type);
    *is_there = price >= 0;
    *behind = *step;
    behind->what = what;
    behind->price = price;
    return STATUS_OK;
}

/* Puts a step behind another one, in the same body and rounds, that is like it. */
static void double_step(struct kernel_plan *plan, int number)
{
    int loop = plan->steps[number].around, item = plan->loops[loop].first_item;
    while (plan->items[item].is_loop || plan->items[item].number != number)
        item++;
    for (int i = 0; i < plan->item_count; i++)
        plan->items[i].number += !plan->items[i].is_loop && plan->items[i].number > number;
    memmove(&plan->items[item + 1], &plan->items[item],
            (size_t)(plan->item_count++ - item) * sizeof *plan->items);
    plan->items[item + 1].number++;
    for (int l = 0; l < plan->loop_count; l++) {
        plan->loops[l].first_item += plan->loops[l].first_item > item;
        plan->loops[l].first_step += plan->loops[l].first_step > number;
        plan->loops[l].end_step += plan->loops[l].end_step > number;
    }
    plan->loops[loop].item_count++;
    size_t rest = (size_t)(plan->step_count++ - number);
    memmove(&plan->steps[number + 1], &plan->steps[number], rest * sizeof *plan->steps);
    memmove(&plan->matters[number + 1], &plan->matters[number], rest * sizeof *plan->matters);
}

/* Can it be cut in two where it lies, bytes of the one behind those of the other? */
static bool is_one_piece(const struct kernel_plan *plan, int number)
{
    const struct plan_step *step = &plan->steps[number];
    return step->part_count == 2 && step->parts[0].tile >= 0 && !step->text->keys[STEP_TRANSPOSE] &&
           plan_strides(plan, number, 0) == 0;
}

/* Of a load from the cache. `number`: in the end the last step that it has become. */
static enum status load(const struct misses *m, int *number)
{
    struct plan_step *step = &m->plan->steps[*number], behind;
    const struct plan_part *part = &step->parts[1];
    bool is_there;
    int parts = was_touched(m->plan, *number) ? m->warm_parts : m->first_parts;
    TRY(find_behind(m, step, &behind, &is_there));
    if (!is_there || parts == 0)
        return STATUS_OK;
    if (!plan_is_gathered(part)) {
        TRY(find_again(m, step));
        TRY(find_alike(m, step));
    }
    bool is_split = parts < MISS_PARTS || step->again || step->alike_count;
    if (is_split && is_one_piece(m->plan, *number) && m->plan->step_count < PLAN_MAX_STEPS &&
        m->plan->item_count < PLAN_MAX_ITEMS) {
        double_step(m->plan, *number);
        step->missed_parts = parts;
        step->share = SHARE_HITS;
        step[1] = *step;
        step->share = SHARE_MISSES;
        ++*number;
    }
    step->what = behind.what;
    step->price = behind.price;
    return STATUS_OK;
}

/* Of a result, or of scratch that is as long as the kernel lives. */
static enum status spill(const struct misses *m, struct plan_step *step)
{
    struct plan_step behind;
    bool is_there;
    TRY(find_behind(m, step, &behind, &is_there));
    if (is_there)
        *step = behind;
    return STATUS_OK;
}

static bool is_long_scratch(const struct misses *m, const struct plan_step *step)
{
    for (int p = 0; p < step->part_count; p++) {
        int tile = step->parts[p].tile;
        if (tile >= 0 && m->plan->hw->buffers[m->plan->tiles[tile].buffer].capacity_bytes == 0 &&
            m->plan->tiles[tile].life > 0)
            return false;
    }
    return true;
}

enum status plan_find_misses(const struct kernel_values *values, struct kernel_plan *plan,
                             struct error *error)
{
    struct misses m = {.values = values, .plan = plan, .error = error};
    const struct hardware *hw = plan->hw;
    double bytes = 0;
    if (hw->cache.behind < 0)
        return STATUS_OK;
    TRY(tensor_bytes(&m, &bytes));
    m.spills = hardware_spills(hw, bytes);
    m.warm_parts = (int)ceil(hardware_warm_miss_share(hw, bytes) * MISS_PARTS);
    m.first_parts = (int)ceil(hardware_miss_share(hw, bytes) * MISS_PARTS);
    for (int s = 0; s < plan->step_count; s++) {
        struct plan_step *step = &plan->steps[s];
        if (step->kind != INSTRUCTION_MOVE)
            continue;
        if (step->parts[1].tensor >= 0)
            TRY(load(&m, &s));
        else if (m.spills && is_long_scratch(&m, step))
            TRY(spill(&m, step));
    }
    return STATUS_OK;
}
