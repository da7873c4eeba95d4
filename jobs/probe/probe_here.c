/* Procedures on this computer: what its processor does, timed by the protocol of
 * validate/timing.h, all points of a curve in turns, so that what else the machine does meanwhile
 * meets all of them alike.
 *
 * What AIBench's procedures are on a processor: reading in the first cache in place of L1, pieces
 * and working sets of memory, by passes that the calibration times too
 * (validate/calibrate/stream_rates.h); the vector unit's throughput by multiply-adds in registers,
 * the inner loop that computes most in place of the matrix unit, threads in place of cores, and
 * polynomials of growing order of what comes from memory. The loops are those that kernels use
 * (validate/loops.h). */
#include "jobs/probe/probe_parts.h"

#include "core/array.h"
#include "kernels/registry.h"
#include "validate/calibrate/host_calibration.h"
#include "validate/calibrate/levels.h"
#include "validate/calibrate/stream_rates.h"
#include "validate/loops.h"
#include "validate/timing.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ reading */

/* What the prepare functions may use, and what they fill. */
struct probe_run_here {
    const struct host *host;
    char *memory; /* far more than the caches hold, where there is so much */
    int64_t memory_bytes;
    void (*run)(void *run_here); /* with this struct */
    double times;                /* that it does what the point is about */
    /* What `run` needs, by which one it is. */
    stream_pass *pass;
    int64_t bytes, distance, count; /* pieces of `bytes`, so far apart */
    const struct loop_family *family;
    int loop;
    int64_t calls, steps;
    peak_loop *peak;
    int threads;
};

enum {
    PASSES = 64,
    BURSTS = 100,
    ONE_BURST = 16384,
    PAGE = 4096,
    SET_BYTES = 1 << 20, /* that are read of a working set */
    LONGEST = 1 << 28,
};

/* `count` pieces of `bytes`, so far apart; again from the start where memory ends. */
static void run_pieces(void *context)
{
    const struct probe_run_here *run = context;
    int64_t at = 0;
    for (int64_t i = 0; i < run->count; i++) {
        run->pass(run->memory + at, run->bytes);
        at += run->distance;
        if (at + run->bytes > run->memory_bytes)
            at = at % PAGE;
    }
}

static bool prepare_pieces(struct probe_run_here *run, int64_t count, int64_t bytes,
                           int64_t distance)
{
    run->pass = stream_find(run->host->isa, STREAM_READ);
    run->count = count;
    run->bytes = bytes;
    run->distance = distance;
    run->run = run_pieces;
    return run->pass && bytes <= run->memory_bytes;
}

/* The same bytes of the first cache again and again. */
static bool prepare_first(struct probe_run_here *run, const struct probe_curve *curve, int64_t x)
{
    (void)curve;
    run->times = PASSES;
    return x <= run->host->levels[0].capacity_bytes / 2 && prepare_pieces(run, PASSES, x, 0);
}

static bool prepare_strides(struct probe_run_here *run, const struct probe_curve *curve, int64_t x)
{
    (void)curve;
    return prepare_pieces(run, (int64_t)PASSES * PASSES, STREAM_BLOCK_BYTES,
                          STREAM_BLOCK_BYTES + x);
}

/* A page that is not the next one, so that nothing is there before it is asked for. */
static bool prepare_bursts(struct probe_run_here *run, const struct probe_curve *curve, int64_t x)
{
    (void)curve;
    return prepare_pieces(run, BURSTS, x, run->memory_bytes / 61 / PAGE * PAGE + x);
}

/* x KiB, of which SET_BYTES are read: more often than once where they are fewer. */
static bool prepare_set(struct probe_run_here *run, const struct probe_curve *curve, int64_t x)
{
    (void)curve;
    int64_t bytes = x * 1024;
    run->memory_bytes = bytes < run->memory_bytes ? bytes : 0;
    run->times = (double)bytes / SET_BYTES;
    return prepare_pieces(run, 1, bytes, 0);
}

static double described_read(const struct probe_answer *answer, int level)
{
    return answer->hw->host->levels[level].read_gbps;
}

static double found_first_width(const struct probe_answer *answer, const struct probe_quantity *q)
{
    return 1 / (curve_slope_ns(answer, q->curve) * answer->ghz);
}

static double described_first_width(const struct probe_answer *answer,
                                    const struct probe_quantity *q)
{
    (void)q;
    return described_read(answer, 0) / answer->ghz;
}

static const struct probe_curve firsts[] = {
    {.name = "L1", .from = 512, .to = 16384, .step = 512, .prepare = prepare_first}};

static const struct probe_quantity first_quantities[] = {
    {"width of L1, reading", "B/cycle", 0, found_first_width, described_first_width, 128, 128,
     "A 5.2, Fig. 8a"},
};

