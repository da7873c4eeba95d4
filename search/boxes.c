/* Branch and bound (Land and Doig 1960) over boxes, best first. A box is halved along the axis
 * whose values differ most, at their geometric middle; one tiling that is legal gets its own bound
 * and waits for it to be simulated. At first, and every few batches, boxes are halved down to a
 * tiling at once, always the half of less bound: so there is a good time early.
 *
 * Boxes and tilings have a heap each, in an array (Williams 1964), in order of bound, then of their
 * first tiling's index: what is taken does not depend on threads. */
#include "search/boxes.h"

#include "core/array.h"
#include "core/stop.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>

struct open_box {
    int64_t bound_fs;
    int64_t index; /* of its first tiling; alone: of the tiling */
    int root;      /* -1: a tiling */
    struct space_box box;
};

struct heap_of_boxes {
    int64_t count, capacity;
    struct open_box *items; /* owned; items[0] is the first */
};

struct boxes {
    void **scratch; /* by thread, owned */
    struct heap_of_boxes open, tilings;
    int batches;
    int64_t legal;   /* tilings that are known to be, once they are counted */
    bool is_counted; /* there are no others */
};

enum {
    FIRST_DIVES = 8,
    DIVES = 16,
    DIVE_EVERY = 2,
    MOST_LISTED = 256,
    MOST_LOOKS = 1 << 16,
    ASKED_MOST = 1 << 9,
};

#define ALL_AXES (~0U)

/* ---- the heap ---- */

static bool is_before(const struct open_box *a, const struct open_box *b)
{
    return a->bound_fs != b->bound_fs ? a->bound_fs < b->bound_fs : a->index > b->index;
}

static bool push(struct heap_of_boxes *heap, const struct open_box *box)
{
    if (!array_reserve(&heap->items, heap->count, &heap->capacity, sizeof *heap->items))
        return false;
    int64_t at = heap->count++;
    for (; at > 0 && is_before(box, &heap->items[(at - 1) / 2]); at = (at - 1) / 2)
        heap->items[at] = heap->items[(at - 1) / 2];
    heap->items[at] = *box;
    return true;
}

static struct open_box pop(struct heap_of_boxes *heap)
{
    struct open_box *items = heap->items, first = items[0], last = items[--heap->count];
    int64_t at = 0, child = 1;
    for (; child < heap->count; at = child, child = 2 * at + 1) {
        if (child + 1 < heap->count && is_before(&items[child + 1], &items[child]))
            child++;
        if (!is_before(&items[child], &last))
            break;
        items[at] = items[child];
    }
    items[at] = last;
    return first;
}

static bool open_box(struct boxes *boxes, const struct open_box *box)
{
    return push(box->root < 0 ? &boxes->tilings : &boxes->open, box);
}

/* ---- halving ---- */

static struct tiling first_tiling(const struct space *space, const struct space_box *box)
{
    struct tiling tiling = {.value = {0}};
    for (int a = 0; a < space->axis_count; a++)
        tiling.value[a] = space->blocks[box->block].values[a][box->first[a]];
    return tiling;
}

static int64_t first_index(const struct space *space, const struct space_box *box)
{
    const struct space_block *block = &space->blocks[box->block];
    int64_t index = 0;
    for (int a = 0; a < space->axis_count; a++)
        index = index * block->count[a] + box->first[a];
    return block->first_index + index;
}

/* Of some axes (bits) that whose last value is the largest multiple of its first; -1: each has one
 * value. */
static int widest_axis(const struct space *space, const struct space_box *box, unsigned axes)
{
    int widest = -1;
    double most = 0;
    for (int a = 0; a < space->axis_count; a++) {
        const int64_t *values = space->blocks[box->block].values[a];
        double ratio = ((double)values[box->last[a]] + 1) / ((double)values[box->first[a]] + 1);
        if (axes >> a & 1 && box->last[a] > box->first[a] && ratio > most) {
            most = ratio;
            widest = a;
        }
    }
    return widest;
}

/* The last value of the lower half. */
static int middle_of(const struct space *space, const struct space_box *box, int axis)
{
    const int64_t *values = space->blocks[box->block].values[axis];
    int first = box->first[axis], last = box->last[axis], middle = first;
    double mean = sqrt((double)values[first] * (double)values[last]);
    while (middle + 1 < last && (double)values[middle + 1] <= mean)
        middle++;
    return middle;
}

