/* What an answer says of --count calls: their time, and of weights that lie row by row whether they
 * should be brought into blocks once. */
#ifndef AUTOTUNE_CLI_TUNE_CALLS_H
#define AUTOTUNE_CLI_TUNE_CALLS_H

#include "cli/tune_find.h"
#include "results/tune.h"

/* Adds to answer->details where --count was given and there is a best tiling. Searches, or asks the
 * store; null is what a signal has ended or has no legal tiling. */
void tune_calls_add(struct tune_find *find, struct tune_answer *answer);

#endif
