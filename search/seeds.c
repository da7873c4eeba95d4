/* Beams, first through a grid of round values, then, as long as that helps, around the best that is
 * known.
 *
 * A grid has of each octave of an axis the roundest value of each third, and the axis's ends: those
 * of which good tilings are made for most sizes. Numbers of cores stay, and so do the axes of the
 * shortest prefixes while these are few: that a grid of blocks is even counts for more than round
 * sizes.
 *
 * A beam search (Lowerre 1976) goes over prefixes of tilings: of each length those of least bound
 * are kept, few of them from the same shorter one, lest all be alike where a bound says little; the
 * whole tilings that are left are simulated. Its time hardly depends on the size of the space. */
#include "search/seeds.h"

#include "core/array.h"
#include "core/stop.h"
#include "search/prefix.h"

#include <omp.h>
#include <stdlib.h>

/* ---- grids ---- */

enum {
    SHORT_AXIS = 12,  /* values, up to which all stay */
    SHORT_FIRST = 24, /* … of the shortest prefixes' axes */
    FEW_PREFIXES = 1024,
    NEAR = 3, /* values, on either side */
};

/* The third of an octave that a value > 0 lies in: ascends with it. */
static int third_of(int64_t value)
{
    int octave = 63 - __builtin_clzll((uint64_t)value);
    int64_t beyond = value - (INT64_C(1) << octave);
    return 3 * octave + (int)(beyond >= (INT64_C(1) << octave) / 2) +
           (int)(beyond * 4 >= INT64_C(1) << octave);
}

static bool is_rounder(int64_t a, int64_t b)
{
    return (a & -a) >= (b & -b);
}

/* Keeps values of an axis; returns how many. */
static int thin_values(const int64_t values[], int count, int64_t kept[])
{
    int used = 0;
    for (int i = 0; i < count; i++) {
        bool same = used > 0 && values[i] > 0 && third_of(values[i]) == third_of(kept[used - 1]);
        if (!same || i == count - 1 || used == 1)
            kept[used++] = values[i];
        else if (is_rounder(values[i], kept[used - 1]))
            kept[used - 1] = values[i];
    }
    return used;
}

/* Axes of the shortest prefixes, but for cores. */
static bool is_first(const struct space *space, int axis)
{
    return axis < space->kind->nesting->lengths[0] && !space->axes[axis].counts_cores;
}

static bool has_many_prefixes(const struct space *space, const struct space_block *block)
{
    double count = 1;
    for (int a = 0; a < space->axis_count; a++)
        if (is_first(space, a) && block->count[a] > SHORT_FIRST)
            count *= block->count[a];
    return count > FEW_PREFIXES;
}

/* Appends the kept values of a block's axes, which it then has. */
static int64_t *thin_block(const struct space *space, struct space_block *block, int64_t *next)
{
    bool many = has_many_prefixes(space, block);
    for (int a = 0; a < space->axis_count; a++) {
        int most = is_first(space, a) ? SHORT_FIRST : SHORT_AXIS, count = block->count[a];
        bool stays = count <= most || space->axes[a].counts_cores || space->axes[a].value_names ||
                     (is_first(space, a) && !many);
        if (stays)
            continue;
        int used = thin_values(block->values[a], count, next);
        block->values[a] = next;
        block->count[a] = used;
        next += used;
    }
    return next;
}

/* A grid without blocks yet; NULL without memory. */
static int64_t *begin_grid(const struct space *space, struct grid *grid)
{
    size_t all = 1;
    *grid = (struct grid){.space = *space};
    grid->space.block_count = 0;
    grid->space.blocks = NULL;
    for (int b = 0; b < space->block_count; b++)
        for (int a = 0; a < space->axis_count; a++)
            all += (size_t)space->blocks[b].count[a];
    return grid->values = malloc(all * sizeof *grid->values);
}

enum status grid_make(const struct space *space, struct grid *grid, struct error *error)
{
    int64_t *next = begin_grid(space, grid);
    for (int b = 0; b < space->block_count && next; b++) {
        struct space_block *added = space_add_block(&grid->space);
        if (!added)
            return error_memory(error);
        *added = space->blocks[b];
        next = thin_block(space, added, next);
    }
    space_number(&grid->space);
    return next ? STATUS_OK : error_memory(error);
}

