/* Time over two axes of a tiling, from the result of a search (core/landscape.h says what a map
 * is and how to draw it).
 *
 *   search with options.keep_reached → result
 *   landscape_axes(space, result, NULL, axes, &error)       the two that matter most
 *   landscape_make(space, result, axes, LANDSCAPE_SLICE, threads, &slice, &error) …
 *   landscape_clear(&slice)
 *
 * A map depends on space and result alone, not on the number of threads. A slice simulates what the
 * search has not, where the lower bound says that it may be less than twice the best's time. */
#ifndef AUTOTUNE_SEARCH_LANDSCAPE_MAKE_H
#define AUTOTUNE_SEARCH_LANDSCAPE_MAKE_H

#include "core/landscape.h"
#include "search/search.h"

/* Chooses the axes: those that `names` ("m_slice,n_slice"; x first) says; or, with NULL, the two
 * numbers along which the lower bound varies most around the best (k-NN: the first two axes, the
 * distance tile's sizes). STATUS_INVALID when a name is no axis, both are the same, or the space
 * has less than two axes; STATUS_STOPPED once space->stop says so. */
enum status landscape_axes(const struct space *space, const struct search_result *result,
                           const char *names, int axes[2], struct error *error);

/* Can a map of this kind be made of this result? Needs a best tiling; an envelope all legal
 * tilings, so keep_reached and a space of LISTED_MOST tilings at most. */
bool landscape_possible(const struct space *space, const struct search_result *result,
                        enum landscape_kind kind);

/* *landscape has to be cleared after success only. STATUS_STOPPED once space->stop says so: of what
 * was made until then nothing is left. */
enum status landscape_make(const struct space *space, const struct search_result *result,
                           const int axes[2], enum landscape_kind kind, int threads,
                           struct landscape *landscape, struct error *error);
void landscape_clear(struct landscape *landscape);

#endif
