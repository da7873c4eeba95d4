/* All prefixes of tilings of a given length: the tree that a space's axes make. */
#ifndef AUTOTUNE_SEARCH_WALK_H
#define AUTOTUNE_SEARCH_WALK_H

#include "core/operator.h"

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

#endif