/* Borrows what is next to the tiling's value. */
static void keep_near(struct space_block *block, int axis, int64_t value)
{
    int at = 0, count = block->count[axis];
    while (block->values[axis][at] < value)
        at++;
    int first = at > NEAR ? at - NEAR : 0, last = at + NEAR < count ? at + NEAR : count - 1;
    block->values[axis] += first;
    block->count[axis] = last - first + 1;
}

enum status grid_around(const struct space *space, int64_t index, struct grid *grid,
                        struct error *error)
{
    struct tiling tiling;
    begin_grid(space, grid);
    struct space_block *block = grid->values ? space_add_block(&grid->space) : NULL;
    if (!block)
        return error_memory(error);
    *block = *space_block_of(space, index);
    space_tiling(space, index, &tiling);
    for (int a = 0; a < space->axis_count; a++)
        if (!space->axes[a].value_names && !space->axes[a].counts_cores)
            keep_near(block, a, tiling.value[a]);
    space_number(&grid->space);
    return STATUS_OK;
}

void grid_clear(struct grid *grid)
{
    free(grid->space.blocks);
    free(grid->values);
}

/* ---- beams ---- */

enum {
    BEAM_TILINGS = 48,
    WIDTH = 128,      /* prefixes of a length */
    SIBLINGS = 16,    /* … from the same shorter one */
    LAST_SIBLINGS = 4 /* tilings, likewise */
};

struct node {
    struct open_node prefix; /* its bound and index */
    int parent;
};

/* One prefix, and what continues it. */
struct family {
    const struct space *space;
    const struct bounder *bounder;
    const struct prefix_levels *levels;
    int level; /* of what continues it */
    struct open_node prefix;
    int64_t count, capacity;
    struct open_node *longer; /* owned */
    bool failed;
};

struct beam {
    const struct space *space;
    const struct bounder *bounder;
    struct prefix_levels levels;
    int threads;
    int64_t count;
    struct node *nodes; /* owned */
};

/* A longer prefix's bound that is less than the shorter one's says less. */
static void add_longer(void *context, const struct tiling *tiling, int64_t index)
{
    struct family *family = context;
    int64_t bound_fs =
        prefix_bound_fs(family->levels, family->space, family->bounder, tiling, family->level);
    if (bound_fs < family->prefix.bound_fs && !prefix_is_tiling(family->levels, family->level))
        bound_fs = family->prefix.bound_fs;
    family->failed = family->failed || !array_reserve(&family->longer, family->count,
                                                      &family->capacity, sizeof *family->longer);
    if (!family->failed)
        family->longer[family->count++] = (struct open_node){bound_fs, index};
}

static int by_bound(const void *left, const void *right)
{
    const struct open_node *a = &((const struct node *)left)->prefix,
                           *b = &((const struct node *)right)->prefix;
    return open_node_before(a, b) ? -1 : open_node_before(b, a);
}

/* Makes all that families have the beam. */
static enum status join_families(struct beam *beam, const struct family families[],
                                 struct error *error)
{
    int64_t all = 0;
    bool failed = false;
    for (int64_t f = 0; f < beam->count; f++) {
        all += families[f].count;
        failed = failed || families[f].failed;
    }
    struct node *nodes = failed ? NULL : malloc(((size_t)all + 1) * sizeof *nodes);
    if (!nodes)
        return error_memory(error);
    int64_t used = 0;
    for (int64_t f = 0; f < beam->count; f++)
        for (int64_t i = 0; i < families[f].count; i++)
            nodes[used++] = (struct node){families[f].longer[i], (int)f};
    free(beam->nodes);
    beam->nodes = nodes;
    beam->count = used;
    qsort(nodes, (size_t)used, sizeof *nodes, by_bound);
    return STATUS_OK;
}

