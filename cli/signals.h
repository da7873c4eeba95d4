/* Signals and time limits of commands that answer with the best so far.
 *
 *   stop_open(); … stop_asked() … stop_limit(5.0) … stop_over() …; stop_close() */
#ifndef AUTOTUNE_CLI_SIGNALS_H
#define AUTOTUNE_CLI_SIGNALS_H

#include <signal.h>

/* From here on SIGINT and SIGTERM only set the flags. */
void stop_open(void);

/* The flag that a signal sets (its number), and the one that a time limit sets as well: to be read
 * at any time. */
const volatile sig_atomic_t *stop_asked(void);
const volatile sig_atomic_t *stop_over(void);

/* Sets the second flag after so many seconds: for what has no clock of its own. */
void stop_limit(double seconds);

/* Dies of the signal if there was one. */
void stop_close(void);

#endif
