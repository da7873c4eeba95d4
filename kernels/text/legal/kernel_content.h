/* Is what steps read written before, and is what they store stored once? "Reading what nothing
 * wrote in the tile's life is an error", products begin a part that nothing wrote or add to one
 * that is written, and an element of a tensor is stored once, or with add=1.
 *
 * Most of that follows from a plan's structure: a writer runs before the reader whenever that does,
 * and its part covers the other. Tiles and tensors of which it does not are in doubt; they are
 * looked at element by element, a tiling at a time, which takes long: not while tilings are
 * searched. */
#ifndef AUTOTUNE_KERNELS_TEXT_LEGAL_KERNEL_CONTENT_H
#define AUTOTUNE_KERNELS_TEXT_LEGAL_KERNEL_CONTENT_H

#include "kernels/text/plan/kernel_plan.h"

struct kernel_doubts {
    bool any;
    bool tiles[KERNEL_MAX_TILES], tensors[KERNEL_MAX_TENSORS]; /* by their numbers in the text */
};

/* What a plan leaves in doubt; `values` as when it was made. */
void kernel_find_doubts(const struct kernel_values *values, const struct kernel_plan *plan,
                        struct kernel_doubts *doubts);

/* Are tiles and tensors in doubt used as they may be, with sizes, shares and axes as in
 * env->values? STATUS_INVALID, "line:column: …", if not; STATUS_TOO_LARGE where that would take too
 * long to find out, STATUS_STOPPED once `stop` (NULL: never) says so. */
enum status kernel_content_check(const struct kernel_plan *plan, const struct kernel_doubts *doubts,
                                 struct kernel_env *env, const struct stop *stop,
                                 struct error *error);

#endif