/* Leaves those of least bound. */
static enum status keep_least(struct beam *beam, int64_t parents, int width, int siblings,
                              struct error *error)
{
    int *taken = calloc((size_t)parents + 1, sizeof *taken), used = 0;
    if (!taken)
        return error_memory(error);
    for (int64_t i = 0; i < beam->count && used < width; i++)
        if (taken[beam->nodes[i].parent]++ < siblings)
            beam->nodes[used++] = beam->nodes[i];
    beam->count = used;
    free(taken);
    return STATUS_OK;
}

/* From prefixes of one length to those of the next. */
static enum status lengthen(struct beam *beam, int level, struct error *error)
{
    const int *length = &beam->levels.length[level];
    int64_t parents = beam->count;
    struct family *families = calloc((size_t)parents + 1, sizeof *families);
    if (!families)
        return error_memory(error);
#pragma omp parallel for num_threads(beam->threads) schedule(dynamic)
    for (int64_t f = 0; f < parents; f++) {
        families[f] = (struct family){.space = beam->space,
                                      .bounder = beam->bounder,
                                      .levels = &beam->levels,
                                      .level = level + 1,
                                      .prefix = beam->nodes[f].prefix};
        space_walk(beam->space, families[f].prefix.index, length[0], length[1], add_longer,
                   &families[f]);
    }
    enum status status = join_families(beam, families, error);
    for (int64_t f = 0; f < parents; f++)
        free(families[f].longer);
    free(families);
    bool last = prefix_is_tiling(&beam->levels, level + 1);
    if (status == STATUS_OK)
        status = keep_least(beam, parents, last ? BEAM_TILINGS : WIDTH,
                            last ? LAST_SIBLINGS : SIBLINGS, error);
    return status;
}

static enum status begin_beam(struct beam *beam, struct error *error)
{
    beam->count = space_roots(beam->space);
    beam->nodes = calloc((size_t)beam->count + 1, sizeof *beam->nodes);
    for (int64_t r = 0; beam->nodes && r < beam->count; r++)
        beam->nodes[r].prefix.index = space_root(beam->space, r);
    return beam->nodes ? STATUS_OK : error_memory(error);
}

static enum status simulate_all(const struct beam *beam, struct workers *workers,
                                struct candidate found[], int *count, struct error *error)
{
    for (int64_t i = 0; i < beam->count; i++)
        found[i] = (struct candidate){.bound_fs = beam->nodes[i].prefix.bound_fs,
                                      .index = beam->nodes[i].prefix.index};
#pragma omp parallel for num_threads(beam->threads) schedule(dynamic)
    for (int64_t i = 0; i < beam->count; i++)
        if (!stop_due(beam->space->stop))
            worker_simulate(&workers->items[omp_get_thread_num()], beam->space, &found[i]);
    for (int64_t i = 0; i < beam->count; i++)
        if (found[i].time_fs)
            found[(*count)++] = found[i];
    return workers_status(workers, error);
}

/* Simulates up to BEAM_TILINGS tilings, of which *count are then in found[], in order of bound;
 * fewer where space->stop ends it. Which they are does not depend on the number of workers. */
static enum status beam_search(const struct space *space, const struct bounder *bounder,
                               struct workers *workers, struct candidate found[BEAM_TILINGS],
                               int *count, struct error *error)
{
    struct beam beam = {.space = space, .bounder = bounder, .threads = workers->count};
    *count = 0;
    prefix_levels_of(space, &beam.levels);
    enum status status = begin_beam(&beam, error);
    for (int l = 0; l < beam.levels.count - 1 && status == STATUS_OK; l++)
        status = lengthen(&beam, l, error);
    if (status == STATUS_OK)
        status = simulate_all(&beam, workers, found, count, error);
    free(beam.nodes);
    return status;
}

/* ---- seeds ---- */

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

static enum status seed_from_grid(struct search_run *run, const struct grid *grid,
                                  struct error *error)
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
        status = seed_from_grid(run, &grid, error);
    grid_clear(&grid);
    for (int r = 0; r < ROUNDS && status == STATUS_OK; r++) {
        best = best_index(run);
        if (best == around || stop_due(run->space->stop))
            break;
        around = best;
        status = grid_around(run->space, around, &grid, error);
        if (status == STATUS_OK)
            status = seed_from_grid(run, &grid, error);
        grid_clear(&grid);
    }
    return status;
}
