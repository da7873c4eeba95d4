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

enum { MOST_ROOTS = 4096, MOST_OPERATIONS = 1 << 21 }; /* on all tapes together */

struct root {
    struct space_box box;
    struct kernel_trace trace;
    unsigned asked; /* axes that its work hangs on */
};

struct kernel_boxes {
    const struct space *space; /* not owned */
    int count, room;           /* roots; numbers of scratch */
    int operations;            /* of all their tapes */
    struct root *roots;        /* owned */
};

/* ------------------------------------------------------------------ roots */

struct maker {
    struct kernel_boxes *boxes;
    const struct kernel_space *ks;
    const struct space_block *block;
    struct kernel_values values;
    unsigned rounds; /* axes, bits (axes_of_rounds) */
    bool is_open;    /* too many roots, or a structure that no tape can say: no boxes */
    struct error *error;
};

static enum status add_root(struct maker *m, const struct space_plan *plan,
                            const struct space_box *box)
{
    struct kernel_boxes *boxes = m->boxes;
    struct interval axes[SPACE_MAX_AXES];
    unsigned open = 0;
    if (boxes->count == MOST_ROOTS || boxes->operations > MOST_OPERATIONS) {
        m->is_open = true;
        return STATUS_OK;
    }
    for (int a = 0; a < m->ks->kernel->axis_count; a++) {
        const int64_t *values = m->block->values[a];
        axes[a] = (struct interval){(double)values[box->first[a]], (double)values[box->last[a]]};
        open |= box->last[a] > box->first[a] ? 1U << a : 0;
    }
    if (!array_room(&boxes->roots, boxes->count, sizeof *boxes->roots))
        return error_memory(m->error);
    struct root *root = &boxes->roots[boxes->count];
    root->box = *box;
    int cores = (int)m->block->values[m->ks->kernel->axis_count][0];
    enum status status =
        kernel_trace_make(plan, &m->values, cores, open, axes, &root->trace, m->error);
    if (status == STATUS_TOO_LARGE) {
        m->is_open = true;
        return STATUS_OK;
    }
    if (status == STATUS_OK && kernel_trace_room(&root->trace) > boxes->room)
        boxes->room = kernel_trace_room(&root->trace);
    root->asked = tape_inputs(&root->trace.work);
    boxes->operations += root->trace.fits.count + root->trace.work.count;
    boxes->count += status == STATUS_OK;
    return status;
}

static enum status make_roots(struct maker *m, const struct space_box *box, unsigned fixed,
                              unsigned copies, int axis);

/* Axes that are open do not matter, but for the copies: the most, or where a structure of so many
 * cannot be each number by itself. */
static enum status make_root(struct maker *m, const struct space_box *box, unsigned copies)
{
    struct tiling most = {.value = {0}};
    for (int a = 0; a < m->boxes->space->axis_count; a++)
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
    while (axis < m->boxes->space->axis_count && !(fixed >> axis & 1))
        axis++;
    if (stop_due(m->boxes->space->stop))
        return error_set(m->error, STATUS_STOPPED, "stopped");
    if (m->is_open)
        return STATUS_OK;
    if (axis == m->boxes->space->axis_count)
        return make_root(m, box, copies);
    struct space_box next = *box;
    for (int v = 0; v < m->block->count[axis]; v++) {
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

static enum status make_block(struct maker *m, int block)
{
    const struct space *space = m->boxes->space;
    unsigned words = m->ks->word_axes | m->rounds;
    unsigned copies = m->ks->copy_axes & ~words;
    struct space_box box = {.block = block};
    m->block = &space->blocks[block];
    for (int a = 0; a < space->axis_count; a++) {
        box.last[a] = m->block->count[a] - 1;
        if (box.last[a] < 0)
            return STATUS_OK;
    }
    return make_roots(m, &box, words, copies, 0);
}

static void close_boxes(void *made)
{
    struct kernel_boxes *boxes = made;
    if (!boxes)
        return;
    for (int r = 0; r < boxes->count; r++)
        kernel_trace_clear(&boxes->roots[r].trace);
    free(boxes->roots);
    free(boxes);
}

/* Is a list of all tilings, one by one, soon made? Where steps are asked
 * whether they fit that takes some hundred times as long. */
static bool is_small(const struct space *space)
{
    const int64_t soon = 1 << 17, asked = 256;
    const struct kernel_space *ks = kernel_space_of(space);
    bool certain = true;
    for (int p = 0; p < ks->plan_count; p++)
        certain &=
            !ks->plans[p]->is_possible || (ks->plans[p]->is_certain && ks->plans[p]->fit.grows);
    return space->candidates < (certain ? soon : soon / asked);
}

enum status kernel_boxes_make(const struct space *space, void **made, struct error *error)
{
    struct kernel_boxes *boxes = calloc(1, sizeof *boxes);
    struct maker *m = calloc(1, sizeof *m);
    enum status status = boxes && m ? STATUS_OK : error_memory(error);
    *made = NULL;
    if (status == STATUS_OK) {
        const struct kernel_space *ks = kernel_space_of(space);
        *boxes = (struct kernel_boxes){.space = space};
        *m = (struct maker){.boxes = boxes, .ks = ks, .rounds = axes_of_rounds(ks), .error = error};
    }
    for (int b = 0; status == STATUS_OK && b < space->block_count && !m->is_open; b++)
        status = make_block(m, b);
    if (status == STATUS_OK && !m->is_open)
        *made = boxes;
    else
        close_boxes(boxes);
    free(m);
    return status;
}

static enum status open_boxes(const struct space *space, void **made, struct error *error)
{
    *made = NULL;
    return is_small(space) ? STATUS_OK : kernel_boxes_make(space, made, error);
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
    return ((const struct kernel_boxes *)made)->roots[number].asked;
}

static void values_of(const struct kernel_boxes *boxes, const struct space_box *box,
                      struct interval axes[SPACE_MAX_AXES])
{
    const struct space_block *block = &boxes->space->blocks[box->block];
    for (int a = 0; a < boxes->space->axis_count; a++)
        axes[a] = (struct interval){(double)block->values[a][box->first[a]],
                                    (double)block->values[a][box->last[a]]};
}

static bool fits(const void *made, int number, const struct space_box *box, void *scratch)
{
    const struct kernel_boxes *boxes = made;
    struct interval axes[SPACE_MAX_AXES];
    values_of(boxes, box, axes);
    return kernel_trace_fits(&boxes->roots[number].trace, axes, scratch).hi > 0;
}

static void summarise(const void *made, int number, const struct space_box *box, void *scratch,
                      struct work *work)
{
    const struct kernel_boxes *boxes = made;
    struct interval axes[SPACE_MAX_AXES];
    values_of(boxes, box, axes);
    kernel_trace_work(&boxes->roots[number].trace, axes, scratch, work);
}

const struct operator_boxes kernel_boxes = {
    .open = open_boxes,
    .close = close_boxes,
    .root_count = root_count,
    .root = root_box,
    .scratch_bytes = scratch_bytes,
    .asked = asked,
    .fits = fits,
    .summarise = summarise,
};
