/* The timing protocol with times made up: which samples count, who falls out, when it is enough.
 * What reads real clocks is tested for what does not depend on speed. */
#include "validate/timing.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 12, MOST_STEPS = 20000 };

/* A machine on which subject i takes base_ns[i] a run, but for what `disturb` does to a sample. */
struct fake {
    int count;
    double base_ns[MOST];
    /* Changes the reading of the n-th sample of subject i (those of sizing included). */
    void (*disturb)(struct fake *fake, int i, int n, struct timing_reading *reading);
    const int *names; /* subject i is called names[i]: what `disturb` is told; NULL: i */
    unsigned seed;
    double now_ns;
    int samples[MOST];     /* asked for */
    int order[MOST_STEPS]; /* subjects as they had their turns */
    int64_t runs[MOST_STEPS];
    int steps;
};

static unsigned mix(unsigned a, unsigned b, unsigned c)
{
    unsigned x = a * 2654435761U ^ b * 2246822519U ^ c * 3266489917U;
    x ^= x >> 15;
    x *= 2246822519U;
    x ^= x >> 13;
    return x * 3266489917U ^ x >> 16;
}

static double uniform(unsigned a, unsigned b, unsigned c)
{
    return mix(a, b, c) / 4294967296.0;
}

/* One sample; false when it is enough. */
static bool step(struct fake *fake, struct timing_rounds *rounds)
{
    struct timing_step now;
    if (!timing_rounds_next(rounds, fake->now_ns, &now))
        return false;
    int i = now.subject;
    double ns = fake->base_ns[i] * (double)now.runs;
    struct timing_reading reading = {.wall_ns = ns, .cpu_ns = ns};
    cr_assert(fake->steps < MOST_STEPS, "it does not end");
    fake->order[fake->steps] = i;
    fake->runs[fake->steps++] = now.runs;
    if (fake->disturb)
        fake->disturb(fake, fake->names ? fake->names[i] : i, fake->samples[i], &reading);
    fake->samples[i]++;
    fake->now_ns += reading.wall_ns;
    timing_rounds_record(rounds, &reading);
    return true;
}

static struct timing_rounds *begin(struct fake *fake, const struct timing_options *options)
{
    struct error error;
    cr_assert_eq(timing_options_check(options, fake->count, &error), STATUS_OK);
    void *memory = malloc(timing_rounds_bytes(options, fake->count));
    cr_assert(memory != NULL);
    return timing_rounds_begin(memory, options, fake->count, fake->now_ns);
}

static void finish(struct fake *fake, struct timing_rounds *rounds, struct timing *timings)
{
    while (step(fake, rounds))
        continue;
    for (int i = 0; i < fake->count; i++)
        timing_rounds_result(rounds, i, &timings[i]);
    free(rounds);
}

static void play(struct fake *fake, const struct timing_options *options, struct timing *timings)
{
    finish(fake, begin(fake, options), timings);
}

static int taken(const struct timing *timing)
{
    return timing->samples + timing->dropped;
}

Test(timing, rounds_by_length_of_a_run)
{
    static const struct {
        double ns;
        int asked, rounds;
    } cases[] = {{1, 0, 31},     {1e6, 0, 31},   {1.9e7, 0, 31}, {2.1e7, 0, 15},
                 {9.9e7, 0, 15}, {1.01e8, 0, 7}, {1e10, 0, 7},   {1e3, 5, 5},
                 {1e9, 50, 50},  {1e3, 1, 3},    {1e9, 2, 3},    {1e3, 100, 100}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fake fake = {.count = 1, .base_ns = {cases[i].ns}};
        struct timing timing;
        play(&fake, &(struct timing_options){.rounds = cases[i].asked}, &timing);
        cr_expect_eq(timing.samples, cases[i].rounds, "run of %g ns", cases[i].ns);
        cr_expect_eq(timing.dropped, 0);
        cr_expect_float_eq(timing.median_ns, cases[i].ns, cases[i].ns * 1e-12);
        cr_expect_eq(timing.spread, 0);
    }
}

