/* Whoever measures is told first when the machine does other things too. */
#ifndef AUTOTUNE_CLI_BUSY_H
#define AUTOTUNE_CLI_BUSY_H

#include <stdbool.h>

/* Looks for a fifth of a second, unless quiet; `threads` that are to work, 0: on all processors. */
void busy_warn(int threads, bool quiet);

#endif
