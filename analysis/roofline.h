/* The component roofline: what each pipe and bus did against what it could have done, and what
 * limits the operator (R, section 4; core/diagnosis.h has the terms).
 *
 *   diagnosis_of_program(&program, &timeline, cores, &diagnosis, &error);   after simulate()
 *   diagnose(&diagnosis, &thresholds);
 *
 * For rows of a profiler fill names, times and components by hand and call diagnose(). */
#ifndef AUTOTUNE_ANALYSIS_ROOFLINE_H
#define AUTOTUNE_ANALYSIS_ROOFLINE_H

#include "core/diagnosis.h"
#include "core/program.h"
#include "core/timeline.h"

extern const struct diagnosis_thresholds diagnosis_default_thresholds;

/* The verdict's words in answers ("MTE Bound", …); NULL for VERDICT_NONE. */
const char *verdict_name(enum verdict verdict);

/* The name of a pipe's component in R's words: "Cube" for the matrix pipe, "MTE-GM" for MTE2, …;
 * the pipe's own name where R has none. */
const char *component_name(const struct hardware *hw, int pipe);

/* Fills everything but ratios and verdict from a program that was simulated with `cores` cores in
 * step. Pipes without an instruction are left out. STATUS_TOO_LARGE when a count passes 2^62. */
enum status diagnosis_of_program(const struct program *program, const struct timeline *timeline,
                                 int cores, struct diagnosis *diagnosis, struct error *error);

/* Derives efficiency, active_ratio, utilisation and the verdict from time_ns, ideal_ns and busy_ns:
 * bound by the component of the largest utilisation that reaches its threshold; else, when no
 * active ratio reaches thresholds->active, insufficient parallelism (component: the one of the
 * largest active ratio); else the component of the largest active ratio is inefficient. */
void diagnose(struct diagnosis *diagnosis, const struct diagnosis_thresholds *thresholds);

#endif
