/* What AIBench's procedures are on a processor: the vector unit's throughput by multiply-adds in
 * registers, the inner loop that computes most in place of the matrix unit, threads in place of
 * cores, and polynomials of growing order of what comes from memory. The loops are those that
 * kernels use (validate/loops.h) and that the calibration times. */
#include "jobs/probe/probe_here.h"
#include "jobs/probe/probe_parts.h"
#include "jobs/probe/probe_tables.h"
#include "kernels/registry.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { PASSES = 64, THREAD_STEPS = 1 << 20 };

/* ------------------------------------------------------------------ multiply-adds in registers */

static void run_peak(void *context)
{
    float sink[64];
    const struct probe_run_here *run = context;
    run->peak(sink, run->steps);
    __asm__ volatile("" : : "r"(sink) : "memory");
}

static bool prepare_peak(struct probe_run_here *run, const struct probe_curve *curve, int64_t x)
{
    (void)curve;
    run->peak = peak_find(run->host->isa);
    run->steps = x;
    run->run = run_peak;
    return run->peak;
}

static int lanes_of(const struct probe_answer *answer)
{
    return peak_lanes(answer->hw->host->isa);
}

/* Of one of the chains, which are independent. */
static double found_instruction(const struct probe_answer *answer, const struct probe_quantity *q)
{
    return curve_slope_ns(answer, q->curve) / PEAK_CHAINS * answer->ghz;
}

static double described_instruction(const struct probe_answer *answer,
                                    const struct probe_quantity *q)
{
    (void)q;
    return 2 * lanes_of(answer) / answer->hw->host->peak_gflops * answer->ghz;
}

static double found_peak(const struct probe_answer *answer, const struct probe_quantity *q)
{
    return 2 * PEAK_CHAINS * lanes_of(answer) / curve_slope_ns(answer, q->curve);
}

static double described_peak(const struct probe_answer *answer, const struct probe_quantity *q)
{
    (void)q;
    return answer->hw->host->peak_gflops;
}

static double found_bytes(const struct probe_answer *answer, const struct probe_quantity *q)
{
    return (double)lanes_of(answer) * sizeof(float) / found_instruction(answer, q);
}

static const struct probe_curve peaks[] = {
    {.name = "f32", .from = 256, .to = 4096, .step = 256, .prepare = prepare_peak}};

static const struct probe_quantity peak_quantities[] = {
    {"a vector instruction", "cycles", 0, found_instruction, described_instruction, 1, 1,
     "A 4.1, Fig. 3a"},
    {"throughput", "B/cycle", 0, found_bytes, NULL, 256, 256, "A 4.1, Fig. 3b"},
    {"one core, f32", "GFLOP/s", 0, found_peak, described_peak, 0, 0, ""},
};

const struct probe probe_here_vector_repeats = {
    .name = "vector-repeats",
    .title = "steps of 12 multiply-adds of vectors in registers",
    .figure = "A Fig. 3",
    .x = "steps",
    .curve_count = PROBE_COUNT(peaks),
    .curves = peaks,
    .quantity_count = PROBE_COUNT(peak_quantities),
    .quantities = peak_quantities,
};

/* ------------------------------------------------------------------ an inner loop */

static void run_loop(void *context)
{
    const struct probe_run_here *run = context;
    run->family->run(run->loop, run->host->isa, run->calls, run->steps, run->memory, run->bytes);
}

/* By its name in descriptions, "family variant". */
static bool find_loop(struct probe_run_here *run, const char *name)
{
    for (int f = 0; (run->family = loop_family_at(f)); f++) {
        size_t length = strlen(run->family->name);
        if (strncmp(name, run->family->name, length) != 0 || name[length] != ' ')
            continue;
        for (run->loop = 0; run->loop < run->family->count; run->loop++)
            if (strcmp(run->family->variant(run->loop), name + length + 1) == 0)
                return true;
    }
    return false;
}

/* That computes most in a ns, or NULL. */
static const struct host_loop *busiest_loop(const struct host *host)
{
    const struct host_loop *most = NULL;
    for (int l = 0; l < host->loop_count; l++) {
        const struct host_loop *loop = &host->loops[l];
        if (loop->step_ns > 0 &&
            (!most || loop->flops / loop->step_ns > most->flops / most->step_ns))
            most = loop;
    }
    return most;
}

static bool prepare_product(struct probe_run_here *run, const struct probe_curve *curve, int64_t x)
{
    const struct host_loop *loop = busiest_loop(run->host);
    (void)curve;
    run->calls = PASSES;
    run->times = PASSES;
    run->steps = x;
    run->bytes = run->host->levels[0].capacity_bytes / 3;
    run->run = run_loop;
    return loop && find_loop(run, loop->name) &&
           run->family->run(run->loop, run->host->isa, 1, x, run->memory, run->bytes) == x;
}

