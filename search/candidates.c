#include "search/candidates.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum status bounder_open(struct bounder *bounder, const struct space *space, struct error *error)
{
    int cores = space->hw->cores;
    bounder->layouts = space->layout_count;
    bounder->plans = calloc((size_t)cores * (size_t)bounder->layouts, sizeof *bounder->plans);
    if (!bounder->plans)
        return error_memory(error);
    for (int c = 0; c < cores; c++)
        for (int l = 0; l < bounder->layouts; l++)
            bound_plan_make(&bounder->plans[c * bounder->layouts + l], space->hw, c + 1,
                            &space->layouts[l]);
    return STATUS_OK;
}

void bounder_close(struct bounder *bounder)
{
    free(bounder->plans);
}

/* The candidates under one value of the slowest axis of one block. */
struct row {
    int64_t count, capacity;
    struct candidate *items;
};

struct walk {
    const struct space *space;
    const struct space_block *block;
    const struct bounder *bounder;
    struct row *row;
    struct tiling tiling;
    bool failed;
};

static void keep(struct walk *walk, int64_t index)
{
    struct row *row = walk->row;
    struct work work;
    if (row->count == row->capacity) {
        row->capacity = row->capacity ? 2 * row->capacity : 256;
        struct candidate *grown = realloc(row->items, (size_t)row->capacity * sizeof *grown);
        if (!grown) {
            walk->failed = true;
            return;
        }
        row->items = grown;
    }
    int64_t bound_fs = 0; /* of spaces without a summary only the legal tilings are wanted */
    if (walk->space->kind->summarise) {
        walk->space->kind->summarise(walk->space, &walk->tiling, &work);
        bound_fs = bounder_fs(walk->bounder, &work);
    }
    row->items[row->count++] = (struct candidate){.bound_fs = bound_fs, .index = index};
}

/* All tilings below the first `fixed` axes; `index` is the first of them. An impossible value ends
 * its axis: larger ones are impossible as well. */
static void walk_axis(struct walk *walk, int fixed, int64_t index, int64_t stride)
{
    const struct space *space = walk->space;
    if (fixed == space->axis_count) {
        if (space->kind->legal(space, &walk->tiling))
            keep(walk, index);
        return;
    }
    int count = walk->block->count[fixed];
    stride /= count;
    for (int i = 0; i < count && !walk->failed; i++) {
        walk->tiling.value[fixed] = walk->block->values[fixed][i];
        if (!space->kind->possible(space, &walk->tiling, fixed + 1))
            break;
        walk_axis(walk, fixed + 1, index + i * stride, stride);
    }
}

/* Row r of the space: which block, and which value of its first axis. */
static void walk_row(const struct space *space, const struct bounder *bounder, int64_t r,
                     struct row *row, bool *failed)
{
    const struct space_block *block = space->blocks;
    while (r >= block->count[0])
        r -= block++->count[0];
    struct walk walk = {.space = space, .block = block, .bounder = bounder, .row = row};
    int64_t stride = 1;
    for (int a = 1; a < space->axis_count; a++)
        stride *= block->count[a];
    walk.tiling.value[0] = block->values[0][r];
    /* All blocks differ in a later axis, whose only value `possible` may need. */
    for (int a = 1; a < space->axis_count; a++)
        walk.tiling.value[a] = block->values[a][0];
    if (space->kind->possible(space, &walk.tiling, 1))
        walk_axis(&walk, 1, block->first_index + r * stride, stride);
    *failed = walk.failed;
}

static int compare(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;
    if (a->bound_fs != b->bound_fs)
        return a->bound_fs < b->bound_fs ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

static bool gather(struct candidates *candidates, struct row *rows, int64_t row_count)
{
    for (int64_t r = 0; r < row_count; r++)
        candidates->count += rows[r].count;
    candidates->items = malloc((size_t)(candidates->count + 1) * sizeof *candidates->items);
    struct candidate *at = candidates->items;
    for (int64_t r = 0; at && r < row_count; r++) {
        if (rows[r].count)
            memcpy(at, rows[r].items, (size_t)rows[r].count * sizeof *at);
        at += rows[r].count;
    }
    return at != NULL;
}

enum status candidates_collect(const struct space *space, const struct bounder *bounder,
                               int threads, bool (*stopped)(void *context), void *context,
                               struct candidates *candidates, struct error *error)
{
    int64_t row_count = 0;
    for (int b = 0; b < space->block_count; b++)
        row_count += space->blocks[b].count[0];
    struct row *rows = calloc((size_t)row_count + 1, sizeof *rows);
    *candidates = (struct candidates){.complete = true};
    if (!rows)
        return error_memory(error);
    bool failed = false, complete = true, any = false;
#pragma omp parallel for num_threads(threads) schedule(dynamic) reduction(|| : failed) reduction(&& : complete)
    for (int64_t r = 0; r < row_count; r++) {
        bool row_failed = false, found;
#pragma omp atomic read
        found = any;
        if (found && stopped(context)) /* the first legal tiling is always found: an answer */
            complete = false;
        else
            walk_row(space, bounder, r, &rows[r], &row_failed);
        if (rows[r].count) {
#pragma omp atomic write
            any = true;
        }
        failed = failed || row_failed;
    }
    candidates->complete = complete;
    failed = failed || !gather(candidates, rows, row_count);
    for (int64_t r = 0; r < row_count; r++)
        free(rows[r].items);
    free(rows);
    if (failed)
        return error_memory(error);
    qsort(candidates->items, (size_t)candidates->count, sizeof *candidates->items, compare);
    return STATUS_OK;
}
