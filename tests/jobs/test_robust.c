/* The corner of what a fit does not know (jobs/tune/robust.h): nothing in the box is slower, and
 * the tiling that is best there is found. */
#include "hardware/description.h"
#include "jobs/tune/robust.h"
#include "kernels/knn/knn.h"
#include "tests/hardware_files.h"
#include "tests/support/machine.h"
#include "tests/support/random_cann.h"

#include <math.h>

TestSuite(robust, .init = enter, .fini = leave);

/* A chip with a cache, bursts and latencies, whose buses each carry the moves of one pipe. */
static const struct {
    const char *from, *to;
} additions[] = {
    {"buffers = (", "cache = { buffer = \"gm\"; behind = \"hbm\"; all_hit_bytes = 20000;\n"
                    "    all_miss_bytes = 90000; source = \"assumed: for a test\"; };\n"
                    "launch_core_ns = { value = 20.0; source = \"assumed: for a test\"; };\n"
                    "buffers = ( { name = \"hbm\"; external = true; },"},
    {"buses = (", "buses = ( { name = \"ddr\"; total_gbps = [70.0, 140.0, 200.0];\n"
                  "    source = \"assumed: for a test\"; },\n"
                  "  { name = \"out\"; total_gbps = [200.0, 300.0, 400.0];\n"
                  "    source = \"assumed: for a test\"; },"},
    {"pipe = \"FIXP\"; bus = \"l2\";", "pipe = \"FIXP\"; bus = \"out\";"},
    {"pipe = \"VMTE2\"; bus = \"l2\";", "pipe = \"VMTE2\";"},
    {"pipe = \"MTE3\"; bus = \"l2\";", "pipe = \"MTE3\";"},
    {"paths = (",
     "paths = (\n"
     "    { path = \"hbm->l1\"; pipe = \"MTE2\"; bus = \"ddr\"; bandwidth_gbps = 65.0;\n"
     "      issue_ns = 40.0; latency_ns = 130.0; bursts = ( { align_bytes = 32;\n"
     "      up_to_bytes = [256]; ns = [3.0, 9.0]; } ); source = \"assumed\"; },\n"
     "    { path = \"hbm->l0a\"; pipe = \"MTE2\"; bandwidth_gbps = 1.0;\n"
     "      source = \"assumed\"; },\n"
     "    { path = \"hbm->l0b\"; pipe = \"MTE2\"; bandwidth_gbps = 1.0;\n"
     "      source = \"assumed\"; },\n"
     "    { path = \"hbm->ub\"; pipe = \"VMTE2\"; bandwidth_gbps = 1.0;\n"
     "      source = \"assumed\"; },"},
};

static const struct {
    const char *key;
    double value; /* that it gets; NAN: it has one */
    double relative_error;
} fitted[] = {
    {"launch_ns", NAN, 0.05},
    {"launch_core_ns", NAN, 0.3},
    {"issue_ns", NAN, 0.2},
    {"paths.gm->l1.issue_ns", 28, 0.1},
    {"paths.gm->l1.latency_ns", 112, 0.3}, /* beyond that of hbm->l1 */
    {"paths.gm->l1.bandwidth_gbps", NAN, 0.04},
    {"paths.hbm->l1.bandwidth_gbps", NAN, 0.2},
    {"paths.hbm->l1.bursts.32.ns.1", NAN, 0.4},
    {"paths.hbm->l1.bursts.32.ns.2", NAN, 0.1},
    {"paths.l1->l0a.bandwidth_gbps", NAN, 0.1},
    {"paths.l1->l0b.latency_ns", 9, 0.5},
    {"paths.l0c->gm.casts.f32:f16.bandwidth_gbps", NAN, 0.15},
    {"matrix.f16.gflops", NAN, 0.02},
    {"matrix.f16.issue_ns", 3.6, 0.2},
    {"buses.ddr.total_gbps.3", NAN, 0.25}, /* below the second total */
    {"buses.l2.total_gbps.1", NAN, 0.1},
    {"cache.all_hit_bytes", NAN, 0.2},
    {"cache.all_miss_bytes", NAN, 0.45}, /* below the other */
};
enum { FITTED = sizeof fitted / sizeof *fitted };

