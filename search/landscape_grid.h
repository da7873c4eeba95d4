/* The grid of a map while it is made (search/landscape_make.h): its axes, and tilings by cell. */
#ifndef AUTOTUNE_SEARCH_LANDSCAPE_GRID_H
#define AUTOTUNE_SEARCH_LANDSCAPE_GRID_H

#include "search/landscape_make.h"

struct grid {
    const struct space *space;
    const struct search_result *result;
    const struct tiling *best;
    int axes[2], threads;
    struct landscape *map;
};

/* Chooses at most LANDSCAPE_MAX_VALUES of each axis: up to somewhat beyond the largest that is of
 * use, evenly, with the best's among them. */
enum status grid_choose_values(struct grid *grid, struct error *error);

/* The cell of a tiling, or NULL when its values are not shown; or when it is not in the slice. */
struct landscape_cell *grid_cell(const struct grid *grid, const struct tiling *tiling);

/* The best tiling with the values of a cell. */
struct tiling grid_tiling(const struct grid *grid, int x, int y);

/* Bounds every tiling of a slice that `cells` do not know yet, and simulates those that may be less
 * than twice as slow as the best. */
enum status grid_simulate_slice(const struct grid *grid, struct error *error);

/* Has a block tilings of the map? */
bool grid_has_block(const struct grid *grid, const struct space_block *block);

/* Counts the points of every cell, and says which limit is in the way where none is legal. */
void grid_count_points(const struct grid *grid);

#endif
