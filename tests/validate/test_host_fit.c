/* validate/host_fit: finds the overlap that made the times. */
#include "costmodel/host_time.h"
#include "tests/support/host_sample.h"
#include "validate/host_fit.h"

#include <criterion/criterion.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <string.h>

enum { COUNT = 120 };

/* Kernels that compute 100 µs, wait for some of each kind, and before that copy. */
static void draw_work(const struct host *host, gsl_rng *rng, struct host_work *work)
{
    memset(work, 0, sizeof *work);
    work->threads = 1;
    work->phase_count = 2;
    work->phases[0] = (struct host_phase){.loop = 0, .calls = 10, .steps = 50000};
    work->phases[1] = (struct host_phase){.loop = 1, .copying = true};
    work->phases[1].steps = 60000 * gsl_rng_uniform(rng);
    for (int l = 1; l < host->level_count; l++) {
        work->phases[0].read_bytes[l] =
            gsl_rng_uniform(rng) * 15000 * l * host->levels[l].read_gbps;
        work->phases[0].jumps[l] = gsl_rng_uniform(rng) * 20000 / host->overlap.jump_ns[l];
    }
    work->phases[0].walks = gsl_rng_uniform(rng) * 3000;
}

static void make(const struct host *truth, double noise, struct host_timed timed[COUNT])
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    for (int i = 0; i < COUNT; i++) {
        draw_work(truth, rng, &timed[i].work);
        timed[i].shape = i % 5;
        timed[i].measured_ns =
            host_time_ns(truth, &timed[i].work) * exp(noise * gsl_ran_gaussian(rng, 1));
    }
    gsl_rng_free(rng);
}

static void expect_near(const struct host *got, const struct host *want, double tolerance)
{
    for (int l = 1; l < want->level_count; l++) {
        double off = got->overlap.exposed[l] - want->overlap.exposed[l];
        double ratio = got->overlap.jump_ns[l] / want->overlap.jump_ns[l];
        cr_expect(fabs(off) <= tolerance, "level %d: exposed %g too much", l, off);
        cr_expect(fabs(ratio - 1) <= 4 * tolerance, "level %d: jumps %g as much", l, ratio);
    }
    cr_expect(fabs(got->overlap.walk_ns / want->overlap.walk_ns - 1) <= 4 * tolerance, "walks %g",
              got->overlap.walk_ns);
    cr_expect(fabs(got->overlap.copying - want->overlap.copying) <= 4 * tolerance, "copying %g",
              got->overlap.copying);
}

Test(host_fit, finds_what_made_the_times)
{
    struct host truth, host;
    struct host_timed timed[COUNT];
    struct host_fit fit;
    struct error error;
    host_sample(&truth);
    make(&truth, 0, timed);
    host = truth;
    memset(&host.overlap, 0, sizeof host.overlap);
    cr_assert_eq(host_fit(&host, timed, COUNT, &fit, &error), STATUS_OK);
    expect_near(&host, &truth, 1e-3);
    cr_expect(fit.used == COUNT && fit.shapes == 5);
    cr_expect(fit.mean_log < 1e-4 && fit.mean_error < 1e-4 && fit.worst_error < 1e-3);
}

Test(host_fit, noise_and_outliers)
{
    struct host truth, host, again;
    struct host_timed timed[COUNT];
    struct host_fit fit;
    struct error error;
    host_sample(&truth);
    make(&truth, 0.02, timed);
    for (int i = 0; i < COUNT; i += 10)
        timed[i].measured_ns *= 3; /* disturbed */
    again = host = truth;
    memset(&host.overlap, 0, sizeof host.overlap);
    cr_assert_eq(host_fit(&host, timed, COUNT, &fit, &error), STATUS_OK);
    expect_near(&host, &truth, 0.06);
    cr_expect(fit.median_error < 0.03 && fit.worst_error > 0.5);
    cr_assert_eq(host_fit(&again, timed, COUNT, &fit, &error), STATUS_OK);
    cr_expect_eq(memcmp(&again.overlap, &host.overlap, sizeof host.overlap), 0,
                 "another start, another answer");
}

Test(host_fit, shapes_weigh_the_same)
{
    struct host truth, other, host;
    struct host_timed timed[COUNT];
    struct host_fit fit;
    struct error error;
    host_sample(&truth);
    make(&truth, 0, timed);
    other = truth;
    other.overlap.exposed[1] = 0.9;
    /* Most timings are of one shape, where more shows; but the others are two shapes. */
    for (int i = 0; i < COUNT; i++) {
        timed[i].shape = i < 80 ? 0 : 1 + i % 2;
        if (i < 80)
            timed[i].measured_ns = host_time_ns(&other, &timed[i].work);
    }
    host = truth;
    cr_assert_eq(host_fit(&host, timed, COUNT, &fit, &error), STATUS_OK);
    expect_near(&host, &truth, 0.05);
}

Test(host_fit, too_few_timings)
{
    struct host host, before;
    struct host_timed timed[COUNT];
    struct host_fit fit;
    struct error error;
    host_sample(&host);
    make(&host, 0, timed);
    for (int i = 0; i < COUNT; i++)
        if (i >= HOST_FIT_LEAST - 1)
            timed[i].measured_ns = i % 3 ? NAN : 0;
    before = host;
    cr_expect_eq(host_fit(&host, timed, COUNT, &fit, &error), STATUS_INVALID);
    cr_expect_str_eq(error.text, "7 timed kernels, expected at least 8");
    cr_expect_eq(host_fit(&host, NULL, 0, &fit, &error), STATUS_INVALID);
    cr_expect_eq(memcmp(&host, &before, sizeof host), 0);
    timed[COUNT - 1].measured_ns = 1e6;
    cr_expect_eq(host_fit(&host, timed, COUNT, &fit, &error), STATUS_OK);
    cr_expect_eq(fit.used, 8);
}
