/* The same search by prefixes, without seeds of its own, without counts, and for a few simulations
 * only: its least bounds are those of the grid, and of these the best few tell what is possible. */
#include "search/seeds.h"

#include "search/thin.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { SEED_SIMULATIONS = 48 };

static int by_index(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;
    return a->index < b->index ? -1 : a->index > b->index;
}

bool seeds_have(const struct search_run *run, int64_t count, int64_t index)
{
    struct candidate key = {.index = index};
    return count && bsearch(&key, run->candidates.items, (size_t)count, sizeof key, by_index);
}

static enum status take_seeds(struct search_run *run, const struct space *grid,
                              const struct search_result *found, struct error *error)
{
    for (int64_t i = 0; i < found->reached_count; i++) {
        struct candidate seed = found->reached[i];
        struct tiling tiling;
        if (!seed.time_fs)
            continue;
        space_tiling(grid, seed.index, &tiling);
        seed.index = space_index(run->space, &tiling);
        if (!candidates_push(&run->candidates, seed))
            return error_memory(error);
        incumbents_note(&run->incumbents, seed.time_fs);
        run->simulated++;
    }
    if (run->simulated)
        qsort(run->candidates.items, (size_t)run->simulated, sizeof *run->candidates.items,
              by_index);
    return STATUS_OK;
}

static enum status search_grid(struct search_run *run, const struct space *grid,
                               struct error *error)
{
    int top = run->options->top;
    struct search_options options = {
        .strategy = run->strategy->name,
        .threads = run->threads,
        .top = top,
        .best_only = true,
        .keep_reached = true,
        .hasty = top > SEED_SIMULATIONS ? top : SEED_SIMULATIONS,
    };
    struct search_result found;
    TRY(search(grid, &options, &found, error));
    enum status status = take_seeds(run, grid, &found, error);
    search_result_clear(&found);
    return status;
}

enum status seeds_find(struct search_run *run, struct error *error)
{
    struct grid grid;
    if (run->options->hasty)
        return STATUS_OK;
    enum status status = grid_make(run->space, &grid, error);
    if (status == STATUS_OK && grid.is_thin)
        status = search_grid(run, &grid.space, error);
    grid_clear(&grid);
    return status;
}
