/* Internal to jobs/: one file a chapter, each a table of published numbers and a function that
 * computes ours in the same order. */
#ifndef AUTOTUNE_JOBS_REPRODUCE_PARTS_H
#define AUTOTUNE_JOBS_REPRODUCE_PARTS_H

#include "jobs/details_parts.h"
#include "jobs/reproduce.h"

struct published {
    const char *source;   /* "T 3.5.1": thesis, section; "R": component roofline */
    const char *quantity; /* what is compared, and the setting */
    const char *unit;     /* "x" for a ratio */
    double paper;
    const char *why; /* why ours differs, or what was taken where the paper leaves it open */
};

struct reproduction {
    const struct hardware *hw;
    int threads;
    struct player player;
};

struct chapter {
    const struct published *rows;
    int count;
    /* Fills ours[count]; NaN: cannot be recomputed. */
    enum status (*compute)(struct reproduction *r, double *ours, struct error *error);
};

extern const struct chapter simulator_chapter, knn_chapter, cubefx_chapter, precision_chapter,
    quoted_chapter;

#endif
