/* costmodel/host_time: by hand, and what must hold of any work. */
#include "costmodel/host_time.h"
#include "tests/support/host_sample.h"

#include <criterion/criterion.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <string.h>

#define NEAR(got, want) cr_expect_float_eq(got, want, 1e-9 * (want))

static struct host_work one_phase(void)
{
    struct host_work work = {.threads = 1, .phase_count = 1};
    work.phases[0] = (struct host_phase){.loop = 0, .calls = 3, .steps = 100};
    return work;
}

Test(host_time, computing_alone)
{
    struct host host;
    host_sample(&host);
    struct host_work work = one_phase();
    NEAR(host_time_ns(&host, &work), 3 * 10 + 100 * 2.0);
}

Test(host_time, moves_partly_hidden)
{
    struct host host;
    host_sample(&host);
    struct host_work work = one_phase();
    work.phases[0].read_bytes[0] = 1e9; /* of the L1: free */
    work.phases[0].read_bytes[1] = 1000;
    work.phases[0].write_bytes[2] = 300;
    work.phases[0].read_bytes[3] = 200;
    work.phases[0].stream_bytes = 400;
    /* 230 computing; moves 20, 30 (written: they show), 20; past the caches 50 that are hidden */
    NEAR(host_time_ns(&host, &work), 230 + 0.25 * 20 + 30 + 0.5 * 20);
    work.phases[0].write_bytes[1] = 100; /* 4, hidden as reads are */
    NEAR(host_time_ns(&host, &work), 230 + 0.25 * 24 + 30 + 0.5 * 20);
}

Test(host_time, what_is_not_foreseen)
{
    struct host host;
    host_sample(&host);
    struct host_work work = one_phase();
    work.phases[0].jumps[1] = 3;
    work.phases[0].jumps[3] = 0.5;
    work.phases[0].walks = 7;
    NEAR(host_time_ns(&host, &work), 230 + 3 * 4 + 0.5 * 100 + 7 * 10);
    work.phases[0].splits = 50; /* 64 bytes each at 200 GB/s */
    NEAR(host_time_ns(&host, &work), 230 + 132 + 50 * 0.32);
    struct timeline timeline;
    host_time(&host, &work, &timeline);
    cr_expect_eq(timeline.busy_fs[0], 216 * FS_PER_NS);
    cr_expect_eq(timeline.busy_fs[1], 12 * FS_PER_NS);
    cr_expect_eq(timeline.busy_fs[3], 120 * FS_PER_NS);
}

Test(host_time, copying_waits)
{
    struct host host;
    host_sample(&host);
    struct host_work work = one_phase();
    work.phases[0].copying = true;
    NEAR(host_time_ns(&host, &work), 30 + 1.5 * 200);
}

/* Phases that are joined hide their moves behind each other's computing. */
Test(host_time, joined_phases)
{
    struct host host;
    host_sample(&host);
    struct host_work work = {.threads = 1, .phase_count = 2};
    work.phases[0] = (struct host_phase){.loop = -1};
    work.phases[0].read_bytes[2] = 4000; /* 200, of which 100 show */
    work.phases[1] = (struct host_phase){.loop = 0, .steps = 100};
    NEAR(host_time_ns(&host, &work), 200 + 200);
    work.phases[1].joined = true;
    NEAR(host_time_ns(&host, &work), 200 + 100);
}

Test(host_time, no_faster_than_its_moves)
{
    struct host host;
    host_sample(&host);
    struct host_work work = one_phase();
    work.phases[0].read_bytes[1] = 50000;
    work.phases[0].read_bytes[2] = 40000; /* moves 1000 + 2000, of which 250 + 1000 would show */
    NEAR(host_time_ns(&host, &work), 3000);
    struct timeline timeline;
    host_time(&host, &work, &timeline);
    cr_expect_eq(timeline.busy_fs[0], 200 * FS_PER_NS);
    cr_expect_eq(timeline.busy_fs[4], 30 * FS_PER_NS);
    /* The excess of 3000 - 230 - 1250 goes by the moves, one to two. */
    NEAR((double)timeline.busy_fs[1], (250 + 1520 / 3.0) * FS_PER_NS);
    NEAR((double)timeline.busy_fs[2], (1000 + 1520 * 2 / 3.0) * FS_PER_NS);
}

