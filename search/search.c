#include "search/search.h"

#include "core/work.h"
#include "kernels/knn.h"
#include "search/candidates.h"
#include "search/clock.h"
#include "search/knn_search.h"
#include "search/leaders.h"
#include "search/player.h"

#include <assert.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { BATCH = 64 };

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

/* One thread's tools. */
struct worker {
    struct player player;
    enum status status;
    int64_t failed_index;
    struct error error;
};

struct run {
    const struct space *space;
    const struct search_options *options;
    const struct search_strategy *strategy;
    struct timespec started;
    struct candidates candidates;
    struct bounder bounder;
    struct worker *workers;
    struct leaders leaders;
    int64_t played;
};

static bool stopped(void *context)
{
    const struct run *run = context;
    return search_stopped(run->options, &run->started);
}

static void play_candidate(struct run *run, struct worker *worker, struct candidate *candidate)
{
    struct tiling tiling;
    struct timeline timeline;
    if (worker->status != STATUS_OK)
        return;
    space_tiling(run->space, candidate->index, &tiling);
    worker->status =
        player_play(&worker->player, run->space, &tiling, 0, &timeline, &worker->error);
    worker->failed_index = candidate->index;
    if (worker->status == STATUS_OK)
        candidate->time_fs = timeline.end_fs;
    assert(worker->status != STATUS_OK || candidate->bound_fs <= candidate->time_fs);
}

static int64_t limit_fs(const struct run *run)
{
    return run->strategy->prunes ? leaders_limit_fs(&run->leaders) : INT64_MAX;
}

static int64_t next_bound(const struct run *run)
{
    return run->played < run->candidates.count ? run->candidates.items[run->played].bound_fs
                                               : INT64_MAX;
}

static void report(const struct run *run)
{
    if (!run->options->progress)
        return;
    struct search_progress progress = {
        .done = run->played,
        .total = run->candidates.count,
        .phase = "simulating",
        .best_fs = run->leaders.count ? run->leaders.time_fs[0] : 0,
        .lower_bound_fs = next_bound(run),
        .seconds = seconds_since(&run->started),
    };
    if (run->leaders.count && progress.lower_bound_fs > progress.best_fs)
        progress.lower_bound_fs = progress.best_fs;
    run->options->progress(run->options->context, &progress);
}

/* The first error in candidate order, so that it is the same for any number of threads. */
static enum status worst(const struct run *run, struct error *error)
{
    const struct worker *first = NULL;
    for (int t = 0; t < run->options->threads; t++) {
        const struct worker *worker = &run->workers[t];
        if (worker->status != STATUS_OK && (!first || worker->failed_index < first->failed_index))
            first = worker;
    }
    if (!first)
        return STATUS_OK;
    if (error)
        *error = first->error;
    return first->status;
}

static void play_batch(struct run *run, int64_t count)
{
    struct candidate *batch = run->candidates.items + run->played;
#pragma omp parallel for num_threads(run->options->threads) schedule(dynamic)
    for (int64_t i = 0; i < count; i++)
        play_candidate(run, &run->workers[omp_get_thread_num()], &batch[i]);
    for (int64_t i = 0; i < count; i++)
        leaders_note(&run->leaders, batch[i].time_fs);
    run->played += count;
}

static enum status play_all(struct run *run, struct error *error)
{
    enum status status = STATUS_OK;
    while (status == STATUS_OK && next_bound(run) <= limit_fs(run) &&
           run->played < run->candidates.count && (run->played == 0 || !stopped(run))) {
        int64_t count = 0, limit = limit_fs(run);
        const struct candidate *next = run->candidates.items + run->played;
        while (count < BATCH && run->played + count < run->candidates.count &&
               next[count].bound_fs <= limit)
            count++;
        play_batch(run, count);
        status = worst(run, error);
        report(run);
    }
    return status;
}

