/* The chip on which everything costs most, over what a fit does not know.
 *
 * Numbers that were fitted to measurements have a standard error (struct spread). Each may lie
 * anywhere within CORNER_STANDARD_ERRORS of them around its value. Where a bus carries moves of one
 * pipe only, a kernel's time does not decrease with any cost, so that of all such chips the one on
 * which everything costs most is the slowest for every tiling: this corner of the box is a
 * description like any other. Where pipes share a bus, a slower move may let another have more of
 * it; there the corner is one chip of the box, not surely the worst.
 *
 *   corner_make(folders, name, changes, &hw, &corner, &error); …; hardware_clear(&corner.hw) */
#ifndef AUTOTUNE_JOBS_TUNE_CORNER_H
#define AUTOTUNE_JOBS_TUNE_CORNER_H

#include "core/space.h"
#include "hardware/load.h"

enum { CORNER_STANDARD_ERRORS = 2 };

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
enum status corner_make(const char *folders, const char *name,
                        const struct hardware_overrides *changes, const struct hardware *hw,
                        struct corner *corner, struct error *error);

/* Is no chip of the box slower for any tiling of this space? */
bool corner_is_worst_of(const struct corner *corner, const struct space *space);

#endif
