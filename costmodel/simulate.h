/* The simulator: executes a program instruction by instruction on a hardware description.
 *
 * Pipes run their own instructions in FIFO order; the n-th wait of a register ends at the time of
 * its n-th set; transfers share a bus in equal parts whenever they overlap (Tang 2024, eq.
 * 2.6-2.7); a barrier joins all pipes; the scalar pipe blocks dispatch. The clock is an integer
 * number of femtoseconds, so equal programs give equal times in any order of execution.
 *
 * Long loops need not be executed to the end: when the whole state of the machine, taken relative
 * to its own time, recurs at the end of a loop's iteration, time advances by whole periods. The
 * result is the same integer.
 *
 *   struct simulator *s = simulator_new();          one per thread; reused for many programs
 *   simulate(s, &program, &options, &timeline, &error);
 *   simulator_free(s); */
#ifndef AUTOTUNE_COSTMODEL_SIMULATE_H
#define AUTOTUNE_COSTMODEL_SIMULATE_H

#include "core/program.h"
#include "core/status.h"
#include "core/timeline.h"

/* Later than any time that is simulated: 2^62 fs, 77 minutes. */
#define SIMULATE_LONGEST_FS (INT64_C(1) << 62)

struct simulator;
struct stop; /* core/stop.h */

struct simulate_options {
    int cores;                 /* that run the program; >= 1 */
    bool separately;           /* simulate every core instead of one that stands for all */
    bool skew;                 /* with separately: core c starts c·core_skew_fs later */
    bool execute_fully;        /* no folding of loops */
    const struct trace *trace; /* NULL: none; implies execute_fully */
    const struct stop *stop;   /* NULL: never; else STATUS_STOPPED once it says so */
    int64_t limit_fs; /* 0: none; a program that takes longer may end early, with an end that
                         is beyond this and no later than its own, and nothing else */
};

/* NULL when out of memory. */
struct simulator *simulator_new(void);
void simulator_free(struct simulator *simulator);

/* Simulates a closed program. STATUS_OK fills *timeline (a deadlock is timeline->blocked >= 0, not
 * an error). STATUS_TOO_LARGE when the time could reach SIMULATE_LONGEST_FS or more flag sets wait
 * to be matched than fit in memory. */
enum status simulate(struct simulator *simulator, const struct program *program,
                     const struct simulate_options *options, struct timeline *timeline,
                     struct error *error);

#endif
