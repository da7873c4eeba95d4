/* Tiles and tensors in doubt, element by element: rounds are walked in order, and a bit says of
 * each element whether it is written. In rounds after the second and before the last a tile or a
 * tensor is left out where they can only do to it what the second does: where it does not outlive
 * them, or they store parts of it that no other ones touch, and none of what its steps do hangs on
 * where a range begins.
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
    const struct kernel_doubts *asked; /* of what is in doubt, in the rounds of now */
    struct kernel_env *env;
    const struct stop *stop;
    struct error *error;
    int64_t work, looked; /* and how much of it was done at the last look at `stop` */
    struct kernel_doubts moving[KERNEL_MAX_LOOPS + 1]; /* by plan loop: what all rounds count for */
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
    if (tile < 0 || !w->asked->tiles[tile])
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
    if (!w->asked->tensors[tensor])
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
    if (!w->asked->tiles[to->tile])
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
        if (!w->asked->tiles[t] || w->plan->tiles[t].life != loop)
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

/* Does a step touch what is asked? */
static bool is_asked(const struct kernel_doubts *asked, const struct plan_step *step)
{
    bool touches =
        step->part_count && step->parts[0].tensor >= 0 && asked->tensors[step->parts[0].tensor];
    for (int p = 0; p < step->part_count; p++)
        touches |= step->parts[p].tile >= 0 && asked->tiles[step->parts[p].tile];
    return touches;
}

static bool has_asked(const struct walk *w, int loop)
{
    bool has = false;
    for (int s = w->plan->loops[loop].first_step; s < w->plan->loops[loop].end_step && !has; s++)
        has = is_asked(w->asked, &w->plan->steps[s]);
    return has;
}

static void find_both(const struct kernel_doubts *a, const struct kernel_doubts *b,
                      struct kernel_doubts *both)
{
    *both = (struct kernel_doubts){.any = false};
    for (int t = 0; t < KERNEL_MAX_TILES; t++)
        both->any |= both->tiles[t] = a->tiles[t] && b->tiles[t];
    for (int t = 0; t < KERNEL_MAX_TENSORS; t++)
        both->any |= both->tensors[t] = a->tensors[t] && b->tensors[t];
}

static enum status walk_loop(struct walk *w, int loop)
{
    const struct kernel_doubts *all = w->asked;
    struct kernel_doubts between;
    int64_t rounds;
    bool differs;
    enum status status = STATUS_OK;
    if (!has_asked(w, loop))
        return STATUS_OK;
    TRY(plan_rounds(w->plan, w->env, loop, &rounds, &differs, w->error));
    find_both(all, &w->moving[loop], &between);
    for (int64_t round = 0; round < rounds && status == STATUS_OK; round++) {
        if (round == 2 && !between.any)
            round = rounds - 1;
        w->asked = round >= 2 && round < rounds - 1 ? &between : all;
        status = walk_round(w, loop, round);
    }
    w->asked = all;
    return status;
}

static enum status walk_body(struct walk *w, int loop)
{
    const struct plan_loop *body = &w->plan->loops[loop];
    for (int stage = 0; stage <= body->last_stage; stage++)
        for (int i = body->first_item; i < body->first_item + body->item_count; i++) {
            const struct plan_item *item = &w->plan->items[i];
            if (item->stage != stage)
                continue;
            if (item->is_loop)
                TRY(walk_loop(w, item->number));
            else if (is_asked(w->asked, &w->plan->steps[item->number]))
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

static bool part_hangs_on(const struct walk *w, const struct plan_part *part, uint64_t loop)
{
    bool hangs = false;
    for (int d = 0; d < part->dim_count && part->tile >= 0; d++) {
        const struct plan_dim *dim = &part->dims[d];
        const struct expression *name = w->plan->tiles[part->tile].dims[d];
        hangs |= hangs_on(w, dim->count, loop) || hangs_on(w, dim->from, loop) ||
                 hangs_on(w, dim->by, loop) || hangs_on(w, name, loop);
        hangs |= dim->reach == REACH_ROUND && dim->loops & loop &&
                 !plan_counts_from_tile(w->plan->kernel, name, dim);
    }
    return hangs;
}

/* Does whether a step runs, how often, or how much it takes hang on where rounds of a loop begin?
 * A vector operation takes of each part as much as of the others. */
static bool step_hangs_on(const struct walk *w, int number, int loop)
{
    const struct plan_step *step = &w->plan->steps[number];
    uint64_t bit = (uint64_t)1 << w->plan->loops[loop].text_loop;
    bool hangs = hangs_on(w, step->condition, bit);
    for (int k = 0; k < STEP_KEYS; k++)
        hangs |= hangs_on(w, step->text->keys[k], bit);
    for (int p = 0; p < step->part_count && step->kind == INSTRUCTION_VECTOR; p++)
        hangs |= part_hangs_on(w, &step->parts[p], bit);
    for (int inner = step->around; inner != loop; inner = w->plan->loops[inner].around) {
        const struct kernel_loop *text = &w->plan->kernel->loops[w->plan->loops[inner].text_loop];
        hangs |= hangs_on(w, text->in, bit) || hangs_on(w, text->by, bit);
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

static void find_moving(struct walk *w, int loop)
{
    struct kernel_doubts *moving = &w->moving[loop];
    uint64_t bit = (uint64_t)1 << w->plan->loops[loop].text_loop;
    for (int s = w->plan->loops[loop].first_step; s < w->plan->loops[loop].end_step; s++) {
        const struct plan_step *step = &w->plan->steps[s];
        bool moves = step_hangs_on(w, s, loop);
        for (int p = 0; p < step->part_count; p++) {
            int tile = step->parts[p].tile;
            if (tile >= 0)
                moving->tiles[tile] |= moves || part_hangs_on(w, &step->parts[p], bit) ||
                                       !plan_is_within(w->plan, w->plan->tiles[tile].life, loop);
        }
        if (step->part_count && step->parts[0].tensor >= 0)
            moving->tensors[step->parts[0].tensor] |=
                moves || !cuts_tensor(w, step->parts[0].tensor, loop);
    }
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
    *walk = (struct walk){.plan = plan, .asked = doubts, .env = env, .stop = stop, .error = error};
    for (int loop = 1; loop < plan->loop_count; loop++)
        find_moving(walk, loop);
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
