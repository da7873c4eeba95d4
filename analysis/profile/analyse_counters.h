/* What the counters of a profiler's row say of its components: exactly where bytes or cycles were
 * counted, otherwise between which times it lies. docs/profiles.md has the table by mode. */
#ifndef AUTOTUNE_ANALYSIS_PROFILE_ANALYSE_COUNTERS_H
#define AUTOTUNE_ANALYSIS_PROFILE_ANALYSE_COUNTERS_H

#include "analysis/profile/analyse_traffic.h"

/* Does the row count operations, bytes or activity of this unit; of any; does it count bytes? */
bool counters_have(const struct profile_row *row, int side, int unit);
bool counters_any(const struct profile_row *row);
bool counters_have_bytes(const struct profile_row *row);

/* Cycles of the matrix unit by type are its ideal time, on any chip. */
void counters_add_cube(const struct profile_row *row, const struct component_places *places,
                       struct diagnosis *diagnosis);

/* What moved between memories; between traffic_begin and traffic_close. False: nothing of it is of
 * units that the chip has. */
bool counters_add_bytes(struct peaks *peaks);

/* What the vector unit reads and writes takes so many repeats at least; after traffic_close. */
void counters_add_vector(struct peaks *peaks);

/* How long the vector unit was active at least, by its types; negative: not counted. */
double counters_vector_us(const struct profile_row *row, int side);

/* Of the reads of the L2 cache, or of its writes, the share that missed it; negative: not counted.
 */
double counters_miss_share(const struct profile_row *row, bool writes);

/* The share of the time in which the vector unit waited for its buffer, by all conflicts; negative:
 * not counted. */
double counters_conflicts(const struct profile_row *row);

#endif
