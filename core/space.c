#include "core/space.h"

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

void space_tiling(const struct space *space, int64_t index, struct tiling *tiling)
{
    const struct space_block *block = space->blocks;
    while (index - block->first_index >= block_size(space, block))
        block++;
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
