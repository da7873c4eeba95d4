#include "search/restrict.h"

static bool has_value(const struct space_block *block, int axis, int64_t value)
{
    for (int i = 0; i < block->count[axis]; i++)
        if (block->values[axis][i] == value)
            return true;
    return false;
}

/* False when the block has no tiling with these values. */
static bool restrict_block(const struct space *space, const struct tiling *fixed,
                           struct space_block *block)
{
    for (int a = 0; a < space->axis_count; a++) {
        if (fixed->value[a] == AXIS_FREE)
            continue;
        if (!has_value(block, a, fixed->value[a]))
            return false;
        block->values[a] = &fixed->value[a];
        block->count[a] = 1;
    }
    return true;
}

void space_restrict(const struct space *space, const struct tiling *fixed, struct space *part)
{
    *part = *space;
    part->block_count = 0;
    part->candidates = 0;
    for (int b = 0; b < space->block_count; b++) {
        struct space_block block = space->blocks[b];
        int64_t size = 1;
        if (!restrict_block(space, fixed, &block))
            continue;
        for (int a = 0; a < space->axis_count; a++)
            size *= block.count[a];
        block.first_index = part->candidates;
        part->candidates += size;
        part->blocks[part->block_count++] = block;
    }
}
