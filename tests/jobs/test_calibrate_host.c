/* The calibration of the host where it does not depend on time: topologies of other machines, what
 * samples mean, sizes that are worked on, passes that touch what they should; and one short run of
 * loops made up for the purpose. */
#include "core/host.h"
#include "hardware/load.h"
#include "jobs/calibrate/calibrate_host.h"
#include "kernels/registry.h"
#include "tests/hardware_files.h"
#include "validate/calibrate/levels.h"
#include "validate/calibrate/loop_times.h"
#include "validate/calibrate/stream_rates.h"

#include <math.h>

TestSuite(calibrate_host, .init = enter, .fini = leave, .timeout = 120);

/* ---- topologies ---- */

static void expect_caches(const struct topology *t, const char *expected)
{
    char text[200] = "";
    for (int l = 0; l < t->cache_count; l++)
        sprintf(text + strlen(text), "%s:%lld/%d ", t->caches[l].name,
                (long long)t->caches[l].bytes, t->caches[l].threads);
    cr_expect_str_eq(text, expected);
}

static const struct {
    const char *synthetic;
    int asked;
    int allowed, cores, threads;
    const char *caches;
} machines[] = {
    /* a desktop with siblings on each core: one thread a core, then the others */
    {"pack:1 l3:1(size=16777216) l2:4(size=1048576) l1d:1(size=32768) core:1 pu:2", 0, 8, 4, 4,
     "L1:32768/1 L2:1048576/1 L3:16777216/4 "},
    {"pack:1 l3:1(size=16777216) l2:4(size=1048576) l1d:1(size=32768) core:1 pu:2", 6, 8, 4, 6,
     "L1:32768/2 L2:1048576/2 L3:16777216/6 "},
    /* a server with two sockets, four L3 each of which two cores share */
    {"pack:2 l3:2(size=8388608) l2:2(size=524288) l1d:1(size=32768) core:1 pu:1", 0, 8, 8, 8,
     "L1:32768/1 L2:524288/1 L3:8388608/2 "},
    /* an L2 that two cores share, and no L3 */
    {"l2:2(size=4194304) core:2 l1d:1(size=65536) pu:1", 0, 4, 4, 4, "L1:65536/1 L2:4194304/2 "},
    /* one core */
    {"core:1 l1d:1(size=32768) pu:1", 0, 1, 1, 1, "L1:32768/1 "},
    /* a level that is no larger than the one before says nothing */
    {"l3:1(size=1048576) l2:2(size=1048576) core:1 l1d:1(size=32768) pu:1", 0, 2, 2, 2,
     "L1:32768/1 L2:1048576/1 "},
    /* nothing of caches */
    {"core:3 pu:1", 0, 3, 3, 3, "L1:32768/1 L2:524288/1 "},
};

Test(calibrate_host, topologies)
{
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        const struct topology_source source = {.synthetic = machines[i].synthetic};
        struct topology t;
        struct error error = {0};
        cr_assert_eq(topology_read(&source, machines[i].asked, &t, &error), STATUS_OK, "%s: %s",
                     machines[i].synthetic, error.text);
        cr_expect_eq(t.allowed, machines[i].allowed, "%s", machines[i].synthetic);
        cr_expect_eq(t.cores, machines[i].cores, "%s", machines[i].synthetic);
        cr_expect_eq(t.threads, machines[i].threads, "%s", machines[i].synthetic);
        expect_caches(&t, machines[i].caches);
        cr_expect_eq(t.assumed, i == sizeof machines / sizeof *machines - 1);
        cr_expect(strlen(t.cpu) > 0);
    }
}

Test(calibrate_host, threads_are_on_cores_of_their_own_first)
{
    const struct topology_source source = {.synthetic = "core:3 l1d:1(size=32768) pu:2"};
    static const int expected[] = {0, 2, 4, 1, 3, 5};
    struct topology t;
    struct error error;
    cr_assert_eq(topology_read(&source, 6, &t, &error), STATUS_OK);
    for (int i = 0; i < 6; i++)
        cr_expect_eq(t.processor_of[i], expected[i], "thread %d: %d", i, t.processor_of[i]);
    cr_expect_eq(topology_read(&source, 7, &t, &error), STATUS_INVALID);
    cr_expect_str_eq(error.text, "--threads 7: expected at most 6, the processors that this "
                                 "process may run on");
}

