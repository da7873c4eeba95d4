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

static inline double bench_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static inline void bench_require(enum status status, const struct error *error)
{
    if (status == STATUS_OK)
        return;
    fprintf(stderr, "%s\n", error->text);
    exit(2);
}

/* Median seconds of one call, after a warm-up; *best gets the shortest. */
static inline double bench_median(void (*call)(void *context), void *context, double *best)
{
    double seconds[BENCH_ROUNDS];
    call(context);
    for (int r = 0; r < BENCH_ROUNDS; r++) {
        double start = bench_now();
        call(context);
        seconds[r] = bench_now() - start;
    }
    gsl_sort(seconds, 1, BENCH_ROUNDS);
    *best = seconds[0];
    return gsl_stats_median_from_sorted_data(seconds, 1, BENCH_ROUNDS);
}

#endif
