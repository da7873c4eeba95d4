/* The tiling whose worst case is best, over what a fit does not know.
 *
 * Numbers that were fitted to measurements have a standard error (struct spread). Each may lie
 * anywhere within ROBUST_STANDARD_ERRORS of them around its value. Where a bus carries moves of one
 * pipe only, a kernel's time does not decrease with any cost, so that of all such chips the one on
 * which everything costs most is the slowest for every tiling: this corner of the box is a
 * description like any other, and the search on it proves which tiling's worst case is best. Where
 * pipes share a bus, a slower move may let another have more of it; there the corner is one chip of
 * the box, not surely the worst.
 *
 *   robust_corner(folders, name, changes, &hw, &corner, &error)
 *   robust_search(&space, &corner, &options, &robust, &error)
 *   robust_clear(&robust), hardware_clear(&corner.hw) */
#ifndef AUTOTUNE_JOBS_TUNE_ROBUST_H
#define AUTOTUNE_JOBS_TUNE_ROBUST_H

#include "hardware/load.h"
#include "search/search.h"

#include <jansson.h>

enum { ROBUST_STANDARD_ERRORS = 2 };

/* How a number's kind changes what a kernel costs. */
enum cost_direction {
    COST_UNKNOWN,
    COST_RISES, /* with the number: times */
    COST_FALLS, /* rates, and what a cache holds */
};

/* Of the number with this dotted key, by how the key ends. */
enum cost_direction cost_direction_of(const char *key);

struct corner {
    struct hardware hw; /* owned */
    int keys;           /* uncertain numbers */
    bool is_worst;      /* whatever runs: no bus carries moves of several pipes */
};

/* Loads the description `name` (hardware_load_from) with `changes`, which has given *hw, at the
 * corner of the box where everything costs most. A number that --set-hw has changed is what the
 * user says and not uncertain. What the corner's numbers may not exceed by a rule of descriptions
 * goes down or up with them: the totals of a bus, moves that miss the cache. STATUS_INVALID: the
 * description has no uncertain number, or the worst case has no end. */
enum status robust_corner(const char *folders, const char *name,
                          const struct hardware_overrides *changes, const struct hardware *hw,
                          struct corner *corner, struct error *error);

struct robust {
    struct search_result search; /* at the corner, but that best[…] are simulated on the chip as it
                                    is described; owned */
    int64_t worst_fs;            /* of search.best[0], at the corner */
    struct found nominal_best;   /* on the chip as it is described */
    int64_t nominal_worst_fs;    /* at the corner */
    bool nominal_optimal;        /* proven; false when it was cut short */
};

/* STATUS_INVALID where a tiling's time is not that of one program. options->time_limit_s is for
 * both searches together. Without a legal tiling search.count is 0 and the rest is empty. */
enum status robust_search(const struct problem *problem, const struct space *space, int cores,
                          const struct corner *corner, const struct search_options *options,
                          struct robust *robust, struct error *error);
void robust_clear(struct robust *robust);

/* What the answer says of it: keys, standard_errors, corner_is_worst, worst_time_ns, nominal_best.
 */
json_t *robust_json(const struct robust *robust, const struct space *space,
                    const struct corner *corner);

/* One level less, for people. */
void robust_shorten(json_t *answer);

#endif
