/* Tiles and tensors in doubt, element by element: rounds are walked in order, and a bit says of
 * each element whether it is written. Rounds after the second and before the last are left out
 * where they can only do what the second does: where no tile in doubt outlives them, none of what
 * steps do hangs on where a range begins, and stores to tensors in doubt are cut by the loop.
 * Stages of a round follow each other: a tile belongs to its round, or to one stage of the loop. */
#include "core/stop.h"
#include "kernels/slices.h"
#include "kernels/text/legal/kernel_content.h"
#include "kernels/text/legal/kernel_elements.h"
#include "kernels/text/plan/kernel_structure.h"
#include "kernels/text/program/kernel_flags_internal.h"

#include <stdio.h>
#include <stdlib.h>

static const int64_t most_work = (int64_t)1 << 25;  /* steps and words, about a second */
static const int64_t look_every = (int64_t)1 << 12; /* … between two looks at the time */
static const int64_t most_bits = (int64_t)1 << 32;

struct walk {
    const struct kernel_plan *plan;
    const struct kernel_doubts *doubts;
    struct kernel_env *env;
    const struct stop *stop;
    struct error *error;
    int64_t work, looked;          /* and how much of it was done at the last look at `stop` */
    bool is_asked[PLAN_MAX_STEPS]; /* touches what is in doubt */
    bool is_walked[KERNEL_MAX_LOOPS + 1]; /* has such steps */
    bool is_whole[KERNEL_MAX_LOOPS + 1];  /* all of its rounds count */
    struct elements tiles[KERNEL_MAX_TILES];
    struct elements tensors[KERNEL_MAX_TENSORS], added[KERNEL_MAX_TENSORS];
};

/* ------------------------------------------------------------------ elements */

static enum status check_work(struct walk *w)
{
    if (w->work - w->looked >= look_every) {
        w->looked = w->work;
        if (stop_due(w->stop))
            return error_set(w->error, STATUS_STOPPED, "stopped");
    }
    return w->work <= most_work
               ? STATUS_OK
               : error_set(w->error, STATUS_TOO_LARGE,
                           "more than %lld steps and words of 64 elements to look at, to know that "
                           "what is read is written and what is stored is stored once",
                           (long long)most_work);
}

static enum status begin_bits(struct walk *w, struct elements *elements, int64_t count)
{
    if (count > most_bits)
        return error_set(w->error, STATUS_TOO_LARGE, "%lld elements to look at, at most %lld",
                         (long long)count, (long long)most_bits);
    w->work += divide_up(count, ELEMENTS_OF_WORD);
    TRY(check_work(w));
    return elements_begin(elements, count) ? STATUS_OK : error_memory(w->error);
}

/* The first `count` elements of a part. *all: they all were written (ACT_IS_FREE: were not). Where
 * data decide, nothing is said. */
static enum status touch_part(struct walk *w, struct elements *elements, int step, int part,
                              enum element_act act, int64_t count, bool *all)
{
    const struct plan_part *p = &w->plan->steps[step].parts[part];
    struct part_numbers n;
    int64_t extent[KERNEL_MAX_DIMS];
    *all = true;
    for (int d = 0; d < p->dim_count; d++)
        if (p->dims[d].reach == REACH_SOME && !p->dims[d].from)
            return STATUS_OK;
    TRY(plan_part(w->plan, w->env, step, part, &n, w->error));
    for (int d = 0; d < p->dim_count; d++)
        if (p->tile >= 0)
            extent[d] = w->env->tiles[p->tile].extent[d];
        else
            TRY(plan_tensor_extent(w->env, p->tensor, d, &extent[d], w->error));
    const struct element_part touched = {extent, n.begin, n.extent, n.by, p->dim_count, count};
    *all = elements_touch(elements, &touched, act, most_work, &w->work);
    return check_work(w);
}

/* ------------------------------------------------------------------ steps */

static enum status fail(const struct walk *w, int step, const char *what, const char *name,
                        const char *expected)
{
    return plan_fail(w->error, w->plan->kernel->lines[w->plan->steps[step].line].at, "%s '%s'%s",
                     what, name, expected);
}