static void write_chip(void)
{
    struct description description;
    struct error error;
    struct fit fit = {.error = 0.05, .spread_count = FITTED};
    char *text = read_file(SOURCE_DIR "/tests/support/split-chip.cfg");
    for (size_t i = 0; i < sizeof additions / sizeof *additions; i++) {
        char *changed = replaced(text, additions[i].from, additions[i].to);
        free(text);
        text = changed;
    }
    write_file("base.cfg", text);
    free(text);
    cr_assert_eq(description_read(NULL, in_folder("base.cfg"), &(struct hardware_overrides){0},
                                  &description, &error),
                 STATUS_OK, "%s", error.text);
    for (int i = 0; i < FITTED; i++) {
        if (!isnan(fitted[i].value))
            cr_assert_eq(description_set(&description, fitted[i].key, fitted[i].value,
                                         "measured for a test", &error),
                         STATUS_OK, "%s", error.text);
        strcpy(fit.spreads[i].key, fitted[i].key);
        fit.spreads[i].relative_error = fitted[i].relative_error;
    }
    cr_assert_eq(description_set_fit(&description, &fit, "measured for a test", &error), STATUS_OK);
    cr_assert_eq(description_write(&description, "", &text, &error), STATUS_OK);
    write_file("chip.cfg", text);
    free(text);
    description_clear(&description);
}

static const struct hardware_overrides none = {NULL, 0};

static void open_corner(const struct hardware_overrides *changes, struct hardware *hw,
                        struct corner *corner)
{
    struct error error;
    cr_assert_eq(hardware_load_from(NULL, in_folder("chip.cfg"), changes, hw, &error), STATUS_OK,
                 "%s", error.text);
    cr_assert_eq(robust_corner(NULL, in_folder("chip.cfg"), changes, hw, corner, &error), STATUS_OK,
                 "%s", error.text);
}

/* A point of the box. False where it breaks a rule of descriptions, as some do. */
static bool random_point(gsl_rng *rng, const struct hardware *hw, struct hardware *point)
{
    char texts[FITTED][HARDWARE_KEY_SIZE + 40];
    const char *list[FITTED];
    struct error error;
    for (int i = 0; i < FITTED; i++) {
        const char *key = fitted[i].key;
        double value = strtod(find_fact(hw, key)->value, NULL),
               where = 2 * gsl_rng_uniform(rng) - 1;
        if (gsl_rng_uniform_int(rng, 3) == 0)
            where = where < 0 ? -1 : 1;
        else if (gsl_rng_uniform_int(rng, 2) == 0)
            where = 0;
        value *= 1 + 2 * fitted[i].relative_error * where;
        sprintf(texts[i], strstr(key, "_bytes") ? "%s=%.0f" : "%s=%.12g", key, value);
        list[i] = texts[i];
    }
    struct hardware_overrides all = {list, FITTED};
    return hardware_load_from(NULL, in_folder("chip.cfg"), &all, point, &error) == STATUS_OK;
}

static int64_t time_of(const struct problem *problem, const struct hardware *hw, int cores,
                       const struct tiling *tiling)
{
    struct space space;
    struct found found;
    struct error error;
    cr_assert_eq(space_open(problem, &matmul_cann, hw, cores, &space, &error), STATUS_OK, "%s",
                 error.text);
    cr_assert_eq(search_simulate(&space, tiling, &found, &error), STATUS_OK, "%s", error.text);
    space_close(&space);
    return found.timeline.end_fs;
}

Test(robust, no_point_of_the_box_is_slower_than_the_corner)
{
    struct hardware hw;
    struct corner corner;
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_taus2);
    int compared = 0, points = 0;
    write_chip();
    open_corner(&none, &hw, &corner);
    cr_expect_eq(corner.keys, FITTED);
    cr_expect(corner.is_worst);
    for (int round = 0; round < 200 / test_thinning(); round++) {
        struct hardware point;
        if (!random_point(rng, &hw, &point))
            continue;
        points++;
        for (int i = 0; i < 10; i++) {
            struct problem problem;
            struct space space;
            struct tiling tiling;
            random_cann_space(rng, &hw, 400, &problem, &space);
            int cores = (int)cann_of(&space)->cores;
            problem.choice[MATMUL_BIAS] = 0;
            bool drawn = random_cann_tiling(rng, &space, &tiling);
            if (drawn) {
                int64_t worst = time_of(&problem, &corner.hw, cores, &tiling);
                cr_assert_leq(time_of(&problem, &point, cores, &tiling), worst, "%s",
                              random_cann_text(&problem, &space, &tiling));
                cr_assert_lt(time_of(&problem, &hw, cores, &tiling), worst, "%s",
                             random_cann_text(&problem, &space, &tiling));
                compared++;
            }
            space_close(&space);
        }
        hardware_clear(&point);
    }
    cr_expect_geq(points, 20 / test_thinning());
    cr_expect_geq(compared, 200 / test_thinning());
    hardware_clear(&corner.hw);
    hardware_clear(&hw);
    gsl_rng_free(rng);
}

