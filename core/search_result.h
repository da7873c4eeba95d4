/* What a search has found: what search/ fills in, and all others read. Times and shares of a tiling
 * come from the functions here. */
#ifndef AUTOTUNE_CORE_SEARCH_RESULT_H
#define AUTOTUNE_CORE_SEARCH_RESULT_H

#include "core/space.h"
#include "core/timeline.h"

enum { SEARCH_MAX_PARTS = 4, SEARCH_MAX_RULES = 2 };

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

static inline double found_ns(const struct found *found)
{
    return (double)found->timeline.end_fs / FS_PER_NS;
}

/* Kernels that are started one after the other: 1, or as often as parts are; and the time that it
 * takes to start them all, which is part of the whole. */
double found_launches(const struct space *space, const struct found *found);
double found_launch_ns(const struct space *space, const struct found *found);

/* A pipe or bus and its share of the time. */
struct share {
    const char *name; /* the description's */
    double busy_ns, share;
};

/* Of the i-th, pipes before buses, in the order of the description: a pipe's busy time, and of a
 * bus the bytes of all cores at its best rate. */
struct share found_share(const struct hardware *hw, const struct found *found, int i);

/* The largest; of equal ones the first. */
struct share found_bottleneck(const struct hardware *hw, const struct found *found);

/* Of how many legal tilings is it known that they are at most so much slower than the best, the
 * best included; and how many may be: the same, and those that were not simulated but whose lower
 * bound leaves it open. Equal where all that matter are simulated. */
struct within {
    int64_t surely, at_most;
};

/* What the model says of one legal tiling. */
struct scored {
    int64_t time_fs, index;
};

struct candidate; /* search/candidates.h */

/* Of a search by prefixes of tilings, what was done with those of one length. */
struct search_level {
    int values; /* of a prefix; all of a tiling's: these are simulated, not split */
    int64_t bounded, split, simulated, open;
};
enum { SEARCH_MAX_LEVELS = SPACE_MAX_AXES + 1 };

struct search_result {
    int64_t candidates, feasible, pruned, simulated;
    int64_t pruned_by[SEARCH_MAX_RULES]; /* by the space's rules; of `pruned` */
    bool optimal;                        /* nothing in the space is faster than best[0] */
    bool unsure;      /* it took too long to find out whether `best` reads only what it wrote */
    bool unasked;     /* `feasible` are known to be legal; of others that was not asked */
    bool reached_all; /* with keep_reached: every legal tiling is in it */
    int count;        /* of best; 0: no tiling is legal (or none was reached) */
    int64_t lower_bound_fs; /* of the whole space; the best's time when optimal */
    double gap;             /* (best - lower bound) / best */
    double seconds;
    int level_count; /* 0: not by prefixes */
    struct search_level levels[SEARCH_MAX_LEVELS];
    struct within within_1_percent, within_tolerance;
    struct found *best;    /* ascending time, then index; owned: search_result_clear */
    int64_t score_count;   /* with keep_scores */
    struct scored *scores; /* all that were reached, ascending time, then index; owned likewise */
    int64_t reached_count; /* those whose bound was kept, or simulated, in no order that */
    struct candidate *reached; /* depends on the threads; owned likewise */
};

#endif
