/* What every search does with candidates: simulate them, one thread a worker, and say all that is
 * known of the best. */
#ifndef AUTOTUNE_SEARCH_WORKERS_H
#define AUTOTUNE_SEARCH_WORKERS_H

#include "search/candidates.h"
#include "search/tiling_simulator.h"

#define ONE_PERCENT 0.01

/* One thread's tools, and its first error. */
struct worker {
    struct tiling_simulator simulator;
    enum status status;
    int64_t failed_index;
    struct error error;
};

struct workers {
    int count;
    struct worker *items; /* owned */
};

enum status workers_open(struct workers *workers, int threads, struct error *error);
void workers_close(struct workers *workers);

/* Fills candidate->time_fs, unless space->stop ends it before; with SIMULATE_LONGEST_FS where the
 * program could last so long and is not simulated. After an error the worker does
 * nothing. Errors go by the candidate's index, which need not be the tiling's. */
void worker_simulate_tiling(struct worker *worker, const struct space *space,
                            const struct tiling *tiling, struct candidate *candidate);
void worker_simulate(struct worker *worker, const struct space *space, struct candidate *candidate);

/* The first error in candidate order, so that it is the same for any number of threads. */
enum status workers_status(const struct workers *workers, struct error *error);

/* Simulates found->tiling once more for all that an answer says of it. */
enum status worker_fill(struct worker *worker, const struct space *space,
                        const struct bounder *bounder, struct found *found);

/* The largest time that is within a share of the best. */
int64_t within_fs(int64_t best_fs, double share);

/* The least bound of those that were not simulated for they could outlast the clock: what is
 * proven ends there. INT64_MAX: none. */
int64_t least_untimed_fs(const struct candidate simulated[], int64_t count);

/* Counts one candidate, simulated or not. */
void within_note(struct within *within, const struct candidate *candidate, int64_t best_fs,
                 double share);

#endif
