/* When a search has to end early: what its options say, in the form that its space hands on.
 *
 *   struct limited limited;
 *   space = search_limit(space, options, &limited);
 *   while (… && search_goes_on(&space, options, any, &hurry)) … */
#ifndef AUTOTUNE_SEARCH_CLOCK_H
#define AUTOTUNE_SEARCH_CLOCK_H

#include "search/search.h"

#include <time.h>

double seconds_since(const struct timespec *start);

/* A space that ends otherwise than the one it is a copy of. */
struct limited {
    const struct space *given;
    struct stop stop;
    struct space space;
};

/* The space with another stop. */
const struct space *search_until(const struct space *space, struct stop stop,
                                 struct limited *limited);

/* The space with the limits of the options; without any those of `space` stay. */
const struct space *search_limit(const struct space *space, const struct search_options *options,
                                 struct limited *limited);

/* May a search go on? Told to stop before it has any tiling it takes the first one all the same,
 * if that takes a moment (where a tiling is a sum of programs, a time limit waits for it): *space
 * is then replaced by one in *hurry, which ends so, until there is one. A search that is part of
 * another, without limits of its own, just ends. */
bool search_goes_on(const struct space **space, const struct search_options *options, bool any,
                    struct limited *hurry);

/* The same space, where a first tiling takes one long simulation: no time limit ends it, and a
 * signal only after a moment. */
const struct space *search_patience(const struct space *space, struct limited *limited);

/* The same space, to say what was found: ends a moment later where it has been told to stop. */
const struct space *search_moment(const struct space *space, struct limited *moment);

#endif
