/* Boxes of a kernel's tilings. A root is a block with one choice of the words that decide a
 * structure: all its tilings have the loops and steps of one plan, but for how many copies tiles
 * have, and what the plan of most copies says holds for all of them (docs/bounds.md). */
#include "core/array.h"
#include "core/stop.h"
#include "kernels/text/bounds/kernel_work_parts.h"
#include "kernels/text/plan/kernel_structure.h"
#include "kernels/text/space/kernel_space.h"
#include "kernels/text/tape/kernel_trace.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_ROOTS = 1 << 16,
    MOST_OPERATIONS = 1 << 21, /* on all tapes together */
    MOST_COPIES = 4096,        /* that are looked at */
};

struct root {
    struct space_box box;
    int trace;    /* number */
    int given;    /* where its inputs behind the axes begin */
    bool is_sure; /* what fits is legal, however many copies there are */
};

/* The tapes of a plan and of the values of words that are one in the root: for every block, or,
 * where each of some rounds stands on the tape by itself, for one. */
struct root_trace {
    const struct space_plan *plan;
    unsigned words; /* axes, bits */
    int64_t values[SPACE_MAX_AXES];
    unsigned asked, asked_to_fit; /* axes that its work hangs on, and what fits */
    struct kernel_trace trace;
};

struct kernel_boxes {
    const struct kernel_space *ks; /* whose they are */
    bool is_open; /* too many roots, or a structure that no tape can say: nothing is known */
    int count, trace_count, given_count;
    int room;           /* numbers of scratch */
    int operations;     /* of all tapes */
    struct root *roots; /* owned, as the next two */
    struct root_trace *traces;
    double *given;
};

/* Of the space: the text's, and the cores. */
static int axis_count_of(const struct kernel_boxes *boxes)
{
    return boxes->ks->kernel->axis_count + 1;
}

/* ------------------------------------------------------------------ roots */

struct maker {
    struct kernel_boxes *boxes;
    const struct kernel_space *ks;
    const struct stop *stop;
    const struct space_block *block;
    struct kernel_values values;
    unsigned rounds;                      /* axes, bits (axes_of_rounds) */
    struct interval axes[SPACE_MAX_AXES]; /* their values in all blocks */
    struct error *error;
};

static unsigned words_of(const struct maker *m, const struct space_box *box)
{
    unsigned words = 0;
    for (int a = 0; a < m->ks->kernel->axis_count; a++)
        words |= m->ks->word_axes >> a & 1 && box->first[a] == box->last[a] ? 1U << a : 0;
    return words;
}

static bool is_made(const struct maker *m, const struct root_trace *made, unsigned words)
{
    bool same = made->words == words;
    for (int a = 0; same && a < m->ks->kernel->axis_count; a++)
        same = !(words >> a & 1) || made->values[a] == m->values.axes[a];
    return same;
}

static enum status make_trace(struct maker *m, const struct space_plan *plan,
                              const struct space_box *box, unsigned words)
{
    struct kernel_boxes *boxes = m->boxes;
    struct interval axes[SPACE_MAX_AXES];
    struct trace_scope scope = {~words, m->axes, true};
    if (!array_room(&boxes->traces, boxes->trace_count, sizeof *boxes->traces))
        return error_memory(m->error);
    struct root_trace *made = &boxes->traces[boxes->trace_count];
    *made = (struct root_trace){.plan = plan, .words = words};
    memcpy(made->values, m->values.axes, sizeof m->values.axes);
    if (m->rounds) {
        scope = (struct trace_scope){0, axes, false};
        for (int a = 0; a < m->ks->kernel->axis_count; a++) {
            const int64_t *values = m->block->values[a];
            axes[a] =
                (struct interval){(double)values[box->first[a]], (double)values[box->last[a]]};
            scope.open |= box->last[a] > box->first[a] ? 1U << a : 0;
        }
    }
    TRY(kernel_trace_make(plan, &m->values, &scope, &made->trace, m->error));
    made->asked = tape_inputs(&made->trace.work);
    made->asked_to_fit = tape_inputs(&made->trace.fits);
    if (kernel_trace_room(&made->trace) > boxes->room)
        boxes->room = kernel_trace_room(&made->trace);
    boxes->operations += made->trace.fits.count + made->trace.work.count;
    boxes->trace_count++;
    return STATUS_OK;
}

