/* A candidate's number is a number in mixed radix, a digit for each axis, after bisection for its
 * block; the way back looks each value up. Blocks lie in an array that doubles. */
#include "core/space.h"

#include "core/array.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static int64_t block_size(const struct space *space, const struct space_block *block)
{
    int64_t size = 1;
    for (int a = 0; a < space->axis_count; a++)
        size *= block->count[a];
    return size;
}

struct space_block *space_add_block(struct space *space)
{
    if (!array_room(&space->blocks, space->block_count, sizeof *space->blocks))
        return NULL;
    struct space_block *block = &space->blocks[space->block_count++];
    *block = (struct space_block){0};
    return block;
}

void space_number(struct space *space)
{
    space->candidates = 0;
    for (int b = 0; b < space->block_count; b++) {
        space->blocks[b].first_index = space->candidates;
        space->candidates += block_size(space, &space->blocks[b]);
    }
}

const struct space_block *space_block_of(const struct space *space, int64_t index)
{
    int low = 0, high = space->block_count;
    while (low + 1 < high) {
        int middle = low + (high - low) / 2;
        if (space->blocks[middle].first_index <= index)
            low = middle;
        else
            high = middle;
    }
    return &space->blocks[low];
}

void space_tiling(const struct space *space, int64_t index, struct tiling *tiling)
{
    const struct space_block *block = space_block_of(space, index);
    index -= block->first_index;
    for (int a = space->axis_count - 1; a >= 0; a--) {
        tiling->value[a] = block->values[a][index % block->count[a]];
        index /= block->count[a];
    }
}

static int find_value(const struct space_block *block, int axis, int64_t value)
{
    for (int i = 0; i < block->count[axis]; i++)
        if (block->values[axis][i] == value)
            return i;
    return -1;
}

bool block_has(const struct space_block *block, int axis, int64_t value)
{
    return find_value(block, axis, value) >= 0;
}

int64_t space_index(const struct space *space, const struct tiling *tiling)
{
    for (int b = 0; b < space->block_count; b++) {
        const struct space_block *block = &space->blocks[b];
        int64_t index = 0;
        int a = 0;
        for (; a < space->axis_count; a++) {
            int at = find_value(block, a, tiling->value[a]);
            if (at < 0)
                break;
            index = index * block->count[a] + at;
        }
        if (a == space->axis_count)
            return block->first_index + index;
    }
    return -1;
}

int space_core_axis(const struct space *space)
{
    int axis = 0;
    while (axis < space->axis_count && !space->axes[axis].counts_cores)
        axis++;
    return axis < space->axis_count ? axis : -1;
}

int64_t space_next_cores(const struct space *space, int64_t cores)
{
    int axis = space_core_axis(space);
    int64_t next = 0;
    for (int b = 0; b < space->block_count && axis >= 0; b++)
        for (int i = 0; i < space->blocks[b].count[axis]; i++) {
            int64_t value = space->blocks[b].values[axis][i];
            if (value > cores && (next == 0 || value < next))
                next = value;
        }
    return next;
}

int space_axis(const struct space *space, const char *name, int length)
{
    for (int a = 0; a < space->axis_count; a++)
        if ((int)strlen(space->axes[a].name) == length &&
            strncasecmp(space->axes[a].name, name, (size_t)length) == 0)
            return a;
    return -1;
}

const char *axis_value_text(const struct axis *axis, int64_t value, char text[24])
{
    if (axis->value_names)
        return value >= 0 && value < axis->name_count ? axis->value_names[value] : AXIS_NO_VALUE;
    snprintf(text, 24, "%lld", (long long)value);
    return text;
}

bool axis_value_parse(const struct axis *axis, const char *text, int64_t *value)
{
    for (*value = 0; axis->value_names && *value < axis->name_count; ++*value)
        if (strcasecmp(axis->value_names[*value], text) == 0)
            return strcmp(text, AXIS_NO_VALUE) != 0;
    if (axis->value_names || text[0] < '0' || text[0] > '9')
        return false;
    char *end;
    errno = 0;
    *value = strtoll(text, &end, 10);
    return errno == 0 && *end == 0;
}

void tiling_text(const struct axis *axes, int axis_count, const struct tiling *tiling, char *text,
                 size_t size)
{
    char value[24];
    size_t used = 0;
    text[0] = 0;
    for (int a = 0; a < axis_count && used < size; a++)
        used += (size_t)snprintf(text + used, size - used, "%s%s=%s", a ? "," : "", axes[a].name,
                                 axis_value_text(&axes[a], tiling->value[a], value));
}
