/* The contention monitor's segments against the formulas of a fairly shared bus.
 *
 * With a and f the rates of the growing and the fixed transfer alone and s the rate of each while
 * both run, all in bytes a ns: the fixed transfer joins when the growing one has worked for T_s,
 * that is after a·T_s bytes, and leaves when both have moved S_f bytes more. */
#include "hardware/load.h"
#include "tools/contention_sweep.h"

#include <criterion/criterion.h>
#include <math.h>

enum { POINTS = 100 };

struct setting {
    int nops;
    int64_t fixed_bytes, step_bytes;
    const char *change; /* of one number of the description, or NULL */
};

static const struct setting settings[] = {
    {50, 65536, 4096, NULL},
    {20, 32768, 2048, NULL},
    {100, 16384, 3000, NULL},
    {0, 100000, 5000, NULL}, /* no stall: both start together, nothing comes before */
    {50, 65536, 4096, "paths.ub->gm.bandwidth_gbps=20"},
    {50, 65536, 4096, "issue_ns=0"},
};

enum { SETTINGS = sizeof settings / sizeof *settings };

/* What a path moves among `transfers`, in bytes a ns. */
static double rate(const struct hardware *hw, const char *transfer, int transfers)
{
    const char *path = strchr(transfer, ' ') + 1, *arrow = strstr(path, "->");
    int source = hardware_buffer(hw, path, (int)(arrow - path));
    int destination = hardware_buffer(hw, arrow + 2, (int)strlen(arrow + 2));
    const struct price *price =
        &hw->prices[hw->paths[hardware_path(hw, source, destination)].price];
    if (price->bus < 0)
        return (double)price->rate.units * FS_PER_NS / (double)price->rate.fs;
    return (double)hardware_bus_share(hw, price, transfers) / 1e9;
}

static double stall_ns(const struct hardware *hw, int nops)
{
    const struct price *price = &hw->prices[hw->operations[hardware_operation(hw, "nop", 3)].price];
    return nops * (double)price->rate.fs / (double)price->rate.units / FS_PER_NS;
}

static void play(const struct setting *setting, int which, struct hardware *hw,
                 struct contention_fit *grown, struct contention_fit *fixed,
                 struct contention_point points[POINTS])
{
    struct error error;
    const struct hardware_overrides changes = {&setting->change, setting->change ? 1 : 0};
    cr_assert_eq(hardware_load(SOURCE_DIR "/configs/hardware/ascend310.cfg", &changes, hw, &error),
                 STATUS_OK, "%s", error.text);
    const struct contention_sweep sweep = {hw,
                                           &contention_cases[which],
                                           setting->nops,
                                           setting->fixed_bytes,
                                           setting->step_bytes,
                                           setting->step_bytes * (POINTS - 1)};
    cr_assert_eq(contention_count(&sweep), POINTS);
    cr_assert_eq(contention_play(&sweep, points, &error), STATUS_OK, "%s", error.text);
    contention_fit(points, POINTS, CONTENTION_GROWN, grown);
    contention_fit(points, POINTS, CONTENTION_FIXED, fixed);
}

static void expect_near(double found, double expected, const char *what, int setting, int which)
{
    cr_expect(fabs(found - expected) <= 1e-6 * fabs(expected) + 1e-9,
              "setting %d, case %d, %s: %.12g, expected %.12g", setting, which, what, found,
              expected);
}

/* The last segments of a fit: with a stall there are three, without one the first is missing. */
static void expect_segments(const struct contention_fit *fit, const double slopes[3],
                            const double breakpoints[2], const double times[2], int setting,
                            int which)
{
    int missing = settings[setting].nops ? 0 : 1;
    cr_assert_eq(fit->segments, 3 - missing, "setting %d, case %d: %d segments", setting, which,
                 fit->segments);
    for (int s = missing; s < 3; s++)
        expect_near(fit->slope_ns_per_byte[s - missing], slopes[s], "slope", setting, which);
    for (int b = missing; b < 2; b++) {
        expect_near(fit->breakpoint_bytes[b - missing], breakpoints[b], "breakpoint", setting,
                    which);
        expect_near(fit->breakpoint_ns[b - missing], times[b], "time", setting, which);
    }
}