static enum status give(struct maker *m, struct root *root)
{
    struct kernel_boxes *boxes = m->boxes;
    const struct kernel_trace *trace = &boxes->traces[root->trace].trace;
    struct interval inputs[TRACE_INPUTS];
    kernel_trace_give(trace, &m->values, inputs);
    root->given = boxes->given_count;
    for (int i = 0; i < trace->given_count; i++) {
        if (!array_room(&boxes->given, boxes->given_count, sizeof *boxes->given))
            return error_memory(m->error);
        boxes->given[boxes->given_count++] = inputs[SPACE_MAX_AXES + i].lo;
    }
    return STATUS_OK;
}

/* Of every number of copies: nothing is left to ask of a tiling but what fits (kernel_legal.c). */
static bool is_sure(const struct maker *m, const struct space_box *box, struct tiling *tiling,
                    int axis, int *looks)
{
    while (axis < m->ks->kernel->axis_count && !(m->ks->copy_axes >> axis & 1))
        axis++;
    if (axis == m->ks->kernel->axis_count) {
        const struct space_plan *plan = kernel_find_plan(m->ks, tiling);
        return ++*looks < MOST_COPIES && plan && plan->is_possible && plan->is_certain &&
               plan->fit.grows;
    }
    bool sure = true;
    for (int v = box->first[axis]; v <= box->last[axis] && sure; v++) {
        tiling->value[axis] = m->block->values[axis][v];
        sure = is_sure(m, box, tiling, axis + 1, looks);
    }
    return sure;
}

static enum status add_root(struct maker *m, const struct space_plan *plan,
                            const struct space_box *box)
{
    struct kernel_boxes *boxes = m->boxes;
    unsigned words = words_of(m, box);
    struct root root = {.box = *box};
    if (boxes->count == MOST_ROOTS || boxes->operations > MOST_OPERATIONS) {
        boxes->is_open = true;
        return STATUS_OK;
    }
    root.trace = m->rounds ? boxes->trace_count : 0;
    while (root.trace < boxes->trace_count && (boxes->traces[root.trace].plan != plan ||
                                               !is_made(m, &boxes->traces[root.trace], words)))
        root.trace++;
    if (root.trace == boxes->trace_count) {
        enum status status = make_trace(m, plan, box, words);
        boxes->is_open = status == STATUS_TOO_LARGE;
        if (status != STATUS_OK)
            return boxes->is_open ? STATUS_OK : status;
    }
    struct tiling tiling = {.value = {0}};
    int looks = 0;
    for (int a = 0; a < axis_count_of(boxes); a++)
        tiling.value[a] = m->block->values[a][box->first[a]];
    root.is_sure = is_sure(m, box, &tiling, 0, &looks);
    TRY(give(m, &root));
    if (!array_room(&boxes->roots, boxes->count, sizeof *boxes->roots))
        return error_memory(m->error);
    boxes->roots[boxes->count++] = root;
    return STATUS_OK;
}

static enum status make_roots(struct maker *m, const struct space_box *box, unsigned fixed,
                              unsigned copies, int axis);

/* Axes that are open do not matter, but for the copies: the most, or where a structure of so many
 * cannot be each number by itself. */
static enum status make_root(struct maker *m, const struct space_box *box, unsigned copies)
{
    struct tiling most = {.value = {0}};
    for (int a = 0; a < axis_count_of(m->boxes); a++)
        most.value[a] = m->block->values[a][copies >> a & 1 ? box->last[a] : box->first[a]];
    const struct space_plan *plan = kernel_find_plan(m->ks, &most);
    if (plan && plan->is_possible && plan->work)
        return kernel_set_tiling(m->ks, &most, &m->values, NULL) ? add_root(m, plan, box)
                                                                 : STATUS_OK;
    return copies ? make_roots(m, box, copies, 0, 0) : STATUS_OK;
}

