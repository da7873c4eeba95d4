/* The measuring that tune and validate have in common: what is asked of this machine, and what
 * it says. */
#ifndef AUTOTUNE_CLI_HOST_RUN_H
#define AUTOTUNE_CLI_HOST_RUN_H

#include "cli/task.h"
#include "jobs/tune/host_job.h"

struct host_run {
    struct host_question question;
    /* after host_run_recall or host_run_measure */
    bool from_store;
    struct host_answer answer;
};

/* Before the search: dies where nothing can be measured. */
void host_run_check(const struct task *task, const struct host_run *run);

/* Looks into a store: run->from_store says whether it has the answer. */
void host_run_recall(const struct task *task, struct store *store, struct host_run *run,
                     const char *db);

/* After the search: measures. `spent_s` of the time limit are over. */
void host_run_measure(const struct task *task, const struct search_result *result, double spent_s,
                      struct host_run *run);
void host_run_close(struct host_run *run);

#endif
