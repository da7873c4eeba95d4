/* When a search has to end early. */
#ifndef AUTOTUNE_SEARCH_CLOCK_H
#define AUTOTUNE_SEARCH_CLOCK_H

#include "search/search.h"

#include <time.h>

double seconds_since(const struct timespec *start);

/* Was the search told to stop, or is its time over? */
bool search_stopped(const struct search_options *options, const struct timespec *start);

#endif
