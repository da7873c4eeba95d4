/* Levels from what the space says of itself; leaves are counted by the space's own closed forms,
 * and a level-1 prefix that is `alike` the one before is not counted again. */
#include "search/prefix.h"

void prefix_levels_of(const struct space *space, struct prefix_levels *levels)
{
    const struct operator_nesting *nesting = space->kind->nesting;
    *levels = (struct prefix_levels){.count = 1, .length = {1}};
    for (const int *length = nesting ? nesting->lengths : NULL; length && *length; length++)
        levels->length[levels->count++] = *length;
    levels->length[levels->count++] = space->axis_count;
}

int64_t prefix_bound_fs(const struct prefix_levels *levels, const struct space *space,
                        const struct bounder *bounder, const struct tiling *tiling, int level)
{
    const struct operator_space *kind = space->kind;
    struct work work;
    if (prefix_is_tiling(levels, level))
        kind->summarise(space, tiling, &work);
    else
        kind->nesting->summarise(space, tiling, levels->length[level], &work);
    return bounder_fs(bounder, &work);
}

int64_t prefix_leaf_count(const struct prefix_levels *levels, const struct space *space,
                          const struct tiling *tiling, int level)
{
    return prefix_is_tiling(levels, level)
               ? 1
               : space->kind->nesting->leaf_count(space, tiling, levels->length[level]);
}

int64_t leaf_counter_next(struct leaf_counter *counter, const struct prefix_levels *levels,
                          const struct space *space, const struct tiling *tiling)
{
    if (prefix_is_tiling(levels, 1))
        return 1;
    if (!counter->any || !space->kind->nesting->alike(space, &counter->last, tiling))
        counter->count = prefix_leaf_count(levels, space, tiling, 1);
    counter->any = true;
    counter->last = *tiling;
    return counter->count;
}
