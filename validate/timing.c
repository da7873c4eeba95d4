/* Times things with real clocks. The protocol itself is in timing_core.c; here it is played with
 * real clocks, on a pinned thread where there is one. Noise is what the protocol makes of a chain
 * of multiplications that nothing but clock rate and other work can slow down, and the clock rate
 * follows from a chain of additions of one cycle each. */
#include "validate/timing.h"

#include "validate/timing_clocks.h"

#include <stdlib.h>

static enum status measure_rounds(const struct timing_subject *subjects, int count,
                                  const struct timing_options *options, struct timing *timings,
                                  struct error *error)
{
    void *memory = malloc(timing_rounds_bytes(options, count));
    if (!memory)
        return error_memory(error);
    struct timing_rounds *rounds = timing_rounds_begin(memory, options, count, timing_now_ns());
    timing_play(rounds, subjects);
    for (int i = 0; i < count; i++)
        timing_rounds_result(rounds, i, &timings[i]);
    free(memory);
    return STATUS_OK;
}

/* The mask of a pinned thread goes over to threads that it starts: with several, none is pinned. */
enum status timing_measure(const struct timing_subject *subjects, int count,
                           const struct timing_options *options, struct timing *timings,
                           struct error *error)
{
    struct timing_processors before;
    enum status status = timing_options_check(options, count, error);
    if (status != STATUS_OK)
        return status;
    if (options->threads > 1)
        return measure_rounds(subjects, count, options, timings, error);
    timing_pin_here(&before);
    status = measure_rounds(subjects, count, options, timings, error);
    timing_unpin(&before);
    return status;
}

/* Some 60 µs of multiplications that each need the one before: no memory, no vector units, and so
 * nothing but the clock rate and other people's work changes its time. */
static void chain(void *context)
{
    volatile uint64_t *state = context;
    uint64_t x = *state;
    for (int i = 0; i < 1 << 15; i++)
        x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    *state = x;
}

enum status timing_noise(struct timing_noise *noise, struct error *error)
{
    uint64_t state = 1;
    struct timing_subject subject = {.run = chain, .context = &state};
    struct timing_options options = {.rounds = 150, .threads = 1};
    struct timing timing = {0};
    TRY(timing_measure(&subject, 1, &options, &timing, error));
    noise->spread = timing.spread;
    noise->dropped = (double)timing.dropped / (timing.samples + timing.dropped);
    return STATUS_OK;
}

bool timing_is_noisy(const struct timing_noise *noise)
{
    return noise->spread > TIMING_NOISY_SPREAD || noise->dropped > TIMING_NOISY_DROPPED;
}

enum { ADDITIONS = 1 << 16, UNROLLED = 16 };

/* The empty assembler lines keep the compiler from adding all at once. */
static void additions(void *context)
{
    volatile uint64_t *state = context;
    uint64_t x = *state, y = x;
    for (int i = 0; i < ADDITIONS / UNROLLED; i++)
#pragma GCC unroll 16
        for (int j = 0; j < UNROLLED; j++) {
            x += y;
            __asm__("" : "+r"(x));
        }
    *state = x;
}

enum status timing_clock_rate(double *ghz, struct error *error)
{
    uint64_t state = 1;
    const struct timing_subject subject = {additions, &state};
    const struct timing_options options = {.threads = 1};
    struct timing timing = {0};
    TRY(timing_measure(&subject, 1, &options, &timing, error));
    *ghz = timing.median_ns > 0 ? ADDITIONS / timing.median_ns : 0;
    return STATUS_OK;
}

double timing_clock_step_ns(void)
{
    enum { STEPS = 9 };
    double least_ns = 1e9;
    for (int i = 0; i < STEPS; i++) {
        double begin_ns = timing_now_ns(), now_ns = begin_ns;
        while (now_ns == begin_ns)
            now_ns = timing_now_ns();
        least_ns = now_ns - begin_ns < least_ns ? now_ns - begin_ns : least_ns;
    }
    return least_ns;
}
