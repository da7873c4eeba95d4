/* Lists and bounds the legal tilings, the values of each block's first axis on any thread: every
 * one fills a row of its own, rows are appended in their order, and one sort makes the list the
 * same for any number of threads.
 *
 * All tilings in one list, open ones behind those that were simulated. */
#include "search/candidates.h"

#include "core/array.h"
#include "search/clock.h"
#include "search/prefix.h"
#include "search/strategy.h"
#include "search/tiling_simulator.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* ---- a list ---- */

int64_t list_next_fs(const struct search_run *run)
{
    const struct candidates *candidates = &run->candidates;
    return run->simulated < candidates->count ? candidates->items[run->simulated].bound_fs
                                              : NOTHING_OPEN;
}

int64_t list_open_count(const struct search_run *run)
{
    return run->candidates.count - run->simulated;
}

void list_take(struct search_run *run, int64_t limit_fs, struct batch *batch)
{
    const struct candidate *next = run->candidates.items + run->simulated;
    int64_t open = list_open_count(run);
    while (batch->count < batch->most && batch->count < open &&
           next[batch->count].bound_fs <= limit_fs) {
        batch->items[batch->count] = (struct piece){.candidate = next[batch->count]};
        batch->count++;
    }
}

/* Those that were simulated before the search had to end come before the others. */
enum status list_observe(struct search_run *run, struct batch *batch, struct error *error)
{
    struct candidate *at = run->candidates.items + run->simulated;
    (void)error;
    for (int i = 0; i < batch->count; i++)
        if (batch->items[i].candidate.time_fs) {
            *at++ = batch->items[i].candidate;
            run->simulated++;
        }
    for (int i = 0; i < batch->count; i++)
        if (!batch->items[i].candidate.time_fs)
            *at++ = batch->items[i].candidate;
    return STATUS_OK;
}

void list_prove(const struct search_run *run, struct proof *proof)
{
    const struct candidates *candidates = &run->candidates;
    *proof = (struct proof){.feasible = candidates->count,
                            .next_fs = list_next_fs(run),
                            .counted = candidates->complete,
                            .bounded = candidates->complete};
}

void list_keep(struct search_run *run, struct search_result *result)
{
    result->reached_count = run->candidates.count;
    result->reached = run->candidates.items;
    run->candidates.items = NULL;
}

void list_tell_among(struct search_run *run, int64_t legal, struct search_result *result)
{
    const struct candidates *candidates = &run->candidates;
    int64_t unseen = legal - candidates->count;
    double shares[] = {ONE_PERCENT, run->options->tolerance};
    struct within *within[] = {&result->within_1_percent, &result->within_tolerance};
    for (int i = 0; i < 2 && result->count; i++) {
        *within[i] = (struct within){.at_most = unseen};
        for (int64_t c = 0; c < candidates->count; c++)
            within_note(within[i], &candidates->items[c], result->best[0].timeline.end_fs,
                        shares[i]);
    }
    if (run->options->keep_reached) {
        result->reached_all = candidates->complete;
        list_keep(run, result);
    }
}

static enum status list_tell(struct search_run *run, struct search_result *result,
                             struct error *error)
{
    const struct candidates *candidates = &run->candidates;
    (void)error;
    list_tell_among(run, candidates->complete ? candidates->count : run->space->candidates, result);
    return STATUS_OK;
}

/* ---- the tilings of a space ---- */

enum status list_take_first(struct search_run *run, struct error *error)
{
    if (run->candidates.count || run->candidates.complete ||
        !search_goes_on(&run->space, run->options, false, &run->hurry))
        return STATUS_OK;
    free(run->candidates.items);
    return candidates_collect_first(run->space, &run->bounder, &run->candidates, error);
}

static enum status refill(struct search_run *run, bool all, bool *more, struct error *error)
{
    (void)all;
    *more = false;
    TRY(candidates_collect(run->space, &run->bounder, &run->recorder, &run->candidates, error));
    run->bounded = run->candidates.count;
    return list_take_first(run, error);
}

const struct search_source listed_source = {
    .batch = SEARCH_BATCH,
    .refill = refill,
    .next_fs = list_next_fs,
    .open_count = list_open_count,
    .take = list_take,
    .observe = list_observe,
    .prove = list_prove,
    .tell = list_tell,
};