static void *scratch_of(const struct boxes *boxes)
{
    return boxes->scratch[omp_get_thread_num()];
}

/* Turns a box of one tiling into it; false: it is not legal. This is what takes long, so it is done
 * only where the box is next. */
static bool settle(const struct search_run *run, struct open_box *box)
{
    const struct space *space = run->space;
    struct tiling tiling = first_tiling(space, &box->box);
    if (!space->kind->possible(space, &tiling, space->axis_count))
        return false;
    int64_t fs = bounder_tiling_fs(&run->bounder, space, &tiling);
    box->bound_fs = fs > box->bound_fs ? fs : box->bound_fs;
    box->root = -1;
    return true;
}

/* Bounds a box; false: nothing in it is legal. No bound is less than that of what it is in. */
static bool bound_box(const struct search_run *run, struct open_box *box)
{
    const struct operator_boxes *kind = run->space->kind->boxes;
    void *scratch = scratch_of(run->pool);
    struct work work;
    box->index = first_index(run->space, &box->box);
    if (kind->fits(run->boxes, box->root, &box->box, scratch) == FITS_NONE)
        return false;
    kind->summarise(run->boxes, box->root, &box->box, scratch, &work);
    int64_t fs = bounder_fs(&run->bounder, &work);
    box->bound_fs = fs > box->bound_fs ? fs : box->bound_fs;
    return true;
}

static bool keep(struct piece *piece, const struct open_box *box)
{
    if (!array_reserve(&piece->boxes, piece->count, &piece->capacity, sizeof *piece->boxes)) {
        piece->failed = true;
        return false;
    }
    piece->boxes[piece->count++] = *box;
    return true;
}

/* Both halves of a box; what they are is kept, but for the one of less bound where that is to be
 * halved next: then true, and *box is it. */
static bool halve(struct search_run *run, struct piece *piece, struct open_box *box, int axis,
                  bool on)
{
    int middle = middle_of(run->space, &box->box, axis);
    struct open_box halves[2] = {*box, *box};
    bool some[2];
    halves[0].box.last[axis] = middle;
    halves[1].box.first[axis] = middle + 1;
    for (int h = 0; h < 2; h++)
        some[h] = bound_box(run, &halves[h]);
    piece->bounded += 2;
    int next = some[0] && (!some[1] || is_before(&halves[0], &halves[1])) ? 0 : 1;
    on = on && some[next] && halves[next].root >= 0;
    for (int h = 0; h < 2; h++)
        if (some[h] && !(on && h == next))
            keep(piece, &halves[h]);
    *box = halves[next];
    return on;
}

/* How many tilings a box has, legal or not; up to what a double holds. */
static double points_of(const struct space *space, const struct space_box *box)
{
    double points = 1;
    for (int a = 0; a < space->axis_count; a++)
        points *= box->last[a] - box->first[a] + 1;
    return points;
}

/* All tilings of a box, one by one, from an axis on: each a box of its own, but for the first that
 * is legal, where a dive ends. Largest values first: of tilings with one bound those with more
 * copies are mostly the faster ones. */
static void list_box(struct search_run *run, struct piece *piece, const struct open_box *box,
                     int axis)
{
    struct open_box one = *box;
    if (axis < run->space->axis_count) {
        for (int v = box->box.last[axis]; v >= box->box.first[axis]; v--) {
            one.box.first[axis] = one.box.last[axis] = v;
            list_box(run, piece, &one, axis + 1);
        }
        return;
    }
    one.index = first_index(run->space, &one.box);
    piece->bounded++;
    const struct operator_boxes *kind = run->space->kind->boxes;
    if (kind->fits(run->boxes, one.root, &one.box, scratch_of(run->pool)) == FITS_NONE)
        return;
    if (piece->level == 0)
        keep(piece, &one);
    else if (settle(run, &one)) {
        keep(piece, &one);
        piece->level = 0;
    }
}

/* Along axes that its bound hangs on, as long as there are any; else halves would have the same
 * bound, and few tilings are soon listed. True: *box is to be split next. */
