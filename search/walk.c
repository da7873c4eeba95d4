/* Depth first over the axes' values in ascending order; what a prefix says rules out the values
 * after it. */
#include "search/walk.h"

#include "core/stop.h"

enum { LOOK_EVERY = 64 }; /* values, between two looks at space->stop */

struct walk {
    const struct space *space;
    const struct space_block *block;
    int to;
    walk_visit *visit;
    void *context;
    struct tiling tiling;
    unsigned values;
    bool stopped;
};

/* Tilings that share a prefix of `fixed` values. */
static int64_t stride_of(const struct space *space, const struct space_block *block, int fixed)
{
    int64_t stride = 1;
    for (int a = fixed; a < space->axis_count; a++)
        stride *= block->count[a];
    return stride;
}

static enum prefix_verdict begins(const struct space *space, const struct tiling *tiling, int fixed)
{
    const struct operator_space *kind = space->kind;
    if (kind->nesting)
        return kind->nesting->begins(space, tiling, fixed);
    if (kind->possible(space, tiling, fixed))
        return BEGINS_SOME;
    return fixed < space->axis_count ? BEGINS_NONE : BEGINS_NOT;
}

static bool is_stopped(struct walk *walk)
{
    if (++walk->values % LOOK_EVERY == 0 && stop_due(walk->space->stop))
        walk->stopped = true;
    return walk->stopped;
}

static void walk_axis(struct walk *walk, int fixed, int64_t index, int64_t stride)
{
    if (fixed == walk->to) {
        walk->visit(walk->context, &walk->tiling, index);
        return;
    }
    const int64_t *values = walk->block->values[fixed];
    int count = walk->block->count[fixed];
    stride /= count;
    for (int i = 0; i < count && !is_stopped(walk); i++) {
        walk->tiling.value[fixed] = values[i];
        enum prefix_verdict some = begins(walk->space, &walk->tiling, fixed + 1);
        if (some == BEGINS_NONE)
            break;
        if (some == BEGINS_SOME)
            walk_axis(walk, fixed + 1, index + i * stride, stride);
    }
    /* All blocks differ in some axis, whose only value `possible` may need. */
    walk->tiling.value[fixed] = values[0];
}

bool space_walk(const struct space *space, int64_t index, int from, int to, walk_visit *visit,
                void *context)
{
    struct walk walk = {.space = space,
                        .block = space_block_of(space, index),
                        .to = to,
                        .visit = visit,
                        .context = context};
    space_tiling(space, index, &walk.tiling);
    if (begins(space, &walk.tiling, from) == BEGINS_SOME)
        walk_axis(&walk, from, index, stride_of(space, walk.block, from));
    return !walk.stopped;
}

int64_t space_roots(const struct space *space)
{
    int64_t count = 0;
    for (int b = 0; b < space->block_count; b++)
        count += space->blocks[b].count[0];
    return count;
}

int64_t space_root(const struct space *space, int64_t number)
{
    const struct space_block *block = space->blocks;
    while (number >= block->count[0])
        number -= block++->count[0];
    return block->first_index + number * stride_of(space, block, 1);
}