Test(timing, a_long_run_is_not_sized_first)
{
    struct fake fake = {.count = 2, .base_ns = {2.5e8, 3e8}};
    struct timing timings[2] = {0};
    play(&fake, &(struct timing_options){0}, timings);
    cr_expect_eq(fake.samples[0], 7);
    cr_expect_eq(fake.samples[1], 7);
}

Test(timing, samples_last_long_enough_and_not_much_longer)
{
    for (int i = 0; i < 40; i++) {
        double ns = 0.4 * pow(1.7, i);
        struct fake fake = {.count = 1, .base_ns = {ns}};
        struct timing timing;
        play(&fake, &(struct timing_options){0}, &timing);
        double sample_ns = ns * (double)timing.runs_a_sample;
        cr_expect(sample_ns >= 3e5, "%g", ns);
        cr_expect(sample_ns <= fmax(ns, 5e5) * 1.2, "%g: %g", ns, sample_ns);
        cr_expect(fake.steps <= 31 + 10, "%g: %d", ns, fake.steps);
    }
}

Test(timing, a_sample_as_long_as_asked)
{
    struct fake fake = {.count = 1, .base_ns = {1e3}};
    struct timing timing;
    play(&fake, &(struct timing_options){.min_sample_ns = 5e7}, &timing);
    cr_expect(timing.runs_a_sample >= 50000);
    cr_expect(timing.runs_a_sample <= 60000);
}

static void cold(struct fake *fake, int i, int n, struct timing_reading *reading)
{
    (void)fake;
    (void)i;
    if (n == 0)
        reading->wall_ns = reading->cpu_ns = 100 * reading->wall_ns;
}

Test(timing, a_cold_first_run_does_not_matter)
{
    /* Cold it takes 1 ms, warm 10 µs. */
    struct fake fake = {.count = 1, .base_ns = {1e4}, .disturb = cold};
    struct timing timing;
    play(&fake, &(struct timing_options){0}, &timing);
    cr_expect(timing.runs_a_sample >= 30);
    cr_expect_eq(timing.samples, 31);
    cr_expect_float_eq(timing.median_ns, 1e4, 1e-6);
    cr_expect_eq(timing.spread, 0);
}

static void nothing(struct fake *fake, int i, int n, struct timing_reading *reading)
{
    (void)fake;
    (void)i;
    (void)n;
    reading->wall_ns = reading->cpu_ns = 0;
}

Test(timing, ends_when_a_clock_stands_still)
{
    struct fake fake = {.count = 2, .base_ns = {1, 1}, .disturb = nothing};
    struct timing timings[2] = {0};
    play(&fake, &(struct timing_options){0}, timings);
    cr_expect_eq(timings[0].samples, 31);
    cr_expect_eq(timings[0].median_ns, 0);
    cr_expect_eq(timings[0].spread, 0);
}

static void ramp(struct fake *fake, int i, int n, struct timing_reading *reading)
{
    (void)fake;
    (void)i;
    reading->wall_ns = reading->cpu_ns = 1e7 * (n == 0 ? 1 : 1 + (n * 12) % 31);
}

Test(timing, median_and_spread)
{
    /* 10 ms times 1 to 31, in some order: quartiles 8.5 and 23.5, median 16. */
    struct fake fake = {.count = 1, .base_ns = {1e7}, .disturb = ramp};
    struct timing timing;
    play(&fake, &(struct timing_options){.rounds = 31}, &timing);
    cr_assert_eq(timing.samples, 31);
    cr_expect_float_eq(timing.median_ns, 16e7, 1);
    cr_expect_float_eq(timing.spread, (23.5 - 8.5) / 2 / 16, 1e-12);
}

/* Every third sample was preempted, or stretched by more than 1 %. */
static void interrupt_some(struct fake *fake, int i, int n, struct timing_reading *reading)
{
    double noise = 1 + 0.004 * uniform(fake->seed, (unsigned)i, (unsigned)(n - n / 3));
    reading->wall_ns *= noise;
    reading->cpu_ns = reading->wall_ns;
    if (n % 3 != 2)
        return;
    reading->wall_ns *= 7;
    if (n % 2)
        reading->preemptions = 10000, reading->cpu_ns = reading->wall_ns;
}

