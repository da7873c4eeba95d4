/* How many threads a command works with, and whether it has the machine to itself. */
#ifndef AUTOTUNE_CLI_THREADS_H
#define AUTOTUNE_CLI_THREADS_H

#include <stdbool.h>
#include <stdint.h>

/* As many as asked for, or, with 0, one for each processor that this process may use. Ends the
 * program where so many cannot be started, which OpenMP would do without a word of ours. */
int cli_threads(int64_t asked);

/* Whoever measures is told first when the machine does other things too. Looks for a fifth of a
 * second, unless quiet; `threads` that are to work, 0: on all processors. */
void busy_warn(int threads, bool quiet);

#endif
