/* A few good tilings of a space, found in a time that its size hardly changes. */
#ifndef AUTOTUNE_SEARCH_BEAM_H
#define AUTOTUNE_SEARCH_BEAM_H

#include "search/bounders.h"
#include "search/workers.h"

enum { BEAM_TILINGS = 48 };

/* Simulates up to BEAM_TILINGS tilings, of which *count are then in found[], in order of bound;
 * fewer where space->stop ends it. Which they are does not depend on the number of workers. */
enum status beam_search(const struct space *space, const struct bounder *bounder,
                        struct workers *workers, struct candidate found[BEAM_TILINGS], int *count,
                        struct error *error);

#endif
