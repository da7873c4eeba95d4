/* `autotune sweep FILE --slurm`: scripts, what is missing, submission, and the merged store. */
#ifndef AUTOTUNE_CLI_SWEEP_SLURM_H
#define AUTOTUNE_CLI_SWEEP_SLURM_H

#include "cli/options.h"
#include "jobs/sweep/sweep.h"

struct slurm_options {
    struct common *common;
    const char *db, *time_limit, *partition; /* NULL where not given, but db */
    int64_t nodes, tasks, threads;           /* 0: not given */
    bool submit;
};

/* Returns the exit status: EXIT_NONE while jobs have no answer. */
int sweep_slurm(const struct slurm_options *options, const struct sweep *sweep);

#endif
