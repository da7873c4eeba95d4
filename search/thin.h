/* Parts of a space in which long axes have few values: a grid of round ones, or those next to a
 * tiling's. */
#ifndef AUTOTUNE_SEARCH_THIN_H
#define AUTOTUNE_SEARCH_THIN_H

#include "core/operator.h"

/* The space borrows from the one that it is part of, and must not be closed; its indices are its
 * own. */
struct grid {
    struct space space;
    int64_t *values; /* owned */
};

/* Fill *grid, which the caller clears, whatever is returned; the second one around a tiling of
 * the space. */
enum status grid_make(const struct space *space, struct grid *grid, struct error *error);
enum status grid_around(const struct space *space, int64_t index, struct grid *grid,
                        struct error *error);
void grid_clear(struct grid *grid);

#endif
