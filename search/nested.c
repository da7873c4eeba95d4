#include "search/nested.h"

#include "core/least.h"
#include "search/clock.h"
#include "search/heap.h"
#include "search/leaders.h"
#include "search/tally.h"
#include "search/walk.h"
#include "search/workers.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum {
    BATCH = 64,
    MAX_LEVELS = SPACE_MAX_AXES + 1,
    MANY = 4000000, /* open beginnings, from which on the longest come first */
};

struct run {
    const struct space *space;
    const struct search_options *options;
    struct timespec started;
    struct limited hurry;
    struct bounder bounder;
    struct workers workers;
    struct leaders leaders;
    struct recorder recorder;
    int levels, length[MAX_LEVELS]; /* of beginnings; the last are whole tilings */
    struct heap open[MAX_LEVELS];
    struct tally tally; /* legal tilings that are no longer open, by their bound */
    int64_t feasible, played_count, played_capacity;
    bool uncounted;               /* it was stopped before all shortest beginnings were counted */
    int64_t most, counted;        /* counting alone: how far, and what there is so far */
    volatile sig_atomic_t enough; /* … that is more */
    struct candidate *played;
};

/* One of a batch: a beginning to split, or a whole tiling to play. */
struct piece {
    int64_t count, capacity, bounded;
    struct open_node *longer; /* what a beginning is split into; owned */
    struct candidate candidate;
    int level;
    bool failed, ran;
};

/* Who splits a beginning. */
struct splitter {
    struct run *run;
    struct piece *piece;
    int64_t limit_fs, tally_fs; /* bounds up to which beginnings stay open, and are counted */
    int64_t completions;        /* of beginnings of the shortest length */
    struct tiling counted;      /* the last of these, and how many it has */
    int64_t count;              /* -1: none yet */
    bool uncounted;
};

/* Bounds above this belong to tilings that are not among the best. */
static int64_t limit_fs(const struct run *run)
{
    const struct leaders *leaders = &run->leaders;
    return leaders->count < leaders->top ? INT64_MAX : leaders->time_fs[leaders->count - 1];
}

/* … and above this to none that can be counted as within a share of the best. */
static int64_t tally_limit_fs(const struct run *run)
{
    double share = run->options->tolerance > ONE_PERCENT ? run->options->tolerance : ONE_PERCENT;
    if (run->options->best_only)
        return 0;
    return run->leaders.count ? within_fs(run->leaders.time_fs[0], share) : INT64_MAX;
}

static bool is_tiling(const struct run *run, int level)
{
    return level == run->levels - 1;
}

static void add_longer(struct piece *piece, struct open_node node)
{
    if (piece->count == piece->capacity) {
        int64_t capacity = piece->capacity ? 2 * piece->capacity : 64;
        struct open_node *grown = realloc(piece->longer, (size_t)capacity * sizeof *grown);
        if (!grown) {
            piece->failed = true;
            return;
        }
        piece->longer = grown;
        piece->capacity = capacity;
    }
    piece->longer[piece->count++] = node;
}

static int64_t bound_of(const struct run *run, const struct tiling *tiling, int level)
{
    const struct operator_space *kind = run->space->kind;
    struct work work;
    if (is_tiling(run, level))
        kind->summarise(run->space, tiling, &work);
    else
        kind->nesting->summarise(run->space, tiling, run->length[level], &work);
    return bounder_fs(&run->bounder, &work);
}

static int64_t completions_of(const struct run *run, const struct space *space,
                              const struct tiling *tiling, int level)
{
    return is_tiling(run, level)
               ? 1
               : space->kind->nesting->completions(space, tiling, run->length[level]);
}

/* Where there is nothing to do but to count. */
static void note_count(struct run *run, int64_t completions)
{
    int64_t counted;
#pragma omp atomic capture
    counted = run->counted += completions;
    if (counted > run->most)
        run->enough = 1;
}

