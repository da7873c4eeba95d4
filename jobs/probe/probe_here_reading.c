/* What AIBench's procedures about buffers and global memory are on a processor: reading in the
 * first cache in place of L1, pieces and working sets of memory, by passes that the calibration
 * times too (validate/calibrate/stream_rates.h). */
#include "jobs/probe/probe_here.h"
#include "jobs/probe/probe_parts.h"
#include "jobs/probe/probe_tables.h"

#include <math.h>

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