static void only_noise(struct fake *fake, int i, int n, struct timing_reading *reading)
{
    reading->wall_ns *= 1 + 0.004 * uniform(fake->seed, (unsigned)i, (unsigned)n);
    reading->cpu_ns = reading->wall_ns;
}

Test(timing, dropped_samples_change_nothing)
{
    for (unsigned seed = 0; seed < 50; seed++) {
        struct fake quiet = {
            .count = 3, .base_ns = {1e6, 1.1e6, 3e7}, .seed = seed, .disturb = only_noise};
        struct fake noisy = quiet;
        struct timing expected[3], timings[3];
        noisy.disturb = interrupt_some;
        play(&quiet, &(struct timing_options){0}, expected);
        play(&noisy, &(struct timing_options){0}, timings);
        for (int i = 0; i < 3; i++) {
            cr_expect_eq(timings[i].samples, expected[i].samples);
            cr_expect(timings[i].dropped > 0);
            cr_expect_eq(timings[i].median_ns, expected[i].median_ns);
            cr_expect_eq(timings[i].spread, expected[i].spread);
        }
    }
}

static void always_preempted(struct fake *fake, int i, int n, struct timing_reading *reading)
{
    (void)fake;
    (void)i;
    (void)n;
    reading->preemptions = 2;
}

Test(timing, nothing_but_dropped_samples)
{
    struct fake fake = {.count = 1, .base_ns = {1e6}, .disturb = always_preempted};
    struct timing timing;
    play(&fake, &(struct timing_options){0}, &timing);
    cr_expect_eq(timing.samples, 0);
    cr_expect_eq(timing.dropped, 62, "twice the rounds, then it is enough");
    cr_expect_float_eq(timing.median_ns, 1e6, 1e-3);
}

/* How often subject i is preempted in every sample, and whether CPU time is known. */
static void preempted(struct fake *fake, int i, int n, struct timing_reading *reading)
{
    static const int times[] = {1, 1, 3, 1};
    (void)fake;
    (void)n;
    reading->preemptions = times[i];
    if (i == 3)
        reading->cpu_ns = -1;
}

Test(timing, a_preemption_is_lost_in_a_long_sample)
{
    struct fake fake = {.count = 4, .base_ns = {9.9e6, 1.1e7, 1.1e7, 9.9e6}, .disturb = preempted};
    struct timing timings[4] = {0};
    play(&fake, &(struct timing_options){0}, timings);
    cr_expect_eq(timings[0].samples, 0);
    cr_expect_eq(timings[1].samples, 31);
    cr_expect_eq(timings[1].dropped, 0);
    cr_expect_eq(timings[2].samples, 0);
    cr_expect_eq(timings[3].samples, 0);
}

/* Wall-clock by CPU time of subject i: 1.009 and 1.011; not known. */
static void stretch(struct fake *fake, int i, int n, struct timing_reading *reading)
{
    static const double factor[] = {1.009, 1.011};
    (void)fake;
    (void)n;
    reading->cpu_ns = i < 2 ? reading->wall_ns / factor[i] : -1;
}

Test(timing, stretched_by_more_than_a_per_cent)
{
    struct fake fake = {.count = 3, .base_ns = {1e6, 1e6, 1e6}, .disturb = stretch};
    struct timing timings[3] = {0};
    play(&fake, &(struct timing_options){0}, timings);
    cr_expect_eq(timings[0].samples, 31);
    cr_expect_eq(timings[0].dropped, 0);
    cr_expect_eq(timings[1].samples, 0);
    cr_expect_eq(timings[2].samples, 31);
}

Test(timing, subjects_take_turns)
{
    struct fake fake = {.count = 4, .base_ns = {1e6, 2e6, 5e5, 7e6}};
    struct timing timings[4] = {0};
    play(&fake, &(struct timing_options){0}, timings);
    cr_assert_eq(fake.steps, 4 * 32, "one of sizing, 31 rounds");
    for (int i = 0; i < fake.steps; i++)
        cr_expect_eq(fake.order[i], i % 4);
}

