/* The shortest prefixes that a search by prefixes opens, and how many leaves each has: counted
 * once, when somebody asks.
 *
 *   roots_add(&roots, index) …                  in order of index
 *   roots_count(&roots, &levels, space, threads)
 *   roots_leaves(&roots, index) */
#ifndef AUTOTUNE_SEARCH_ROOTS_H
#define AUTOTUNE_SEARCH_ROOTS_H

#include "search/prefix.h"

struct root {
    int64_t index, leaves; /* leaves: -1 until they are counted */
};

struct roots {
    int64_t count, capacity;
    struct root *items; /* owned */
    int64_t leaves;     /* of all that are counted */
    bool counted;       /* these are all */
};

/* False without memory. */
bool roots_add(struct roots *roots, int64_t index);
void roots_close(struct roots *roots);

/* Counts what is not counted yet, on all threads, until space->stop ends it. */
void roots_count(struct roots *roots, const struct prefix_levels *levels, const struct space *space,
                 int threads);

/* How many tilings of a space are legal, or how many were counted when there were more than `most`
 * or space->stop ended it. */
int64_t roots_legal(const struct space *space, int64_t most, int threads);

/* -1 where they are not counted. */
int64_t roots_leaves(const struct roots *roots, int64_t index);

#endif
