/* Good tilings before anything is proven: what beams (search/beam.h) find in a grid of few values
 * (search/thin.h) and around the best of these. Which they are follows from the space alone. */
#ifndef AUTOTUNE_SEARCH_SEEDS_H
#define AUTOTUNE_SEARCH_SEEDS_H

#include "search/strategy.h"

/* Adds them to the run's candidates as simulated, in order of index. */
enum status seeds_find(struct search_run *run, struct error *error);

/* Is a tiling among the first `count` of them? */
bool seeds_have(const struct search_run *run, int64_t count, int64_t index);

#endif
