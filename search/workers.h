/* What every search does with candidates: simulate them, one thread a worker, and know the best. */
#ifndef AUTOTUNE_SEARCH_WORKERS_H
#define AUTOTUNE_SEARCH_WORKERS_H

#include "search/candidates.h"
#include "search/tiling_simulator.h"

#define ONE_PERCENT 0.01

/* One thread's tools, and its first error. */
struct worker {
    struct tiling_simulator simulator;
    bool defers_content; /* nothing but times is wanted: of what is answered it is asked then */
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

/* The content of a legal tiling's kernel (core/operator.h). */
enum status ask_content(const struct space *space, const struct tiling *tiling, bool *sure,
                        struct error *error);

/* Fills candidate->time_fs, unless space->stop ends it before; with SIMULATE_LONGEST_FS where the
 * program could last so long and is not simulated. After an error the worker does
 * nothing. Errors go by the candidate's index, which need not be the tiling's. */
void worker_simulate_tiling(struct worker *worker, const struct space *space,
                            const struct tiling *tiling, struct candidate *candidate);
void worker_simulate(struct worker *worker, const struct space *space, struct candidate *candidate);

/* The first error in candidate order, so that it is the same for any number of threads. */
enum status workers_status(const struct workers *workers, struct error *error);

/* Simulates tilings on all threads: fills time_fs of all that have none (0), each of one program;
 * with SIMULATE_LONGEST_FS where that could outlast the clock. Those that space->stop cuts off stay
 * 0. */
enum status search_several(const struct space *space, struct candidate items[], int64_t count,
                           int threads, struct error *error);

/* The best times so far, and which lower bounds can still matter. */
struct incumbents {
    int top, count;
    bool best_only;   /* no one percent beyond the best */
    int64_t below_fs; /* nothing that is not faster matters; 0: all does */
    int64_t *time_fs; /* the `top` smallest, ascending; owned */
};

enum status incumbents_open(struct incumbents *incumbents, int top, bool best_only,
                            struct error *error);
void incumbents_close(struct incumbents *incumbents);
void incumbents_note(struct incumbents *incumbents, int64_t time_fs);

/* Bounds above this cannot change the answer: neither the `top` best, nor (unless best_only) the
 * number of tilings within one percent of the best. INT64_MAX until there are `top` times, unless
 * below_fs says less. */
int64_t incumbents_limit_fs(const struct incumbents *incumbents);

/* The largest time that is within a share of the best. */
int64_t within_fs(int64_t best_fs, double share);

/* Counts one candidate, simulated or not. */
void within_note(struct within *within, const struct candidate *candidate, int64_t best_fs,
                 double share);

#endif
