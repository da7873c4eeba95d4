#include "search/search.h"

#include "core/least.h"
#include "core/work.h"
#include "search/candidates.h"
#include "search/clock.h"
#include "search/leaders.h"
#include "search/nested.h"
#include "search/workers.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { BATCH = 64, MOST_LISTED = 10000000 };

const struct search_strategy search_strategies[] = {
    {"bound", "simulate in order of lower bound, stop when no bound can win: proves the optimum",
     true},
    {"exhaustive", "simulate every legal tiling", false},
    {NULL, NULL, false},
};

const struct search_strategy *search_strategy_find(const char *name)
{
    for (const struct search_strategy *s = search_strategies; s->name; s++)
        if (strcasecmp(s->name, name) == 0)
            return s;
    return NULL;
}

struct run {
    const struct space *space;
    const struct search_options *options;
    int threads;
    const struct search_strategy *strategy;
    struct timespec started;
    struct limited hurry;
    struct candidates candidates;
    struct bounder bounder;
    struct workers workers;
    struct leaders leaders;
    struct recorder recorder;
    int64_t played;
};

static int64_t limit_fs(const struct run *run)
{
    return run->strategy->prunes ? leaders_limit_fs(&run->leaders) : INT64_MAX;
}

static int64_t next_bound(const struct run *run)
{
    const struct candidate *items = run->candidates.items;
    return items && run->played < run->candidates.count ? items[run->played].bound_fs : INT64_MAX;
}

static void report(const struct run *run)
{
    int64_t best_fs = run->leaders.count ? run->leaders.time_fs[0] : 0, next_fs = next_bound(run);
    int64_t lower_bound_fs = best_fs && next_fs > best_fs ? best_fs : next_fs;
    recorder_count(&run->recorder,
                   (struct search_counters){.best_fs = best_fs,
                                            .lower_bound_fs = lower_bound_fs,
                                            .played = run->played,
                                            .open = run->candidates.count - run->played});
    if (!run->options->progress)
        return;
    struct search_progress progress = {
        .done = run->played,
        .total = run->candidates.count,
        .phase = "simulating",
        .best_fs = best_fs,
        .lower_bound_fs = lower_bound_fs,
        .seconds = seconds_since(&run->started),
    };
    run->options->progress(run->options->context, &progress);
}

/* Those that were played before the search had to end come before the others. */
static void close_batch(struct run *run, struct candidate batch[], int64_t count)
{
    struct candidate left[BATCH] = {{0}};
    int64_t played = 0, unplayed = 0;
    for (int64_t i = 0; i < count; i++) {
        if (batch[i].time_fs == 0) {
            left[unplayed++] = batch[i];
            continue;
        }
        leaders_note(&run->leaders, batch[i].time_fs);
        batch[played++] = batch[i];
    }
    memcpy(batch + played, left, (size_t)unplayed * sizeof *left);
    run->played += played;
}

static void play_batch(struct run *run, int64_t count)
{
    struct candidate *batch = run->candidates.items + run->played;
    recorder_begin(&run->recorder);
#pragma omp parallel num_threads(run->threads)
    {
        int64_t start_ns = recorder_now(&run->recorder), played = 0;
#pragma omp for schedule(dynamic) nowait
        for (int64_t i = 0; i < count; i++) {
            if (stop_due(run->space->stop))
                continue;
            worker_play(&run->workers.items[omp_get_thread_num()], run->space, &batch[i]);
            played++;
        }
        recorder_keep(&run->recorder, PHASE_SIMULATING, start_ns, 0, played);
    }
    recorder_end(&run->recorder);
    close_batch(run, batch, count);
}

static enum status play_all(struct run *run, struct error *error)
{
    enum status status = STATUS_OK;
    while (status == STATUS_OK && next_bound(run) <= limit_fs(run) &&
           run->played < run->candidates.count &&
           search_goes_on(&run->space, run->options, run->played > 0, &run->hurry)) {
        int64_t count = 0, limit = limit_fs(run);
        int64_t most = run->space == &run->hurry.space ? 1 : BATCH;
        const struct candidate *next = run->candidates.items + run->played;
        while (count < most && run->played + count < run->candidates.count &&
               next[count].bound_fs <= limit)
            count++;
        play_batch(run, count);
        status = workers_status(&run->workers, error);
        report(run);
    }
    return status;
}