/* Random noise, spikes and preemptions that go with a subject's name, wherever it stands. */
static void any(struct fake *fake, int i, int n, struct timing_reading *reading)
{
    unsigned a = fake->seed, b = (unsigned)i, c = (unsigned)n;
    reading->wall_ns *= 1 + 0.02 * uniform(a, b, c);
    if (uniform(a + 1, b, c) < 0.1)
        reading->wall_ns *= 1 + 20 * uniform(a + 2, b, c);
    reading->cpu_ns = reading->wall_ns;
    if (uniform(a + 3, b, c) < 0.1)
        reading->cpu_ns /= 1.5;
    reading->preemptions = uniform(a + 4, b, c) < 0.1;
}

static struct fake random_machine(unsigned seed)
{
    struct fake fake = {.count = 1 + (int)(mix(seed, 1, 0) % MOST), .seed = seed, .disturb = any};
    double scale = pow(10, 1 + 7 * uniform(seed, 2, 0));
    for (int i = 0; i < fake.count; i++)
        fake.base_ns[i] = scale * (1 + 2 * uniform(seed, 3, (unsigned)i));
    return fake;
}

static struct timing_options random_options(unsigned seed)
{
    static const double keep[] = {0, 1, 1.2, 1.5};
    struct timing_options options = {.keep_within = keep[mix(seed, 5, 0) % 4]};
    if (mix(seed, 6, 0) % 2)
        options.budget_s = pow(10, -3 + 4 * uniform(seed, 7, 0));
    if (mix(seed, 8, 0) % 3 == 0)
        options.rounds = 1 + (int)(mix(seed, 9, 0) % 40);
    return options;
}

static void shuffle(int *names, int count, unsigned seed)
{
    for (int i = 0; i < count; i++)
        names[i] = i;
    for (int i = count - 1; i > 0; i--) {
        int j = (int)(mix(seed, 10, (unsigned)i) % (unsigned)(i + 1)), swap = names[i];
        names[i] = names[j];
        names[j] = swap;
    }
}

Test(timing, order_does_not_matter)
{
    for (unsigned seed = 0; seed < 2000; seed++) {
        struct fake fake = random_machine(seed), other = fake;
        struct timing_options options = random_options(seed);
        struct timing timings[MOST] = {0}, others[MOST] = {0};
        int names[MOST] = {0};
        shuffle(names, fake.count, seed);
        other.names = names;
        for (int i = 0; i < fake.count; i++)
            other.base_ns[i] = fake.base_ns[names[i]];
        play(&fake, &options, timings);
        play(&other, &options, others);
        for (int i = 0; i < fake.count; i++) {
            const struct timing *a = &timings[names[i]], *b = &others[i];
            cr_assert_eq(a->median_ns, b->median_ns, "seed %u", seed);
            cr_assert_eq(a->spread, b->spread);
            cr_assert_eq(a->samples, b->samples);
            cr_assert_eq(a->dropped, b->dropped);
            cr_assert_eq(a->fell_out, b->fell_out);
        }
    }
}

Test(timing, the_same_every_time)
{
    for (unsigned seed = 0; seed < 200; seed++) {
        struct fake fake = random_machine(seed), again = fake;
        struct timing_options options = random_options(seed);
        struct timing timings[MOST] = {0}, others[MOST] = {0};
        play(&fake, &options, timings);
        play(&again, &options, others);
        cr_assert_eq(fake.steps, again.steps);
        for (int i = 0; i < fake.count; i++)
            cr_assert_eq(timings[i].median_ns, others[i].median_ns);
    }
}

