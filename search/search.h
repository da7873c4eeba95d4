/* Which tiling is best, with a proof.
 *
 * Legality and lower bounds of the whole space come first, in closed form and on all threads; then
 * candidates are played in order of bound, in batches of a fixed size, until the next bound exceeds
 * what could still matter. What is answered does not depend on the number of threads: bounds
 * tighten between batches only.
 *
 * What could still matter: the best time plus one percent (so that the number of tilings within
 * one percent of the best is exact) and the time of the last of the `top` best.
 *
 * Spaces too large to list are searched by beginnings of tilings (search/nested.h): what could
 * matter there is the time of the last of the `top` best only, so that the number of tilings within
 * one percent is known from below and from above.
 *
 * On a processor (spaces with `ask`, core/operator.h) a closed form is the time, and so its own
 * bound: every legal tiling is scored, those that matter are given a full timeline and count as
 * simulated, the rest as pruned. One thread does it, whatever is asked for: what is measured
 * afterwards runs in child processes, and threads of OpenMP do not survive a fork. */
#ifndef AUTOTUNE_SEARCH_SEARCH_H
#define AUTOTUNE_SEARCH_SEARCH_H

#include "core/operator.h"
#include "core/search_trace.h"
#include "core/stop.h"
#include "core/timeline.h"

#include <signal.h>

enum { SEARCH_MAX_PARTS = 4, SEARCH_MAX_RULES = 2 };

struct search_progress {
    int64_t done, total;    /* candidates bounded, or played of those that may need it */
    const char *phase;      /* "bounding", "simulating" */
    int64_t best_fs;        /* 0: none yet */
    int64_t lower_bound_fs; /* of what is left */
    double seconds;
};

struct search_options {
    const char *strategy;              /* one of search/strategy.h; NULL: the default */
    int threads;                       /* >= 1 */
    int top;                           /* >= 1: how many of the best to return */
    bool keep_scores;                  /* on a processor: fill result->scores */
    bool keep_reached;                 /* fill result->reached */
    bool best_only;                    /* do not count how many are within one percent */
    double tolerance;                  /* count those within this share of the best as well */
    double time_limit_s;               /* 0: none */
    const volatile sig_atomic_t *stop; /* NULL, or becomes non-zero to end early */
    void (*progress)(void *context, const struct search_progress *progress); /* NULL: none */
    void *context;
    const struct search_trace *trace; /* NULL: none */
};

/* One simulated tiling. */
struct found {
    int64_t index;
    struct tiling tiling;
    int cores_used;
    int64_t bound_fs;
    /* Of one core, all working cores on the bus; where a tiling is several programs, their times
     * as often as they count. */
    struct timeline timeline;
    int64_t bus_bytes[HARDWARE_MAX_BUSES]; /* moved by all working cores */
    int part_count;                        /* of programs that are timed one by one; 0: one */
    int64_t part_fs[SEARCH_MAX_PARTS];
    double part_weight[SEARCH_MAX_PARTS];
};

/* Of how many legal tilings is it known that they are at most so much slower than the best, the
 * best included; and how many may be: the same, and those that were not played but whose lower
 * bound leaves it open. Equal where all that matter are played. */
struct within {
    int64_t surely, at_most;
};

/* What the model says of one legal tiling. */
struct scored {
    int64_t time_fs, index;
};

struct candidate; /* search/candidates.h */

struct search_result {
    int64_t candidates, feasible, pruned, simulated;
    int64_t pruned_by[SEARCH_MAX_RULES]; /* by the space's rules; of `pruned` */
    bool optimal;                        /* nothing in the space is faster than best[0] */
    bool reached_all;                    /* with keep_reached: every legal tiling is in it */
    int count;                           /* of best; 0: no tiling is legal (or none was reached) */
    int64_t lower_bound_fs;              /* of the whole space; the best's time when optimal */
    double gap;                          /* (best - lower bound) / best */
    double seconds;
    struct within within_1_percent, within_tolerance;
    struct found *best;    /* ascending time, then index; owned: search_result_clear */
    int64_t score_count;   /* with keep_scores */
    struct scored *scores; /* all that were reached, ascending time, then index; owned likewise */
    int64_t reached_count; /* those whose bound was kept, or that were played, in no order that */
    struct candidate *reached; /* depends on the threads; owned likewise */
};

/* How many threads search when so many are asked for. */
int search_threads(const struct space *space, int threads);

enum status search(const struct space *space, const struct search_options *options,
                   struct search_result *result, struct error *error);
void search_result_clear(struct search_result *result);

/* Plays one tiling and fills everything but the index of *found; completes found->tiling where a
 * tiling has values of its own choosing (k-NN: the distance tile's). */
enum status search_play(const struct space *space, const struct tiling *tiling, struct found *found,
                        struct error *error);

#endif
