/* Partial tilings: a prefix is the first values of a tiling, and its leaves are the legal tilings
 * that continue it. Searches look at prefixes of a few lengths, one level each: the first value
 * alone (the space's roots, search/walk.h), the lengths that the space names, and whole tilings. */
#ifndef AUTOTUNE_SEARCH_PREFIX_H
#define AUTOTUNE_SEARCH_PREFIX_H

#include "search/candidates.h"

enum { PREFIX_MAX_LEVELS = SPACE_MAX_AXES + 1 };

struct prefix_levels {
    int count, length[PREFIX_MAX_LEVELS];
};

void prefix_levels_of(const struct space *space, struct prefix_levels *levels);

static inline bool prefix_is_tiling(const struct prefix_levels *levels, int level)
{
    return level == levels->count - 1;
}

/* No leaf of a prefix of a level above the first is faster. */
int64_t prefix_bound_fs(const struct prefix_levels *levels, const struct space *space,
                        const struct bounder *bounder, const struct tiling *tiling, int level);

/* How many leaves a prefix of a level above the first has; less where space->stop ends the count.
 */
int64_t prefix_leaf_count(const struct prefix_levels *levels, const struct space *space,
                          const struct tiling *tiling, int level);

/* The same for prefixes of level 1 in order of index: many have as many leaves as the one before.
 */
struct leaf_counter {
    bool any;
    struct tiling last;
    int64_t count; /* of the last */
};

int64_t leaf_counter_next(struct leaf_counter *counter, const struct prefix_levels *levels,
                          const struct space *space, const struct tiling *tiling);

#endif
