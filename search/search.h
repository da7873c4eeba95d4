/* Which tiling is best, with a proof.
 *
 * Legality and lower bounds of the whole space come first, in closed form and on all threads; then
 * candidates are simulated in order of bound, in batches of a fixed size, until the next bound
 * exceeds what could still matter. What is answered does not depend on the number of threads:
 * bounds tighten between batches only.
 *
 * What could still matter: the best time plus one percent (so that the number of tilings within
 * one percent of the best is exact) and the time of the last of the `top` best.
 *
 * Where it can, a search goes by prefixes of tilings (search/nested.h) or by boxes (search/boxes.h)
 * and lists nothing. Of large spaces what could matter is then the time of the last of the `top`
 * best only, so that the number of tilings within one percent is known from below and from above.
 *
 * On a processor (spaces with `ask`, core/operator.h) a closed form is the time, and so its own
 * bound: every legal tiling is scored, those that matter are given a full timeline and count as
 * simulated, the rest as pruned. One thread does it, whatever is asked for: what is measured
 * afterwards runs in child processes, and threads of OpenMP do not survive a fork. */
#ifndef AUTOTUNE_SEARCH_SEARCH_H
#define AUTOTUNE_SEARCH_SEARCH_H

#include "core/operator.h"
#include "core/search_result.h"
#include "core/search_trace.h"
#include "core/stop.h"

#include <signal.h>

struct search_progress {
    int64_t done, total;    /* candidates simulated, of so many; 0: bounds decide how many */
    const char *phase;      /* "bounding", "simulating" */
    int64_t best_fs;        /* 0: none yet */
    int64_t lower_bound_fs; /* of what is left */
};

struct search_options {
    const char *strategy; /* one of search/strategy.h; NULL: the default */
    int threads;          /* >= 1 */
    int top;              /* >= 1: how many of the best to return */
    bool keep_scores;     /* on a processor: fill result->scores */
    bool keep_reached;    /* fill result->reached */
    bool uncounted;       /* do not count what was never opened: all may be near the best */
    bool best_only;       /* do not count how many are within one percent */
    double tolerance;     /* count those within this share of the best as well */
    double time_limit_s;  /* 0: none */
    const volatile sig_atomic_t *stop; /* NULL, or becomes non-zero to end early */
    void (*progress)(void *context, const struct search_progress *progress); /* NULL: none */
    void *context;
    const struct search_trace *trace; /* NULL: none */
};

/* How many threads search when so many are asked for. */
int search_threads(const struct space *space, int threads);

enum status search(const struct space *space, const struct search_options *options,
                   struct search_result *result, struct error *error);
void search_result_clear(struct search_result *result);

struct search_below {
    int64_t below_fs;           /* > 0: tilings that are faster are looked for */
    int64_t time_fs, index;     /* of the fastest of them; 0: there is none */
    int64_t bounded, simulated; /* what it took */
};

/* For who has a good time already, and wants to know whether there is a better one. Of equal times
 * the first that was tried; one thread. Once space->stop is due nothing is known. */
enum status search_below(const struct space *space, struct search_below *below,
                         struct error *error);

/* Counts what is legal where a search did not. */
void search_count(const struct space *space, int threads, struct search_result *result);

/* Simulates one tiling and fills everything but the index of *found; completes found->tiling where
 * a tiling has values of its own choosing (k-NN: the distance tile's). */
enum status search_simulate(const struct space *space, const struct tiling *tiling,
                            struct found *found, struct error *error);

#endif