static void fill_proof(const struct run *run, int64_t next, int64_t limit,
                       struct search_result *result)
{
    const struct candidates *candidates = &run->candidates;
    int64_t best = result->count ? result->best[0].timeline.end_fs : 0;
    int64_t untimed = least_untimed_fs(candidates->items, run->played);
    bool finished = (run->played == candidates->count || next > limit) && untimed > best;
    next = least_of(next, untimed);
    result->candidates = run->space->candidates;
    result->feasible = candidates->count + candidates->counted;
    result->simulated = run->played;
    result->pruned = finished ? result->feasible - run->played : 0;
    result->optimal = finished && candidates->complete && result->count > 0;
    result->lower_bound_fs = next < best ? next : best;
    if (!candidates->complete) {
        double roofline_fs = run->space->kind->roofline_ns(run->space) * 1e6;
        if (roofline_fs < (double)result->lower_bound_fs)
            result->lower_bound_fs = (int64_t)roofline_fs;
    }
    result->gap = best ? (double)(best - result->lower_bound_fs) / (double)best : 0;
}

static void close_run(struct run *run)
{
    workers_close(&run->workers);
    leaders_close(&run->leaders);
    free(run->candidates.items);
    recorder_close(&run->recorder);
    bounder_close(&run->bounder);
}

static void fill_within(const struct run *run, struct search_result *result)
{
    const struct candidates *candidates = &run->candidates;
    int64_t unseen =
        candidates->complete ? 0 : run->space->candidates - candidates->count - candidates->counted;
    double shares[] = {ONE_PERCENT, run->options->tolerance};
    struct within *within[] = {&result->within_1_percent, &result->within_tolerance};
    for (int i = 0; i < 2 && result->count; i++) {
        *within[i] = (struct within){.at_most = unseen};
        for (int64_t c = 0; c < candidates->count; c++)
            within_note(within[i], &candidates->items[c], result->best[0].timeline.end_fs,
                        shares[i]);
    }
}

/* Of a processor's tilings the bounds are the times. */
static enum status fill_scores(const struct run *run, struct search_result *result,
                               struct error *error)
{
    const struct candidates *candidates = &run->candidates;
    result->scores = calloc((size_t)candidates->count + 1, sizeof *result->scores);
    if (!result->scores)
        return error_memory(error);
    result->score_count = candidates->count;
    for (int64_t i = 0; i < candidates->count; i++)
        result->scores[i] =
            (struct scored){candidates->items[i].bound_fs, candidates->items[i].index};
    return STATUS_OK;
}

static void keep_reached(struct run *run, struct search_result *result)
{
    result->reached_all = run->candidates.complete;
    result->reached_count = run->candidates.count;
    result->reached = run->candidates.items;
    run->candidates.items = NULL;
}

/* What an answer says of all that was bounded and played. */
static enum status fill_result(struct run *run, struct search_result *result, struct error *error)
{
    int64_t next = next_bound(run), limit = limit_fs(run);
    recorder_begin(&run->recorder);
    int64_t start_ns = recorder_now(&run->recorder);
    enum status status =
        best_fill(&run->workers.items[0], run->space, &run->bounder, run->candidates.items,
                  run->played, run->leaders.count, result, error);
    if (status == STATUS_OK)
        fill_proof(run, next, limit, result);
    if (status == STATUS_OK)
        fill_within(run, result);
    if (status == STATUS_OK && run->space->kind->ask && run->options->keep_scores)
        status = fill_scores(run, result, error);
    if (status == STATUS_OK && run->options->keep_reached)
        keep_reached(run, result);
    recorder_keep(&run->recorder, PHASE_ANSWERING, start_ns, 0, result->count);
    recorder_end(&run->recorder);
    return status;
}

/* Some spaces are too large to list. */
static enum status check_size(const struct space *space, int threads, struct error *error)
{
    int64_t count = 0;
    enum status status =
        space->kind->nesting ? nested_count(space, MOST_LISTED, threads, &count, error) : STATUS_OK;
    if (status == STATUS_OK && count > MOST_LISTED)
        return error_set(error, STATUS_TOO_LARGE,
                         "strategy exhaustive simulates up to %d tilings; more are legal here",
                         MOST_LISTED);
    return status;
}

static enum status collect_first(struct run *run, struct error *error)
{
    free(run->candidates.items);
    return candidates_collect_first(run->space, &run->bounder, &run->candidates, error);
}

/* What is as slow can be neither among the best nor in a count of those near them. */
static int64_t horizon_fs(const struct run *run)
{
    int64_t limit = limit_fs(run);
    int64_t near_fs =
        run->leaders.count ? within_fs(run->leaders.time_fs[0], run->options->tolerance) : 0;
    return limit > near_fs ? limit : near_fs;
}

/* The block of least bound is searched first; of the others, those that its best leave any hope
 * are bounded and played together, and the rest is counted. */
