/* Timing for the benchmarks: medians of rounds, in one process. */
#ifndef AUTOTUNE_BENCH_BENCH_H
#define AUTOTUNE_BENCH_BENCH_H

#include "core/status.h"

#include <gsl/gsl_sort_double.h>
#include <gsl/gsl_statistics_double.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BENCH_ROUNDS = 15 };

static inline double bench_read(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static inline double bench_now(void)
{
    return bench_read(CLOCK_MONOTONIC);
}

static inline void bench_require(enum status status, const struct error *error)
{
    if (status == STATUS_OK)
        return;
    fprintf(stderr, "%s\n", error->text);
    exit(2);
}

/* Median seconds of one call by a clock, after a warm-up; *best gets the shortest. */
static inline double bench_median_by(clockid_t clock, void (*call)(void *context), void *context,
                                     double *best)
{
    double seconds[BENCH_ROUNDS];
    call(context);
    for (int r = 0; r < BENCH_ROUNDS; r++) {
        double start = bench_read(clock);
        call(context);
        seconds[r] = bench_read(clock) - start;
    }
    gsl_sort(seconds, 1, BENCH_ROUNDS);
    *best = seconds[0];
    return gsl_stats_median_from_sorted_data(seconds, 1, BENCH_ROUNDS);
}

static inline double bench_median(void (*call)(void *context), void *context, double *best)
{
    return bench_median_by(CLOCK_MONOTONIC, call, context, best);
}

/* In processor time: for one thread, on a machine that others use too. */
static inline double bench_cpu_median(void (*call)(void *context), void *context, double *best)
{
    return bench_median_by(CLOCK_PROCESS_CPUTIME_ID, call, context, best);
}

#endif
