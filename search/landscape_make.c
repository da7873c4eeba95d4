/* Makes a map: chooses its grid, and puts what a search has reached into the cells. */
#include "search/landscape_make.h"

#include "search/candidates.h"
#include "search/landscape_grid.h"

#include <stdlib.h>
#include <string.h>

struct landscape_cell *grid_cell(const struct grid *grid, const struct tiling *tiling)
{
    int at[2];
    const struct landscape *map = grid->map;
    for (int a = 0; a < 2; a++) {
        int64_t value = tiling->value[grid->axes[a]];
        int low = 0, high = map->count[a];
        while (low + 1 < high) {
            int middle = (low + high) / 2;
            if (map->value[a][middle] <= value)
                low = middle;
            else
                high = middle;
        }
        if (map->value[a][low] != value)
            return NULL;
        at[a] = low;
    }
    for (int a = 0; map->kind == LANDSCAPE_SLICE && a < grid->space->axis_count; a++)
        if (a != grid->axes[0] && a != grid->axes[1] && tiling->value[a] != grid->best->value[a])
            return NULL;
    return landscape_at(map, at[0], at[1]);
}

struct tiling grid_tiling(const struct grid *grid, int x, int y)
{
    struct tiling tiling = *grid->best;
    tiling.value[grid->axes[0]] = grid->map->value[0][x];
    tiling.value[grid->axes[1]] = grid->map->value[1][y];
    return tiling;
}

static void least(int64_t *kept_fs, int64_t fs)
{
    if (*kept_fs == 0 || fs < *kept_fs)
        *kept_fs = fs;
}

/* What the search knows of each tiling. */
static void note_reached(const struct grid *grid)
{
    const struct search_result *result = grid->result;
    for (int64_t i = 0; i < result->reached_count; i++) {
        const struct candidate *candidate = &result->reached[i];
        struct tiling tiling;
        space_tiling(grid->space, candidate->index, &tiling);
        struct landscape_cell *cell = grid_cell(grid, &tiling);
        if (!cell)
            continue;
        cell->legal++;
        cell->simulated += candidate->time_fs != 0;
        if (candidate->time_fs)
            least(&cell->time_fs, candidate->time_fs);
        else
            least(&cell->bound_fs, candidate->bound_fs);
    }
}

static void find_best(const struct grid *grid)
{
    struct landscape *map = grid->map;
    int number = (int)(grid_cell(grid, grid->best) - map->cells);
    map->best[0] = number % map->count[0];
    map->best[1] = number / map->count[0];
    map->best_fs = grid->result->best[0].timeline.end_fs;
}

static enum status fill(struct grid *grid, struct error *error)
{
    struct landscape *map = grid->map;
    TRY(grid_choose_values(grid, error));
    map->cells = calloc((size_t)map->count[0] * (size_t)map->count[1], sizeof *map->cells);
    if (!map->cells)
        return error_memory(error);
    find_best(grid);
    note_reached(grid);
    if (map->kind == LANDSCAPE_SLICE)
        TRY(grid_simulate_slice(grid, error));
    grid_count_points(grid);
    return STATUS_OK;
}

bool landscape_possible(const struct space *space, const struct search_result *result,
                        enum landscape_kind kind)
{
    return result->count > 0 && space->axis_count >= 2 &&
           (kind == LANDSCAPE_SLICE || (result->reached && result->reached_all));
}

enum status landscape_make(const struct space *space, const struct search_result *result,
                           const int axes[2], enum landscape_kind kind, int threads,
                           struct landscape *landscape, struct error *error)
{
    struct grid grid = {.space = space,
                        .result = result,
                        .axes = {axes[0], axes[1]},
                        .threads = search_threads(space, threads),
                        .map = landscape};
    *landscape =
        (struct landscape){.kind = kind, .axis = {&space->axes[axes[0]], &space->axes[axes[1]]}};
    if (!landscape_possible(space, result, kind))
        return error_set(error, STATUS_INVALID,
                         kind == LANDSCAPE_SLICE
                             ? "a map needs a best tiling and two axes"
                             : "a map over all tilings needs a search that listed them all");
    grid.best = &result->best[0].tiling;
    enum status status = fill(&grid, error);
    if (status != STATUS_OK)
        landscape_clear(landscape);
    return status;
}

void landscape_clear(struct landscape *landscape)
{
    free(landscape->cells);
    landscape->cells = NULL;
}