static bool split_once(struct search_run *run, struct piece *piece, struct open_box *box)
{
    unsigned asked = run->space->kind->boxes->asked(run->boxes, box->root);
    double points = points_of(run->space, &box->box);
    int axis = widest_axis(run->space, &box->box, asked);
    if (axis < 0 && points > MOST_LISTED)
        axis = widest_axis(run->space, &box->box, ALL_AXES);
    if (axis >= 0)
        return halve(run, piece, box, axis, piece->level > 0);
    if (points > 1)
        list_box(run, piece, box, 0);
    else if (settle(run, box))
        keep(piece, box);
    return false;
}

/* What stopped in its midst may have left legal tilings out: it is as if it had not begun. */
static void split(struct search_run *run, struct piece *piece)
{
    if (piece->failed)
        return;
    struct open_box box = piece->boxes[0];
    while (split_once(run, piece, &box))
        ;
    piece->ran = !stop_due(run->space->stop);
}

/* ---- counting ---- */

struct counting {
    const struct search_run *run;
    int root, looks; /* looks: that are left */
    int64_t legal;
};

/* Of which more has to be asked: of many that takes too long. */
static void count_tiling(struct counting *c, const struct space_box *box)
{
    const struct space *space = c->run->space;
    struct tiling tiling = first_tiling(space, box);
    if (space->candidates > ASKED_MOST)
        c->looks = -1;
    else if (!stop_due(space->stop))
        c->legal += space->kind->possible(space, &tiling, space->axis_count);
}

/* The tilings of a box that are legal; less where there are no looks left. */
static void count_box(struct counting *c, const struct space_box *box)
{
    const struct space *space = c->run->space;
    const struct operator_boxes *kind = space->kind->boxes;
    if (c->looks-- <= 0)
        return;
    enum box_fits fits = kind->fits(c->run->boxes, c->root, box, scratch_of(c->run->pool));
    if (fits == FITS_ALL)
        c->legal += (int64_t)points_of(space, box);
    if (fits != FITS_SOME)
        return;
    int axis = widest_axis(space, box, kind->asked_to_fit(c->run->boxes, c->root));
    axis = axis >= 0 ? axis : widest_axis(space, box, ALL_AXES);
    if (axis < 0) {
        count_tiling(c, box);
        return;
    }
    struct space_box half = *box;
    half.last[axis] = middle_of(space, box, axis);
    count_box(c, &half);
    half.first[axis] = half.last[axis] + 1;
    half.last[axis] = box->last[axis];
    count_box(c, &half);
}

/* In so many looks, an equal share for each root. */
static void count_legal(struct search_run *run)
{
    struct boxes *boxes = run->pool;
    int count = run->space->kind->boxes->root_count(run->boxes);
    int64_t legal = 0;
    bool all = true;
    recorder_begin(&run->recorder);
    int64_t start_ns = recorder_now(&run->recorder);
#pragma omp parallel for num_threads(run->threads) schedule(dynamic) reduction(+ : legal) reduction(&& : all)
    for (int r = 0; r < count; r++) {
        struct counting c = {.run = run, .root = r, .looks = MOST_LOOKS / count + 1};
        if (!stop_due(run->space->stop))
            count_box(&c, run->space->kind->boxes->root(run->boxes, r));
        legal += c.legal;
        all = all && c.looks >= 0 && !stop_due(run->space->stop);
    }
    boxes->legal = legal;
    boxes->is_counted = all;
    recorder_keep(&run->recorder, PHASE_COUNTING, start_ns, legal, 0);
    recorder_end(&run->recorder);
}

/* ---- the source ---- */

static enum status open_source(struct search_run *run, struct error *error)
{
    struct boxes *boxes = run->pool;
    boxes->scratch = calloc((size_t)run->threads + 1, sizeof *boxes->scratch);
    return boxes->scratch ? STATUS_OK : error_memory(error);
}

static void close_source(struct search_run *run)
{
    struct boxes *boxes = run->pool;
    for (int t = 0; t < run->threads && boxes->scratch; t++)
        free(boxes->scratch[t]);
    free(boxes->scratch);
    free(boxes->open.items);
    free(boxes->tilings.items);
}