/* Beginnings of the shortest length come one after the other that have equally many. */
static int64_t count_shortest(struct splitter *splitter, const struct tiling *tiling)
{
    const struct run *run = splitter->run;
    const struct operator_nesting *nesting = run->space->kind->nesting;
    if (splitter->count < 0 || !nesting->alike(run->space, &splitter->counted, tiling))
        splitter->count = completions_of(run, run->space, tiling, 1);
    splitter->counted = *tiling;
    return splitter->count;
}

/* A bound of a longer beginning that is less than the shorter one's says less: both hold. */
static void split_into(void *context, const struct tiling *tiling, int64_t index)
{
    struct splitter *splitter = context;
    struct run *run = splitter->run;
    struct piece *piece = splitter->piece;
    int level = piece->level + 1;
    int64_t bound_fs = bound_of(run, tiling, level), completions = 0;
    piece->bounded++;
    if (!is_tiling(run, level) && bound_fs < piece->candidate.bound_fs)
        bound_fs = piece->candidate.bound_fs;
    bool open = bound_fs <= splitter->limit_fs;
    bool count = level == 1 && !splitter->uncounted;
    if (count || (!open && bound_fs <= splitter->tally_fs)) {
        completions = count ? count_shortest(splitter, tiling)
                            : completions_of(run, run->space, tiling, level);
        if (run->most)
            note_count(run, completions);
        if (stop_due(run->space->stop)) { /* these may not be all: it stays open */
            splitter->uncounted = splitter->uncounted || level == 1;
            completions = 0;
            count = false;
            open = true;
        }
    }
    splitter->completions += completions;
    if (count && completions == 0)
        return;
    if (open)
        add_longer(piece, (struct open_node){bound_fs, index});
    else if (bound_fs <= splitter->tally_fs)
        tally_add(&run->tally, bound_fs, completions);
}

/* Takes the limits of now, so that all of a batch see the same. */
static struct splitter splitter_of(struct run *run)
{
    return (struct splitter){
        .run = run, .limit_fs = limit_fs(run), .tally_fs = tally_limit_fs(run), .count = -1};
}

/* Splits a beginning; false: it was stopped before that was done. */
static bool split(struct splitter *splitter, const struct space *space, struct piece *piece)
{
    const struct run *run = splitter->run;
    splitter->piece = piece;
    return space_walk(space, piece->candidate.index, run->length[piece->level],
                      run->length[piece->level + 1], split_into, splitter);
}

/* Opens what a beginning was split into. */
static bool open_longer(struct run *run, struct piece *piece)
{
    bool kept = !piece->failed;
    for (int64_t i = 0; i < piece->count && kept; i++)
        kept = heap_push(&run->open[piece->level + 1], piece->longer[i]);
    free(piece->longer);
    return kept;
}

/* The beginnings of the shortest length, all of them whatever the time: they bound the space. They
 * also say how much there is, as far as there is time. */
static enum status open_roots(struct run *run, struct error *error)
{
    int64_t count = space_roots(run->space), feasible = 0;
    struct piece *pieces = calloc((size_t)count + 1, sizeof *pieces);
    bool kept = pieces != NULL, uncounted = false;
    struct limited whole;
    const struct space *all = search_until(run->space, (struct stop){.told = NULL}, &whole);
    if (!pieces)
        return error_memory(error);
    recorder_begin(&run->recorder);
#pragma omp parallel num_threads(run->options->threads)
    {
        int64_t start_ns = recorder_now(&run->recorder), bounded = 0;
#pragma omp for schedule(dynamic) nowait reduction(+ : feasible) reduction(|| : uncounted)
        for (int64_t i = 0; i < count; i++) {
            struct splitter splitter = splitter_of(run);
            pieces[i].candidate.index = space_root(run->space, i);
            split(&splitter, all, &pieces[i]);
            uncounted = splitter.uncounted || uncounted;
            feasible += splitter.completions;
            bounded += pieces[i].bounded;
        }
        recorder_keep(&run->recorder, PHASE_BOUNDING, start_ns, bounded, 0);
    }
    recorder_end(&run->recorder);
    for (int64_t i = 0; i < count; i++)
        kept = open_longer(run, &pieces[i]) && kept;
    free(pieces);
    run->feasible = feasible;
    run->uncounted = uncounted;
    return kept ? STATUS_OK : error_memory(error);
}

