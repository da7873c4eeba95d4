/* What a measuring process and its children share: which candidate is in flight, and what is known
 * already. The child writes, the parent looks at the atomic members while the child lives and at
 * the rest after it has ended. Mapped MAP_SHARED at the same address in both. */
#ifndef AUTOTUNE_VALIDATE_MEASURE_SHARED_H
#define AUTOTUNE_VALIDATE_MEASURE_SHARED_H

#include "validate/measure.h"
#include "validate/runner.h"
#include "validate/timing_core.h"

enum measure_phase { MEASURE_OPENING, MEASURE_CHECKING, MEASURE_PREPARING, MEASURE_TIMING };

struct measure_candidate {
    /* Was it checked, or found to be unfit? Set when `result` is complete. */
    _Atomic bool settled;
    int64_t held_bytes; /* of its plan; known when it was checked */
    struct measured result;
};

struct measure_shared {
    const struct host_runner *runner;
    const struct space *space;
    const struct tiling *tilings;
    const struct measure_options *options;
    int count;

    _Atomic enum measure_phase phase;
    _Atomic int in_flight;  /* a candidate, or -1; while timing it is the rounds' */
    _Atomic uint64_t steps; /* begun: the deadline is for each */
    _Atomic int settled;    /* candidates */

    struct error open_error; /* status not STATUS_OK: the inputs could not be made */
    double checking_ns;      /* spent on checks that came to an end */
    bool timing_begun;       /* the rounds are valid */
    struct timing_rounds *rounds;
    struct measure_candidate candidates[];
};

/* All that is left to do: open, check, time. The body of a child; the context is the shared
 * struct. */
void measure_child(void *context);

/* Puts a candidate into quarantine … */
void measure_reject(struct measure_shared *shared, int candidate, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* … or says why nothing is known of it. */
void measure_leave_out(struct measure_shared *shared, int candidate, const char *why);

#endif
