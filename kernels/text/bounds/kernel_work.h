/* The work summary of a kernel's tilings, derived from its text: how often which instructions run,
 * loops multiplied out, and which can never overlap in time. docs/bounds.md has the proofs
 * ("Kernels as texts").
 *
 *   kernel_work_make(&plan, &work, &error);           once a plan
 *   kernel_work_layout(work, variant)                 for bound_plan_make
 *   kernel_summarise(work, &values, cores, &summary, &error);   once a tiling
 *   kernel_work_free(work);
 */
#ifndef AUTOTUNE_KERNELS_TEXT_BOUNDS_KERNEL_WORK_H
#define AUTOTUNE_KERNELS_TEXT_BOUNDS_KERNEL_WORK_H

#include "core/work.h"
#include "kernels/text/plan/kernel_plan.h"

/* Which chains there are: more where tiles that are read in parts keep their shape throughout. */
enum work_variant { WORK_SHAPES_STAY, WORK_SHAPES_CHANGE, WORK_VARIANTS };

struct kernel_work;

/* The plan has to stay. STATUS_TOO_LARGE: more kinds of instruction than a summary has lines. */
enum status kernel_work_make(const struct kernel_plan *plan, struct kernel_work **made,
                             struct error *error);
void kernel_work_free(struct kernel_work *work);

const struct work_layout *kernel_work_layout(const struct kernel_work *work,
                                             enum work_variant variant);

/* Of the tiling whose sizes, shares and axes `values` has, on so many cores; summary->layout is the
 * variant (tape/kernel_trace_work.c). STATUS_INVALID: it has instructions that cannot be. */
enum status kernel_summarise(const struct kernel_work *work, const struct kernel_values *values,
                             int cores, struct work *summary, struct error *error);

#endif
