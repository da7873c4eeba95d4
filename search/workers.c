/* A worker a thread, with memory, a simulator and an error of its own; of all errors the one of the
 * smallest index is reported. */
#include "search/workers.h"

#include <assert.h>
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

void worker_simulate_tiling(struct worker *worker, const struct space *space,
                            const struct tiling *tiling, struct candidate *candidate)
{
    struct timeline timeline;
    if (worker->status != STATUS_OK)
        return;
    worker->status =
        tiling_simulator_run(&worker->simulator, space, tiling, 0, &timeline, &worker->error);
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

static void sum_bus_bytes(struct found *found, const struct program *program,
                          const struct work_total totals[])
{
    const struct hardware *hw = program->hw;
    uint32_t pipes = program->pipes;
    for (int p = 0; p < hw->price_count; p++)
        if (hw->prices[p].bus >= 0)
            found->bus_bytes[hw->prices[p].bus] += totals[p].units * found->cores_used *
                                                   hardware_in_step(hw, pipes, hw->prices[p].pipe);
}

enum status worker_fill(struct worker *worker, const struct space *space,
                        const struct bounder *bounder, struct found *found)
{
    struct work_total totals[HARDWARE_MAX_PRICES];
    found->bound_fs = bounder_tiling_fs(bounder, space, &found->tiling);
    found->cores_used = space->kind->cores_used(space, &found->tiling, 0);
    enum status status = tiling_simulator_run(&worker->simulator, space, &found->tiling, 0,
                                              &found->timeline, &worker->error);
    if (status != STATUS_OK || space->kind->ask)
        return status;
    status = work_totals(&worker->simulator.program, totals, &worker->error);
    if (status == STATUS_OK)
        sum_bus_bytes(found, &worker->simulator.program, totals);
    return status;
}

int64_t within_fs(int64_t best_fs, double share)
{
    double slower = (double)best_fs * share;
    return slower < (double)(INT64_MAX / 2) ? best_fs + (int64_t)slower : INT64_MAX;
}

int64_t least_untimed_fs(const struct candidate simulated[], int64_t count)
{
    int64_t least_fs = INT64_MAX;
    for (int64_t i = 0; i < count; i++)
        if (simulated[i].time_fs == SIMULATE_LONGEST_FS && simulated[i].bound_fs < least_fs)
            least_fs = simulated[i].bound_fs;
    return least_fs;
}

void within_note(struct within *within, const struct candidate *candidate, int64_t best_fs,
                 double share)
{
    int64_t latest_fs = within_fs(best_fs, share);
    bool timed = candidate->time_fs && candidate->time_fs < SIMULATE_LONGEST_FS;
    within->surely += timed && candidate->time_fs <= latest_fs;
    within->at_most += (timed ? candidate->time_fs : candidate->bound_fs) <= latest_fs;
}
