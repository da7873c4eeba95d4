/* What a structure's tilings do and whether they fit, as tapes: for boxes of tilings, of each axis
 * all values between two.
 *
 *   struct kernel_trace trace;
 *   kernel_trace_make(plan, &values, cores, open, &trace, &error)     shares, words, copies are set
 *   kernel_trace_fits(&trace, inputs, scratch)                       may any of the box be legal?
 *   kernel_trace_work(&trace, inputs, scratch, &work)                a summary that bounds them all
 *   kernel_trace_clear(&trace)
 *
 * docs/bounds.md has the proofs ("Boxes of a text's tilings"). */
#ifndef AUTOTUNE_KERNELS_TEXT_TAPE_KERNEL_TRACE_H
#define AUTOTUNE_KERNELS_TEXT_TAPE_KERNEL_TRACE_H

#include "kernels/text/space/kernel_space_internal.h"
#include "kernels/text/tape/kernel_tape.h"

struct kernel_trace {
    struct tape fits, work;
    const struct work_layout *layout; /* not owned */
    int cores, layout_number;
    uint64_t vector_lines; /* lines whose units are repeats, the first of each instruction too */
};

/* Of each open axis (bits) the least and the most value; the others, sizes and shares are as in
 * *values. The plan is that of most copies. STATUS_TOO_LARGE: it cannot be written down. */
enum status kernel_trace_make(const struct space_plan *plan, const struct kernel_values *values,
                              int cores, unsigned open, const struct interval axes[],
                              struct kernel_trace *trace, struct error *error);
void kernel_trace_clear(struct kernel_trace *trace);

/* Of the axes of a box; `scratch` has room for kernel_trace_room numbers. */
int kernel_trace_room(const struct kernel_trace *trace);
struct interval kernel_trace_fits(const struct kernel_trace *trace, const struct interval axes[],
                                  double scratch[]);
void kernel_trace_work(const struct kernel_trace *trace, const struct interval axes[],
                       double scratch[], struct work *work);

#endif
