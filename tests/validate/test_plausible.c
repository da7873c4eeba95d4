/* Calibrations that cannot be are found out: numbers as they were recorded on quiet and on busy
 * machines, and measuring again with times made up. */
#include "jobs/calibrate/calibrate_host.h"
#include "tests/hardware_files.h"
#include "validate/calibrate/host_calibration.h"

#include <math.h>

TestSuite(plausible, .init = enter, .fini = leave, .timeout = 60);

/* As recorded on a quiet processor with two cores and AVX-512: published in
 * results/published/host-calibration.txt. */
static struct host_calibration *quiet(void)
{
    static const struct host_level levels[] = {
        {"L1", 49152, 1, 64, 312.4, 243.1, 17.6, 2, {336.6, 673.2}},
        {"L2", 2097152, 1, 64, 188.2, 60.6, 21.0, 2, {182.9, 365.8}},
        {"L3", 199124582, 2, 64, 28.1, 28.1, 23.4, 2, {26.5, 53}},
        {"memory", 0, 2, 0, 13.5, 9.7, 20.8, 2, {13.65, 27.3}},
    };
    static const struct level_quality qualities[] = {{.read_spread = 0.011, .stream_spread = 0.001},
                                                     {.write_spread = 0.024},
                                                     {.stream_spread = 0.03},
                                                     {.read_spread = 0.06}};
    struct host_calibration *c = calloc(1, sizeof *c);
    struct host *host = &c->host;
    strcpy(host->cpu, "Intel(R) Xeon(R) Processor");
    strcpy(host->date, "2026-11-22");
    host->isa = HOST_AVX512;
    host->threads = c->topology.threads = c->topology.allowed = 2;
    host->level_count = 4;
    memcpy(host->levels, levels, sizeof levels);
    memcpy(c->levels, qualities, sizeof qualities);
    for (int l = 0; l < 3; l++)
        c->levels[l].nominal_bytes = host->levels[l].capacity_bytes;
    c->topology.cache_count = 3;
    host->peak_gflops = 262.8;
    host->parallel_ns = c->parallel_measured_ns = 743.3;
    host->loop_count = c->loops.count = 2;
    host->loops[0] = (struct host_loop){"sgemm 6x4", 3.182, 6.2, 0.003, 768};
    host->loops[1] = (struct host_loop){"knn heap", 2.141, 0, 0.0051, 0};
    c->loops.loops[1].fit.max_error = 0.3023;
    for (int l = 0; l < HOST_MAX_LEVELS; l++)
        host->overlap.exposed[l] = 1;
    host->overlap.copying = 1;
    c->clock_ghz = 4.1;
    c->clock_step_ns = 20;
    c->fitted_kernels = 334;
    c->fit.median_error = 0.09;
    return c;
}

Test(plausible, a_quiet_machine_is_believed)
{
    struct host_calibration *c = quiet();
    struct doubts doubts;
    doubts_find(c, &doubts);
    cr_expect_eq(doubts.count, 0, "%s: %s", doubts.list[0].key, doubts.list[0].text);
    c->clock_ghz = 0; /* not measured */
    doubts_find(c, &doubts);
    cr_expect_eq(doubts.count, 0);
    calibrate_judge(c);
    cr_expect(!c->noisy && c->host.parallel_ns == 743.3);
    free(c);
}

typedef void spoiler(struct host_calibration *c);

static void slow_region(struct host_calibration *c)
{
    c->host.parallel_ns = c->parallel_measured_ns = 24.56e6;
}

static void fast_peak(struct host_calibration *c)
{
    c->host.peak_gflops = 330; /* 2 · 16 · 2 · 4.1 GHz = 262.4 */
}

static void slow_peak(struct host_calibration *c)
{
    c->host.peak_gflops = 30;
    c->host.loops[0].flops = 0;
}

static void uncertain_peak(struct host_calibration *c)
{
    c->peak_spread = 0.3;
}

static void slow_l2(struct host_calibration *c)
{
    c->host.levels[1].read_gbps = 24;
    c->host.levels[1].shared_gbps[0] = 24;
    c->host.levels[1].shared_gbps[1] = 48;
}

static void slow_writes(struct host_calibration *c)
{
    c->host.levels[0].write_gbps = 35;
}

static void fast_l1(struct host_calibration *c)
{
    c->host.levels[0].read_gbps = 640; /* two loads of 64 bytes a cycle: 525 */
}

static void wide_quartiles(struct host_calibration *c)
{
    c->levels[2].write_spread = 0.4;
}

/* Of two threads each had its core half of the time. */
static void crowded(struct host_calibration *c)
{
    c->host.levels[0].shared_gbps[1] = 300;
}

