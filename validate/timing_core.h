/* The protocol of timing.h without its clocks: which subject runs next and how often, which samples
 * count, who falls out and when it is enough. It reads no clock and has no pointers to code, so
 * it can be tested with times made up, and can lie in memory that processes share: when one dies in
 * the middle of a sample, another goes on with what there is.
 *
 *   rounds = timing_rounds_begin(memory of timing_rounds_bytes, …)
 *   while (timing_rounds_next(rounds, now_ns, &step))
 *       run step.subject step.runs times, timing_rounds_record(rounds, &reading)
 *   timing_rounds_result(rounds, i, &timing) for each i
 *
 * First each subject is sized: it repeats its run until a sample lasts long enough. Then come
 * rounds with one sample of each. All times are in ns, of any clock that only goes forward. */
#ifndef AUTOTUNE_VALIDATE_TIMING_CORE_H
#define AUTOTUNE_VALIDATE_TIMING_CORE_H

#include "validate/timing.h"

#include <stdatomic.h>
#include <stddef.h>

enum { TIMING_LEAST_ROUNDS = 3, TIMING_MAX_ROUNDS = 10000, TIMING_MAX_SUBJECTS = 100000 };

/* What the clocks said of one sample. */
struct timing_reading {
    double wall_ns;      /* of all its runs */
    double cpu_ns;       /* of the thread; < 0: not to be compared */
    int64_t preemptions; /* involuntary context switches */
};

struct timing_step {
    int subject;
    int64_t runs;
};

enum timing_state {
    TIMING_SIZING,
    TIMING_RUNNING,
    TIMING_FINISHED,
    TIMING_FELL_OUT,
    TIMING_LOST, /* could not be run to the end */
};

/* One subject's way through the rounds. */
struct timing_track {
    _Atomic enum timing_state state;
    int64_t runs;                  /* a sample */
    _Atomic int taken;             /* samples; grows when they are complete */
    struct timing_sample *samples; /* `capacity` of them */
};

struct timing_rounds {
    struct timing_options options; /* with its defaults filled in */
    int count, capacity;
    int cursor;               /* the subject whose turn it is */
    double begin_ns;          /* when the budget began */
    double step_ns;           /* when the last sample began */
    double *scratch;          /* of medians: `capacity` numbers */
    _Atomic int in_flight;    /* the subject that runs now, or -1 */
    _Atomic uint64_t started; /* samples, those of sizing too */
    struct timing_track tracks[];
};

/* Are they numbers that make sense? */
enum status timing_options_check(const struct timing_options *options, int count,
                                 struct error *error);

/* Memory for options and a count that were checked, aligned as malloc does. There is nothing to
 * close. */
size_t timing_rounds_bytes(const struct timing_options *options, int count);
struct timing_rounds *timing_rounds_begin(void *memory, const struct timing_options *options,
                                          int count, double now_ns);

/* The next sample to take; false when it is enough. */
bool timing_rounds_next(struct timing_rounds *rounds, double now_ns, struct timing_step *step);

/* How the sample that timing_rounds_next asked for went. */
void timing_rounds_record(struct timing_rounds *rounds, const struct timing_reading *reading);

/* A subject that cannot be run: before the rounds, or in the middle of its sample. */
void timing_rounds_lose(struct timing_rounds *rounds, int subject);

/* After a pause in the middle of a sample: its time does not count against the budget. */
void timing_rounds_resume(struct timing_rounds *rounds, double now_ns);

/* What is known of a subject now: nothing (all 0) before its first sample. */
void timing_rounds_result(const struct timing_rounds *rounds, int subject, struct timing *timing);

/* Samples taken, and taken at the end if nothing more falls out or is dropped. */
void timing_rounds_progress(const struct timing_rounds *rounds, int64_t *done, int64_t *total);

#endif