/* "m[0,128]", the element that is missing, and a line that writes others. */
static enum status fail_unwritten(const struct walk *w, int step, int tile)
{
    const struct kernel_text *kernel = w->plan->kernel;
    int64_t index[KERNEL_MAX_DIMS] = {0}, rest = w->tiles[tile].other;
    char element[KERNEL_MAX_NAME + 24 * KERNEL_MAX_DIMS], writer[64] = "no line writes it before";
    int used = snprintf(element, sizeof element, "%s[", kernel->tiles[tile].name.text);
    for (int d = w->plan->tiles[tile].dim_count - 1; d >= 0; d--) {
        index[d] = rest % w->env->tiles[tile].extent[d];
        rest /= w->env->tiles[tile].extent[d];
    }
    for (int d = 0; d < w->plan->tiles[tile].dim_count; d++)
        used += snprintf(element + used, sizeof element - (size_t)used, "%s%lld", d ? "," : "",
                         (long long)index[d]);
    for (int s = step - 1; s >= 0; s--)
        if (w->plan->steps[s].part_count && w->plan->steps[s].parts[0].tile == tile) {
            snprintf(writer, sizeof writer, "line %d writes others of it",
                     kernel->lines[w->plan->steps[s].line].at.line);
            break;
        }
    return plan_fail(w->error, kernel->lines[w->plan->steps[step].line].at,
                     "reads elements of tile '%s' that nothing wrote in its life, from %s] on; %s",
                     kernel->tiles[tile].name.text, element, writer);
}

static enum status read_part(struct walk *w, int step, int part, int64_t count)
{
    int tile = w->plan->steps[step].parts[part].tile;
    bool all;
    if (tile < 0 || !w->doubts->tiles[tile])
        return STATUS_OK;
    TRY(touch_part(w, &w->tiles[tile], step, part, ACT_READ, count, &all));
    return all ? STATUS_OK : fail_unwritten(w, step, tile);
}

static enum status begin_tensor(struct walk *w, int tensor)
{
    int64_t count = 1, extent;
    for (int d = 0; d < w->plan->kernel->tensors[tensor].dim_count; d++) {
        TRY(plan_tensor_extent(w->env, tensor, d, &extent, w->error));
        count = extent > 0 && count <= most_bits / extent ? count * extent : most_bits + 1;
    }
    TRY(begin_bits(w, &w->tensors[tensor], count));
    return begin_bits(w, &w->added[tensor], count);
}

static enum status store(struct walk *w, int step, int tensor)
{
    const struct expression *key = w->plan->steps[step].text->keys[STEP_ADD];
    const char *name = w->plan->kernel->tensors[tensor].name.text;
    int64_t add = 0;
    bool all, free_;
    if (!w->doubts->tensors[tensor])
        return STATUS_OK;
    if (!w->tensors[tensor].count)
        TRY(begin_tensor(w, tensor));
    if (key)
        TRY(kernel_number(&w->env->values, key, &add, w->error));
    if (!add) {
        TRY(touch_part(w, &w->tensors[tensor], step, 0, ACT_IS_FREE, INT64_MAX, &free_));
        if (!free_)
            return fail(w, step, "stores an element again of", name, ", expected once or add=1");
    } else {
        /* what was stored must have been added, too */
        TRY(touch_part(w, &w->tensors[tensor], step, 0, ACT_IS_FREE, INT64_MAX, &free_));
        if (!free_) {
            TRY(touch_part(w, &w->added[tensor], step, 0, ACT_READ, INT64_MAX, &all));
            if (!all)
                return fail(w, step, "adds to an element of", name,
                            " that was stored without add=1");
        }
        TRY(touch_part(w, &w->added[tensor], step, 0, ACT_WRITE, INT64_MAX, &all));
    }
    return touch_part(w, &w->tensors[tensor], step, 0, ACT_WRITE, INT64_MAX, &all);
}

/* A product sets what nothing wrote, or adds to what is written. */
static enum status begin_product(struct walk *w, int step, int tile)
{
    bool all, free_;
    TRY(touch_part(w, &w->tiles[tile], step, 0, ACT_READ, INT64_MAX, &all));
    TRY(touch_part(w, &w->tiles[tile], step, 0, ACT_IS_FREE, INT64_MAX, &free_));
    return all || free_
               ? STATUS_OK
               : fail(w, step, "adds to a part of tile", w->plan->kernel->tiles[tile].name.text,
                      " that is written by half, expected all of it or nothing");
}