Test(calibrate_host, more_processors_than_are_looked_at)
{
    const struct topology_source source = {.synthetic = "pack:4 core:100 l1d:1(size=32768) pu:2"};
    struct topology t;
    struct error error;
    cr_assert_eq(topology_read(&source, 0, &t, &error), STATUS_OK);
    cr_expect_eq(t.allowed, 800);
    cr_expect_eq(t.cores, 400);
    cr_expect_eq(t.threads, HOST_MAX_THREADS);
    cr_expect_eq(topology_read(&source, 257, &t, &error), STATUS_INVALID);
}

Test(calibrate_host, broken_topologies)
{
    struct topology t;
    struct error error = {0};
    write_file("broken.xml", "<topology><object type=\"Machine\"");
    const struct topology_source broken = {.xml_file = in_folder("broken.xml")};
    cr_expect_eq(topology_read(&broken, 0, &t, &error), STATUS_IO);
    cr_expect(strstr(error.text, "hwloc reads no topology"), "%s", error.text);
    const struct topology_source nonsense = {.synthetic = "core:0 pu:-1"};
    cr_expect_eq(topology_read(&nonsense, 0, &t, &error), STATUS_IO);
}

/* Recorded by lstopo on a virtual machine of one processor. */
Test(calibrate_host, recorded_machine)
{
    const struct topology_source source = {.xml_file = SOURCE_DIR "/tests/support/one-core.xml"};
    struct topology t;
    struct error error = {0};
    cr_assert_eq(topology_read(&source, 0, &t, &error), STATUS_OK, "%s", error.text);
    cr_expect_str_eq(t.cpu, "Example(R) CPU 42 @ 2.00GHz");
    cr_expect_eq(t.threads, 1);
    expect_caches(&t, "L1:32768/1 L2:262144/1 L3:26214400/1 ");
    cr_expect_eq(t.caches[2].line_bytes, 64);
}

/* Another machine's topology in hwloc's environment is not this machine. */
Test(calibrate_host, a_topology_of_elsewhere_is_refused)
{
    const struct topology_source here = {NULL, NULL, NULL};
    struct topology t;
    struct error error;
    setenv("HWLOC_SYNTHETIC", "core:2 l1d:1(size=32768) pu:1", 1);
    cr_expect_eq(topology_read(&here, 0, &t, &error), STATUS_INVALID);
    cr_expect(strstr(error.text, "another machine"), "%s", error.text);
    unsetenv("HWLOC_SYNTHETIC");
}

Test(calibrate_host, this_machine)
{
    const struct topology_source here = {NULL, NULL, NULL};
    struct topology t;
    struct error error = {0};
    struct host host = {.threads = 1};
    char why[200];
    cr_assert_eq(topology_read(&here, 0, &t, &error), STATUS_OK, "%s", error.text);
    cr_expect(t.threads >= 1 && t.threads <= t.allowed && t.allowed <= t.processors);
    cr_expect_geq(t.cache_count, 1);
    strcpy(host.cpu, t.cpu);
    host.isa = HOST_PORTABLE;
    cr_expect(host_is_this_machine(&host, why, sizeof why));
    strcpy(host.cpu, "Another CPU");
    cr_expect_not(host_is_this_machine(&host, why, sizeof why));
    cr_expect(strstr(why, "it was measured on \"Another CPU\", and this is"), "%s", why);
    strcpy(host.cpu, t.cpu);
    setenv("AUTOTUNE_ISA", "portable", 1);
    host.isa = HOST_AVX2;
    cr_expect_not(host_is_this_machine(&host, why, sizeof why));
    cr_expect_str_eq(why, "its loops are for avx2, and this processor runs portable");
    unsetenv("AUTOTUNE_ISA");
}

/* Control groups: files of version 2, then of version 1, and nonsense in them. */
Test(calibrate_host, quotas_of_containers)
{
    static const struct {
        const char *text;
        double quota;
        int threads;
    } cases[] = {
        {"max 100000\n", 0, 8},     {"400000 100000\n", 4, 4},
        {"50000 100000\n", 0.5, 1}, {"250000 100000\n", 2.5, 2},
        {"-1 100000\n", 0, 8},      {"nan 100000\n", 0, 8},
        {"100000 0\n", 0, 8},       {"100000", 0, 8},
        {"1e400 1e-400\n", 0, 8},   {"", 0, 8},
    };
    const struct topology_source source = {.synthetic = "core:8 l1d:1(size=32768) pu:1",
                                           .cgroup = folder};
    struct topology t;
    struct error error;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_file("cpu.max", cases[i].text);
        cr_assert_eq(topology_read(&source, 0, &t, &error), STATUS_OK);
        cr_expect_eq(t.quota, cases[i].quota, "\"%s\": %g", cases[i].text, t.quota);
        cr_expect_eq(t.threads, cases[i].threads, "\"%s\": %d", cases[i].text, t.threads);
    }
    unlink(in_folder("cpu.max"));
    cr_assert_eq(mkdir(in_folder("cpu"), 0700), 0);
    write_file("cpu/cpu.cfs_quota_us", "300000\n");
    write_file("cpu/cpu.cfs_period_us", "100000\n");
    write_file("memory.max", "1048576\n");
    cr_assert_eq(topology_read(&source, 0, &t, &error), STATUS_OK);
    cr_expect_eq(t.threads, 3);
    cr_expect_eq(t.memory_bytes, 1048576);
}

