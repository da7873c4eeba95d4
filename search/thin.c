/* Of each octave of an axis the roundest value of each third, and the axis's ends: those of which
 * good tilings are made for most sizes. Numbers of cores stay, and so do the axes of the shortest
 * prefixes while these are few: that a grid of blocks is even counts for more than round sizes. */
#include "search/thin.h"

#include <stdlib.h>

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
static int64_t *begin(const struct space *space, struct grid *grid)
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
    int64_t *next = begin(space, grid);
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
    begin(space, grid);
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
