/* Does a tiling fit? The room of kernel_room.h in a form that is quick to ask: most kernels' tiles
 * only grow with the ranges and axes that they name, so that the first round of every loop is the
 * largest, and least values of some axes tell what any values take at least. */
#ifndef AUTOTUNE_KERNELS_TEXT_LEGAL_KERNEL_FIT_H
#define AUTOTUNE_KERNELS_TEXT_LEGAL_KERNEL_FIT_H

#include "kernels/text/plan/kernel_plan.h"

enum { FIT_MAX_SUMS = 64 };

/* Tiles of one buffer that live at once, by their numbers in the text. */
struct fit_sum {
    int buffer, count;
    int16_t tiles[KERNEL_MAX_TILES];
};

struct kernel_fit {
    bool grows; /* ranges and tiles grow with all that they name: the rest may be asked */
    int sum_count;
    struct fit_sum *sums; /* owned */
};

enum status kernel_fit_make(const struct kernel_plan *plan, struct kernel_fit *fit,
                            struct error *error);
void kernel_fit_clear(struct kernel_fit *fit);

enum fit_verdict {
    FIT_NOT,
    FIT_NO_NUMBER, /* one cannot be, as an extent of 0: a larger value of an axis may mend that */
    FIT_YES,
};

/* Do the tiles fit into the chip's buffers, with sizes, shares and axes as in *values? *values is
 * left with the first round of every loop. *played: steps that run, at most. */
enum fit_verdict kernel_fits(const struct kernel_plan *plan, const struct kernel_fit *fit,
                             struct kernel_values *values, double *played);

/* Does an expression never fall when something that it names grows? */
bool kernel_grows(const struct kernel_text *kernel, const struct expression *e);

#endif