/* ---- what samples mean ---- */

Test(calibrate_host, loops_of_known_costs)
{
    struct loop_sample samples[6];
    struct loop_fit fit;
    struct error error;
    for (int i = 0; i < 6; i++)
        samples[i] = (struct loop_sample){8 << i, 15 + 4.75 * (8 << i), 0.01 * (i + 1)};
    cr_assert_eq(loop_fit(samples, 6, &fit, &error), STATUS_OK);
    cr_expect_float_eq(fit.step_ns, 4.75, 1e-9);
    cr_expect_float_eq(fit.call_ns, 15, 1e-6);
    cr_expect_float_eq(fit.spread, 0.035, 1e-12);
    cr_expect_float_eq(fit.r_squared, 1, 1e-12);
    cr_expect_lt(fit.max_error, 1e-9);
    samples[2].ns *= 1.5; /* one that was disturbed bends nothing, and is told */
    cr_assert_eq(loop_fit(samples, 6, &fit, &error), STATUS_OK);
    cr_expect_float_eq(fit.step_ns, 4.75, 1e-6);
    cr_expect_gt(fit.max_error, 0.3);
}

Test(calibrate_host, samples_that_are_no_times)
{
    static const double bad[] = {0, -1, NAN, INFINITY};
    struct loop_sample samples[] = {{8, 10, 0}, {16, 20, 0}, {32, 40, 0}, {64, 80, 0}};
    struct loop_fit fit;
    struct error error;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        samples[1].ns = bad[i];
        cr_expect_eq(loop_fit(samples, 4, &fit, &error), STATUS_INVALID, "%g", bad[i]);
    }
    samples[1].ns = 20;
    cr_expect_eq(loop_fit(samples, 2, &fit, &error), STATUS_INVALID);
    for (int i = 0; i < 4; i++)
        samples[i].steps = 8;
    cr_expect_eq(loop_fit(samples, 4, &fit, &error), STATUS_INVALID);
    for (int i = 0; i < 4; i++)
        samples[i] = (struct loop_sample){8 << i, 100, 0};
    samples[3].ns = 50;
    cr_expect_eq(loop_fit(samples, 4, &fit, &error), STATUS_INVALID);
    cr_expect_eq(loop_fit(samples, 65, &fit, &error), STATUS_TOO_LARGE);
}

Test(calibrate_host, middles)
{
    double samples[] = {5, 1, 3, 2, 4};
    struct middle middle = middle_of(samples, 5);
    cr_expect_eq(middle.median, 3);
    cr_expect_float_eq(middle.spread, 1.0 / 3, 1e-12);
    cr_expect_eq(middle_of(samples, 0).median, 0);
    cr_expect_eq(middle_of(samples, 1).spread, 0);
}

/* A cache that ends at 48 MB although the system says 480: what one thread sees of it. */
Test(calibrate_host, where_a_cache_ends)
{
    enum { POINTS = 18 }; /* up to 985 MB */
    struct reach points[POINTS] = {{0}};
    int count = POINTS;
    double mb = 1;
    for (int i = 0; i < count; i++) {
        points[i] = (struct reach){(int64_t)(mb * 1e6), mb < 48 ? 27 : 14};
        mb *= 1.5;
    }
    double end = reach_end(points, count, 2e6, 27, 14);
    cr_expect(end > 38e6 && end < 58e6, "%g", end);
    points[4].gbps = 14; /* a single slow one among fast ones is an accident */
    cr_expect_float_eq(reach_end(points, count, 2e6, 27, 14), end, 1);
    points[4].gbps = 27;
    cr_expect_eq(reach_end(points, count, 2e6, 14.5, 14), 0); /* cannot be told apart */
    cr_expect_eq(reach_end(points, count, 2e6, 27, 0), 0);
    cr_expect_eq(reach_end(points, 5, 2e6, 27, 14), 0); /* none is slow */
    cr_expect_eq(reach_end(points, 0, 0, 27, 14), 0);
    for (int i = 0; i < count; i++)
        points[i].gbps = 13;
    cr_expect_eq(reach_end(points, count, 2e6, 27, 14), (double)points[2].bytes); /* from there */
}