Test(timing, three_rounds_whatever_the_budget)
{
    for (unsigned seed = 0; seed < 2000; seed++) {
        struct fake fake = random_machine(seed);
        struct timing_options options = random_options(seed);
        struct timing timings[MOST] = {0};
        options.budget_s = seed % 2 ? 1e-9 : options.budget_s;
        play(&fake, &options, timings);
        for (int i = 0; i < fake.count; i++) {
            cr_assert(taken(&timings[i]) >= TIMING_LEAST_ROUNDS, "seed %u", seed);
            cr_assert(timings[i].median_ns > 0 && isfinite(timings[i].median_ns));
            cr_assert(timings[i].spread >= 0 && isfinite(timings[i].spread));
        }
    }
}

/* Without spikes the time of a round is known beforehand. */
Test(timing, ends_within_the_budget)
{
    int cut = 0, least = 0;
    for (unsigned seed = 0; seed < 2000; seed++) {
        struct fake fake = random_machine(seed);
        struct timing_options options = {.budget_s = pow(10, -3 + 4 * uniform(seed, 7, 0))};
        struct timing timings[MOST] = {0};
        int most = 0;
        fake.disturb = NULL;
        play(&fake, &options, timings);
        for (int i = 0; i < fake.count; i++)
            most = taken(&timings[i]) > most ? taken(&timings[i]) : most;
        cr_assert(fake.now_ns <= options.budget_s * 1e9 || most <= TIMING_LEAST_ROUNDS + 1,
                  "seed %u: %g of %g s, %d rounds", seed, fake.now_ns * 1e-9, options.budget_s,
                  most);
        least += most <= TIMING_LEAST_ROUNDS + 1;
        cut += most > TIMING_LEAST_ROUNDS + 1 && most < 7;
    }
    cr_expect(cut > 20, "%d were cut short", cut);
    cr_expect(least > 20 && least < 1500);
}

Test(timing, a_budget_is_used)
{
    /* 31 rounds of 10 · 10 ms are 3.1 s; 1 s pays for 9 and what sizes. */
    struct fake fake = {.count = 10};
    struct timing timings[10] = {0};
    for (int i = 0; i < 10; i++)
        fake.base_ns[i] = 1e7;
    play(&fake, &(struct timing_options){.budget_s = 1.0001}, timings);
    cr_expect_eq(taken(&timings[0]), 9);
    cr_expect_eq(taken(&timings[9]), 9);
    cr_expect(!timings[0].fell_out);
}

Test(timing, the_slow_fall_out_and_leave_their_time_to_the_others)
{
    /* Ten candidates of half a second beside two of a tenth. */
    struct fake fake = {.count = 12};
    struct timing timings[12] = {0};
    for (int i = 0; i < 12; i++)
        fake.base_ns[i] = i == 3 || i == 8 ? 0.9e8 + 1e5 * i : 5e8;
    play(&fake, &(struct timing_options){.keep_within = 1.2, .budget_s = 18}, timings);
    for (int i = 0; i < 12; i++) {
        bool fast = i == 3 || i == 8;
        cr_expect_eq(timings[i].fell_out, !fast);
        cr_expect_eq(taken(&timings[i]), fast ? 15 : 3, "%d", i);
        cr_expect(timings[i].median_ns > 0);
    }
    cr_expect(fake.now_ns <= 18e9);
}

Test(timing, nobody_falls_out_where_none_is_to)
{
    struct fake fake = {.count = 2, .base_ns = {1e6, 1e8}};
    struct timing timings[2] = {0};
    play(&fake, &(struct timing_options){0}, timings);
    cr_expect_eq(timings[1].samples, 15);
    cr_expect(!timings[1].fell_out);
}

/* One sample of each subject is slow, whichever; `seed` says which and how slow. */
static void one_slow_sample(struct fake *fake, int i, int n, struct timing_reading *reading)
{
    if (n != (int)(mix(fake->seed, (unsigned)i, 77) % 8))
        return;
    reading->wall_ns *= 2 + 100 * uniform(fake->seed, (unsigned)i, 78);
    reading->cpu_ns = reading->wall_ns;
    reading->preemptions = mix(fake->seed, (unsigned)i, 79) % 2;
}