static enum status do_step(struct walk *w, int number)
{
    const struct plan_step *step = &w->plan->steps[number];
    const struct plan_part *to = &step->parts[0];
    struct instruction in;
    bool runs, before;
    int64_t read = INT64_MAX, written = INT64_MAX;
    TRY(plan_runs(w->plan, w->env, number, &runs, w->error));
    if (!runs)
        return STATUS_OK;
    TRY(plan_instruction(w->plan, w->env, number, &in, w->error));
    if (step->kind == INSTRUCTION_VECTOR) {
        bool folds = w->plan->hw->operations[step->what].result == RESULT_ONE_PER_REPEAT;
        int lanes = w->plan->hw->vector_repeat_bytes / dtype_bytes(step->type);
        read = plan_spreads(w->plan, number) ? 1
               : plan_pairs(w->plan, number) ? in.elements / 2
                                             : in.elements;
        written = folds ? divide_up(in.elements, lanes) : in.elements;
    }
    for (int p = 1; p < step->part_count; p++)
        TRY(read_part(w, number, p, read));
    if (to->tensor >= 0)
        return store(w, number, to->tensor);
    if (!w->doubts->tiles[to->tile])
        return STATUS_OK;
    if (step->kind == INSTRUCTION_MATRIX)
        TRY(begin_product(w, number, to->tile));
    return touch_part(w, &w->tiles[to->tile], number, 0, ACT_WRITE, written, &before);
}

/* ------------------------------------------------------------------ rounds */

static enum status walk_body(struct walk *w, int loop);

static enum status walk_round(struct walk *w, int loop, int64_t round)
{
    TRY(plan_enter(w->plan, w->env, loop, round, w->error));
    for (int t = 0; t < w->plan->kernel->tile_count; t++) {
        int64_t elements = 1;
        if (!w->doubts->tiles[t] || w->plan->tiles[t].life != loop)
            continue;
        for (int d = 0; d < w->plan->tiles[t].dim_count; d++) {
            int64_t extent = w->env->tiles[t].extent[d];
            elements = elements <= most_bits / extent ? elements * extent : most_bits + 1;
        }
        TRY(begin_bits(w, &w->tiles[t], elements));
    }
    w->work++;
    TRY(check_work(w));
    return walk_body(w, loop);
}

static enum status walk_loop(struct walk *w, int loop)
{
    int64_t rounds;
    bool differs;
    TRY(plan_rounds(w->plan, w->env, loop, &rounds, &differs, w->error));
    for (int64_t round = 0; round < rounds; round++) {
        if (!w->is_whole[loop] && round == 2 && rounds > 3)
            round = rounds - 1;
        TRY(walk_round(w, loop, round));
    }
    return STATUS_OK;
}

static enum status walk_body(struct walk *w, int loop)
{
    const struct plan_loop *body = &w->plan->loops[loop];
    for (int stage = 0; stage <= body->last_stage; stage++)
        for (int i = body->first_item; i < body->first_item + body->item_count; i++) {
            const struct plan_item *item = &w->plan->items[i];
            if (item->stage != stage)
                continue;
            if (item->is_loop && w->is_walked[item->number])
                TRY(walk_loop(w, item->number));
            if (!item->is_loop && w->is_asked[item->number])
                TRY(do_step(w, item->number));
        }
    return STATUS_OK;
}

/* ------------------------------------------------------------------ which rounds */

static bool hangs_on(const struct walk *w, const struct expression *e, uint64_t loop)
{
    return e && flags_asks_begin(w->plan->kernel, e) &&
           kernel_asked(w->plan->kernel, e->loops) & loop;
}

