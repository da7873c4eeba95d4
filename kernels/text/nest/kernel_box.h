/* Expressions of a kernel where some axes are still open: an axis has a span of values, and a
 * number a span in which it lies whatever values of these the axes take (interval arithmetic, Moore
 * 1966). Where all axes that it asks are known, the span is the number, but for what is asked of
 * rounds and for real numbers. */
#ifndef AUTOTUNE_KERNELS_TEXT_NEST_KERNEL_BOX_H
#define AUTOTUNE_KERNELS_TEXT_NEST_KERNEL_BOX_H

#include "kernels/text/plan/kernel_plan.h"

struct span {
    int64_t least, most; /* least > most: no number can be */
};

struct kernel_box {
    const struct kernel_values *values; /* sizes and shares; its axes are not read. Not owned */
    struct span axes[KERNEL_MAX_AXES];
};

static inline bool span_is_known(struct span span)
{
    return span.least == span.most;
}

/* Of a whole expression or a condition (0 or 1). A range is the first round of its loop, which is
 * the longest where ranges only grow with what they name. */
struct span box_span(const struct kernel_box *box, const struct expression *e);

/* Is there a number whatever values the axes have, and is a span the number itself where they are
 * known? */
bool box_is_exact(const struct kernel_box *box, const struct expression *e);

/* How many rounds a loop has at its longest; and how many bytes a tile takes with all its copies,
 * its rooms in the first rounds. */
struct span box_rounds(const struct kernel_box *box, int text_loop);
struct span box_bytes(const struct kernel_box *box, const struct kernel_plan *plan, int number);

#endif