static double fact_value(const struct hardware *hw, const char *key)
{
    return strtod(find_fact(hw, key)->value, NULL);
}

/* Two standard errors, each to the side where more is paid; what a rule ties to it goes along. */
Test(robust, numbers_of_the_corner)
{
    static const struct {
        const char *key;
        double value;
    } expected[] = {
        {"launch_ns", 520 * 1.1},
        {"paths.gm->l1.latency_ns", 112 * 1.6},
        {"paths.hbm->l1.latency_ns", 112 * 1.6},
        {"paths.hbm->l1.issue_ns", 40},
        {"paths.hbm->l1.bandwidth_gbps", 65 * 0.6},
        {"paths.hbm->l1.bursts.32.ns.1", 5.4},
        {"buses.ddr.total_gbps.1", 70},
        {"buses.ddr.total_gbps.2", 100},
        {"buses.ddr.total_gbps.3", 100},
        {"buses.l2.total_gbps.1", 305.25 * 0.8},
        {"buses.l2.total_gbps.2", 610.5 * 0.8},
        {"buses.l2.total_gbps.17", 17 * 305.25 * 0.8},
        {"buses.out.total_gbps.2", 300},
        {"cache.all_miss_bytes", 9000},
        {"cache.all_hit_bytes", 9000},
        {"core_skew_ns", 32},
    };
    const char *own[] = {"launch_ns=100"};
    struct hardware hw;
    struct corner corner;
    write_chip();
    open_corner(&none, &hw, &corner);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        cr_expect_float_eq(fact_value(&corner.hw, expected[i].key), expected[i].value,
                           1e-6 * expected[i].value, "%s: %.12g", expected[i].key,
                           fact_value(&corner.hw, expected[i].key));
    hardware_clear(&corner.hw);
    hardware_clear(&hw);
    open_corner(&(struct hardware_overrides){own, 1}, &hw, &corner);
    cr_expect_eq(corner.keys, FITTED - 1);
    cr_expect_eq(corner.hw.launch_fs, 100 * FS_PER_NS);
    hardware_clear(&corner.hw);
    hardware_clear(&hw);
}

Test(robust, directions)
{
    static const struct {
        const char *key;
        enum cost_direction direction;
    } keys[] = {
        {"launch_ns", COST_RISES},
        {"paths.gm->l1.bursts.32.ns.2", COST_RISES},
        {"operations.relu.repeat_cycles", COST_RISES},
        {"Paths.GM->L1.Bandwidth_GBps", COST_FALLS},
        {"paths.gm->l1.transposed_gbps", COST_FALLS},
        {"buses.l2.total_gbps.17", COST_FALLS},
        {"clock_mhz", COST_FALLS},
        {"matrix.f16.gflops", COST_FALLS},
        {"cache.all_miss_bytes", COST_FALLS},
        {"buffers.l1.capacity_bytes", COST_UNKNOWN},
        {"cores", COST_UNKNOWN},
        {"ns", COST_UNKNOWN},
        {"1", COST_UNKNOWN},
        {".2", COST_UNKNOWN},
        {"", COST_UNKNOWN},
    };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        cr_expect_eq(cost_direction_of(keys[i].key), keys[i].direction, "%s", keys[i].key);
}

