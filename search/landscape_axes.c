/* Which two axes a map has, and which of their values it shows: the axes along which the best
 * tiling's lower bound varies most, and values evenly spaced up to somewhat beyond those of use. */
#include "core/suggest.h"
#include "search/candidates.h"
#include "search/landscape_grid.h"

#include <stdlib.h>
#include <string.h>

enum { MARGIN = 4 }; /* a quarter more values than are of use */

static bool is_legal(const struct space *space, const struct tiling *tiling)
{
    return space_index(space, tiling) >= 0 && space->kind->legal(space, tiling);
}

static int by_value(const void *left, const void *right)
{
    const int64_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

/* Values of an axis in those blocks that may vary it so, ascending, each once; to be freed. NULL
 * without memory. */
static int64_t *axis_values(const struct grid *grid, int axis, int *count)
{
    const struct space *space = grid->space;
    size_t total = 0, used = 0;
    for (int b = 0; b < space->block_count; b++)
        total += (size_t)space->blocks[b].count[axis];
    int64_t *values = malloc((total + 1) * sizeof *values);
    if (!values)
        return NULL;
    for (int b = 0; b < space->block_count; b++) {
        size_t more = (size_t)space->blocks[b].count[axis];
        if (!grid_has_block(grid, &space->blocks[b]))
            continue;
        memcpy(values + used, space->blocks[b].values[axis], more * sizeof *values);
        used += more;
    }
    qsort(values, used, sizeof *values, by_value);
    *count = 0;
    for (size_t i = 0; i < used; i++)
        if (*count == 0 || values[i] != values[*count - 1])
            values[(*count)++] = values[i];
    return values;
}

/* ------------------------------------------------------------------ which values */

/* The largest value of an axis that some tiling of the map may have: one that was reached, or of
 * the best's legal neighbours. */
static int64_t largest_of_use(const struct grid *grid, int a, const int64_t *values, int count)
{
    int axis = grid->axes[a];
    struct tiling tiling = *grid->best;
    int64_t largest = grid->best->value[axis];
    for (int i = 0; i < count; i++) {
        tiling.value[axis] = values[i];
        if (values[i] > largest && is_legal(grid->space, &tiling))
            largest = values[i];
    }
    for (int64_t i = 0; grid->map->kind == LANDSCAPE_ENVELOPE && i < grid->result->reached_count;
         i++) {
        space_tiling(grid->space, grid->result->reached[i].index, &tiling);
        if (tiling.value[axis] > largest)
            largest = tiling.value[axis];
    }
    return largest;
}

static int rank_of(const int64_t *values, int count, int64_t value)
{
    int rank = 0;
    while (rank + 1 < count && values[rank] < value)
        rank++;
    return rank;
}

/* Evenly spaced values, the first and the last among them; the best's takes the place of one that
 * is next to it. */
static void choose(struct landscape *map, int a, const int64_t *values, int count, int64_t best)
{
    int shown = count < LANDSCAPE_MAX_VALUES ? count : LANDSCAPE_MAX_VALUES, below = 0;
    int64_t *chosen = map->value[a];
    map->count[a] = shown;
    for (int i = 0; i < shown; i++) {
        chosen[i] = values[shown < count ? (int64_t)i * (count - 1) / (shown - 1) : i];
        if (chosen[i] <= best)
            below = i;
    }
    if (chosen[below] != best)
        chosen[below + 1 < shown - 1 ? below + 1 : below] = best;
}

enum status grid_choose_values(struct grid *grid, struct error *error)
{
    for (int a = 0; a < 2; a++) {
        int count, used;
        int64_t *values = axis_values(grid, grid->axes[a], &count);
        if (!values)
            return error_memory(error);
        used = rank_of(values, count, largest_of_use(grid, a, values, count)) + 1;
        used += used / MARGIN + 1;
        used = used < count ? used : count;
        choose(grid->map, a, values, used, grid->best->value[grid->axes[a]]);
        grid->map->left_out[a] = count - grid->map->count[a];
        free(values);
    }
    return STATUS_OK;
}

/* ------------------------------------------------------------------ which axes */

/* How much the lower bound of the best varies with one axis: largest over smallest, less 1. */
static enum status variation(const struct grid *grid, const struct bounder *bounder, int axis,
                             double *score, struct error *error)
{
    int64_t low_fs = INT64_MAX, high_fs = 0;
    int count;
    int64_t *values = axis_values(grid, axis, &count);
    struct tiling tiling = *grid->best;
    if (!values)
        return error_memory(error);
    for (int i = 0; i < count; i++) {
        tiling.value[axis] = values[i];
        if (!is_legal(grid->space, &tiling))
            continue;
        int64_t bound_fs = bounder_tiling_fs(bounder, grid->space, &tiling);
        low_fs = bound_fs < low_fs ? bound_fs : low_fs;
        high_fs = bound_fs > high_fs ? bound_fs : high_fs;
    }
    free(values);
    *score = high_fs > 0 ? (double)(high_fs - low_fs) / (double)low_fs : 0;
    return STATUS_OK;
}

/* The two with the largest scores, in the order of the space. */
static void pick_two(const double score[], int count, int axes[2])
{
    axes[0] = score[1] > score[0];
    axes[1] = !axes[0];
    for (int a = 2; a < count; a++) {
        if (score[a] <= score[axes[1]])
            continue;
        axes[1] = a;
        if (score[a] > score[axes[0]]) {
            axes[1] = axes[0];
            axes[0] = a;
        }
    }
    if (axes[0] > axes[1]) {
        int first = axes[1];
        axes[1] = axes[0];
        axes[0] = first;
    }
}

static enum status choose_axes(const struct space *space, const struct tiling *best, int axes[2],
                               struct error *error)
{
    struct bounder bounder;
    struct landscape map = {.kind = LANDSCAPE_ENVELOPE};
    struct grid grid = {.space = space, .best = best, .map = &map};
    double score[SPACE_MAX_AXES] = {0};
    enum status status = bounder_open(&bounder, space, error);
    for (int a = 0; a < space->axis_count && status == STATUS_OK; a++) {
        score[a] = -1;
        if (!space->axes[a].value_names)
            status = variation(&grid, &bounder, a, &score[a], error);
    }
    bounder_close(&bounder);
    if (status == STATUS_OK)
        pick_two(score, space->axis_count, axes);
    return status;
}

static enum status parse_axes(const struct space *space, const char *names, int axes[2],
                              struct error *error)
{
    const char *comma = strchr(names, ',');
    if (!comma)
        return error_set(error, STATUS_INVALID, "expected two names of tile sizes, as %s,%s",
                         space->axes[0].name, space->axes[1].name);
    const char *name[2] = {names, comma + 1};
    size_t length[2] = {(size_t)(comma - names), strlen(comma + 1)};
    for (int a = 0; a < 2; a++) {
        axes[a] = length[a] < 64 ? space_axis(space, name[a], (int)length[a]) : -1;
        if (axes[a] < 0) {
            struct suggestion like = suggest_for(name[a], length[a] < 64 ? (int)length[a] : 64);
            for (int i = 0; i < space->axis_count; i++)
                suggest_try(&like, space->axes[i].name);
            return error_set(error, STATUS_INVALID, "the space %s has no axis '%s'%s",
                             space->kind->name, like.word, like.text);
        }
    }
    return axes[0] != axes[1]
               ? STATUS_OK
               : error_set(error, STATUS_INVALID, "both axes are %s, expected two different ones",
                           space->axes[axes[0]].name);
}

enum status landscape_axes(const struct space *space, const struct search_result *result,
                           const char *names, int axes[2], struct error *error)
{
    if (space->axis_count < 2)
        return error_set(error, STATUS_INVALID, "the space %s has less than two axes",
                         space->kind->name);
    if (names)
        return parse_axes(space, names, axes, error);
    axes[0] = 0;
    axes[1] = 1;
    bool bounded = !space->kind->costs;
    return result->count && bounded ? choose_axes(space, &result->best[0].tiling, axes, error)
                                    : STATUS_OK;
}