static int by_time(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;
    if (a->time_fs != b->time_fs)
        return a->time_fs < b->time_fs ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

static void sum_bus_bytes(struct found *found, const struct hardware *hw,
                          const struct work_total totals[])
{
    for (int p = 0; p < hw->price_count; p++)
        if (hw->prices[p].bus >= 0)
            found->bus_bytes[hw->prices[p].bus] += totals[p].units * found->cores_used;
}

static enum status play_found(struct worker *worker, const struct space *space,
                              const struct bounder *bounder, struct found *found)
{
    struct work work;
    struct work_total totals[HARDWARE_MAX_PRICES];
    space->kind->summarise(space, &found->tiling, &work);
    found->bound_fs = bounder_fs(bounder, &work);
    found->cores_used = work.cores;
    enum status status =
        player_play(&worker->player, space, &found->tiling, 0, &found->timeline, &worker->error);
    if (status == STATUS_OK)
        status = work_totals(&worker->player.program, totals, &worker->error);
    if (status == STATUS_OK)
        sum_bus_bytes(found, space->hw, totals);
    return status;
}

/* Plays the best again for all that is known of them. */
static enum status fill_best(struct run *run, struct search_result *result, struct error *error)
{
    struct candidate *items = run->candidates.items;
    qsort(items, (size_t)run->played, sizeof *items, by_time);
    result->count = run->leaders.count;
    result->best = calloc((size_t)result->count + 1, sizeof *result->best);
    if (!result->best)
        return error_memory(error);
    enum status status = STATUS_OK;
    for (int i = 0; i < result->count && status == STATUS_OK; i++) {
        result->best[i].index = items[i].index;
        space_tiling(run->space, items[i].index, &result->best[i].tiling);
        status = play_found(&run->workers[0], run->space, &run->bounder, &result->best[i]);
        if (status != STATUS_OK && error)
            *error = run->workers[0].error;
    }
    for (int64_t i = 0; i < run->played; i++)
        result->within_1_percent += items[i].time_fs - items[0].time_fs <= items[0].time_fs / 100;
    return status;
}

static void fill_proof(const struct run *run, int64_t next, int64_t limit,
                       struct search_result *result)
{
    const struct candidates *candidates = &run->candidates;
    int64_t best = result->count ? result->best[0].timeline.end_fs : 0;
    bool finished = run->played == candidates->count || next > limit;
    result->candidates = run->space->candidates;
    result->feasible = candidates->count;
    result->simulated = run->played;
    result->pruned = finished ? candidates->count - run->played : 0;
    result->optimal = finished && candidates->complete && result->count > 0;
    result->lower_bound_fs = next < best ? next : best;
    if (!candidates->complete) {
        double roofline_fs = run->space->kind->roofline_ns(run->space) * 1e6;
        if (roofline_fs < (double)result->lower_bound_fs)
            result->lower_bound_fs = (int64_t)roofline_fs;
    }
    result->gap = best ? (double)(best - result->lower_bound_fs) / (double)best : 0;
}

static bool open_run(struct run *run)
{
    run->workers = calloc((size_t)run->options->threads, sizeof *run->workers);
    bool open = run->workers && leaders_open(&run->leaders, run->options->top,
                                             run->options->best_only, NULL) == STATUS_OK;
    for (int t = 0; open && t < run->options->threads; t++) {
        open = player_open(&run->workers[t].player, NULL) == STATUS_OK;
    }
    return open;
}

static void close_run(struct run *run)
{
    for (int t = 0; run->workers && t < run->options->threads; t++)
        player_close(&run->workers[t].player);
    free(run->workers);
    leaders_close(&run->leaders);
    free(run->candidates.items);
    bounder_close(&run->bounder);
}

enum status search(const struct space *space, const struct search_options *options,
                   struct search_result *result, struct error *error)
{
    struct run run = {
        .space = space, .options = options, .strategy = search_strategy_find(options->strategy)};
    memset(result, 0, sizeof *result);
    if (!run.strategy)
        return error_set(error, STATUS_INVALID, "unknown strategy '%s'", options->strategy);
    if (space->kind == &knn_selb)
        return knn_search(space, run.strategy, options, result, error);
    clock_gettime(CLOCK_MONOTONIC, &run.started);
    enum status status = bounder_open(&run.bounder, space, error);
    if (status == STATUS_OK && !open_run(&run))
        status = error_memory(error);
    if (status == STATUS_OK)
        status = candidates_collect(space, &run.bounder, options->threads, stopped, &run,
                                    &run.candidates, error);
    if (status == STATUS_OK)
        status = play_all(&run, error);
    int64_t next = next_bound(&run), limit = limit_fs(&run);
    if (status == STATUS_OK)
        status = fill_best(&run, result, error);
    if (status == STATUS_OK)
        fill_proof(&run, next, limit, result);
    result->seconds = seconds_since(&run.started);
    close_run(&run);
    if (status != STATUS_OK)
        search_result_clear(result);
    return status;
}

void search_result_clear(struct search_result *result)
{
    free(result->best);
    memset(result, 0, sizeof *result);
}

enum status search_play(const struct space *space, const struct tiling *tiling, struct found *found,
                        struct error *error)
{
    struct worker worker = {0};
    struct bounder bounder = {0};
    if (space->kind == &knn_selb)
        return knn_search_play(space, tiling, found, error);
    memset(found, 0, sizeof *found);
    found->tiling = *tiling;
    found->index = -1;
    enum status status = bounder_open(&bounder, space, error);
    if (status == STATUS_OK)
        status = player_open(&worker.player, error);
    if (status == STATUS_OK) {
        status = play_found(&worker, space, &bounder, found);
        if (status != STATUS_OK && error)
            *error = worker.error;
    }
    bounder_close(&bounder);
    player_close(&worker.player);
    return status;
}