/* Recorded on a machine with six other programs. */
static void other_alone(struct host_calibration *c)
{
    c->host.levels[3].read_gbps = 33.31;
    c->host.levels[2].read_gbps = 126.8;
    c->host.levels[2].shared_gbps[0] = 115;
    c->host.levels[2].shared_gbps[1] = 215.6;
    c->host.levels[3].shared_gbps[0] = 9.923;
    c->host.levels[3].shared_gbps[1] = 19.8;
    c->levels[3].shared_spread = 1.17; /* one doubt a number */
}

static void fast_loop(struct host_calibration *c)
{
    c->host.loops[0].step_ns = 1.5;
}

static void bent_loop(struct host_calibration *c)
{
    c->loops.loops[0].fit.max_error = 1.7;
}

static void uncertain_loop(struct host_calibration *c)
{
    c->host.loops[1].spread = 0.5;
}

static void ticking_clock(struct host_calibration *c)
{
    c->clock_step_ns = 1e6;
}

static void bad_fit(struct host_calibration *c)
{
    c->fit.median_error = 0.8;
}

static const struct {
    spoiler *spoil;
    enum calibrate_part part;
    const char *key, *text;
} spoiled[] = {
    {slow_region, PART_PARALLEL, "host.parallel_ns",
     "2.456e+04 us for a region of 2 threads, expected 0.02 to 102"},
    {fast_peak, PART_PEAK, "host.peak_gflops", "330 GFLOP/s at 4.1 GHz, expected"},
    {slow_peak, PART_PEAK, "host.peak_gflops", "30 GFLOP/s at 4.1 GHz, expected"},
    {uncertain_peak, PART_PEAK, "host.peak_gflops", "+- 30 %, expected at most 25"},
    {slow_l2, PART_LEVELS, "host.levels.L2.read_gbps", "24 GB/s, expected no less than L3's 28.1"},
    {slow_writes, PART_LEVELS, "host.levels.L1.write_gbps", "35 GB/s, expected no less than L2's"},
    {fast_l1, PART_LEVELS, "host.levels.L1.read_gbps", "640 GB/s at 4.1 GHz, expected at most"},
    {wide_quartiles, PART_LEVELS, "host.levels.L3.write_gbps", "+- 40 %, expected at most 25"},
    {crowded, PART_SHARED, "host.levels.L1.shared_gbps.2",
     "300 GB/s by 2 threads, expected at least 336.6"},
    {other_alone, PART_SHARED, "host.levels.memory.shared_gbps.1",
     "9.923 GB/s, but 33.31 when measured alone"},
    {fast_loop, PART_LOOPS, "host.loops.sgemm 6x4.step_ns", "512 GFLOP/s, expected at most the"},
    {bent_loop, PART_LOOPS, "host.loops.sgemm 6x4.step_ns", "170 % off a straight line"},
    {uncertain_loop, PART_LOOPS, "host.loops.knn heap.step_ns", "+- 50 %"},
    {ticking_clock, PART_CLOCK, "", "the clock advances in steps of 1e+03 us"},
    {bad_fit, PART_FIT, "host.overlap", "products are predicted 80 % off"},
};

/* The doubt stands in the description's source of just that number, and the machine was not quiet.
 */
static void expect_marked(struct host_calibration *c, const char *key)
{
    struct hardware hw;
    struct error error = {0};
    char *text;
    calibrate_judge(c);
    cr_expect(c->noisy, "%s", key);
    cr_expect(strstr(c->host.settings, "noisy"), "%s", key);
    cr_assert_eq(host_calibration_text(c, &text, &error), STATUS_OK, "%s: %s", key, error.text);
    write_file("host.cfg", text);
    free(text);
    load_ok(in_folder("host.cfg"), NULL, &hw);
    if (strcmp(key, "host.overlap") == 0)
        key = "host.overlap.walk_ns";
    if (strcmp(key, "host.parallel_ns") == 0)
        cr_expect(hw.host->parallel_ns == 0 &&
                  strstr(find_fact(&hw, key)->source, "assumed: free; measured was 2.456e+04 us") ==
                      find_fact(&hw, key)->source);
    else if (*key)
        cr_expect(strstr(find_fact(&hw, key)->source, "but implausible"), "%s: %s", key,
                  find_fact(&hw, key)->source);
    cr_expect(!strstr(find_fact(&hw, "host.levels.L3.read_gbps")->source, "implausible"), "%s",
              key);
    hardware_clear(&hw);
}