/* Every combination of values of some axes, from axis `axis` on. */
static enum status make_roots(struct maker *m, const struct space_box *box, unsigned fixed,
                              unsigned copies, int axis)
{
    while (axis < axis_count_of(m->boxes) && !(fixed >> axis & 1))
        axis++;
    if (stop_due(m->stop))
        return error_set(m->error, STATUS_STOPPED, "stopped");
    if (m->boxes->is_open)
        return STATUS_OK;
    if (axis == axis_count_of(m->boxes))
        return make_root(m, box, copies);
    struct space_box next = *box;
    for (int v = box->first[axis]; v <= box->last[axis]; v++) {
        next.first[axis] = next.last[axis] = v;
        TRY(make_roots(m, &next, fixed, copies, axis + 1));
    }
    return STATUS_OK;
}

/* Axes that say how many rounds loops have of which each does something else: known, there are so
 * many on the tape; open, there may be any of them. */
static unsigned axes_of_rounds(const struct kernel_space *ks)
{
    const struct kernel_text *kernel = ks->kernel;
    uint64_t loops = 0;
    unsigned axes = 0;
    for (int p = 0; p < ks->plan_count; p++)
        for (int s = 0; ks->plans[p]->work && s < ks->plans[p]->plan.step_count; s++)
            loops |= ks->plans[p]->work->cells.steps[s].begins;
    for (loops = kernel_asked(kernel, loops); loops; loops &= loops - 1) {
        const struct kernel_loop *loop = &kernel->loops[__builtin_ctzll(loops)];
        axes |= kernel_axes_of(kernel, loop->in) | kernel_axes_of(kernel, loop->by);
    }
    return axes;
}

/* Parts of a block with one plan each, but for copies. */
static enum status make_parts(struct maker *m, const struct space_box *box, int number)
{
    const struct decision *at = &m->ks->decisions.items[number];
    struct space_box half = *box;
    if (at->copies)
        return make_roots(m, box, m->rounds, m->ks->copy_axes & ~m->rounds, 0);
    half.last[at->axis] = at->middle;
    TRY(make_parts(m, &half, at->below));
    half.first[at->axis] = at->middle + 1;
    half.last[at->axis] = box->last[at->axis];
    return make_parts(m, &half, at->above);
}

static enum status make_block(struct maker *m, int block)
{
    struct space_box box = {.block = block};
    m->block = &m->ks->blocks[block];
    for (int a = 0; a < axis_count_of(m->boxes); a++) {
        box.last[a] = m->block->count[a] - 1;
        if (box.last[a] < 0)
            return STATUS_OK;
    }
    return make_parts(m, &box, m->ks->decisions.trees[block]);
}

void kernel_boxes_free(struct kernel_boxes *boxes)
{
    if (!boxes)
        return;
    for (int t = 0; t < boxes->trace_count; t++)
        kernel_trace_clear(&boxes->traces[t].trace);
    free(boxes->traces);
    free(boxes->given);
    free(boxes->roots);
    free(boxes);
}

static enum status make_boxes(const struct space *space, struct kernel_boxes **made,
                              struct error *error)
{
    struct kernel_boxes *boxes = *made = calloc(1, sizeof *boxes);
    struct maker *m = calloc(1, sizeof *m);
    enum status status = boxes && m ? STATUS_OK : error_memory(error);
    if (status == STATUS_OK) {
        const struct kernel_space *ks = kernel_space_of(space);
        boxes->ks = ks;
        *m = (struct maker){.boxes = boxes,
                            .ks = ks,
                            .stop = space->stop,
                            .rounds = axes_of_rounds(ks),
                            .error = error};
        kernel_space_values(ks, m->axes);
    }
    for (int b = 0; status == STATUS_OK && b < space->block_count && !boxes->is_open; b++)
        status = make_block(m, b);
    free(m);
    return status;
}