enum status bounder_open(struct bounder *bounder, const struct space *space, struct error *error)
{
    int cores = hardware_most_cores(space->hw);
    size_t count = (size_t)cores * (size_t)space->layout_count;
    *bounder = (struct bounder){.space = space, .layouts = space->layout_count};
    if (space->kind->ask)
        return STATUS_OK;
    bounder->plans = calloc(count, sizeof *bounder->plans);
    bounder->made = calloc(count, sizeof *bounder->made);
    return bounder->plans && bounder->made ? STATUS_OK : error_memory(error);
}

const struct bound_plan *bounder_make_plan(const struct bounder *bounder, int cores, int layout)
{
    int number = (cores - 1) * bounder->layouts + layout;
#pragma omp critical(bounder_plans)
    if (!bounder->made[number]) {
        bound_plan_make(&bounder->plans[number], bounder->space->hw, cores,
                        &bounder->space->layouts[layout]);
        __atomic_store_n(&bounder->made[number], true, __ATOMIC_RELEASE);
    }
    return &bounder->plans[number];
}

void bounder_close(struct bounder *bounder)
{
    free(bounder->plans);
    free(bounder->made);
}

int64_t bounder_tiling_fs(const struct bounder *bounder, const struct space *space,
                          const struct tiling *tiling)
{
    struct work work;
    struct timeline timeline;
    struct tiling agreed = *tiling;
    if (space->kind->ask) {
        asked_timeline(space, tiling, &timeline);
        return timeline.end_fs;
    }
    if (space->kind->costs)
        return 0;
    if (space->kind->agree)
        space->kind->agree(space, &agreed);
    space->kind->summarise(space, &agreed, &work);
    return bounder_fs(bounder, &work);
}

struct candidate candidate_of(const struct bounder *bounder, const struct space *space,
                              const struct tiling *tiling, int64_t index)
{
    int64_t bound_fs = bounder_tiling_fs(bounder, space, tiling);
    return (struct candidate){
        .bound_fs = bound_fs, .index = index, .time_fs = space->kind->ask ? bound_fs : 0};
}

/* ---- bounders of several spaces: the first space of each kind of layouts stands for it ---- */

static bool same_layouts(const struct space *a, const struct space *b)
{
    return a->layout_count == b->layout_count &&
           memcmp(a->layouts, b->layouts, (size_t)a->layout_count * sizeof *a->layouts) == 0;
}

static enum status open_or_share(struct bounders *bounders, const struct space *const spaces[],
                                 int number, int first[], struct error *error)
{
    int b = 0;
    while (b < bounders->count && !same_layouts(spaces[first[b]], spaces[number]))
        b++;
    bounders->of[number] = b;
    if (b < bounders->count)
        return STATUS_OK;
    first[bounders->count++] = number;
    return bounder_open(&bounders->items[b], spaces[number], error);
}

enum status bounders_open(struct bounders *bounders, const struct space *const spaces[], int count,
                          struct error *error)
{
    size_t room = (size_t)count + 1;
    int *first = calloc(room, sizeof *first);
    *bounders = (struct bounders){.items = calloc(room, sizeof *bounders->items),
                                  .of = calloc(room, sizeof *bounders->of)};
    enum status status = first && bounders->items && bounders->of ? STATUS_OK : error_memory(error);
    for (int i = 0; i < count && status == STATUS_OK; i++)
        status = open_or_share(bounders, spaces, i, first, error);
    free(first);
    return status;
}

void bounders_close(struct bounders *bounders)
{
    for (int b = 0; b < bounders->count; b++)
        bounder_close(&bounders->items[b]);
    free(bounders->items);
    free(bounders->of);
}

/* ---- the list ---- */

/* The candidates under one value of the slowest axis of one block. */
struct row {
    int64_t count;
    struct candidate *items;
    struct search_span span; /* who collected it */
};

struct keeper {
    const struct space *space;
    const struct bounder *bounder;
    struct row *row;
    struct limited *once; /* the walk's limits, to end it by once there is one; or NULL */
    bool failed;
};

static void keep_candidate(void *context, const struct tiling *tiling, int64_t index)
{
    struct keeper *keeper = context;
    struct row *row = keeper->row;
    keeper->failed = keeper->failed || !array_room(&row->items, row->count, sizeof *row->items);
    if (keeper->failed)
        return;
    row->items[row->count++] = candidate_of(keeper->bounder, keeper->space, tiling, index);
    if (keeper->once)
        keeper->once->stop.deadline_ns = 1;
}