Test(plausible, what_cannot_be_is_found_and_marked)
{
    for (size_t i = 0; i < sizeof spoiled / sizeof *spoiled; i++) {
        struct host_calibration *c = quiet();
        struct doubts doubts;
        spoiled[i].spoil(c);
        doubts_find(c, &doubts);
        cr_assert_eq(doubts.count, 1, "%s: %d, %s %s", spoiled[i].text, doubts.count,
                     doubts.list[1].key, doubts.list[1].text);
        cr_expect_eq(doubts.list[0].part, spoiled[i].part);
        cr_expect_eq(doubts_of(&doubts, spoiled[i].part), 1);
        cr_expect_str_eq(doubts.list[0].key, spoiled[i].key);
        cr_expect(strstr(doubts.list[0].text, spoiled[i].text), "%s", doubts.list[0].text);
        cr_expect(doubts_about(&doubts, spoiled[i].key) == &doubts.list[0]);
        cr_expect_null(doubts_about(&doubts, "host.noise"));
        expect_marked(c, spoiled[i].key);
        free(c);
    }
}

Test(plausible, other_work_alone_makes_it_noisy)
{
    struct host_calibration *c = quiet();
    c->load = (struct load){.others = 1.7, .processors = 2};
    calibrate_judge(c);
    cr_expect(c->noisy && c->doubts.count == 0);
    json_t *json = host_calibration_json(c);
    cr_assert(json);
    cr_expect_float_eq(json_real_value(json_object_get(json_object_get(json, "load"), "others")),
                       1.7, 1e-12);
    cr_expect_eq(json_array_size(json_object_get(json, "doubts")), 0);
    json_decref(json);
    free(c);
}

Test(plausible, more_doubts_than_there_is_room_for_are_counted)
{
    struct host_calibration *c = quiet();
    struct doubts doubts;
    c->host.loop_count = DOUBTS_MOST + 7;
    for (int i = 0; i < c->host.loop_count; i++) {
        snprintf(c->host.loops[i].name, sizeof c->host.loops[i].name, "sgemm %dx1", i);
        c->host.loops[i].step_ns = c->host.loops[i].spread = 1;
    }
    doubts_find(c, &doubts);
    cr_expect_eq(doubts.count, DOUBTS_MOST + 7);
    cr_expect_eq(doubts_of(&doubts, PART_LOOPS), DOUBTS_MOST);
    expect_marked(c, "host.loops.sgemm 1x1.step_ns");
    free(c);
}

Test(plausible, regions_of_any_number_of_threads)
{
    static const struct {
        double ns;
        int threads;
        bool plausible;
    } cases[] = {{0, 1, true},        {743.3, 2, true},   {19, 2, false},
                 {5e4, 64, true},     {1.5e5, 256, true}, {1.2e5, 2, false},
                 {24.56e6, 2, false}, {4e6, 256, false},  {NAN, 2, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_expect_eq(parallel_is_plausible(cases[i].ns, cases[i].threads), cases[i].plausible,
                     "%g ns, %d threads", cases[i].ns, cases[i].threads);
}

/* ---- measuring again ---- */

/* A part whose n-th measurement has so many doubts. */
struct part {
    const int *doubtful;
    int measured, now, kept;
    enum status status;
};

static enum status measure(void *context, struct error *error)
{
    struct part *part = context;
    part->now = part->measured++;
    return part->status == STATUS_OK ? STATUS_OK : error_set(error, part->status, "it failed");
}

static int doubtful(void *context)
{
    const struct part *part = context;
    return part->doubtful[part->now];
}

static void keep(void *context)
{
    struct part *part = context;
    part->kept = part->now;
}

static void restore(void *context)
{
    struct part *part = context;
    part->now = part->kept;
}

Test(plausible, what_is_doubtful_is_measured_again)
{
    static const struct {
        int doubtful[SETTLE_TRIES], measured, left;
    } cases[] = {{{0, 9, 9}, 1, 0}, {{1, 0, 9}, 2, 1}, {{3, 2, 1}, 3, 2}, {{1, 1, 1}, 3, 0},
                 {{2, 5, 1}, 3, 2}, {{2, 1, 4}, 3, 1}, {{7, 9, 8}, 3, 0}, {{4, 4, 0}, 3, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct part part = {.doubtful = cases[i].doubtful};
        const struct attempt attempt = {measure, doubtful, keep, restore, &part};
        struct error error;
        cr_assert_eq(settle(&attempt, &error), STATUS_OK);
        cr_expect_eq(part.measured, cases[i].measured, "%d: %d times", (int)i, part.measured);
        cr_expect_eq(part.now, cases[i].left, "%d: the %d. is left", (int)i, part.now);
        part.status = STATUS_IO;
        cr_expect_eq(settle(&attempt, &error), STATUS_IO);
    }
}
