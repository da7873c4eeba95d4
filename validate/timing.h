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

#endif
