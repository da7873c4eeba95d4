/* What a structure's tilings do and whether they fit, as tapes: for boxes of tilings, of each axis
 * all values between two.
 *
 *   struct kernel_trace trace;
 *   kernel_trace_make(plan, &values, &scope, &trace, &error)      axes that are not open are set
 *   kernel_trace_give(&trace, &values, inputs)                    what is known of some shares
 *   kernel_trace_fits(&trace, inputs, scratch)                    may any of the box be legal?
 *   kernel_trace_work(&trace, inputs, scratch, cores, &work)      a summary that bounds them all
 *   kernel_trace_clear(&trace)
 *
 * docs/bounds.md has the proofs ("Boxes of a text's tilings"). */
#ifndef AUTOTUNE_KERNELS_TEXT_TAPE_KERNEL_TRACE_H
#define AUTOTUNE_KERNELS_TEXT_TAPE_KERNEL_TRACE_H

#include "kernels/text/space/kernel_space_internal.h"
#include "kernels/text/tape/kernel_tape.h"

/* What is an input: axes, and where it is of any shares what cores make of sizes and prices. */
enum { TRACE_MAX_GIVEN = 64, TRACE_INPUTS = SPACE_MAX_AXES + TRACE_MAX_GIVEN };

struct trace_scope {
    unsigned open;               /* axes, bits; the others are as in the values */
    const struct interval *axes; /* of each that is open the least and the most value */
    bool any_shares;             /* else shares are as in the values */
};

/* A size, a let that cores share, how many cores there are, or fs that a unit of a price takes. */
struct trace_given {
    enum { GIVEN_SIZE, GIVEN_LET, GIVEN_CORES, GIVEN_PRICE } kind;
    int number;
};

struct kernel_trace {
    struct tape fits, work;
    const struct work_layout *layout; /* not owned */
    int layout_number;
    uint64_t vector_lines; /* lines whose units are repeats, the first of each instruction too */
    int given_count;
    struct trace_given given[TRACE_MAX_GIVEN]; /* inputs behind the axes */
};

/* The plan is that of most copies. STATUS_TOO_LARGE: it cannot be written down. */
enum status kernel_trace_make(const struct space_plan *plan, const struct kernel_values *values,
                              const struct trace_scope *scope, struct kernel_trace *trace,
                              struct error *error);
void kernel_trace_clear(struct kernel_trace *trace);

/* Whole numbers and conditions that plans hang on instead, in place of what fits; those that a tape
 * can say. */
enum status kernel_trace_choices(const struct kernel_values *values,
                                 const struct trace_scope *scope,
                                 const struct expression *const all[], int count, bool is_traced[],
                                 struct kernel_trace *trace, struct error *error);
void kernel_trace_choose(const struct kernel_trace *trace, const struct interval inputs[],
                         double scratch[], struct interval results[]);

/* Fills the inputs behind the axes: with the shares of *values. */
void kernel_trace_give(const struct kernel_trace *trace, const struct kernel_values *values,
                       struct interval inputs[TRACE_INPUTS]);

/* `inputs` begin with the axes of a box; `scratch` has room for kernel_trace_room numbers. */
int kernel_trace_room(const struct kernel_trace *trace);
struct interval kernel_trace_fits(const struct kernel_trace *trace, const struct interval inputs[],
                                  double scratch[]);
void kernel_trace_work(const struct kernel_trace *trace, const struct interval inputs[],
                       double scratch[], int cores, struct work *work);

#endif