static int64_t open_count(const struct run *run)
{
    int64_t count = 0;
    for (int l = 0; l < run->levels; l++)
        count += run->open[l].count;
    return count;
}

/* The level whose first beginning has the least bound, the longer one where they are equal; with
 * `dive` the longest. -1: nothing is open. */
static int next_level(const struct run *run, bool dive)
{
    int best = -1;
    for (int l = run->levels - 1; l >= 0; l--) {
        const struct heap *heap = &run->open[l];
        if (heap->count &&
            (best < 0 || heap->items[0].bound_fs < run->open[best].items[0].bound_fs))
            best = l;
        if (best >= 0 && dive)
            break;
    }
    return best;
}

static int64_t next_bound(const struct run *run)
{
    int level = next_level(run, false);
    return level < 0 ? INT64_MAX : run->open[level].items[0].bound_fs;
}

static int take_batch(struct run *run, struct piece pieces[BATCH])
{
    bool dive = run->leaders.count < run->leaders.top || open_count(run) > MANY;
    int64_t limit = limit_fs(run);
    int count = 0, level = next_level(run, dive), first = level;
    int most = run->space == &run->hurry.space ? 1 : BATCH;
    while (count < most && level >= 0 && run->open[level].items[0].bound_fs <= limit) {
        struct open_node node = heap_pop(&run->open[level]);
        pieces[count++] = (struct piece){
            .level = level, .candidate = {.bound_fs = node.bound_fs, .index = node.index}};
        level = next_level(run, dive);
        if (dive && level != first)
            break;
    }
    return count;
}

static bool note_played(struct run *run, const struct candidate *candidate)
{
    if (run->played_count == run->played_capacity) {
        int64_t capacity = run->played_capacity ? 2 * run->played_capacity : 1024;
        struct candidate *grown = realloc(run->played, (size_t)capacity * sizeof *grown);
        if (!grown)
            return false;
        run->played = grown;
        run->played_capacity = capacity;
    }
    run->played[run->played_count++] = *candidate;
    leaders_note(&run->leaders, candidate->time_fs);
    return true;
}

static void run_piece(struct run *run, struct splitter splitter, struct piece *piece)
{
    if (is_tiling(run, piece->level)) {
        worker_play(&run->workers.items[omp_get_thread_num()], run->space, &piece->candidate);
        piece->ran = piece->candidate.time_fs != 0;
    } else {
        piece->ran = split(&splitter, run->space, piece);
    }
}

static void run_pieces(struct run *run, struct splitter splitter, struct piece *pieces, int count)
{
    bool plays = false;
    for (int i = 0; i < count; i++)
        plays = plays || is_tiling(run, pieces[i].level);
    recorder_begin(&run->recorder);
#pragma omp parallel num_threads(run->options->threads)
    {
        int64_t start_ns = recorder_now(&run->recorder), bounded = 0, played = 0;
#pragma omp for schedule(dynamic) nowait
        for (int i = 0; i < count; i++) {
            if (!stop_due(run->space->stop))
                run_piece(run, splitter, &pieces[i]);
            bounded += pieces[i].bounded;
            played += pieces[i].ran && is_tiling(run, pieces[i].level);
        }
        recorder_keep(&run->recorder, plays ? PHASE_SIMULATING : PHASE_SPLITTING, start_ns, bounded,
                      played);
    }
    recorder_end(&run->recorder);
}