Test(host_time, phases_and_parallel_regions_add_up)
{
    struct host host;
    host_sample(&host);
    struct host_work work = one_phase();
    work.phase_count = 3;
    work.parallel_regions = 2;
    work.phases[1] = (struct host_phase){.loop = 1, .calls = 1, .steps = 10};
    work.phases[2] = (struct host_phase){.loop = -1, .calls = 7, .steps = 7}; /* moves only */
    work.phases[2].read_bytes[3] = 100;
    /* One phase's computing does not hide another's moves. */
    NEAR(host_time_ns(&host, &work), 230 + (4 + 5) + 10 + 2 * 1000);
    struct timeline timeline;
    host_time(&host, &work, &timeline);
    cr_expect_eq(timeline.end_fs, 2249 * FS_PER_NS);
    cr_expect_eq(timeline.busy_fs[0], 205 * FS_PER_NS);
    cr_expect_eq(timeline.busy_fs[3], 10 * FS_PER_NS);
    cr_expect_eq(timeline.busy_fs[4], 2034 * FS_PER_NS);
    cr_expect_eq(timeline.blocked, -1);
}

Test(host_time, contention)
{
    struct host host;
    host_sample(&host);
    struct host_work work = {.threads = 4, .phase_count = 1};
    work.phases[0] = (struct host_phase){.loop = -1};
    work.phases[0].read_bytes[3] = 1000; /* each: 16 GB/s among four */
    NEAR(host_time_ns(&host, &work), 250);
    work.phases[0].write_bytes[3] = 1000; /* 5 GB/s alone, among four 4 / 10 of it */
    NEAR(host_time_ns(&host, &work), 250 + 500);
    work.phases[0].stream_bytes = 1600; /* 8 · 0.4 */
    NEAR(host_time_ns(&host, &work), 250 + 500 + 500);
    work.threads = 1;
    NEAR(host_time_ns(&host, &work), 100 + 200 + 200);
    host.levels[3].stream_gbps = 0; /* not measured: as written */
    NEAR(host_time_ns(&host, &work), 100 + 200 + 320);
    memset(&work.phases[0], 0, sizeof work.phases[0]);
    work.threads = 4;
    work.phases[0].loop = -1;
    work.phases[0].read_bytes[2] = 1000; /* no contention measured: none */
    NEAR(host_time_ns(&host, &work), 50);
}

Test(host_time, names_of_pipes)
{
    struct host host;
    host_sample(&host);
    const char *const names[] = {"compute", "L2", "L3", "memory", "calls"};
    cr_assert_eq(host_pipe_count(&host), 5);
    for (int i = 0; i < 5; i++) {
        char name[HARDWARE_NAME_SIZE];
        host_pipe_name(&host, i, name);
        cr_expect_str_eq(name, names[i]);
    }
    memset(host.levels[1].name, 'x', HOST_NAME_SIZE - 1); /* longer than a pipe's name */
    char name[HARDWARE_NAME_SIZE];
    host_pipe_name(&host, 1, name);
    cr_expect_eq(strlen(name), HARDWARE_NAME_SIZE - 1);
}

Test(host_time, never_nothing_and_never_infinite)
{
    struct host host;
    host_sample(&host);
    struct host_work none = {.threads = 1}, huge = one_phase();
    struct timeline timeline;
    cr_expect_gt(host_time_ns(&host, &none), 0);
    host_time(&host, &none, &timeline);
    cr_expect(timeline.end_fs == 1 && timeline.busy_fs[0] == 1);
    huge.phase_count = HOST_MAX_PHASES;
    huge.parallel_regions = 1 << 30;
    for (int i = 0; i < HOST_MAX_PHASES; i++) {
        huge.phases[i] = (struct host_phase){.loop = 0, .calls = 1e150, .steps = 1e150};
        for (int l = 0; l < HOST_MAX_LEVELS; l++)
            huge.phases[i].read_bytes[l] = huge.phases[i].write_bytes[l] = 1e150;
        huge.phases[i].stream_bytes = 1e150;
    }
    cr_expect(isfinite(host_time_ns(&host, &huge)));
    host_time(&host, &huge, &timeline);
    int64_t sum = 0;
    for (int pipe = 0; pipe < host_pipe_count(&host); pipe++) {
        cr_expect_gt(timeline.busy_fs[pipe], 0);
        sum += timeline.busy_fs[pipe];
    }
    cr_expect_eq(timeline.end_fs, sum);
}