static enum status open_roots(struct search_run *run, struct error *error)
{
    struct boxes *boxes = run->pool;
    const struct operator_boxes *kind = run->space->kind->boxes;
    int count = kind->root_count(run->boxes);
    for (int t = 0; t < run->threads; t++) {
        boxes->scratch[t] = malloc(kind->scratch_bytes(run->boxes) + 1);
        if (!boxes->scratch[t])
            return error_memory(error);
    }
    struct piece *roots = calloc((size_t)count + 1, sizeof *roots);
    bool kept = roots;
#pragma omp parallel for num_threads(run->threads)
    for (int r = 0; r < (roots ? count : 0); r++) {
        struct open_box box = {.root = r, .box = *kind->root(run->boxes, r)};
        if (bound_box(run, &box))
            keep(&roots[r], &box);
    }
    for (int r = 0; r < (roots ? count : 0); r++) {
        kept = kept && !roots[r].failed && (!roots[r].count || open_box(boxes, roots[r].boxes));
        free(roots[r].boxes);
    }
    free(roots);
    return kept ? STATUS_OK : error_memory(error);
}

static enum status refill(struct search_run *run, bool all, bool *more, struct error *error)
{
    struct boxes *boxes = run->pool;
    (void)all;
    *more = false;
    recorder_begin(&run->recorder);
    int64_t start_ns = recorder_now(&run->recorder);
    TRY(open_roots(run, error));
    boxes->is_counted = boxes->open.count + boxes->tilings.count == 0;
    recorder_keep(&run->recorder, PHASE_BOUNDING, start_ns, boxes->open.count, 0);
    recorder_end(&run->recorder);
    return STATUS_OK;
}

static int64_t first_fs(const struct heap_of_boxes *heap)
{
    return heap->count ? heap->items[0].bound_fs : NOTHING_OPEN;
}

static int64_t next_fs(const struct search_run *run)
{
    const struct boxes *boxes = run->pool;
    int64_t a = first_fs(&boxes->open), b = first_fs(&boxes->tilings);
    return a < b ? a : b;
}

static int64_t open_count(const struct search_run *run)
{
    const struct boxes *boxes = run->pool;
    return boxes->open.count + boxes->tilings.count;
}

static void take_one(struct heap_of_boxes *heap, bool dives, struct batch *batch)
{
    struct open_box box = pop(heap);
    struct piece *piece = &batch->items[batch->count++];
    *piece = (struct piece){.is_prefix = box.root >= 0,
                            .level = dives,
                            .candidate = {.bound_fs = box.bound_fs, .index = box.index}};
    keep(piece, &box);
}

/* Tilings first where there are too few times yet, and now and then. */
static void take(struct search_run *run, int64_t limit_fs, struct batch *batch)
{
    struct boxes *boxes = run->pool;
    bool none = run->incumbents.count < run->incumbents.top;
    bool tries = none || boxes->batches % DIVE_EVERY == 0;
    bool dives = none || boxes->batches % DIVE_EVERY == DIVE_EVERY - 1;
    int most_dives = none ? FIRST_DIVES : DIVES;
    if (tries && boxes->tilings.count && first_fs(&boxes->tilings) <= limit_fs) {
        int most = none || batch->most < DIVES ? batch->most : DIVES;
        while (batch->count < most && boxes->tilings.count && first_fs(&boxes->tilings) <= limit_fs)
            take_one(&boxes->tilings, false, batch);
        return;
    }
    int most = none && batch->most > FIRST_DIVES ? FIRST_DIVES : batch->most;
    while (batch->count < most && open_count(run) > 0 && next_fs(run) <= limit_fs) {
        bool is_tiling = first_fs(&boxes->tilings) <= first_fs(&boxes->open);
        take_one(is_tiling ? &boxes->tilings : &boxes->open, dives && batch->count < most_dives,
                 batch);
    }
}

/* What is slower can be neither among the best nor in a count of those near them. */
static int64_t horizon_fs(const struct search_run *run)
{
    double share = run->options->tolerance > ONE_PERCENT ? run->options->tolerance : ONE_PERCENT;
    int64_t limit_fs = incumbents_limit_fs(&run->incumbents);
    int64_t near_fs = run->incumbents.count ? within_fs(run->incumbents.time_fs[0], share) : 0;
    return limit_fs > near_fs ? limit_fs : near_fs;
}

