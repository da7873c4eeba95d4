/* A worker a thread, with memory, a simulator and an error of its own; of all errors the one of the
 * smallest index is reported. The best times are a short sorted array: a new time is inserted, the
 * slowest drops out. */
#include "search/workers.h"

#include <assert.h>
#include <omp.h>
#include <stdlib.h>

enum status workers_open(struct workers *workers, int threads, struct error *error)
{
    *workers = (struct workers){.items = calloc((size_t)threads, sizeof *workers->items)};
    if (!workers->items)
        return error_memory(error);
    for (; workers->count < threads; workers->count++)
        TRY(tiling_simulator_open(&workers->items[workers->count].simulator, error));
    return STATUS_OK;
}

void workers_close(struct workers *workers)
{
    for (int t = 0; t < workers->count; t++)
        tiling_simulator_close(&workers->items[t].simulator);
    free(workers->items);
}

enum status ask_content(const struct space *space, const struct tiling *tiling, bool *sure,
                        struct error *error)
{
    *sure = true;
    return space->kind->content ? space->kind->content(space, tiling, sure, error) : STATUS_OK;
}

static enum status time_tiling(struct worker *worker, const struct space *space,
                               const struct tiling *tiling, struct timeline *timeline)
{
    bool sure;
    if (!worker->defers_content)
        TRY(ask_content(space, tiling, &sure, &worker->error));
    return tiling_simulator_run(&worker->simulator, space, tiling, 0, timeline, &worker->error);
}

void worker_simulate_tiling(struct worker *worker, const struct space *space,
                            const struct tiling *tiling, struct candidate *candidate)
{
    struct timeline timeline;
    if (worker->status != STATUS_OK)
        return;
    worker->status = time_tiling(worker, space, tiling, &timeline);
    worker->failed_index = candidate->index;
    if (worker->status == STATUS_OK) {
        candidate->time_fs = timeline.end_fs;
        assert(candidate->bound_fs <= candidate->time_fs);
    }
    if (worker->status == STATUS_TOO_LARGE) { /* it could outlast the clock: its bound is known */
        worker->status = STATUS_OK;
        candidate->time_fs = SIMULATE_LONGEST_FS;
    }
    if (worker->status == STATUS_STOPPED)
        worker->status = STATUS_OK;
}

void worker_simulate(struct worker *worker, const struct space *space, struct candidate *candidate)
{
    struct tiling tiling;
    space_tiling(space, candidate->index, &tiling);
    worker_simulate_tiling(worker, space, &tiling, candidate);
}

enum status workers_status(const struct workers *workers, struct error *error)
{
    const struct worker *first = NULL;
    for (int t = 0; t < workers->count; t++) {
        const struct worker *worker = &workers->items[t];
        if (worker->status != STATUS_OK && (!first || worker->failed_index < first->failed_index))
            first = worker;
    }
    if (!first)
        return STATUS_OK;
    if (error)
        *error = first->error;
    return first->status;
}

enum status search_several(const struct space *space, struct candidate items[], int64_t count,
                           int threads, struct error *error)
{
    struct workers workers;
    enum status status = workers_open(&workers, threads, error);
    if (status == STATUS_OK) {
#pragma omp parallel for num_threads(threads) schedule(dynamic)
        for (int64_t i = 0; i < count; i++)
            if (items[i].time_fs == 0 && !stop_due(space->stop))
                worker_simulate(&workers.items[omp_get_thread_num()], space, &items[i]);
        status = workers_status(&workers, error);
    }
    workers_close(&workers);
    return status;
}

/* ---- the best ---- */

enum status incumbents_open(struct incumbents *incumbents, int top, bool best_only,
                            struct error *error)
{
    *incumbents = (struct incumbents){
        .top = top, .best_only = best_only, .time_fs = calloc((size_t)top, sizeof(int64_t))};
    return incumbents->time_fs ? STATUS_OK : error_memory(error);
}

void incumbents_close(struct incumbents *incumbents)
{
    free(incumbents->time_fs);
}

void incumbents_note(struct incumbents *incumbents, int64_t time_fs)
{
    int at = incumbents->count;
    if (at == incumbents->top && incumbents->time_fs[at - 1] <= time_fs)
        return;
    if (at < incumbents->top)
        incumbents->count++;
    else
        at--;
    for (; at > 0 && incumbents->time_fs[at - 1] > time_fs; at--)
        incumbents->time_fs[at] = incumbents->time_fs[at - 1];
    incumbents->time_fs[at] = time_fs;
}

int64_t incumbents_limit_fs(const struct incumbents *incumbents)
{
    int64_t most_fs = incumbents->below_fs ? incumbents->below_fs - 1 : INT64_MAX;
    if (incumbents->count < incumbents->top)
        return most_fs;
    int64_t best = incumbents->time_fs[0],
            one_percent = incumbents->best_only ? best : best + best / 100;
    int64_t last = incumbents->time_fs[incumbents->count - 1];
    int64_t limit_fs = last > one_percent ? last : one_percent;
    return limit_fs < most_fs ? limit_fs : most_fs;
}

int64_t within_fs(int64_t best_fs, double share)
{
    double slower = (double)best_fs * share;
    return slower < (double)(INT64_MAX / 2) ? best_fs + (int64_t)slower : INT64_MAX;
}

void within_note(struct within *within, const struct candidate *candidate, int64_t best_fs,
                 double share)
{
    int64_t latest_fs = within_fs(best_fs, share);
    bool timed = candidate->time_fs && candidate->time_fs < SIMULATE_LONGEST_FS;
    within->surely += timed && candidate->time_fs <= latest_fs;
    within->at_most += (timed ? candidate->time_fs : candidate->bound_fs) <= latest_fs;
}
