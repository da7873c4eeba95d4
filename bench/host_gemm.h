/* What bench_host_gemm measures, and its two reports. */
#ifndef AUTOTUNE_BENCH_HOST_GEMM_H
#define AUTOTUNE_BENCH_HOST_GEMM_H

#include "bench/libraries.h"
#include "runtime/autotune_sgemm.h"
#include "validate/timing.h"

enum { GEMM_OURS = LIBRARY_COUNT, GEMM_CONTENDERS, GEMM_MAX_SHAPES = 256, GEMM_MAX_RUNS = 15 };

/* One shape's figures; a median of 0: did not take part. */
struct gemm_row {
    int64_t m, k, n;
    struct timing timings[GEMM_CONTENDERS];
    struct timing runs[GEMM_MAX_RUNS][GEMM_CONTENDERS]; /* of which those are the middle ones */
    double error[GEMM_CONTENDERS]; /* greatest of sampled results, relative to Σ|terms| */
    double lookup_ns;              /* of finding the plan of a shape that is known */
    struct autotune_sgemm_plan plan;
};

struct gemm_results {
    const char *table; /* NULL: default tilings */
    int threads, runs;
    struct library libraries[LIBRARY_COUNT];
    struct timing_noise noise;
    int count;
    struct gemm_row rows[GEMM_MAX_SHAPES];
};

/* As text: the head before the first row, the summary behind the last. */
void gemm_print_head(const struct gemm_results *results);
void gemm_print_row(const struct gemm_row *row);
void gemm_print_summary(const struct gemm_results *results);

void gemm_print_json(const struct gemm_results *results);

#endif
