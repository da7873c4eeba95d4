/* Executes a program once, finds what its order says is wrong, and keeps what the search for
 * superfluous synchronisation needs.
 *
 *   execution_init(&execution, &program, &error);
 *   execution_run(&execution, &findings, &error);       then execution.record is closed
 *   execution_clear(&execution); */
#ifndef AUTOTUNE_ANALYSIS_CHECK_EXECUTION_H
#define AUTOTUNE_ANALYSIS_CHECK_EXECUTION_H

#include "analysis/check/findings.h"
#include "analysis/check/loop_fold.h"
#include "analysis/check/overlap.h"
#include "analysis/check/record.h"

struct execution {
    const struct program *program;
    struct nest nest;
    struct order order;
    struct overlap overlap;
    struct record record;
    struct fold fold;
    int64_t events;
    bool blocked; /* waits wait for each other's sets for ever */
};

/* STATUS_TOO_LARGE as program_check. After an error there is nothing to clear. */
enum status execution_init(struct execution *execution, const struct program *program,
                           struct error *error);

/* Adds hazards, double sets, deadlocks and unmatched flags. */
enum status execution_run(struct execution *execution, struct findings *findings,
                          struct error *error);

void execution_clear(struct execution *execution);

#endif
