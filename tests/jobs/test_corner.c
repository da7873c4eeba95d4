/* The worst case of what a fit does not know (jobs/tune/corner.h): nothing in the box is slower. */
#include "search/search.h"
#include "tests/jobs/uncertain_chip.h"
#include "tests/support/cases.h"
#include "tests/support/random_cann.h"

#include <math.h>

TestSuite(corner, .init = enter, .fini = leave);

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

Test(corner, no_point_of_the_box_is_slower_than_the_corner)
{
    struct hardware hw;
    struct corner corner;
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_taus2);
    int compared = 0, points = 0;
    write_chip();
    open_corner(&none, &hw, &corner);
    cr_expect_eq(corner.keys, FITTED);
    cr_expect(corner.is_worst);
    for (int round = 0; round < test_cases(200); round++) {
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
    cr_expect_geq(points, test_cases(20));
    cr_expect_geq(compared, test_cases(200));
    hardware_clear(&corner.hw);
    hardware_clear(&hw);
    gsl_rng_free(rng);
}

static double fact_value(const struct hardware *hw, const char *key)
{
    return strtod(find_fact(hw, key)->value, NULL);
}

/* Two standard errors, each to the side where more is paid; what a rule ties to it goes along. */
Test(corner, numbers_of_the_corner)
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

Test(corner, directions)
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
    cr_expect_eq(
        corner_make(NULL, SOURCE_DIR "/tests/support/split-chip.cfg", &none, &hw, &corner, &error),
        STATUS_INVALID);
    cr_expect(strstr(error.text, why), "%s", error.text);
    hardware_clear(&hw);
}

/* A slower move may leave another more of a bus that both use. */
Test(corner, a_shared_bus_may_have_a_worse_place)
{
    struct hardware hw;
    struct corner corner;
    struct error error;
    cr_assert_eq(
        hardware_load_from(NULL, SOURCE_DIR "/tests/support/split-chip.cfg", &none, &hw, &error),
        STATUS_OK);
    hw.fit.spread_count = 1;
    hw.fit.spreads[0] = (struct spread){"launch_ns", 0.1};
    cr_assert_eq(
        corner_make(NULL, SOURCE_DIR "/tests/support/split-chip.cfg", &none, &hw, &corner, &error),
        STATUS_OK);
    cr_expect(!corner.is_worst);
    hardware_clear(&corner.hw);
    hardware_clear(&hw);
}

Test(corner, what_has_no_corner_is_refused)
{
    expect_refused(NULL, 0, "`autotune calibrate`");
    expect_refused("launch_ns", 0, "`autotune calibrate`");
    expect_refused("matrix.f16.gflops", 0.5, "no end");
    expect_refused("buffers.l1.capacity_bytes", 0.1, "not known whether");
}
