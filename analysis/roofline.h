/* The component roofline: what each pipe and bus did against what it could have done, and what
 * limits the operator (Zhou et al. 2025, section 4; core/diagnosis.h has the terms).
 *
 *   diagnosis_of_program(&program, &timeline, cores, &diagnosis);   after simulate()
 *   diagnose(&diagnosis, &thresholds);
 *
 * For rows of a profiler fill names, times and components by hand and call diagnose(). */
#ifndef AUTOTUNE_ANALYSIS_ROOFLINE_H
#define AUTOTUNE_ANALYSIS_ROOFLINE_H

#include "core/diagnosis.h"
#include "core/program.h"
#include "core/timeline.h"

extern const struct diagnosis_thresholds diagnosis_default_thresholds;

/* The name of a pipe's component in the words of Zhou et al.: "Cube" for the matrix pipe, "MTE-GM"
 * for MTE2, …; the pipe's own name where they have none. */
const char *component_name(const struct hardware *hw, int pipe);

/* How long work takes one core at its peak, when nothing but the work costs time: `bytes` over a
 * move's price, `elements` of `type` in full repeats of a vector operation's price, and `bytes` of
 * all cores over a bus at its largest total. */
double peak_move_ns(const struct hardware *hw, int price, double bytes);
double peak_vector_ns(const struct hardware *hw, int price, enum dtype type, double elements);
double peak_bus_ns(const struct hardware *hw, int bus, double bytes);

/* Fills everything but name, ratios, verdict and the naive reading from a program that was
 * simulated with `cores` cores in step. Pipes and buses without work to do are left out. Of a
 * deadlocked program time and busy times are not known, and the note says where it is stuck. */
void diagnosis_of_program(const struct program *program, const struct timeline *timeline, int cores,
                          struct diagnosis *diagnosis);

/* Derives ratios, the naive reading and the verdict from time_ns, ideal_ns (or least_ns and
 * most_ns), busy_ns and parts:
 * - bound by the component of the largest utilisation, of those that reach their threshold; where
 *   it is not known, what it is at least counts;
 * - else there is none where the busy time of some pipe is not known;
 * - else, when no pipe's active ratio reaches thresholds->active, insufficient parallelism
 *   (component: the pipe of the largest active ratio). A bus that is always in use by one transfer
 *   at a time is just that, so buses do not count here;
 * - else it is about the pipe of the largest active ratio. It is inefficient, unless most of what
 *   it loses is waiting for a bus: then that bus bounds it. Where its utilisation is not known,
 *   nothing shows that it reaches its threshold, and the rule is the same: the caller's note should
 *   say that the verdict is open. */
void diagnose(struct diagnosis *diagnosis, const struct diagnosis_thresholds *thresholds);

#endif