/* Made where they are asked for first, by any thread. */
static enum status open_boxes(const struct space *space, const void **opened, struct error *error)
{
    struct kernel_space *ks = kernel_space_of(space);
    struct kernel_boxes *boxes = __atomic_load_n(&ks->boxes, __ATOMIC_ACQUIRE), *none = NULL;
    *opened = NULL;
    if (!boxes) {
        enum status status = make_boxes(space, &boxes, error);
        bool is_kept =
            status == STATUS_OK && __atomic_compare_exchange_n(&ks->boxes, &none, boxes, false,
                                                               __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
        if (!is_kept)
            kernel_boxes_free(boxes);
        if (status != STATUS_OK)
            return status;
        boxes = is_kept ? boxes : none;
    }
    *opened = boxes->is_open ? NULL : boxes;
    return STATUS_OK;
}

/* ------------------------------------------------------------------ bounds */

static int root_count(const void *made)
{
    return ((const struct kernel_boxes *)made)->count;
}

static const struct space_box *root_box(const void *made, int number)
{
    return &((const struct kernel_boxes *)made)->roots[number].box;
}

static size_t scratch_bytes(const void *made)
{
    return (size_t)((const struct kernel_boxes *)made)->room * sizeof(double);
}

static unsigned asked(const void *made, int number)
{
    const struct kernel_boxes *boxes = made;
    return boxes->traces[boxes->roots[number].trace].asked;
}

static unsigned asked_to_fit(const void *made, int number)
{
    const struct kernel_boxes *boxes = made;
    return boxes->traces[boxes->roots[number].trace].asked_to_fit;
}

static const struct kernel_trace *inputs_of(const struct kernel_boxes *boxes, int number,
                                            const struct space_box *box,
                                            struct interval inputs[TRACE_INPUTS])
{
    const struct space_block *block = &boxes->ks->blocks[box->block];
    const struct root *root = &boxes->roots[number];
    const struct kernel_trace *trace = &boxes->traces[root->trace].trace;
    for (int a = 0; a < axis_count_of(boxes); a++)
        inputs[a] = (struct interval){(double)block->values[a][box->first[a]],
                                      (double)block->values[a][box->last[a]]};
    for (int i = 0; i < trace->given_count; i++) {
        double value = boxes->given[root->given + i];
        inputs[SPACE_MAX_AXES + i] = (struct interval){value, value};
    }
    return trace;
}

static enum box_fits fits(const void *made, int number, const struct space_box *box, void *scratch)
{
    const struct kernel_boxes *boxes = made;
    struct interval inputs[TRACE_INPUTS];
    const struct kernel_trace *trace = inputs_of(boxes, number, box, inputs);
    struct interval some = kernel_trace_fits(trace, inputs, scratch);
    if (some.hi <= 0)
        return FITS_NONE;
    return some.lo > 0 && boxes->roots[number].is_sure ? FITS_ALL : FITS_SOME;
}

static void summarise(const void *made, int number, const struct space_box *box, void *scratch,
                      struct work *work)
{
    const struct kernel_boxes *boxes = made;
    struct interval inputs[TRACE_INPUTS];
    const struct kernel_trace *trace = inputs_of(made, number, box, inputs);
    int cores = (int)boxes->ks->blocks[box->block].values[axis_count_of(boxes) - 1][0];
    kernel_trace_work(trace, inputs, scratch, cores, work);
}

const struct operator_boxes kernel_boxes = {
    .open = open_boxes,
    .root_count = root_count,
    .root = root_box,
    .scratch_bytes = scratch_bytes,
    .asked = asked,
    .asked_to_fit = asked_to_fit,
    .fits = fits,
    .summarise = summarise,
};