/* Takes in what a piece gave; one that did not run is open again. */
static bool close_piece(struct run *run, struct piece *piece)
{
    struct open_node node = {piece->candidate.bound_fs, piece->candidate.index};
    if (!piece->ran) {
        free(piece->longer);
        return heap_push(&run->open[piece->level], node);
    }
    return is_tiling(run, piece->level) ? note_played(run, &piece->candidate)
                                        : open_longer(run, piece);
}

static enum status run_batch(struct run *run, struct error *error)
{
    struct piece pieces[BATCH];
    struct splitter splitter = splitter_of(run);
    int count = take_batch(run, pieces);
    run_pieces(run, splitter, pieces, count);
    enum status status = workers_status(&run->workers, error);
    bool kept = true;
    for (int i = 0; i < count; i++)
        if (status == STATUS_OK || !is_tiling(run, pieces[i].level))
            kept = close_piece(run, &pieces[i]) && kept;
    return kept || status != STATUS_OK ? status : error_memory(error);
}

static void report(const struct run *run)
{
    if (!run->options->progress && !run->options->trace)
        return;
    int64_t best = run->leaders.count ? run->leaders.time_fs[0] : 0, next = next_bound(run);
    recorder_count(&run->recorder,
                   (struct search_counters){.best_fs = best,
                                            .lower_bound_fs = best && next > best ? best : next,
                                            .played = run->played_count,
                                            .open = open_count(run)});
    if (!run->options->progress)
        return;
    struct search_progress progress = {
        .done = run->played_count,
        .total = run->played_count + open_count(run),
        .phase = "simulating",
        .best_fs = best,
        .lower_bound_fs = best && next > best ? best : next,
        .seconds = seconds_since(&run->started),
    };
    run->options->progress(run->options->context, &progress);
}

static enum status run_all(struct run *run, struct error *error)
{
    enum status status = STATUS_OK;
    while (status == STATUS_OK && next_level(run, false) >= 0 && next_bound(run) <= limit_fs(run) &&
           search_goes_on(&run->space, run->options, run->leaders.count > 0, &run->hurry)) {
        status = run_batch(run, error);
        report(run);
    }
    return status;
}

/* How many tilings an open beginning adds that may be within a time; none that is known to be
 * outside. */
static int64_t open_within(const struct run *run, const struct space *space, int level,
                           struct open_node node, int64_t latest_fs)
{
    struct tiling tiling;
    if (node.bound_fs > latest_fs)
        return 0;
    space_tiling(space, node.index, &tiling);
    return completions_of(run, space, &tiling, level);
}

/* All legal tilings are played, or in the tally, or open, or beyond what either may count. Where
 * the search was stopped, what is open is counted for a moment at most: then it may be all there
 * is. */
static void fill_within(struct run *run, struct within *within, double share, int64_t best_fs)
{
    int64_t latest_fs = within_fs(best_fs, share);
    int64_t all = run->uncounted ? run->space->candidates : run->feasible;
    struct limited moment;
    const struct space *space = search_moment(run->space, &moment);
    for (int64_t i = 0; i < run->played_count; i++)
        within_note(within, &run->played[i], best_fs, share);
    within->at_most += tally_sum(&run->tally, latest_fs);
    for (int l = 1; l < run->levels; l++)
        for (int64_t i = 0; i < run->open[l].count; i++) {
            within->at_most += open_within(run, space, l, run->open[l].items[i], latest_fs);
            if (stop_due(space->stop)) {
                within->at_most = all;
                return;
            }
        }
    if (within->at_most > all)
        within->at_most = all;
}

static void keep_reached(struct run *run, struct search_result *result)
{
    result->reached_all = run->played_count == result->feasible && !run->uncounted;
    result->reached_count = run->played_count;
    result->reached = run->played;
    run->played = NULL;
}