Test(calibrate_host, contention_curves)
{
    double totals[8] = {10, 0, 0, 34, 0, 0, 0, 30};
    contention_fill(totals, 8);
    static const double expected[] = {10, 18, 26, 34, 33, 32, 31, 30};
    for (int n = 1; n <= 8; n++)
        cr_expect_float_eq(totals[n - 1], expected[n - 1], 1e-9, "%d: %g", n, totals[n - 1]);
    double rising[4] = {10, 21, 0, 0}; /* two cannot get more than twice as much; more: as two */
    contention_fill(rising, 4);
    cr_expect_eq(rising[1], 20);
    cr_expect_eq(rising[3], 21 < 20 ? 21 : rising[2]);
    for (int n = 2; n <= 4; n++)
        cr_expect(rising[n - 1] / n <= rising[n - 2] / (n - 1));
}

Test(calibrate_host, thread_counts_worth_measuring)
{
    int counts[CONTENTION_MAX_COUNTS];
    for (int threads = 1; threads <= HOST_MAX_THREADS; threads++) {
        int count = contention_counts(threads, counts);
        cr_assert(count >= 1 && count <= CONTENTION_MAX_COUNTS, "%d: %d", threads, count);
        cr_expect_eq(counts[0], 1);
        cr_expect_eq(counts[count - 1], threads);
        for (int i = 1; i < count; i++)
            cr_expect_gt(counts[i], counts[i - 1], "%d", threads);
    }
}

/* ---- sizes and passes ---- */

Test(calibrate_host, working_sets_lie_within_their_level)
{
    const struct topology_source source = {
        .synthetic = "l3:1(size=33554432) l2:8(size=1048576) l1d:1(size=49152) core:1 pu:1"};
    const int64_t memory_bytes = 1 << 30;
    struct topology t;
    struct error error;
    cr_assert_eq(topology_read(&source, 0, &t, &error), STATUS_OK);
    cr_expect_eq(level_bytes(&t, 0, 1, memory_bytes), 24 << 10);
    cr_expect_eq(level_bytes(&t, 1, 1, memory_bytes), 192 << 10);
    cr_expect_eq(level_bytes(&t, 2, 1, memory_bytes), 4 << 20);
    cr_expect_eq(level_bytes(&t, 2, 8, memory_bytes), 2 << 20);
    cr_expect_eq(level_bytes(&t, 3, 1, memory_bytes), memory_bytes);
    cr_expect_eq(level_bytes(&t, 3, 8, memory_bytes), memory_bytes / 8);
    for (int l = 0; l <= 3; l++)
        for (int n = 1; n <= 8; n++)
            cr_expect_eq(level_bytes(&t, l, n, memory_bytes) % STREAM_BLOCK_BYTES, 0);
}

Test(calibrate_host, memory_that_is_not_there)
{
    int64_t got = -1;
    void *data = calibrate_memory(100000, 1000, &got);
    cr_assert(data);
    cr_expect(got >= 100000 && got % 4096 == 0);
    free(data);
#ifndef __SANITIZE_ADDRESS__ /* which ends the process instead */
    cr_expect_null(calibrate_memory(INT64_C(1) << 60, INT64_C(1) << 59, &got));
    cr_expect_eq(got, 0);
#endif
}

/* Writes touch every byte of theirs and none beside; reads none. */
Test(calibrate_host, passes_stay_within_their_bytes)
{
    enum { BEFORE = 4096, BYTES = 3 * STREAM_BLOCK_BYTES };
    char *data = aligned_alloc(64, BEFORE + BYTES + 4096);
    for (int isa = HOST_PORTABLE; isa < HOST_ISA_COUNT; isa++)
        if (host_isa_has((enum host_isa)isa))
            for (int kind = 0; kind < STREAM_KINDS; kind++) {
                stream_pass *pass = stream_find((enum host_isa)isa, (enum stream_kind)kind);
                if (!pass)
                    continue;
                memset(data, 0x55, BEFORE + BYTES + 4096);
                pass(data + BEFORE, BYTES);
                for (int i = 0; i < BEFORE + BYTES + 4096; i++) {
                    bool inside = i >= BEFORE && i < BEFORE + BYTES;
                    bool written = data[i] != 0x55;
                    cr_assert_eq(written, inside && kind != STREAM_READ, "isa %d kind %d byte %d",
                                 isa, kind, i - BEFORE);
                }
            }
    free(data);
}