Test(timing, one_slow_sample_throws_nobody_out)
{
    for (unsigned seed = 0; seed < 2000; seed++) {
        struct fake fake = random_machine(seed);
        struct timing_options options = {.keep_within = 1.2};
        struct timing timings[MOST] = {0};
        double best_ns = INFINITY;
        fake.disturb = one_slow_sample;
        for (int i = 0; i < fake.count; i++)
            best_ns = fmin(best_ns, fake.base_ns[i]);
        play(&fake, &options, timings);
        for (int i = 0; i < fake.count; i++) {
            if (fake.base_ns[i] <= 1.2 * best_ns)
                cr_assert(!timings[i].fell_out, "seed %u, %d", seed, i);
            else
                cr_assert(timings[i].fell_out, "seed %u, %d", seed, i);
        }
    }
}

/* Something else ran during all of the first samples of subject 1 but one. */
static void bad_start(struct fake *fake, int i, int n, struct timing_reading *reading)
{
    (void)fake;
    if (i == 1 && n < 8 && n != 2)
        reading->wall_ns *= 3, reading->cpu_ns = reading->wall_ns;
}

Test(timing, one_good_sample_keeps_a_subject)
{
    struct fake fake = {.count = 2, .base_ns = {1e6, 1.1e6}, .disturb = bad_start};
    struct timing timings[2] = {0};
    play(&fake, &(struct timing_options){.keep_within = 1.2}, timings);
    cr_expect(!timings[0].fell_out);
    cr_expect(!timings[1].fell_out);
    cr_expect_eq(timings[1].samples, 31);
}

/* Subject 1 shares its processor for the first rounds, and it shows in one of three ways: `seed`
 * says which. */
static void disturbed_start(struct fake *fake, int i, int n, struct timing_reading *reading)
{
    static const double slower[] = {3, 2.2, 3.7};
    if (i != 1 || n < 1 || n > 3)
        return;
    reading->wall_ns *= fake->seed == 2 ? slower[n - 1] : 3;
    if (fake->seed == 0) /* somebody else had the processor */
        reading->cpu_ns = reading->wall_ns / 3;
    else if (fake->seed == 1)
        reading->preemptions = 9;
    else if (fake->seed == 2) /* nothing shows, as with several threads, but that they differ */
        reading->cpu_ns = -1;
}

Test(timing, a_bad_start_is_measured_again_before_it_is_called_slow)
{
    for (unsigned how = 0; how < 3; how++) {
        struct fake fake = {
            .count = 2, .base_ns = {1e6, 1.1e6}, .disturb = disturbed_start, .seed = how};
        struct timing timings[2] = {0};
        play(&fake, &(struct timing_options){.keep_within = 1.2}, timings);
        cr_expect(!timings[1].fell_out, "%u", how);
        cr_expect_float_eq(timings[1].median_ns, 1.1e6, 1, "%u: %g", how, timings[1].median_ns);
        fake = (struct fake){
            .count = 2, .base_ns = {1e6, 1.1e6}, .disturb = disturbed_start, .seed = how};
        play(&fake, &(struct timing_options){.keep_within = 1.2, .budget_s = 1e-3}, timings);
        cr_expect(taken(&timings[1]) > 3 && taken(&timings[1]) <= 6, "%u: %d", how,
                  taken(&timings[1]));
    }
}

/* But who is slow and never left alone does not hold up the others for ever. */
Test(timing, who_is_always_disturbed_falls_out_too)
{
    struct fake fake = {.count = 2, .base_ns = {1e6, 2e6}, .disturb = always_preempted};
    struct timing timings[2] = {0};
    play(&fake, &(struct timing_options){.keep_within = 1.2}, timings);
    cr_expect(timings[1].fell_out);
    cr_expect_eq(taken(&timings[1]), 6);
}

Test(timing, who_is_lost_is_nobodys_measure)
{
    struct fake fake = {.count = 3, .base_ns = {1e5, 1e6, 1.1e6}};
    struct timing timings[3] = {0};
    struct timing_rounds *rounds = begin(&fake, &(struct timing_options){0});
    for (int i = 0; i < 20; i++)
        cr_assert(step(&fake, rounds));
    timing_rounds_lose(rounds, 0);
    rounds->options.keep_within = 1.2;
    finish(&fake, rounds, timings);
    cr_expect_eq(timings[1].samples, 31);
    cr_expect_eq(timings[2].samples, 31);
    cr_expect_eq(timings[0].median_ns, 0);
}