const struct probe probe_here_l1_width = {
    .name = "l1-width",
    .title = "reading what lies in the first cache",
    .figure = "A Fig. 8a",
    .x = "bytes",
    .curve_count = PROBE_COUNT(firsts),
    .curves = firsts,
    .quantity_count = PROBE_COUNT(first_quantities),
    .quantities = first_quantities,
};

static double found_slowest(const struct probe_answer *answer, const struct probe_quantity *q)
{
    const struct probe_series *series = &answer->series[q->curve];
    double most = 0;
    for (int i = 0; i < series->count; i++)
        most = fmax(most, series->points[i].ns);
    return series->count ? most / series->points[0].ns : NAN;
}

static const struct probe_curve strides[] = {
    {.name = "memory", .from = 0, .to = 8192, .step = 512, .prepare = prepare_strides}};

static const struct probe_quantity stride_quantities[] = {
    {"slowest", "x", 0, found_slowest, NULL, 1, 1, "A 5.4"}};

const struct probe probe_here_strides = {
    .name = "strides",
    .title = "reading 4096 pieces of 512 bytes at growing distances",
    .figure = "A 5.4",
    .x = "bytes between",
    .curve_count = PROBE_COUNT(strides),
    .curves = strides,
    .quantity_count = PROBE_COUNT(stride_quantities),
    .quantities = stride_quantities,
};

static double found_sustained(const struct probe_answer *answer, const struct probe_quantity *q)
{
    return BURSTS / curve_slope_ns(answer, q->curve);
}

static double found_one_burst(const struct probe_answer *answer, const struct probe_quantity *q)
{
    const struct probe_point *point = curve_at(answer, q->curve, ONE_BURST);
    return point ? BURSTS * ONE_BURST / point->ns : NAN;
}

static double described_memory(const struct probe_answer *answer, const struct probe_quantity *q)
{
    (void)q;
    return described_read(answer, answer->hw->host->level_count - 1);
}

static const struct probe_curve bursts[] = {
    {.name = "memory", .from = 1024, .to = 65536, .step = 1024, .prepare = prepare_bursts}};

static const struct probe_quantity burst_quantities[] = {
    {"memory, sustained", "GB/s", 0, found_sustained, described_memory, 108.7, 108.7,
     "A 6.1, Fig. 9a"},
    {"memory, 16 KiB a piece", "GB/s", 0, found_one_burst, NULL, 93.6, 93.6, "A 6.1, Fig. 9b"},
};

const struct probe probe_here_gm_bursts = {
    .name = "gm-bursts",
    .title = "one core reads 100 pieces of memory, by their size",
    .figure = "A Fig. 9",
    .x = "bytes",
    .curve_count = PROBE_COUNT(bursts),
    .curves = bursts,
    .quantity_count = PROBE_COUNT(burst_quantities),
    .quantities = burst_quantities,
};

/* GB/s of the smallest set, and of the largest. */
static double found_near(const struct probe_answer *answer, const struct probe_quantity *q)
{
    const struct probe_series *series = &answer->series[q->curve];
    return series->count ? SET_BYTES / series->points[0].ns : NAN;
}

static double described_near(const struct probe_answer *answer, const struct probe_quantity *q)
{
    (void)q;
    return described_read(answer, 0);
}

static double found_far(const struct probe_answer *answer, const struct probe_quantity *q)
{
    const struct probe_series *series = &answer->series[q->curve];
    return series->count ? SET_BYTES / series->points[series->count - 1].ns : NAN;
}

static const struct probe_curve sets[] = {
    {.name = "1 MiB of it", .from = 8, .to = LONGEST / 1024, .prepare = prepare_set}};

static const struct probe_quantity set_quantities[] = {
    {"smallest set", "GB/s", 0, found_near, described_near, 0, 0, ""},
    {"largest set", "GB/s", 0, found_far, described_memory, 0, 0, ""},
};

const struct probe probe_here_working_set = {
    .name = "working-set",
    .title = "one core reads a working set again and again",
    .figure = "A Fig. 10",
    .x = "KiB",
    .curve_count = PROBE_COUNT(sets),
    .curves = sets,
    .quantity_count = PROBE_COUNT(set_quantities),
    .quantities = set_quantities,
};

enum { THREAD_STEPS = 1 << 20 };

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

static const struct probe_curve thread_curves[] = {
    {.name = "threads", .from = 1, .to = HOST_MAX_THREADS, .step = 1, .prepare = prepare_threads}};

static const struct probe_quantity thread_quantities[] = {
    {"cores", "cores", 0, found_threads, described_threads, 30, 30, "A 6.2, Fig. 11"}};

