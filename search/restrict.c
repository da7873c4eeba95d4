/* Blocks that have the wanted values, with those alone; the others are left out. */
#include "search/restrict.h"

#include "core/operator.h"

#include <assert.h>
#include <stdlib.h>

/* False when the block has no tiling with these values. */
static bool restrict_block(const struct space *space, const struct tiling *fixed,
                           struct space_block *block)
{
    for (int a = 0; a < space->axis_count; a++) {
        if (fixed->value[a] == AXIS_FREE)
            continue;
        if (!block_has(block, a, fixed->value[a]))
            return false;
        block->values[a] = &fixed->value[a];
        block->count[a] = 1;
    }
    return true;
}

enum status space_restrict(const struct space *space, const struct tiling *fixed,
                           struct space *part, struct error *error)
{
    assert(!space->kind->any_value);
    *part = *space;
    part->block_count = 0;
    part->blocks = NULL;
    for (int b = 0; b < space->block_count; b++) {
        struct space_block block = space->blocks[b], *added;
        if (!restrict_block(space, fixed, &block))
            continue;
        added = space_add_block(part);
        if (!added) {
            space_restrict_clear(part);
            return error_memory(error);
        }
        *added = block;
    }
    space_number(part);
    return STATUS_OK;
}

void space_restrict_clear(struct space *part)
{
    free(part->blocks);
    part->blocks = NULL;
    part->block_count = 0;
}