Test(timing, a_subject_that_is_lost_leaves_the_others_alone)
{
    for (int at = 0; at < 40; at++) {
        struct fake fake = {.count = 3, .base_ns = {1e6, 2e6, 3e6}, .disturb = any};
        struct timing_options options = {.budget_s = 0.15};
        struct timing timings[3] = {0};
        struct timing_rounds *rounds = begin(&fake, &options);
        struct timing_step now;
        for (int i = 0; i < at; i++)
            cr_assert(step(&fake, rounds));
        cr_assert(timing_rounds_next(rounds, fake.now_ns, &now));
        fake.now_ns += 1e12; /* it hung */
        timing_rounds_lose(rounds, now.subject);
        timing_rounds_resume(rounds, fake.now_ns);
        finish(&fake, rounds, timings);
        for (int i = 0; i < 3; i++) {
            if (i == now.subject) {
                cr_expect_eq(timings[i].median_ns, 0);
                cr_expect_eq(taken(&timings[i]), 0);
            } else {
                cr_expect(taken(&timings[i]) > 8, "%d: %d", at, taken(&timings[i]));
            }
        }
    }
}

Test(timing, a_pause_costs_no_budget)
{
    struct timing_options options = {.budget_s = 0.1};
    struct fake straight = {.count = 3, .base_ns = {1e6, 2e6, 3e6}}, paused = straight;
    struct timing expected[3], timings[3];
    struct timing_step now;
    play(&straight, &options, expected);
    struct timing_rounds *rounds = begin(&paused, &options);
    for (int i = 0; i < 20; i++)
        cr_assert(step(&paused, rounds));
    cr_assert(timing_rounds_next(rounds, paused.now_ns, &now));
    paused.now_ns += 1e15; /* in the middle of a sample, of which nothing comes */
    timing_rounds_resume(rounds, paused.now_ns);
    finish(&paused, rounds, timings);
    for (int i = 0; i < 3; i++)
        cr_expect_eq(taken(&timings[i]), taken(&expected[i]));
}

Test(timing, lost_before_it_began)
{
    struct fake fake = {.count = 2, .base_ns = {1e6, 1e6}};
    struct timing timings[2] = {0};
    struct timing_rounds *rounds = begin(&fake, &(struct timing_options){.keep_within = 1.2});
    timing_rounds_lose(rounds, 0);
    finish(&fake, rounds, timings);
    cr_expect_eq(fake.samples[0], 0);
    cr_expect_eq(timings[1].samples, 31);
}

Test(timing, progress_reaches_its_end)
{
    for (unsigned seed = 0; seed < 100; seed++) {
        struct fake fake = random_machine(seed);
        struct timing_options options = random_options(seed);
        struct timing_rounds *rounds = begin(&fake, &options);
        int64_t before = 0, done, total;
        while (step(&fake, rounds)) {
            timing_rounds_progress(rounds, &done, &total);
            cr_assert(done >= before && done <= total);
            before = done;
        }
        timing_rounds_progress(rounds, &done, &total);
        cr_expect_eq(done, total);
        cr_expect(total >= 3 * fake.count);
        free(rounds);
    }
}

Test(timing, nothing_to_time)
{
    struct fake fake = {0};
    struct timing timing;
    struct error error;
    play(&fake, &(struct timing_options){.keep_within = 1.2}, &timing);
    cr_expect_eq(fake.steps, 0);
    cr_expect_eq(timing_measure(NULL, 0, &(struct timing_options){0}, NULL, &error), STATUS_OK);
}

