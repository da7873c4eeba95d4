/* The clocks of timing.h, and the processor that a thread runs on. */
#ifndef AUTOTUNE_VALIDATE_TIMING_CLOCKS_H
#define AUTOTUNE_VALIDATE_TIMING_CLOCKS_H

#include "validate/timing_core.h"

#include <sched.h>

/* Of a clock that only goes forward; steady while the system sets its date. */
double timing_now_ns(void);

/* What can be read of runs with so many threads each. */
struct timing_clocks {
    bool thread;   /* readings are of this thread alone: a run has no other */
    bool cpu_time; /* and its CPU time is fine enough to tell a per cent of a sample */
};

/* Finds out: some systems count CPU time in ticks. Takes microseconds where it is fine. */
struct timing_clocks timing_clocks_of(int threads);

/* Runs a subject `runs` times between two readings of the clocks. */
void timing_sample(const struct timing_subject *subject, int64_t runs,
                   const struct timing_clocks *clocks, struct timing_reading *reading);

/* Takes all samples that the rounds ask for. */
void timing_play(struct timing_rounds *rounds, const struct timing_subject *subjects);

/* Processors that a thread may run on: room for 16384. */
struct timing_processors {
    cpu_set_t sets[16];
};

/* Pins the calling thread to the processor where it runs, if it may. `before` is what
 * timing_unpin takes back; of a thread that was not pinned it changes nothing. */
bool timing_pin_here(struct timing_processors *before);
void timing_unpin(const struct timing_processors *before);

#endif