/* Takes in what a piece gave; one that did not run is open again. */
static bool close_piece(struct search_run *run, struct piece *piece, int64_t horizon)
{
    struct boxes *boxes = run->pool;
    bool kept = !piece->failed;
    if (piece->candidate.time_fs) {
        run->simulated++;
        kept = candidates_push(&run->candidates, piece->candidate) && kept;
    } else if (!piece->ran) {
        kept = kept && open_box(boxes, &piece->boxes[0]);
    }
    for (int64_t i = 1; i < piece->count && piece->ran; i++)
        kept = kept && (piece->boxes[i].bound_fs > horizon || open_box(boxes, &piece->boxes[i]));
    free(piece->boxes);
    return kept;
}

static enum status observe(struct search_run *run, struct batch *batch, struct error *error)
{
    struct boxes *boxes = run->pool;
    int64_t horizon = horizon_fs(run);
    bool kept = true;
    for (int i = 0; i < batch->count; i++)
        kept = close_piece(run, &batch->items[i], horizon) && kept;
    boxes->batches++;
    if (next_fs(run) > incumbents_limit_fs(&run->incumbents) && !run->options->uncounted &&
        !run->options->best_only)
        count_legal(run);
    return kept ? STATUS_OK : error_memory(error);
}

static void prove(const struct search_run *run, struct proof *proof)
{
    const struct boxes *boxes = run->pool;
    *proof =
        (struct proof){.feasible = boxes->legal > run->simulated ? boxes->legal : run->simulated,
                       .next_fs = next_fs(run),
                       .counted = true,
                       .bounded = true,
                       .unasked = !boxes->is_counted};
}

static void count_within(const struct search_run *run, struct within *within, double share,
                         int64_t best_fs)
{
    const struct boxes *boxes = run->pool;
    int64_t latest_fs = within_fs(best_fs, share);
    double open = 0;
    for (int64_t i = 0; i < run->simulated; i++)
        within_note(within, &run->candidates.items[i], best_fs, share);
    for (int64_t i = 0; i < boxes->open.count; i++)
        if (boxes->open.items[i].bound_fs <= latest_fs)
            open += points_of(run->space, &boxes->open.items[i].box);
    for (int64_t i = 0; i < boxes->tilings.count; i++)
        open += boxes->tilings.items[i].bound_fs <= latest_fs;
    double most =
        (double)(boxes->is_counted ? boxes->legal - run->simulated : run->space->candidates);
    within->at_most += (int64_t)(open < most ? open : most);
}

static int by_index(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;
    return (a->index > b->index) - (a->index < b->index);
}

/* For who wants to see all that is legal, with the times that are known. */
static enum status list_all(struct search_run *run, struct search_result *result,
                            struct error *error)
{
    struct recorder silent = {.threads = run->threads};
    struct candidates all = {.items = NULL};
    enum status status = STATUS_OK;
    if (run->space->candidates <= LISTED_MOST)
        status = candidates_collect(run->space, &run->bounder, &silent, &all, error);
    if (status == STATUS_OK && all.complete && all.count) {
        qsort(all.items, (size_t)all.count, sizeof *all.items, by_index);
        for (int64_t i = 0; i < run->simulated; i++) {
            struct candidate *found = bsearch(&run->candidates.items[i], all.items,
                                              (size_t)all.count, sizeof *all.items, by_index);
            if (found)
                *found = run->candidates.items[i];
        }
        candidates_sort(&all, 0);
        free(run->candidates.items);
        run->candidates = all;
        all.items = NULL;
        result->reached_all = true;
    }
    free(all.items);
    list_keep(run, result);
    return status;
}

static enum status tell(struct search_run *run, struct search_result *result, struct error *error)
{
    if (result->count && !run->options->best_only) {
        int64_t best_fs = result->best[0].timeline.end_fs;
        count_within(run, &result->within_1_percent, ONE_PERCENT, best_fs);
        count_within(run, &result->within_tolerance, run->options->tolerance, best_fs);
    }
    return run->options->keep_reached ? list_all(run, result, error) : STATUS_OK;
}

const struct search_source boxes_source = {
    .size = sizeof(struct boxes),
    .batch = SEARCH_BATCH,
    .best_only = true,
    .open = open_source,
    .close = close_source,
    .refill = refill,
    .next_fs = next_fs,
    .open_count = open_count,
    .take = take,
    .observe = observe,
    .split = split,
    .prove = prove,
    .tell = tell,
};
