/* What a search has not said of a map's cells: a slice's are bounded one by one and simulated in
 * order of bound, and cells without a legal tiling ask their points which limit they break. */
#include "search/landscape_grid.h"
#include "search/workers.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum {
    SLOWEST = 2, /* times the best's time: what is bounded below it is simulated */
    MOST_SIMULATED = 1024,
    MOST_POINTS = 64, /* of a cell that are asked which limit they break; evenly spaced */
};

/* ------------------------------------------------------------------ times */

/* A cell that is simulated. */
struct pick {
    struct candidate candidate; /* index: number of the cell */
    struct tiling tiling;
};

struct picks {
    int64_t count;
    struct pick *items; /* owned */
};

static int by_bound(const void *left, const void *right)
{
    const struct candidate *a = &((const struct pick *)left)->candidate,
                           *b = &((const struct pick *)right)->candidate;
    if (a->bound_fs != b->bound_fs)
        return a->bound_fs < b->bound_fs ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

/* Can it be written and simulated? Also what a space counts once, as another tiling. */
static bool can_be_simulated(const struct space *space, const struct tiling *tiling)
{
    struct violation list[MAX_VIOLATIONS];
    return space_index(space, tiling) >= 0 &&
           (space->kind->legal(space, tiling) || space->kind->violations(space, tiling, list) == 0);
}

/* Bounds one cell, and has it simulated where that is worth while. */
static void bound_cell(const struct grid *grid, const struct bounder *bounder, int x, int y,
                       struct picks *picks)
{
    struct landscape *map = grid->map;
    struct landscape_cell *cell = landscape_at(map, x, y);
    struct tiling tiling = grid_tiling(grid, x, y);
    if (cell->simulated || !can_be_simulated(grid->space, &tiling))
        return;
    cell->legal = grid->space->kind->legal(grid->space, &tiling);
    int64_t bound_fs = bounder_tiling_fs(bounder, grid->space, &tiling);
    if (bound_fs == 0)
        return;
    cell->bound_fs = bound_fs;
    if (bound_fs / SLOWEST <= map->best_fs)
        picks->items[picks->count++] = (struct pick){
            .candidate = {.bound_fs = bound_fs, .index = cell - map->cells}, .tiling = tiling};
}

/* The times of the cells, in the order of their bounds. */
static enum status simulate_cells(const struct grid *grid, struct picks *picks, struct error *error)
{
    struct workers workers;
    int64_t count = picks->count < MOST_SIMULATED ? picks->count : MOST_SIMULATED;
    enum status status = workers_open(&workers, grid->threads, error);
    if (status == STATUS_OK) {
#pragma omp parallel for num_threads(grid->threads) schedule(dynamic)
        for (int64_t i = 0; i < count; i++)
            worker_simulate_tiling(&workers.items[omp_get_thread_num()], grid->space,
                                   &picks->items[i].tiling, &picks->items[i].candidate);
        status = workers_status(&workers, error);
    }
    for (int64_t i = 0; i < count && status == STATUS_OK; i++) {
        struct landscape_cell *cell = &grid->map->cells[picks->items[i].candidate.index];
        cell->time_fs = picks->items[i].candidate.time_fs;
        cell->simulated = 1;
        cell->bound_fs = 0;
    }
    workers_close(&workers);
    return status;
}

enum status grid_simulate_slice(const struct grid *grid, struct error *error)
{
    const struct landscape *map = grid->map;
    struct bounder bounder = {0};
    struct picks picks = {
        .items = calloc((size_t)map->count[0] * (size_t)map->count[1], sizeof *picks.items)};
    if (!picks.items)
        return error_memory(error);
    enum status status = bounder_open(&bounder, grid->space, error);
    for (int y = 0; y < map->count[1] && status == STATUS_OK; y++)
        for (int x = 0; x < map->count[0]; x++)
            bound_cell(grid, &bounder, x, y, &picks);
    qsort(picks.items, (size_t)picks.count, sizeof *picks.items, by_bound);
    if (status == STATUS_OK)
        status = simulate_cells(grid, &picks, error);
    bounder_close(&bounder);
    free(picks.items);
    return status;
}

/* ------------------------------------------------------------------ what is not legal */

/* How often each limit is broken. */
struct limits {
    int count;
    int often[MAX_VIOLATIONS];
    char name[MAX_VIOLATIONS][LANDSCAPE_LIMIT_SIZE];
};

static void note_limits(const struct grid *grid, const struct tiling *tiling, struct limits *limits)
{
    struct violation list[MAX_VIOLATIONS];
    int count = grid->space->kind->violations(grid->space, tiling, list);
    for (int v = 0; v < count; v++) {
        int at = 0;
        while (at < limits->count && strcmp(limits->name[at], list[v].limit) != 0)
            at++;
        if (at == MAX_VIOLATIONS)
            continue;
        if (at == limits->count)
            memcpy(limits->name[limits->count++], list[v].limit, LANDSCAPE_LIMIT_SIZE);
        limits->often[at]++;
    }
}

bool grid_has_block(const struct grid *grid, const struct space_block *block)
{
    for (int a = 0; grid->map->kind == LANDSCAPE_SLICE && a < grid->space->axis_count; a++)
        if (a != grid->axes[0] && a != grid->axes[1] && !block_has(block, a, grid->best->value[a]))
            return false;
    return true;
}

/* How many points of a block a cell has. */
static int64_t points_in(const struct grid *grid, const struct space_block *block,
                         const struct tiling *cell)
{
    int64_t points = 1;
    for (int a = 0; a < grid->space->axis_count; a++) {
        bool fixed = a == grid->axes[0] || a == grid->axes[1] || grid->map->kind == LANDSCAPE_SLICE;
        if (fixed && !block_has(block, a, cell->value[a]))
            return 0;
        points *= fixed ? 1 : block->count[a];
    }
    return points;
}

/* Point number `number` of a cell in a block; the slowest axis is the first. */
static struct tiling point_of(const struct grid *grid, const struct space_block *block,
                              const struct tiling *cell, int64_t number)
{
    struct tiling tiling = *cell;
    for (int a = grid->space->axis_count - 1; a >= 0; a--) {
        if (a == grid->axes[0] || a == grid->axes[1] || grid->map->kind == LANDSCAPE_SLICE)
            continue;
        tiling.value[a] = block->values[a][number % block->count[a]];
        number /= block->count[a];
    }
    return tiling;
}

static void note_block(const struct grid *grid, const struct space_block *block,
                       const struct tiling *cell, struct limits *limits)
{
    int64_t points = points_in(grid, block, cell);
    int64_t asked = points < MOST_POINTS ? points : MOST_POINTS;
    for (int64_t i = 0; i < asked; i++) {
        int64_t number = points == asked ? i : (int64_t)((double)points / MOST_POINTS * (double)i);
        struct tiling tiling = point_of(grid, block, cell, number);
        note_limits(grid, &tiling, limits);
    }
}

static void count_cell(const struct grid *grid, int x, int y)
{
    const struct space *space = grid->space;
    struct landscape_cell *cell = landscape_at(grid->map, x, y);
    struct tiling tiling = grid_tiling(grid, x, y);
    struct limits limits = {0};
    for (int b = 0; b < space->block_count; b++)
        cell->points += points_in(grid, &space->blocks[b], &tiling);
    if (cell->legal || cell->simulated)
        return;
    for (int b = 0; b < space->block_count; b++)
        note_block(grid, &space->blocks[b], &tiling, &limits);
    int most = 0;
    for (int i = 1; i < limits.count; i++)
        if (limits.often[i] > limits.often[most])
            most = i;
    memcpy(cell->limit, limits.name[most], sizeof cell->limit);
}

void grid_count_points(const struct grid *grid)
{
#pragma omp parallel for num_threads(grid->threads) schedule(dynamic)
    for (int y = 0; y < grid->map->count[1]; y++)
        for (int x = 0; x < grid->map->count[0]; x++)
            count_cell(grid, x, y);
}
