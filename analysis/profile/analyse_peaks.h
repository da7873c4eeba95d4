/* What the counters and shapes of a profiler's row give its components on a chip: how long their
 * work takes at their peaks, or between which times that lies. */
#ifndef AUTOTUNE_ANALYSIS_PROFILE_ANALYSE_PEAKS_H
#define AUTOTUNE_ANALYSIS_PROFILE_ANALYSE_PEAKS_H

#include "core/diagnosis.h"
#include "formats/profile.h"

/* Which component of a diagnosis is a unit of the row; -1: none. */
struct component_places {
    int of[PROFILE_SIDES][PROFILE_UNITS];
};

/* Fills ideal_ns, or least_ns and most_ns, of the components, which have busy_ns, and adds those of
 * buses. Notes what is known, and why not more. hw NULL: no chip is known, and
 * nothing but what is counted as a share of the time. */
void peaks_of_row(const struct profile_row *row, const struct hardware *hw,
                  const struct component_places *places, struct diagnosis *diagnosis);

#endif
