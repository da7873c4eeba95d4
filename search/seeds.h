/* Good tilings before anything is proven: what a short search of a thin grid finds (search/thin.h).
 * Which they are follows from the space and the options alone. */
#ifndef AUTOTUNE_SEARCH_SEEDS_H
#define AUTOTUNE_SEARCH_SEEDS_H

#include "search/strategy.h"

/* Adds them to the run's candidates as simulated, in order of index; none where the space is its
 * own grid. */
enum status seeds_find(struct search_run *run, struct error *error);

/* Is a tiling among the first `count` of them? */
bool seeds_have(const struct search_run *run, int64_t count, int64_t index);

#endif
