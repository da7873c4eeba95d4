/* Good tilings before anything is proven: what beams find in a grid of few values and around the
 * best of these. Which they are follows from the space alone. */
#ifndef AUTOTUNE_SEARCH_SEEDS_H
#define AUTOTUNE_SEARCH_SEEDS_H

#include "search/strategy.h"

/* Adds them to the run's candidates as simulated, in order of index. */
enum status seeds_find(struct search_run *run, struct error *error);

/* Is a tiling among the first `count` of them? */
bool seeds_have(const struct search_run *run, int64_t count, int64_t index);

/* A part of a space in which long axes have few values: round ones, or those next to a tiling's. */
struct grid {
    struct space
        space;       /* borrows from the whole one, must not be closed; with indices of its own */
    int64_t *values; /* owned */
};

/* Fill *grid, which the caller clears, whatever is returned; the second one around a tiling of
 * the space. */
enum status grid_make(const struct space *space, struct grid *grid, struct error *error);
enum status grid_around(const struct space *space, int64_t index, struct grid *grid,
                        struct error *error);
void grid_clear(struct grid *grid);

#endif