Test(timing, options_that_make_no_sense)
{
    static const struct timing_options bad[] = {
        {.rounds = -1},         {.rounds = TIMING_MAX_ROUNDS + 1},
        {.budget_s = -1},       {.budget_s = INFINITY},
        {.budget_s = NAN},      {.min_sample_ns = -1},
        {.min_sample_ns = NAN}, {.min_sample_ns = 1e13},
        {.keep_within = 0.5},   {.keep_within = -1},
        {.keep_within = NAN},   {.keep_within = INFINITY},
    };
    struct error error;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        error.text[0] = '\0';
        cr_expect_eq(timing_measure(NULL, 0, &bad[i], NULL, &error), STATUS_INVALID, "%zu", i);
        cr_expect(error.text[0] != '\0');
    }
    struct timing_options good = {0};
    cr_expect_eq(timing_options_check(&good, -1, &error), STATUS_TOO_LARGE);
    cr_expect_eq(timing_options_check(&good, TIMING_MAX_SUBJECTS + 1, &error), STATUS_TOO_LARGE);
}

/* With real clocks. */

struct counter {
    int64_t runs;
    int processors; /* that the thread may run on */
};

static int processors(void)
{
    struct timing_processors may;
    CPU_ZERO_S(sizeof may.sets, may.sets);
    cr_assert_eq(sched_getaffinity(0, sizeof may.sets, may.sets), 0);
    return CPU_COUNT_S(sizeof may.sets, may.sets);
}

static void count_run(void *context)
{
    struct counter *counter = context;
    if (counter->runs++ == 0)
        counter->processors = processors();
}

Test(timing, clocks_measures_and_leaves_the_thread_as_it_was)
{
    struct counter counters[2] = {0};
    struct timing_subject subjects[2] = {{count_run, &counters[0]}, {count_run, &counters[1]}};
    struct timing_options options = {.rounds = 3, .min_sample_ns = 1000, .threads = 1};
    struct timing timings[2] = {0};
    struct error error;
    int before = processors();
    cr_assert_eq(timing_measure(subjects, 2, &options, timings, &error), STATUS_OK);
    for (int i = 0; i < 2; i++) {
        /* samples grow while they turn out too short: of the first ones no more is known */
        cr_expect_geq(counters[i].runs, taken(&timings[i]), "all samples and those that size");
        cr_expect(taken(&timings[i]) >= 3);
        cr_expect(timings[i].median_ns > 0);
        cr_expect_eq(counters[i].processors, 1, "pinned");
    }
    cr_expect_eq(processors(), before);
}

Test(timing, clocks_runs_with_threads_are_not_pinned)
{
    struct counter counter = {0};
    struct timing_subject subject = {count_run, &counter};
    struct timing_options options = {.rounds = 3, .min_sample_ns = 1000, .threads = 2};
    struct timing timing;
    struct error error;
    int before = processors();
    cr_assert_eq(timing_measure(&subject, 1, &options, &timing, &error), STATUS_OK);
    cr_expect_eq(counter.processors, before);
}

Test(timing, clocks_pins_to_what_there_is)
{
    int before = processors();
    cr_expect(!timing_pin(-1));
    cr_expect(!timing_pin(before));
    cr_expect(!timing_pin(1 << 30));
    cr_expect_eq(processors(), before);
    cr_expect(timing_pin(before - 1));
    cr_expect_eq(processors(), 1);
    cr_expect(timing_pin(0), "the one that is left");
    cr_expect(!timing_pin(1));
}

Test(timing, clocks_go_forward)
{
    double last_ns = timing_now_ns();
    for (int i = 0; i < 1000; i++) {
        double now_ns = timing_now_ns();
        cr_assert(now_ns >= last_ns);
        last_ns = now_ns;
    }
    cr_expect(timing_clocks_of(1).thread);
    cr_expect(!timing_clocks_of(2).thread);
    cr_expect(!timing_clocks_of(2).cpu_time);
}

Test(timing, clocks_noise_is_a_share)
{
    struct timing_noise noise = {NAN, NAN};
    struct error error;
    cr_assert_eq(timing_noise(&noise, &error), STATUS_OK);
    cr_expect(noise.spread >= 0 && noise.spread < 100);
    cr_expect(noise.dropped >= 0 && noise.dropped <= 1);
}