static int by_bound(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;
    if (a->bound_fs != b->bound_fs)
        return a->bound_fs < b->bound_fs ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

/* Appends what the rows have. */
static bool append_rows(struct candidates *candidates, const struct row *rows, int64_t row_count)
{
    int64_t total = candidates->count;
    for (int64_t r = 0; r < row_count; r++)
        total += rows[r].count;
    struct candidate *items =
        realloc(candidates->items, (size_t)(total + 1) * sizeof *candidates->items);
    if (!items)
        return false;
    candidates->items = items;
    candidates->capacity = total + 1;
    for (int64_t r = 0; r < row_count; r++) {
        if (rows[r].count)
            memcpy(items + candidates->count, rows[r].items, (size_t)rows[r].count * sizeof *items);
        candidates->count += rows[r].count;
    }
    return true;
}

bool candidates_push(struct candidates *candidates, struct candidate candidate)
{
    if (!array_reserve(&candidates->items, candidates->count, &candidates->capacity,
                       sizeof *candidates->items))
        return false;
    candidates->items[candidates->count++] = candidate;
    return true;
}

void candidates_sort(struct candidates *candidates, int64_t from)
{
    if (candidates->count > from)
        qsort(candidates->items + from, (size_t)(candidates->count - from),
              sizeof *candidates->items, by_bound);
}

/* Collects what is under one root; *complete becomes false where that is not all. */
static bool collect_row(const struct space *space, const struct bounder *bounder,
                        const struct recorder *recorder, int64_t root, struct row *row,
                        bool *complete)
{
    struct keeper keeper = {.space = space, .bounder = bounder, .row = row};
    int64_t start_ns = recorder_now(recorder);
    if (!space_walk(space, root, 1, space->axis_count, keep_candidate, &keeper))
        *complete = false;
    recorder_fill(recorder, PHASE_BOUNDING, start_ns, row->count, &row->span);
    return !keeper.failed;
}

/* In the order in which threads took them. */
static void close_rows(struct row *rows, int64_t row_count, struct recorder *recorder)
{
    for (int64_t r = row_count - 1; r >= 0; r--) {
        recorder_hand_on(recorder, &rows[r].span);
        free(rows[r].items);
    }
    free(rows);
}

enum status candidates_collect(const struct space *space, const struct bounder *bounder,
                               struct recorder *recorder, struct candidates *candidates,
                               struct error *error)
{
    int64_t row_count = space_roots(space);
    struct row *rows = calloc((size_t)row_count + 1, sizeof *rows);
    *candidates = (struct candidates){.items = NULL};
    if (!rows)
        return error_memory(error);
    bool failed = false, complete = true;
    recorder_begin(recorder);
#pragma omp parallel for num_threads(recorder->threads) schedule(dynamic) reduction(|| : failed) reduction(&& : complete)
    for (int64_t r = row_count - 1; r >= 0; r--) { /* where time is short, large tiles first */
        if (stop_due(space->stop))
            complete = false;
        else
            failed =
                !collect_row(space, bounder, recorder, space_root(space, r), &rows[r], &complete) ||
                failed;
    }
    failed = !append_rows(candidates, rows, row_count) || failed;
    candidates->complete = complete;
    close_rows(rows, row_count, recorder);
    recorder_end(recorder);
    candidates_sort(candidates, 0);
    return failed ? error_memory(error) : STATUS_OK;
}

enum status candidates_collect_first(const struct space *space, const struct bounder *bounder,
                                     struct candidates *candidates, struct error *error)
{
    struct limited once;
    struct stop both = space->stop ? *space->stop : (struct stop){.told = NULL};
    struct row row = {0};
    struct keeper keeper = {
        .space = search_until(space, both, &once), .bounder = bounder, .row = &row, .once = &once};
    *candidates = (struct candidates){.complete = false};
    for (int64_t r = space_roots(space) - 1; r >= 0 && !stop_due(&once.stop); r--)
        space_walk(keeper.space, space_root(space, r), 1, space->axis_count, keep_candidate,
                   &keeper);
    bool kept = !keeper.failed && append_rows(candidates, &row, 1);
    free(row.items);
    if (!kept)
        return error_memory(error);
    candidates_sort(candidates, 0);
    return STATUS_OK;
}
