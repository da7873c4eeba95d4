/* Simulating tilings that are known by their numbers, on all threads. */
#ifndef AUTOTUNE_SEARCH_SEVERAL_H
#define AUTOTUNE_SEARCH_SEVERAL_H

#include "search/candidates.h"

/* Fills time_fs of all that have none (0), each of one program; with SIMULATE_LONGEST_FS where that
 * could outlast the clock. Those that space->stop cuts off stay 0. */
enum status search_several(const struct space *space, struct candidate items[], int64_t count,
                           int threads, struct error *error);

#endif