static enum status fill_result(struct run *run, struct search_result *result, struct error *error)
{
    enum status status = best_fill(&run->workers.items[0], run->space, &run->bounder, run->played,
                                   run->played_count, run->leaders.count, result, error);
    if (status != STATUS_OK)
        return status;
    int64_t best_fs = result->count ? result->best[0].timeline.end_fs : 0, next = next_bound(run);
    int64_t untimed = least_untimed_fs(run->played, run->played_count);
    bool finished = !run->uncounted && untimed > best_fs &&
                    (next_level(run, false) < 0 || next > limit_fs(run));
    next = least_of(next, untimed);
    result->candidates = run->space->candidates;
    result->feasible =
        run->feasible > run->played_count ? run->feasible : run->played_count; /* where uncounted */
    result->simulated = run->played_count;
    result->pruned = finished ? result->feasible - run->played_count : 0;
    result->optimal = finished && result->count > 0;
    result->lower_bound_fs = next < best_fs ? next : best_fs;
    result->gap = best_fs ? (double)(best_fs - result->lower_bound_fs) / (double)best_fs : 0;
    if (result->count && !run->options->best_only) {
        fill_within(run, &result->within_1_percent, ONE_PERCENT, best_fs);
        fill_within(run, &result->within_tolerance, run->options->tolerance, best_fs);
    }
    if (run->options->keep_reached)
        keep_reached(run, result);
    return STATUS_OK;
}

static enum status answer(struct run *run, struct search_result *result, struct error *error)
{
    recorder_begin(&run->recorder);
    int64_t start_ns = recorder_now(&run->recorder);
    enum status status = fill_result(run, result, error);
    recorder_keep(&run->recorder, PHASE_ANSWERING, start_ns, 0, result->count);
    recorder_end(&run->recorder);
    return status;
}

static enum status open_run(struct run *run, struct error *error)
{
    const int *lengths = run->space->kind->nesting->lengths;
    run->length[run->levels++] = 1;
    for (; *lengths; lengths++)
        run->length[run->levels++] = *lengths;
    run->length[run->levels++] = run->space->axis_count;
    enum status status =
        recorder_open(&run->recorder, run->options->trace, run->options->threads, error);
    if (status == STATUS_OK)
        status = bounder_open(&run->bounder, run->space, error);
    if (status == STATUS_OK)
        status = workers_open(&run->workers, run->options->threads, error);
    if (status == STATUS_OK)
        status = leaders_open(&run->leaders, run->options->top, true, error);
    if (status == STATUS_OK)
        status = tally_open(&run->tally, error);
    return status;
}

static void close_run(struct run *run)
{
    for (int l = 0; l < run->levels; l++)
        heap_close(&run->open[l]);
    tally_close(&run->tally);
    leaders_close(&run->leaders);
    workers_close(&run->workers);
    recorder_close(&run->recorder);
    bounder_close(&run->bounder);
    free(run->played);
}

enum status nested_search(const struct space *space, const struct search_options *options,
                          struct search_result *result, struct error *error)
{
    struct run run = {.space = space, .options = options};
    memset(result, 0, sizeof *result);
    clock_gettime(CLOCK_MONOTONIC, &run.started);
    enum status status = open_run(&run, error);
    if (status == STATUS_OK)
        status = open_roots(&run, error);
    if (status == STATUS_OK)
        status = run_all(&run, error);
    if (status == STATUS_OK)
        status = answer(&run, result, error);
    result->seconds = seconds_since(&run.started);
    close_run(&run);
    if (status != STATUS_OK)
        search_result_clear(result);
    return status;
}

enum status nested_count(const struct space *space, int64_t most, int threads, int64_t *count,
                         struct error *error)
{
    struct search_options options = {.threads = threads, .top = 1, .best_only = true};
    struct limited limited;
    struct run run = {.options = &options, .most = most};
    run.space =
        search_until(space, (struct stop){.told = &run.enough, .also = space->stop}, &limited);
    enum status status = open_run(&run, error);
    if (status == STATUS_OK)
        status = open_roots(&run, error);
    *count = run.counted;
    close_run(&run);
    return status;
}