static void expect_shared(int setting, int which)
{
    struct hardware hw;
    struct contention_fit grown, fixed;
    struct contention_point points[POINTS];
    play(&settings[setting], which, &hw, &grown, &fixed, points);
    double a = rate(&hw, contention_cases[which].growing, 1);
    double f = rate(&hw, contention_cases[which].fixed, 1);
    double s = rate(&hw, contention_cases[which].fixed, 2);
    double issue = (double)hw.issue_fs / FS_PER_NS;
    double stall = stall_ns(&hw, settings[setting].nops);
    double bytes = (double)settings[setting].fixed_bytes;
    double breakpoints[] = {a * stall, a * stall + bytes};
    double t_f_alone = issue + bytes / f, t_f = issue + bytes / s;
    expect_segments(&grown, (double[]){1 / a, 1 / s, 1 / a}, breakpoints,
                    (double[]){issue + stall, stall + t_f}, setting, which);
    expect_segments(&fixed, (double[]){0, 1 / s - 1 / f, 0}, breakpoints,
                    (double[]){t_f_alone, t_f}, setting, which);
    hardware_clear(&hw);
}

Test(contention, transfers_on_the_bus_slow_each_other_down_and_recover)
{
    for (int setting = 0; setting < SETTINGS; setting++) {
        expect_shared(setting, 0);
        expect_shared(setting, 1);
    }
}

/* The numbers of the description as shipped: 28 bytes a ns alone, 36 for two. */
Test(contention, the_shipped_description_gives_the_thesis_figure)
{
    struct hardware hw;
    struct contention_fit grown, fixed;
    struct contention_point points[POINTS];
    play(&settings[0], 0, &hw, &grown, &fixed, points);
    expect_segments(&grown, (double[]){1 / 28., 1 / 18., 1 / 28.}, (double[]){56000, 121536},
                    (double[]){2040, 2040 + 65536 / 18.}, 0, 0);
    expect_near(grown.slope_ns_per_byte[0], grown.slope_ns_per_byte[2], "slope", 0, 0);
    expect_near(points[0].grown_ns, 40, "time of nothing", 0, 0);
    hardware_clear(&hw);
}

static void expect_undisturbed(int setting, int which)
{
    struct hardware hw;
    struct contention_fit grown, fixed;
    struct contention_point points[POINTS];
    play(&settings[setting], which, &hw, &grown, &fixed, points);
    double alone = rate(&hw, contention_cases[which].growing, 1);
    cr_expect_eq(grown.segments, 1);
    cr_expect_eq(fixed.segments, 1);
    expect_near(grown.slope_ns_per_byte[0], 1 / alone, "slope", setting, which);
    for (int i = 1; i < POINTS; i++)
        cr_expect_eq(points[i].fixed_ns, points[0].fixed_ns);
    hardware_clear(&hw);
}

Test(contention, a_private_path_disturbs_nothing)
{
    for (int setting = 0; setting < SETTINGS; setting++) {
        expect_undisturbed(setting, 2);
        expect_undisturbed(setting, 3);
    }
}

Test(contention, few_points_make_one_segment)
{
    const struct contention_point points[] = {{0, 1, 5}, {1, 2, 5}, {2, 4, 5}, {3, 6, 5}};
    struct contention_fit fit;
    contention_fit(points, 4, CONTENTION_GROWN, &fit);
    cr_expect_eq(fit.segments, 1);
    contention_fit(points, 4, CONTENTION_FIXED, &fit);
    cr_expect_eq(fit.segments, 1);
    cr_expect_float_eq(fit.slope_ns_per_byte[0], 0, 1e-12);
}

Test(contention, a_machine_without_the_path_is_an_error)
{
    struct hardware hw;
    struct error error;
    struct contention_point point;
    const struct contention_case absent = {"absent", "MTE2 gm->l1", "MTE3 ub->l0c"};
    cr_assert_eq(hardware_load(SOURCE_DIR "/configs/hardware/ascend310.cfg", NULL, &hw, &error),
                 STATUS_OK);
    const struct contention_sweep sweep = {&hw, &absent, 1, 1, 2, 1};
    cr_expect_eq(contention_play(&sweep, &point, &error), STATUS_INVALID);
    cr_expect(strstr(error.text, "ub->l0c"), "%s", error.text);
    hardware_clear(&hw);
}
