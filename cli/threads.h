/* How many threads a command works with. */
#ifndef AUTOTUNE_CLI_THREADS_H
#define AUTOTUNE_CLI_THREADS_H

#include <stdint.h>

/* Ends the program where so many cannot be started, which OpenMP would do without a word of ours.
 */
void cli_require_threads(int threads);

/* As many as asked for, or, with 0, one for each processor that this process may use. */
int cli_threads(int64_t asked);

#endif
