/* Published figures beside ours: a table of numbers and a function that computes ours in the same
 * order. `autotune reproduce` prints the chapters of jobs/reproduce and of every operator. */
#ifndef AUTOTUNE_KERNELS_CHAPTER_H
#define AUTOTUNE_KERNELS_CHAPTER_H

#include "search/tiling_simulator.h"

struct published {
    const char *source;   /* "T 3.5.1": Tang 2024, section; "R": Zhou et al. 2025; "L": Wu et al.
                            2022; "A": Xiao and Wang 2024 */
    const char *quantity; /* what is compared, and the setting */
    const char *unit;     /* "x" for a ratio */
    double paper;         /* NaN: drawn there, not printed */
    const char *why;      /* why ours differs, or what was taken where the paper leaves it open */
};

struct reproduction {
    const struct hardware *hw;
    const char *source; /* how the source of a wanted row begins; "" for all */
    int threads;
    struct tiling_simulator simulator;
};

struct chapter {
    const struct published *rows;
    int count;
    /* Fills ours[count]; NaN: cannot be recomputed. */
    enum status (*compute)(struct reproduction *r, double *ours, struct error *error);
};

#endif