static double found_product_gflops(const struct probe_answer *answer,
                                   const struct probe_quantity *q)
{
    const struct host_loop *loop = busiest_loop(answer->hw->host);
    return loop ? loop->flops / curve_slope_ns(answer, q->curve) : NAN;
}

static double described_product_gflops(const struct probe_answer *answer,
                                       const struct probe_quantity *q)
{
    (void)q;
    const struct host_loop *loop = busiest_loop(answer->hw->host);
    return loop ? loop->flops / loop->step_ns : NAN;
}

static const struct probe_curve products[] = {
    {.name = "f32", .from = 8, .to = 128, .step = 8, .prepare = prepare_product}};

static const struct probe_quantity product_quantities[] = {
    {"one core, f32", "GFLOP/s", 0, found_product_gflops, described_product_gflops, 7200, 7200,
     "A 4.2, f16"},
};

const struct probe probe_here_matrix_cycles = {
    .name = "matrix-cycles",
    .title = "the inner loop that computes most, by its steps (k of a product)",
    .figure = "A Fig. 4, 5",
    .x = "steps",
    .curve_count = PROBE_COUNT(products),
    .curves = products,
    .quantity_count = PROBE_COUNT(product_quantities),
    .quantities = product_quantities,
};

/* ------------------------------------------------------------------ threads */

static void *compute(void *context)
{
    run_peak(context);
    return NULL;
}

/* Each thread computes as much; those that cannot be started are computed here. */
static void run_threads(void *context)
{
    const struct probe_run_here *run = context;
    pthread_t threads[HOST_MAX_THREADS];
    int started = 0;
    while (started < run->threads && pthread_create(&threads[started], NULL, compute, context) == 0)
        started++;
    for (int t = started; t < run->threads; t++)
        run_peak(context);
    for (int t = 0; t < started; t++)
        pthread_join(threads[t], NULL);
}

static bool prepare_threads(struct probe_run_here *run, const struct probe_curve *curve, int64_t x)
{
    int most = 4 * run->host->threads;
    if (x > most || x > HOST_MAX_THREADS || !prepare_peak(run, curve, THREAD_STEPS))
        return false;
    run->threads = (int)x;
    run->run = run_threads;
    return true;
}

static double found_threads(const struct probe_answer *answer, const struct probe_quantity *q)
{
    return curve_knee(answer, q->curve);
}

static double described_threads(const struct probe_answer *answer, const struct probe_quantity *q)
{
    (void)q;
    return answer->hw->host->threads;
}

static const struct probe_curve threads[] = {
    {.name = "threads", .from = 1, .to = HOST_MAX_THREADS, .step = 1, .prepare = prepare_threads}};

static const struct probe_quantity thread_quantities[] = {
    {"cores", "cores", 0, found_threads, described_threads, 30, 30, "A 6.2, Fig. 11"}};

const struct probe probe_here_cores = {
    .name = "cores",
    .title = "threads that compute the same, more and more of them",
    .figure = "A Fig. 11",
    .x = "threads",
    .curve_count = PROBE_COUNT(threads),
    .curves = threads,
    .quantity_count = PROBE_COUNT(thread_quantities),
    .quantities = thread_quantities,
};

/* ------------------------------------------------------------------ operations on what is loaded
 */

/* A polynomial of so many terms of each number in memory. */
static bool prepare_operations(struct probe_run_here *run, const struct probe_curve *curve,
                               int64_t x)
{
    (void)curve;
    run->steps = x;
    run->calls = 1 << 17;
    run->bytes = run->memory_bytes;
    run->run = run_loop;
    return find_loop(run, "poly horner 1x4");
}

static double found_break_even(const struct probe_answer *answer, const struct probe_quantity *q)
{
    return curve_knee(answer, q->curve);
}

static const struct probe_curve operations[] = {
    {.name = "one core", .from = 1, .to = 32, .step = 1, .prepare = prepare_operations}};

static const struct probe_quantity operation_quantities[] = {
    {"break-even, one core", "operations", 0, found_break_even, NULL, 6, 9, "A 7.1, Fig. 14"}};

const struct probe probe_here_break_even = {
    .name = "break-even",
    .title = "multiply-adds of each number that comes from memory",
    .figure = "A Fig. 14",
    .x = "operations",
    .curve_count = PROBE_COUNT(operations),
    .curves = operations,
    .quantity_count = PROBE_COUNT(operation_quantities),
    .quantities = operation_quantities,
};