/* Does what a step does with tiles hang on where rounds of a loop begin? */
static bool step_hangs_on(const struct walk *w, int number, uint64_t loop)
{
    const struct plan_step *step = &w->plan->steps[number];
    bool hangs = hangs_on(w, step->condition, loop);
    for (int k = 0; k < STEP_KEYS; k++)
        hangs |= hangs_on(w, step->text->keys[k], loop);
    for (int p = 0; p < step->part_count; p++) {
        int tile = step->parts[p].tile;
        for (int d = 0; d < step->parts[p].dim_count && tile >= 0; d++) {
            const struct plan_dim *dim = &step->parts[p].dims[d];
            const struct expression *name = w->plan->tiles[tile].dims[d];
            hangs |= hangs_on(w, dim->count, loop) || hangs_on(w, dim->from, loop) ||
                     hangs_on(w, dim->by, loop) || hangs_on(w, name, loop);
            hangs |= dim->reach == REACH_ROUND && dim->loops & loop &&
                     !plan_counts_from_tile(w->plan->kernel, name, dim);
        }
    }
    return hangs;
}

/* Do the rounds of a loop store parts of the tensor that no other ones touch? */
static bool cuts_tensor(const struct walk *w, int tensor, int loop)
{
    uint64_t bit = (uint64_t)1 << w->plan->loops[loop].text_loop;
    for (int d = 0; d < w->plan->kernel->tensors[tensor].dim_count; d++) {
        bool cuts = true;
        for (int s = 0; s < w->plan->step_count; s++) {
            const struct plan_step *step = &w->plan->steps[s];
            if (step->part_count && step->parts[0].tensor == tensor)
                cuts &= plan_is_within(w->plan, step->around, loop) &&
                        step->parts[0].dims[d].reach == REACH_ROUND &&
                        step->parts[0].dims[d].loops & bit;
        }
        if (cuts)
            return true;
    }
    return false;
}

static bool needs_all(const struct walk *w, int loop)
{
    uint64_t bit = (uint64_t)1 << w->plan->loops[loop].text_loop;
    for (int s = w->plan->loops[loop].first_step; s < w->plan->loops[loop].end_step; s++) {
        const struct plan_step *step = &w->plan->steps[s];
        if (!w->is_asked[s])
            continue;
        for (int p = 0; p < step->part_count; p++) {
            int tile = step->parts[p].tile;
            if (tile >= 0 && w->doubts->tiles[tile] &&
                !plan_is_within(w->plan, w->plan->tiles[tile].life, loop))
                return true;
        }
        if (step->parts[0].tensor >= 0 && w->doubts->tensors[step->parts[0].tensor] &&
            !cuts_tensor(w, step->parts[0].tensor, loop))
            return true;
        for (int inner = step->around; inner != loop; inner = w->plan->loops[inner].around) {
            const struct kernel_loop *text =
                &w->plan->kernel->loops[w->plan->loops[inner].text_loop];
            if (hangs_on(w, text->in, bit) || hangs_on(w, text->by, bit))
                return true;
        }
        if (step_hangs_on(w, s, bit))
            return true;
    }
    return false;
}

static void find_asked(struct walk *w)
{
    for (int s = 0; s < w->plan->step_count; s++) {
        const struct plan_step *step = &w->plan->steps[s];
        for (int p = 0; p < step->part_count; p++)
            w->is_asked[s] |=
                (step->parts[p].tile >= 0 && w->doubts->tiles[step->parts[p].tile]) ||
                (p == 0 && step->parts[p].tensor >= 0 && w->doubts->tensors[step->parts[p].tensor]);
        for (int loop = step->around; w->is_asked[s] && loop >= 0;
             loop = w->plan->loops[loop].around)
            w->is_walked[loop] = true;
    }
    for (int loop = 1; loop < w->plan->loop_count; loop++)
        w->is_whole[loop] = w->is_walked[loop] && needs_all(w, loop);
}

enum status kernel_content_check(const struct kernel_plan *plan, const struct kernel_doubts *doubts,
                                 struct kernel_env *env, const struct stop *stop,
                                 struct error *error)
{
    if (!doubts->any)
        return STATUS_OK;
    struct walk *walk = calloc(1, sizeof *walk);
    if (!walk)
        return error_memory(error);
    *walk = (struct walk){.plan = plan, .doubts = doubts, .env = env, .stop = stop, .error = error};
    find_asked(walk);
    enum status status = walk_round(walk, 0, 0);
    for (int t = 0; t < KERNEL_MAX_TILES; t++)
        free(walk->tiles[t].words);
    for (int t = 0; t < KERNEL_MAX_TENSORS; t++) {
        free(walk->tensors[t].words);
        free(walk->added[t].words);
    }
    free(walk);
    return status;
}