static enum status search_blocks(struct run *run, int64_t least_fs[], enum block_use use[],
                                 struct error *error)
{
    const struct space *space = run->space;
    int first = 0;
    for (int b = 0; b < space->block_count; b++) {
        least_fs[b] = bounder_block_fs(&run->bounder, space, &space->blocks[b]);
        first = least_fs[b] < least_fs[first] ? b : first;
        use[b] = BLOCK_LEAVE;
    }
    bool one_by_one = space->kind->least && run->strategy->prunes && space->block_count > 1;
    enum status status = STATUS_OK;
    if (one_by_one) {
        use[first] = BLOCK_BOUND;
        status =
            candidates_add(space, &run->bounder, &run->recorder, use, 0, &run->candidates, error);
        if (status == STATUS_OK)
            status = play_all(run, error);
    }
    for (int b = 0; b < space->block_count; b++)
        if (one_by_one && b == first)
            use[b] = BLOCK_LEAVE;
        else
            use[b] = least_fs[b] > horizon_fs(run) && !run->options->keep_reached ? BLOCK_COUNT
                                                                                  : BLOCK_BOUND;
    if (status == STATUS_OK)
        status = candidates_add(space, &run->bounder, &run->recorder, use, run->played,
                                &run->candidates, error);
    return status;
}

static enum status list_search(struct run *run, struct search_result *result, struct error *error)
{
    size_t blocks = (size_t)run->space->block_count + 1;
    int64_t *least_fs = calloc(blocks, sizeof *least_fs);
    enum block_use *use = calloc(blocks, sizeof *use);
    run->candidates = (struct candidates){.complete = true};
    enum status status =
        least_fs && use ? search_blocks(run, least_fs, use, error) : error_memory(error);
    free(least_fs);
    free(use);
    if (status == STATUS_OK && run->candidates.count == 0 && !run->candidates.complete &&
        search_goes_on(&run->space, run->options, false, &run->hurry))
        status = collect_first(run, error);
    if (status == STATUS_OK)
        status = play_all(run, error);
    if (status == STATUS_OK)
        status = fill_result(run, result, error);
    return status;
}

int search_threads(const struct space *space, int threads)
{
    return space->kind->ask ? 1 : threads;
}

enum status search(const struct space *space, const struct search_options *options,
                   struct search_result *result, struct error *error)
{
    struct limited limited;
    space = search_limit(space, options, &limited);
    struct run run = {.space = space,
                      .options = options,
                      .threads = search_threads(space, options->threads),
                      .strategy = search_strategy_find(options->strategy)};
    memset(result, 0, sizeof *result);
    if (!run.strategy)
        return error_set(error, STATUS_INVALID, "unknown strategy '%s'", options->strategy);
    if (space->kind->search)
        return space->kind->search(space, run.strategy, options, result, error);
    if (space->kind->nesting && run.strategy->prunes)
        return nested_search(space, options, result, error);
    clock_gettime(CLOCK_MONOTONIC, &run.started);
    enum status status = recorder_open(&run.recorder, options->trace, run.threads, error);
    if (status == STATUS_OK)
        status = bounder_open(&run.bounder, space, error);
    if (status == STATUS_OK)
        status = workers_open(&run.workers, run.threads, error);
    if (status == STATUS_OK)
        status = leaders_open(&run.leaders, options->top, options->best_only, error);
    if (status == STATUS_OK)
        status = check_size(space, run.threads, error);
    if (status == STATUS_OK)
        status = list_search(&run, result, error);
    result->seconds = seconds_since(&run.started);
    close_run(&run);
    if (status != STATUS_OK)
        search_result_clear(result);
    return status;
}

void search_result_clear(struct search_result *result)
{
    free(result->best);
    free(result->scores);
    free(result->reached);
    memset(result, 0, sizeof *result);
}

enum status search_play(const struct space *space, const struct tiling *tiling, struct found *found,
                        struct error *error)
{
    struct worker worker = {0};
    struct bounder bounder = {0};
    if (space->kind->play)
        return space->kind->play(space, tiling, found, error);
    memset(found, 0, sizeof *found);
    found->tiling = *tiling;
    found->index = -1;
    enum status status = bounder_open(&bounder, space, error);
    if (status == STATUS_OK)
        status = player_open(&worker.player, error);
    if (status == STATUS_OK) {
        status = worker_fill(&worker, space, &bounder, found);
        if (status != STATUS_OK && error)
            *error = worker.error;
    }
    bounder_close(&bounder);
    player_close(&worker.player);
    return status;
}
