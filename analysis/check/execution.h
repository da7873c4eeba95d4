/* Executes a program once, finds what its order says is wrong, and keeps what the search for
 * superfluous synchronisation needs. Loops whose state recurs are not executed to their end: what
 * recurs is skipped, all but a few periods of it, with the same findings; numbers of events stay as
 * they are, since their order is all that matters. Loops in which an operand that may conflict
 * moves with the index are executed.
 *
 *   execution_init(&execution, &program, stop, &error);
 *   execution_run(&execution, &findings, &error);       then execution.record is closed
 *   execution_clear(&execution); */
#ifndef AUTOTUNE_ANALYSIS_CHECK_EXECUTION_H
#define AUTOTUNE_ANALYSIS_CHECK_EXECUTION_H

#include "analysis/check/findings.h"
#include "analysis/check/overlap.h"
#include "analysis/check/record.h"
#include "core/stop.h"

/* The state at one iteration of one loop. */
struct fold_state {
    int32_t loop; /* -1: none */
    int64_t iteration;
    int64_t count, capacity;
    int64_t *values;                      /* owned */
    uint32_t numbers[HARDWARE_MAX_PIPES]; /* events so far */
    int64_t period;                       /* it recurs after so many iterations; 0: not known */
    int kept;                             /* periods since */
    int64_t *sets, *waits;                /* owned; per register, a period ago */
};

struct fold {
    struct order *order;
    struct overlap *overlap;
    struct record *record;
    bool *moves; /* per instruction: a loop whose index moves what may conflict */
    struct fold_state states[PROGRAM_MAX_DEPTH];
    bool folded; /* something was skipped: numbers are no longer those of the whole program */
    bool no_memory;
};

struct execution {
    const struct program *program;
    struct nest nest;
    struct order order;
    struct overlap overlap;
    struct record record;
    struct fold fold;
    const struct stop *stop; /* NULL: never; else STATUS_STOPPED once it says so */
    int64_t events;
    bool blocked; /* waits wait for each other's sets for ever */
};

/* STATUS_TOO_LARGE as program_check. After an error there is nothing to clear. */
enum status execution_init(struct execution *execution, const struct program *program,
                           const struct stop *stop, struct error *error);

/* Adds hazards, double sets, deadlocks and unmatched flags. */
enum status execution_run(struct execution *execution, struct findings *findings,
                          struct error *error);

void execution_clear(struct execution *execution);

#endif
