/* Beams (search/beam.h): through a grid of round values, then, as long as that helps, around the
 * best that is known. */
#include "search/seeds.h"

#include "search/beam.h"
#include "search/thin.h"

#include <stdlib.h>

enum { ROUNDS = 4 };

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

/* Adds those that are new. */
static enum status take_seeds(struct search_run *run, const struct space *grid,
                              struct candidate found[], int count, struct error *error)
{
    int64_t before = run->simulated;
    for (int i = 0; i < count; i++) {
        struct tiling tiling;
        space_tiling(grid, found[i].index, &tiling);
        found[i].index = space_index(run->space, &tiling);
        if (seeds_have(run, before, found[i].index))
            continue;
        if (!candidates_push(&run->candidates, found[i]))
            return error_memory(error);
        incumbents_note(&run->incumbents, found[i].time_fs);
        run->simulated++;
    }
    if (run->simulated)
        qsort(run->candidates.items, (size_t)run->simulated, sizeof *run->candidates.items,
              by_index);
    return STATUS_OK;
}

static enum status search_grid(struct search_run *run, const struct grid *grid, struct error *error)
{
    struct candidate found[BEAM_TILINGS];
    int count;
    TRY(beam_search(&grid->space, &run->bounder, &run->workers, found, &count, error));
    return take_seeds(run, &grid->space, found, count, error);
}

/* -1: there is none. */
static int64_t best_index(const struct search_run *run)
{
    const struct candidate *best = NULL, *seeds = run->candidates.items;
    for (int64_t i = 0; i < run->simulated; i++)
        if (!best || seeds[i].time_fs < best->time_fs)
            best = &seeds[i];
    return best ? best->index : -1;
}

enum status seeds_find(struct search_run *run, struct error *error)
{
    struct grid grid;
    int64_t around = -1, best;
    enum status status = grid_make(run->space, &grid, error);
    if (status == STATUS_OK)
        status = search_grid(run, &grid, error);
    grid_clear(&grid);
    for (int r = 0; r < ROUNDS && status == STATUS_OK; r++) {
        best = best_index(run);
        if (best == around || stop_due(run->space->stop))
            break;
        around = best;
        status = grid_around(run->space, around, &grid, error);
        if (status == STATUS_OK)
            status = search_grid(run, &grid, error);
        grid_clear(&grid);
    }
    return status;
}
