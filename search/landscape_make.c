/* A map is made in this order: its two axes, along which the best tiling's lower bound varies most;
 * their values, evenly spaced up to somewhat beyond those of use; what a search has reached, put
 * into the cells; and what it has not said of them. A slice's cells are bounded one by one and
 * simulated in order of bound, and cells without a legal tiling ask their points which limit they
 * break. */
#include "search/landscape_make.h"

#include "core/stop.h"
#include "core/suggest.h"
#include "search/workers.h"

#include <assert.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum {
    MARGIN = 4,  /* a quarter more values than are of use */
    SLOWEST = 2, /* times the best's time: what is bounded below it is simulated */
    MOST_SIMULATED = 1024,
    MOST_POINTS = 64, /* of a cell that are asked which limit they break; evenly spaced */
};

/* A map while it is made: its axes, and tilings by cell. */
struct grid {
    const struct space *space;
    const struct search_result *result;
    const struct tiling *best;
    int axes[2], threads;
    struct landscape *map;
};

/* Has a block tilings of the map? */
static bool grid_has_block(const struct grid *grid, const struct space_block *block)
{
    for (int a = 0; grid->map->kind == LANDSCAPE_SLICE && a < grid->space->axis_count; a++)
        if (a != grid->axes[0] && a != grid->axes[1] && !block_has(block, a, grid->best->value[a]))
            return false;
    return true;
}

/* The cell of a tiling, or NULL when its values are not shown; or when it is not in the slice. */
static struct landscape_cell *grid_cell(const struct grid *grid, const struct tiling *tiling)
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

/* The best tiling with the values of a cell. */
static struct tiling grid_tiling(const struct grid *grid, int x, int y)
{
    struct tiling tiling = *grid->best;
    tiling.value[grid->axes[0]] = grid->map->value[0][x];
    tiling.value[grid->axes[1]] = grid->map->value[1][y];
    return tiling;
}

/* What was made before this is not a map. */
static enum status check_stop(const struct space *space, struct error *error)
{
    return stop_due(space->stop) ? error_set(error, STATUS_STOPPED, "stopped") : STATUS_OK;
}

/* Does a search count it? Where nothing has to agree, what lists tilings says so in less time than
 * what finds their faults. After the stop nothing counts. */
static bool is_legal(const struct space *space, const struct tiling *tiling)
{
    const struct operator_space *kind = space->kind;
    if (stop_due(space->stop) || space_index(space, tiling) < 0)
        return false;
    return kind->possible && !kind->agree ? kind->possible(space, tiling, space->axis_count)
                                          : kind->legal(space, tiling);
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
static void choose_evenly(struct landscape *map, int a, const int64_t *values, int count,
                          int64_t best)
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

/* At most LANDSCAPE_MAX_VALUES of each axis: up to somewhat beyond the largest that is of use. */
static enum status grid_choose_values(struct grid *grid, struct error *error)
{
    for (int a = 0; a < 2; a++) {
        int count, used;
        int64_t *values = axis_values(grid, grid->axes[a], &count);
        if (!values)
            return error_memory(error);
        used = rank_of(values, count, largest_of_use(grid, a, values, count)) + 1;
        used += used / MARGIN + 1;
        used = used < count ? used : count;
        choose_evenly(grid->map, a, values, used, grid->best->value[grid->axes[a]]);
        grid->map->left_out[a] = count - grid->map->count[a];
        free(values);
    }
    return STATUS_OK;
}

/* ------------------------------------------------------------------ which axes */

/* How much the lower bound of the best varies with one axis: largest over smallest, less 1. */
static enum status bound_variation(const struct grid *grid, const struct bounder *bounder, int axis,
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
        if (stop_due(grid->space->stop) || !is_legal(grid->space, &tiling))
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
            status = bound_variation(&grid, &bounder, a, &score[a], error);
        if (status == STATUS_OK)
            status = check_stop(space, error);
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

/* ------------------------------------------------------------------ a slice's times */

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
    return is_legal(space, tiling) || (space->kind->agree && space_index(space, tiling) >= 0 &&
                                       space->kind->violations(space, tiling, list) == 0);
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
    cell->legal = is_legal(grid->space, &tiling);
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
    if (status == STATUS_OK)
        status = check_stop(grid->space, error);
    for (int64_t i = 0; i < count && status == STATUS_OK; i++) {
        struct landscape_cell *cell = &grid->map->cells[picks->items[i].candidate.index];
        cell->time_fs = picks->items[i].candidate.time_fs;
        cell->simulated = 1;
        cell->bound_fs = 0;
    }
    workers_close(&workers);
    return status;
}

/* Bounds every tiling of a slice that cells do not know yet, and simulates some. */
static enum status grid_simulate_slice(const struct grid *grid, struct error *error)
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
    if (cell->legal || cell->simulated || stop_due(space->stop))
        return;
    for (int b = 0; b < space->block_count; b++)
        note_block(grid, &space->blocks[b], &tiling, &limits);
    int most = 0;
    for (int i = 1; i < limits.count; i++)
        if (limits.often[i] > limits.often[most])
            most = i;
    memcpy(cell->limit, limits.name[most], sizeof cell->limit);
}

/* Of every cell, and says which limit is in the way where none is legal. */
static void grid_count_points(const struct grid *grid)
{
#pragma omp parallel for num_threads(grid->threads) schedule(dynamic)
    for (int y = 0; y < grid->map->count[1]; y++)
        for (int x = 0; x < grid->map->count[0]; x++)
            count_cell(grid, x, y);
}

/* ------------------------------------------------------------------ the map */

static void keep_least(int64_t *kept_fs, int64_t fs)
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
            keep_least(&cell->time_fs, candidate->time_fs);
        else
            keep_least(&cell->bound_fs, candidate->bound_fs);
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

static enum status fill_cells(struct grid *grid, struct error *error)
{
    struct landscape *map = grid->map;
    TRY(grid_choose_values(grid, error));
    assert(map->count[0] > 0 && map->count[1] > 0);
    map->cells = calloc((size_t)map->count[0] * (size_t)map->count[1], sizeof *map->cells);
    if (!map->cells)
        return error_memory(error);
    find_best(grid);
    note_reached(grid);
    if (map->kind == LANDSCAPE_SLICE)
        TRY(grid_simulate_slice(grid, error));
    grid_count_points(grid);
    return check_stop(grid->space, error);
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
    enum status status = fill_cells(&grid, error);
    if (status != STATUS_OK)
        landscape_clear(landscape);
    return status;
}

void landscape_clear(struct landscape *landscape)
{
    free(landscape->cells);
    landscape->cells = NULL;
}
