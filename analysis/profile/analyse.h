/* The component roofline of what a profiler saw: rows to diagnoses, and what they make together.
 *
 *   profile_open(file, &profile, &error);
 *   while (profile_next(&profile, &row, &found, &error) == STATUS_OK && found) {
 *       analyse_row(&row, &how, &diagnosis);
 *       analyse_count(summary, &row, &diagnosis);
 *   }
 *
 * Active ratios are of the cores' time, as the profilers' own: of the larger one where a kernel
 * runs on both kinds of cores. What neither counters nor shapes give (analyse_shapes.h) stays
 * negative, and a verdict that more knowledge could turn is said to be open.
 * docs/profiles.md. */
#ifndef AUTOTUNE_ANALYSIS_PROFILE_ANALYSE_H
#define AUTOTUNE_ANALYSIS_PROFILE_ANALYSE_H

#include "core/diagnosis.h"
#include "core/hardware.h"
#include "formats/profile.h"

struct analyse_options {
    const struct hardware *hw; /* the chip, for peaks; NULL: not known, and no utilisation is */
    struct diagnosis_thresholds thresholds;
};

/* Fills *diagnosis: time_ns is that of the cores. A broken row, and one that ran on no AI core, has
 * no verdict; neither has one whose mode leaves it open, which has a time. Returns the component
 * that may be what binds the operator, but for its utilisation, which is not known; -1: the verdict
 * is certain. */
int analyse_row(const struct profile_row *row, const struct analyse_options *how,
                struct diagnosis *diagnosis);

/* What would decide what is open of the row: a mode (enum profile_mode) to collect next, or a chip
 * to name; -1: nothing. */
enum { NEXT_CHIP = PROFILE_MODES, NEXTS };
int analyse_next(const struct profile_row *row, const struct hardware *hw,
                 const struct diagnosis *diagnosis, int open);

/* "MemoryAccess", and what it has; NULL of -1. */
const char *analyse_next_name(int next);
const char *analyse_next_reason(int next);

/* How long the operator took: the duration, or where the file has none, the time of its cores;
 * negative: not known. */
double analyse_time_us(const struct profile_row *row, const struct diagnosis *diagnosis);

/* Of the reads of the L2 cache, or of its writes, the share that missed it; negative: not counted.
 */
double counters_miss_share(const struct profile_row *row, bool writes);

/* The share of the time in which the vector unit waited for its buffer, by all conflicts; negative:
 * not counted. */
double counters_conflicts(const struct profile_row *row);

#endif
