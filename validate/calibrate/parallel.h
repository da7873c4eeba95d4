/* What OpenMP's threads cost: opening and closing a parallel region of all of them. */
#ifndef AUTOTUNE_VALIDATE_CALIBRATE_PARALLEL_H
#define AUTOTUNE_VALIDATE_CALIBRATE_PARALLEL_H

#include "validate/timing.h"

/* In a child process: OpenMP's threads would not survive a fork in this one. STATUS_IO where the
 * child failed. */
enum status parallel_measure(int threads, struct timing *timing, struct error *error);

#endif
