/* Times that can be believed on a machine that does other things too.
 *
 * Protocol: the thread is pinned, candidates take turns in rounds, a sample repeats its run until
 * it lasts at least min_sample_ns, samples that were preempted (involuntary context switches,
 * unless the sample is so long that refilling caches is lost in it) or whose wall time exceeds the
 * thread's CPU time by over 1 % are dropped and taken anew, and the answer is the median of what is
 * left, with its spread. Least and mean mislead. */
#ifndef AUTOTUNE_VALIDATE_TIMING_H
#define AUTOTUNE_VALIDATE_TIMING_H

#include "core/measured.h"

#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>

struct timing_options {
    double min_sample_ns; /* 0: 300 µs */
    int rounds;           /* 0: by length of a run: 31, over 20 ms 15, over 100 ms 7; twice as
                             many samples at most where some are dropped */
    int threads;          /* that a run uses: with several, CPU time is not compared */
    double budget_s;      /* for all candidates together; 0: none. Rounds shrink to fit, and slow
                             candidates fall out after the first rounds, never below 3 rounds */
    double keep_within;   /* candidates slower than this times the best fall out; 0: none do */
};

struct timing_sample {
    double ns; /* of one run */
    bool kept;
};

/* Something to be timed: `run` does it once, and as often as it is asked. */
struct timing_subject {
    void (*run)(void *context);
    void *context;
};

/* Times `count` subjects, the thread pinned meanwhile where it may be and runs have one thread, in
 * interleaved rounds. timings[i] belongs to subjects[i]. When samples were dropped so often that
 * none is left, median_ns is that of all samples and samples is 0. */
enum status timing_measure(const struct timing_subject *subjects, int count,
                           const struct timing_options *options, struct timing *timings,
                           struct error *error);

/* How quiet is the machine? The relative spread (as above) of a fixed piece of arithmetic over
 * some 50 ms, and the share of samples that had to be dropped. */
enum status timing_noise(struct timing_noise *noise, struct error *error);
bool timing_is_noisy(const struct timing_noise *noise);

/* What a processor's clock makes of additions that wait for each other, one a cycle, and how far
 * the clock that times are read from advances at a time. */
enum status timing_clock_rate(double *ghz, struct error *error);
double timing_clock_step_ns(void);

/* Above this a machine is called noisy. */
#define TIMING_NOISY_SPREAD  0.03
#define TIMING_NOISY_DROPPED 0.25

/* Pins the calling thread to the n-th processor it may run on; false where it may not. */
bool timing_pin(int processor);

/* Median and half the distance of the quartiles, relative to it; samples are put in order. 0 and 0
 * without any. */
struct middle {
    double median, spread;
    int count;
};
struct middle middle_of(double *samples, int count);

/* ---- the protocol without its clocks: which subject runs next and how often, which samples count,
 * who falls out and when it is enough. It reads no clock and has no pointers to code, so it can be
 * tested with times made up, and can lie in memory that processes share: when one dies in the
 * middle of a sample, another goes on with what there is.
 *
 *   rounds = timing_rounds_begin(memory of timing_rounds_bytes, …)
 *   while (timing_rounds_next(rounds, now_ns, &step))
 *       run step.subject step.runs times, timing_rounds_record(rounds, &reading)
 *   timing_rounds_result(rounds, i, &timing) for each i
 *
 * First each subject is sized: it repeats its run until a sample lasts long enough. Then come
 * rounds with one sample of each. All times are in ns, of any clock that only goes forward. ---- */

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

/* ---- the clocks that it is played with, and the processor that a thread runs on ---- */

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