Test(calibrate_host, multiply_adds_stay_finite)
{
    float sink[64];
    for (int isa = HOST_PORTABLE; isa < HOST_ISA_COUNT; isa++) {
        if (!host_isa_has((enum host_isa)isa))
            continue;
        memset(sink, 0, sizeof sink);
        peak_find((enum host_isa)isa)(sink, 1000);
        for (int lane = 0; lane < peak_lanes((enum host_isa)isa); lane++)
            cr_expect_float_eq(sink[lane], 2.0F * PEAK_CHAINS, 1e-3);
    }
}

/* ---- loops ---- */

static const char *slow_name(int index)
{
    return index ? "refused" : "slow";
}

static int64_t run_slow(int index, enum host_isa isa, int64_t calls, int64_t steps, void *data,
                        int64_t bytes)
{
    volatile float *x = data;
    cr_assert(isa == HOST_PORTABLE && bytes == 16384 - 16384 % 64);
    for (int64_t i = 0; i < calls * steps; i++)
        x[i % 16] = x[i % 16] * 0.5F;
    return index ? 0 : steps;
}

static double slow_flops(int index, enum host_isa isa)
{
    return isa == HOST_PORTABLE ? 1 + index : 0;
}

static const struct loop_family *slow_family(int number)
{
    static const struct loop_family family = {"test", 2, slow_name, run_slow, slow_flops};
    return number == 0 ? &family : NULL;
}

/* A family's loops become rows by name; one that is refused is counted. */
Test(calibrate_host, families)
{
    struct calibrate_control control = {.stop = NULL};
    struct loop_times *times = calloc(1, sizeof *times);
    struct error error = {0};
    cr_assert_eq(loop_times_measure(slow_family, HOST_PORTABLE, 3 * 16384, &control, times, &error),
                 STATUS_OK, "%s", error.text);
    cr_assert_eq(times->count + times->left_out, 2);
    cr_assert_leq(times->count, 1);
    if (times->count == 1) { /* on a machine so busy that times fall with steps there is none */
        cr_expect_str_eq(times->loops[0].name, "test slow");
        cr_expect_eq(times->loops[0].flops, 1);
        cr_expect(times->loops[0].fit.step_ns > 0 && times->loops[0].fit.call_ns >= 0);
    }
    cr_expect_gt(control.samples, 0);
    free(times);
}

/* How much is not tested, that something is. */
Test(calibrate_host, threads_read_together)
{
    const struct topology_source here = {NULL, NULL, NULL};
    struct calibrate_control control = {.stop = NULL};
    struct contention *contention = calloc(1, sizeof *contention);
    struct topology t;
    struct error error = {0};
    cr_assert_eq(topology_read(&here, 1, &t, &error), STATUS_OK, "%s", error.text);
    cr_assert_eq(contention_measure(&t, HOST_PORTABLE, 0, 1 << 20, &control, contention, &error),
                 STATUS_OK, "%s", error.text);
    cr_expect(contention->count == 1 && contention->measured[0]);
    cr_expect_gt(contention->total_gbps[0], 0);
    cr_expect_gt(control.samples, 0);
    free(contention);
}

static volatile sig_atomic_t stop_now = 1;

Test(calibrate_host, stopped_before_it_begins)
{
    struct calibrate_host_options options = {.family_at = loop_family_at,
                                             .control = {.stop = &stop_now}};
    struct host_calibration *c = calloc(1, sizeof *c);
    struct error error = {0};
    cr_assert_eq(calibrate_host(&options, c, &error), STATUS_OK, "%s", error.text);
    cr_expect(c->stopped);
    cr_expect_eq(c->host.level_count, 0);
    options.threads = 1 << 20;
    cr_expect_eq(calibrate_host(&options, c, &error), STATUS_INVALID);
    free(c);
}

/* ---- what is written ---- */