static void expect_refused(const char *key, double relative_error, const char *why)
{
    struct hardware hw;
    struct corner corner;
    struct error error = {0};
    cr_assert_eq(
        hardware_load_from(NULL, SOURCE_DIR "/tests/support/split-chip.cfg", &none, &hw, &error),
        STATUS_OK);
    hw.fit.spread_count = key != NULL;
    strcpy(hw.fit.spreads[0].key, key ? key : "");
    hw.fit.spreads[0].relative_error = relative_error;
    cr_expect_eq(robust_corner(NULL, SOURCE_DIR "/tests/support/split-chip.cfg", &none, &hw,
                               &corner, &error),
                 STATUS_INVALID);
    cr_expect(strstr(error.text, why), "%s", error.text);
    hardware_clear(&hw);
}

/* A slower move may leave another more of a bus that both use. */
Test(robust, a_shared_bus_may_have_a_worse_place)
{
    struct hardware hw;
    struct corner corner;
    struct error error;
    cr_assert_eq(
        hardware_load_from(NULL, SOURCE_DIR "/tests/support/split-chip.cfg", &none, &hw, &error),
        STATUS_OK);
    hw.fit.spread_count = 1;
    hw.fit.spreads[0] = (struct spread){"launch_ns", 0.1};
    cr_assert_eq(robust_corner(NULL, SOURCE_DIR "/tests/support/split-chip.cfg", &none, &hw,
                               &corner, &error),
                 STATUS_OK);
    cr_expect(!corner.is_worst);
    hardware_clear(&corner.hw);
    hardware_clear(&hw);
}

Test(robust, what_has_no_corner_is_refused)
{
    expect_refused(NULL, 0, "`autotune calibrate`");
    expect_refused("launch_ns", 0, "`autotune calibrate`");
    expect_refused("matrix.f16.gflops", 0.5, "no end");
    expect_refused("buffers.l1.capacity_bytes", 0.1, "not known whether");
}

static void make_problem(int64_t m, int64_t k, int64_t n, struct problem *problem)
{
    *problem = (struct problem){.op = &matmul_operator, .type = DTYPE_F16, .size = {m, k, n, 1}};
}

/* The exhaustive search at the corner is the definition. */
Test(robust, the_best_worst_case_is_found)
{
    static const int64_t sizes[][3] = {{32, 32, 48}, {64, 32, 32}, {16, 128, 48}, {80, 16, 64}};
    struct hardware hw;
    struct corner corner;
    struct error error;
    write_chip();
    open_corner(&none, &hw, &corner);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct search_options options = {.strategy = "bound", .threads = 2, .top = 1}, all;
        struct problem problem;
        struct space space, worst;
        struct robust robust;
        struct search_result result;
        all = options;
        all.strategy = "exhaustive";
        make_problem(sizes[i][0], sizes[i][1], sizes[i][2], &problem);
        cr_assert_eq(space_open(&problem, &matmul_cann, &hw, 4, &space, &error), STATUS_OK);
        cr_assert_eq(space_open(&problem, &matmul_cann, &corner.hw, 4, &worst, &error), STATUS_OK);
        cr_assert_eq(robust_search(&problem, &space, 4, &corner, &options, &robust, &error),
                     STATUS_OK, "%s", error.text);
        cr_assert_eq(search(&worst, &all, &result, &error), STATUS_OK, "%s", error.text);
        cr_expect(robust.search.optimal && robust.nominal_optimal);
        cr_expect_eq(robust.worst_fs, result.best[0].timeline.end_fs);
        cr_expect_eq(robust.search.best[0].index, result.best[0].index);
        cr_expect_eq(robust.search.feasible, result.feasible);
        cr_expect_eq(robust.search.best[0].timeline.end_fs,
                     time_of(&problem, &hw, 4, &result.best[0].tiling));
        search_result_clear(&result);
        cr_assert_eq(search(&space, &all, &result, &error), STATUS_OK);
        cr_expect_eq(robust.nominal_best.index, result.best[0].index);
        cr_expect_eq(robust.nominal_best.timeline.end_fs, result.best[0].timeline.end_fs);
        cr_expect_eq(robust.nominal_worst_fs,
                     time_of(&problem, &corner.hw, 4, &result.best[0].tiling));
        cr_expect_leq(robust.worst_fs, robust.nominal_worst_fs);
        cr_expect_geq(robust.search.best[0].timeline.end_fs, robust.nominal_best.timeline.end_fs);
        search_result_clear(&result);
        robust_clear(&robust);
        space_close(&space);
        space_close(&worst);
    }
    hardware_clear(&corner.hw);
    hardware_clear(&hw);
}
