/* The jobs of a sweep, with what the command line says for all of them. */
#ifndef AUTOTUNE_CLI_SWEEP_JOBS_H
#define AUTOTUNE_CLI_SWEEP_JOBS_H

#include "cli/options.h"
#include "jobs/sweep/sweep.h"

/* --hw, --set-hw and --cores of *common and the time limit (or NULL) hold for every job that says
 * nothing else. Dies where the file cannot be read. */
void sweep_jobs_read(struct common *common, const char *time_limit, const char *file,
                     struct sweep *sweep);

/* Of --time-limit, an option_taker. */
void sweep_check_time_limit(const struct cli_option *option, void *options, const char *text);

#endif
