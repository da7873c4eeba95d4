/* jobs/probe/probe_numbers: laws through points that are made up, some of them with errors. */
#include "jobs/probe/probe_parts.h"

#include <criterion/criterion.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>

enum { MOST = 400, RUNS = 300 };

struct made {
    double x[MOST], y[MOST];
    struct segment_points points;
};

static void begin(struct made *m, int count)
{
    *m = (struct made){.points = {m->x, m->y, count}};
}

Test(segments, a_line)
{
    struct made m;
    struct line line;
    begin(&m, 20);
    for (int i = 0; i < 20; i++) {
        m.x[i] = i;
        m.y[i] = 2050 + 1.25 * i;
    }
    cr_assert(line_fit(&m.points, &line));
    cr_expect_float_eq(line.slope, 1.25, 1e-9);
    cr_expect_float_eq(line.at_0, 2050, 1e-9);
    m.points.count = 2;
    cr_expect_not(line_fit(&m.points, &line), "two points lie on a line, whatever the law");
}

/* Whatever is drawn, also with errors of a fiftieth of a stair. */
Test(segments, stairs_have_their_period)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    for (int run = 0; run < RUNS; run++) {
        struct made m;
        struct stairs stairs;
        double step = run % 2 ? 4 : 1, noise = run % 3 ? 0 : 0.02;
        int wide = 2 + (int)gsl_rng_uniform_int(rng, 30);
        double height = 0.1 + 10 * gsl_rng_uniform(rng), period = wide * step;
        int count = wide * (3 + (int)gsl_rng_uniform_int(rng, 5)) + 1;
        begin(&m, count);
        for (int i = 0; i < count; i++) {
            m.x[i] = (i + 1) * step;
            m.y[i] = 100 + height * (ceil(m.x[i] / period) + gsl_ran_gaussian(rng, noise));
        }
        cr_assert(stairs_fit(&m.points, step, &stairs), "run %d", run);
        cr_expect_eq(stairs.period, period, "run %d: %g, made with %g", run, stairs.period, period);
        cr_expect_float_eq(stairs.height, height, 0.05 * height, "run %d", run);
    }
    gsl_rng_free(rng);
}

Test(segments, a_line_has_no_stairs)
{
    struct made m;
    struct stairs stairs;
    begin(&m, 64);
    for (int i = 0; i < 64; i++) {
        m.x[i] = i + 1;
        m.y[i] = 7 + 3 * m.x[i];
    }
    cr_assert(stairs_fit(&m.points, 1, &stairs));
    cr_expect_eq(stairs.period, 1);
    for (int i = 0; i < 64; i++)
        m.y[i] = 7;
    cr_expect_not(stairs_fit(&m.points, 1, &stairs), "nothing rises");
}

Test(segments, a_knee_is_where_lines_meet)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    for (int run = 0; run < RUNS; run++) {
        struct made m;
        struct knee knee;
        double at = 2 + 20 * gsl_rng_uniform(rng), noise = run % 2 ? 0 : 0.01;
        double before = run % 3 ? 0 : gsl_rng_uniform(rng),
               after = before + 1 + gsl_rng_uniform(rng);
        begin(&m, 30);
        for (int i = 0; i < 30; i++) {
            m.x[i] = i;
            m.y[i] =
                50 + before * i + (after - before) * fmax(0, i - at) + gsl_ran_gaussian(rng, noise);
        }
        cr_assert(knee_fit(&m.points, &knee), "run %d", run);
        cr_expect_float_eq(knee.at, at, noise > 0 ? 0.1 : 1e-6, "run %d: %g, made with %g", run,
                           knee.at, at);
    }
    gsl_rng_free(rng);
}

Test(segments, a_line_has_no_knee)
{
    struct made m;
    struct knee knee;
    begin(&m, 30);
    for (int i = 0; i < 30; i++) {
        m.x[i] = i;
        m.y[i] = 5 + 2.0 * i + 0.01 * (i % 3);
    }
    cr_expect_not(knee_fit(&m.points, &knee));
}