/* ------------------------------------------------------------------ random work */

static double draw(gsl_rng *rng)
{
    return gsl_rng_uniform(rng) < 0.4 ? 0 : exp(gsl_rng_uniform(rng) * 18);
}

static void draw_work(gsl_rng *rng, struct host_work *work)
{
    memset(work, 0, sizeof *work);
    work->threads = 1 + (int)gsl_rng_uniform_int(rng, 8);
    work->parallel_regions = (int)gsl_rng_uniform_int(rng, 3);
    work->phase_count = 1 + (int)gsl_rng_uniform_int(rng, HOST_MAX_PHASES);
    for (int i = 0; i < work->phase_count; i++) {
        struct host_phase *phase = &work->phases[i];
        phase->loop = (int)gsl_rng_uniform_int(rng, 3) - 1;
        phase->calls = draw(rng);
        phase->steps = draw(rng);
        phase->stream_bytes = draw(rng);
        phase->splits = draw(rng);
        phase->walks = draw(rng);
        phase->joined = gsl_rng_uniform(rng) < 0.3;
        phase->copying = gsl_rng_uniform(rng) < 0.3;
        for (int l = 0; l < 4; l++) {
            phase->read_bytes[l] = draw(rng);
            phase->write_bytes[l] = draw(rng);
            phase->jumps[l] = draw(rng);
        }
    }
}

/* Every number of a phase that work can have more of. */
static int numbers_of(struct host_phase *phase, double *numbers[20])
{
    int count = 0;
    numbers[count++] = &phase->calls;
    numbers[count++] = &phase->steps;
    numbers[count++] = &phase->stream_bytes;
    numbers[count++] = &phase->splits;
    numbers[count++] = &phase->walks;
    for (int l = 0; l < 4; l++) {
        numbers[count++] = &phase->read_bytes[l];
        numbers[count++] = &phase->write_bytes[l];
        numbers[count++] = &phase->jumps[l];
    }
    return count;
}

Test(host_time, more_work_never_takes_less)
{
    struct host host;
    host_sample(&host);
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    for (int round = 0; round < 3000; round++) {
        struct host_work work;
        draw_work(rng, &work);
        host.overlap.exposed[1] = gsl_rng_uniform(rng) * 1.5;
        host.overlap.exposed[2] = gsl_rng_uniform(rng) * 1.5;
        double before = host_time_ns(&host, &work), *numbers[20];
        struct host_phase *phase =
            &work.phases[gsl_rng_uniform_int(rng, (unsigned)work.phase_count)];
        int count = numbers_of(phase, numbers);
        *numbers[gsl_rng_uniform_int(rng, (unsigned)count)] += 1 + draw(rng);
        double after = host_time_ns(&host, &work);
        cr_expect(after >= before * (1 - 1e-12), "round %d: %.17g then %.17g", round, before,
                  after);
        work.threads = work.threads % 8 + 1;
        if (work.threads > 1)
            cr_expect(host_time_ns(&host, &work) >= after * (1 - 1e-12));
    }
    gsl_rng_free(rng);
}

Test(host_time, components_add_up_to_the_time)
{
    struct host host;
    host_sample(&host);
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    for (int round = 0; round < 1000; round++) {
        struct host_work work;
        struct timeline timeline;
        draw_work(rng, &work);
        host_time(&host, &work, &timeline);
        int64_t sum = 0;
        for (int pipe = 0; pipe < host_pipe_count(&host); pipe++) {
            cr_expect_geq(timeline.busy_fs[pipe], 0);
            sum += timeline.busy_fs[pipe];
        }
        cr_expect_eq(sum, timeline.end_fs);
        cr_expect_float_eq((double)sum, host_time_ns(&host, &work) * FS_PER_NS,
                           10 + 1e-9 * (double)sum);
    }
    gsl_rng_free(rng);
}