const struct probe probe_here_cores = {
    .name = "cores",
    .title = "threads that compute the same, more and more of them",
    .figure = "A Fig. 11",
    .x = "threads",
    .curve_count = PROBE_COUNT(thread_curves),
    .curves = thread_curves,
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

/* ------------------------------------------------------------------ times */

enum { MEMORY_BYTES = 256 << 20, LEAST_MEMORY_BYTES = 16 << 20, ROUNDS = 7 };

static const double sample_ns = 1e5, budget_s = 3; /* of a curve */

/* What is timed of one curve; both arrays grow together. */
struct stretch {
    int count;
    struct probe_run_here *runs;
    struct timing_subject *subjects;
    struct timing *timings;
};

static void stretch_clear(struct stretch *stretch)
{
    free(stretch->runs);
    free(stretch->subjects);
    free(stretch->timings);
}

static enum status add_run(struct stretch *stretch, const struct probe_run_here *run,
                           struct probe_series *series, int64_t x, struct error *error)
{
    if (!array_room(&stretch->runs, stretch->count, sizeof *stretch->runs) ||
        !array_room(&series->points, series->count, sizeof *series->points))
        return error_memory(error);
    stretch->runs[stretch->count++] = *run;
    series->points[series->count++] = (struct probe_point){.x = x, .cores = 1};
    return STATUS_OK;
}

static enum status prepare_series(struct stretch *stretch, const struct probe_run_here *form,
                                  struct probe_series *series, struct error *error)
{
    const struct probe_curve *curve = series->curve;
    for (int64_t x = curve->from; x <= curve->to; x = probe_next_size(curve, x)) {
        struct probe_run_here run = *form;
        if (!curve->prepare(&run, curve, x))
            break;
        TRY(add_run(stretch, &run, series, x, error));
    }
    if (!series->count)
        snprintf(series->why, sizeof series->why, "it is not built for this processor");
    return STATUS_OK;
}

static enum status time_stretch(struct stretch *stretch, struct probe_series *series,
                                struct error *error)
{
    int threads = stretch->runs[stretch->count - 1].threads;
    const struct timing_options options = {.min_sample_ns = sample_ns,
                                           .rounds = ROUNDS,
                                           .threads = threads ? threads : 1,
                                           .budget_s = budget_s};
    size_t count = (size_t)stretch->count;
    stretch->subjects = calloc(count + 1, sizeof *stretch->subjects);
    stretch->timings = calloc(count + 1, sizeof *stretch->timings);
    if (!stretch->subjects || !stretch->timings)
        return error_memory(error);
    for (int i = 0; i < stretch->count; i++)
        stretch->subjects[i] = (struct timing_subject){stretch->runs[i].run, &stretch->runs[i]};
    TRY(timing_measure(stretch->subjects, stretch->count, &options, stretch->timings, error));
    for (int i = 0; i < stretch->count; i++)
        series->points[i].ns = stretch->timings[i].median_ns / stretch->runs[i].times;
    return STATUS_OK;
}

static enum status run_series(const struct probe_run_here *form, struct probe_series *series,
                              struct error *error)
{
    struct stretch stretch = {.count = 0};
    enum status status = prepare_series(&stretch, form, series, error);
    if (status == STATUS_OK && stretch.count)
        status = time_stretch(&stretch, series, error);
    stretch_clear(&stretch);
    return status;
}

static enum status run_all(const struct probe_run_here *form, struct probe_answer *answer,
                           struct error *error)
{
    for (int c = 0; c < answer->probe->curve_count; c++) {
        answer->series[c] = (struct probe_series){.curve = &answer->probe->curves[c]};
        answer->series_count = c + 1;
        TRY(run_series(form, &answer->series[c], error));
    }
    return STATUS_OK;
}

static void say_why(struct probe_answer *answer)
{
    answer->series_count = 1;
    answer->series[0] = (struct probe_series){.curve = answer->probe->curves};
    snprintf(answer->series[0].why, PROBE_WHY_SIZE, "%s", answer->probe->why_not_here);
}

/* Finite numbers that do not grow when they are multiplied, nor vanish. */
static void fill_with_numbers(char *memory, int64_t bytes)
{
    float *numbers = (float *)(void *)memory;
    for (int64_t i = 0; i < bytes / (int64_t)sizeof *numbers; i++)
        numbers[i] = (float)(i % 7) / 16 + 0.5F;
}

enum status probe_here(struct probe_answer *answer, struct error *error)
{
    char why[256];
    struct probe_run_here form = {.host = answer->hw->host, .times = 1};
    if (!answer->probe->here) {
        say_why(answer);
        return STATUS_OK;
    }
    if (!host_is_this_machine(answer->hw->host, why, sizeof why))
        return error_set(error, STATUS_INVALID,
                         "%.64s: %s; expected a description by `autotune calibrate --hw host`",
                         answer->hw->name, why);
    answer->probe = answer->probe->here;
    TRY(timing_clock_rate(&answer->ghz, error));
    form.memory = calibrate_memory(MEMORY_BYTES, LEAST_MEMORY_BYTES, &form.memory_bytes);
    if (!form.memory)
        return error_memory(error);
    fill_with_numbers(form.memory, form.memory_bytes);
    enum status status = run_all(&form, answer, error);
    free(form.memory);
    if (status != STATUS_OK)
        probe_answer_clear(answer);
    return status;
}
