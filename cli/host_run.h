/* The measuring that tune and validate have in common: which candidates run on this machine, and
 * rows of the answer about them. */
#ifndef AUTOTUNE_CLI_HOST_RUN_H
#define AUTOTUNE_CLI_HOST_RUN_H

#include "cli/task.h"
#include "jobs/host_tune.h"
#include "results/tune.h"

enum { HOST_RUN_DEFAULT = -1 };

struct host_run {
    int64_t wanted;      /* tilings to measure; 0: none, HOST_RUN_DEFAULT: as many as fit */
    bool is_sample;      /* drawn, not picked to win */
    uint64_t seed;       /* of the sample and of the inputs */
    double time_limit_s; /* for all that is measured; 0: HOST_TUNE_BUDGET_S */
    /* after host_run_measure */
    int asked;
    double seconds;
    struct host_tune tune;
    struct tune_measured *rows;
    struct tune_validation validation;
};

/* Before the search: dies where nothing can be measured, of a chip or of another processor. Sets
 * run->wanted to 0 on a chip. */
void host_run_check(const struct task *task, struct host_run *run);

/* After it: measures, or does nothing where 0 are wanted or nothing is legal. `spent_s` of the time
 * limit are over. */
void host_run_measure(const struct task *task, const struct search_result *result, double spent_s,
                      struct host_run *run);
void host_run_close(struct host_run *run);

#endif
