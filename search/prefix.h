/* Partial tilings: a prefix is the first values of a tiling, and its leaves are the legal tilings
 * that continue it. Searches look at prefixes of a few lengths, one level each: the first value
 * alone (the space's roots), the lengths that the space names, and whole tilings. */
#ifndef AUTOTUNE_SEARCH_PREFIX_H
#define AUTOTUNE_SEARCH_PREFIX_H

#include "search/candidates.h"

/* A prefix that is open: not split, or not simulated. */
struct open_node {
    int64_t bound_fs;
    int64_t index; /* of the first tiling with this prefix */
};

/* The order in which they are looked at. */
static inline bool open_node_before(const struct open_node *a, const struct open_node *b)
{
    return a->bound_fs != b->bound_fs ? a->bound_fs < b->bound_fs : a->index < b->index;
}

/* Does a legal tiling begin so, for all that is known? */
enum prefix_verdict prefix_begins(const struct space *space, const struct tiling *tiling,
                                  int fixed);

/* One prefix; `index` is that of the first tiling that begins so. Its later values are the
 * smallest of their axes. */
typedef void walk_visit(void *context, const struct tiling *tiling, int64_t index);

/* Visits every prefix of `to` values that is possible (struct operator_space) and continues the
 * first `from` values of tiling number `index`, in order of index; 1 <= from <= to. With `to` all
 * axes these are the legal tilings. False: space->stop has ended it before. */
bool space_walk(const struct space *space, int64_t index, int from, int to, walk_visit *visit,
                void *context);

/* Visits the prefixes of one value: one for each value of each block's first axis, possible or
 * not. There are space_roots of them; `number` counts them. */
int64_t space_roots(const struct space *space);
int64_t space_root(const struct space *space, int64_t number);

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

/* How many tilings of a space are legal, or how many were counted when there were more than `most`
 * or space->stop ended it. */
int64_t space_count_legal(const struct space *space, int64_t most, int threads);

#endif