/* As if it had been measured: the test description's processor. */
static struct host_calibration *pretend(void)
{
    struct hardware hw;
    struct host_calibration *c = calloc(1, sizeof *c);
    load_ok(SOURCE_DIR "/tests/support/host.cfg", NULL, &hw);
    c->host = *hw.host;
    hardware_clear(&hw);
    c->topology.threads = c->topology.allowed = c->topology.processors = c->topology.cores = 2;
    c->topology.cache_count = 3;
    c->loops.count = c->host.loop_count;
    for (int l = 0; l < 3; l++)
        c->levels[l].nominal_bytes = c->host.levels[l].capacity_bytes;
    c->levels[2].shrunk = true;
    c->levels[2].nominal_bytes = 503316480;
    return c;
}

Test(calibrate_host, the_description_loads)
{
    struct host_calibration *c = pretend();
    struct hardware hw;
    struct error error = {0};
    char *text;
    cr_assert_eq(host_calibration_text(c, &text, &error), STATUS_OK, "%s", error.text);
    write_file("host.cfg", text);
    free(text);
    load_ok(in_folder("host.cfg"), NULL, &hw);
    cr_expect_eq(memcmp(hw.host, &c->host, sizeof c->host), 0);
    cr_expect_str_eq(hw.name, c->host.cpu);
    cr_expect(strstr(find_fact(&hw, "host.levels.L3.capacity_bytes")->source, "says 503316480"));
    cr_expect(strstr(find_fact(&hw, "host.levels.L2.capacity_bytes")->source, "hwloc"));
    cr_expect(strstr(find_fact(&hw, "host.levels.L2.read_gbps")->source, "on 2026-01-31"));
    hardware_clear(&hw);
    c->topology.assumed = true;
    cr_assert_eq(host_calibration_text(c, &text, &error), STATUS_OK, "%s", error.text);
    cr_expect(strstr(text, "\"assumed: the system tells no sizes of caches\""));
    free(text);
    c->fitted_kernels = 60;
    c->fit.median_error = 0.0625;
    cr_assert_eq(host_calibration_text(c, &text, &error), STATUS_OK, "%s", error.text);
    write_file("host.cfg", text);
    free(text);
    load_ok(in_folder("host.cfg"), NULL, &hw);
    cr_expect_eq(hw.fit.error, 0.0625);
    cr_expect(strstr(find_fact(&hw, "host.overlap.exposed.2")->source, "fitted to 60 products"));
    hardware_clear(&hw);
    c->host.levels[1].read_gbps = NAN; /* what is no description is not written */
    cr_expect_eq(host_calibration_text(c, &text, &error), STATUS_INVALID);
    cr_expect(strstr(error.text, "read_gbps"), "%s", error.text);
    cr_expect_null(text);
    free(c);
}

Test(calibrate_host, what_is_told)
{
    struct host_calibration *c = pretend();
    json_t *json = host_calibration_json(c);
    cr_assert(json);
    cr_expect_eq(json_array_size(json_object_get(json, "levels")), 4);
    cr_expect_eq(json_array_size(json_object_get(json, "loops")), 14);
    const json_t *loop = json_array_get(json_object_get(json, "loops"), 1);
    cr_expect_str_eq(json_string_value(json_object_get(loop, "loop")), "sgemm 12x2");
    cr_expect_float_eq(json_real_value(json_object_get(loop, "gflops")), 160, 1e-9);
    cr_expect_float_eq(json_real_value(json_object_get(loop, "peak_share")), 160 / 166.4, 1e-9);
    cr_expect(json_is_null(
        json_object_get(json_array_get(json_object_get(json, "loops"), 13), "gflops")));
    cr_expect(json_is_null(json_object_get(json, "overlap")));
    json_decref(json);
    free(c);
}

Test(calibrate_host, what_is_told_of_the_overlap)
{
    struct host_calibration *c = pretend();
    c->fitted_kernels = 60;
    json_t *json = host_calibration_json(c), *overlap = json_object_get(json, "overlap");
    const json_t *exposed = json_object_get(overlap, "exposed");
    const json_t *jumps = json_object_get(overlap, "jump_ns");
    cr_assert(json_array_size(exposed) == 4 && json_array_size(jumps) == 4);
    for (size_t l = 0; l < 4; l++) {
        cr_expect_eq(json_real_value(json_array_get(exposed, l)), c->host.overlap.exposed[l]);
        cr_expect_eq(json_real_value(json_array_get(jumps, l)), c->host.overlap.jump_ns[l]);
    }
    cr_expect_eq(json_real_value(json_object_get(overlap, "walk_ns")), 2.5);
    cr_expect_eq(json_real_value(json_object_get(overlap, "copying")), 1.5);
    cr_expect_eq(json_integer_value(json_object_get(overlap, "kernels")), 60);
    json_decref(json);
    free(c);
}
