/* Procedures on every shipped chip and on random ones: programs are safe, each runs or says why
 * not, and what is concluded from times is what the description has, of which they know nothing
 * else. */
#include "analysis/check/check.h"
#include "jobs/probe/probe.h"
#include "jobs/probe/probe_parts.h"
#include "tests/support/cases.h"
#include "tests/support/expect_clean.h"
#include "tests/support/machine.h"
#include "tests/support/random_hardware.h"

#include <criterion/criterion.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <string.h>

enum { MACHINES = 30 };

static int told, untold;

/* A share of the number; sizes that grow by a share of themselves are known to that. */
static double tolerance_of(const struct probe *probe, const struct probe_quantity *q)
{
    return probe->curves[q->curve].step ? 0.005 : 1.2 / PROBE_SHARE;
}

static void compare(const struct probe_answer *answer)
{
    const struct probe *probe = answer->probe;
    for (int i = 0; i < probe->quantity_count; i++) {
        const struct probe_quantity *q = &probe->quantities[i];
        double found = quantity_found(answer, q), described = quantity_described(answer, q);
        cr_expect(isnan(found) || found > 0, "%s: %s is %g", probe->name, q->name, found);
        if (!isfinite(described) || described <= 0)
            continue;
        told += isfinite(found);
        untold += !isfinite(found);
        cr_expect(!isfinite(found) || fabs(found / described - 1) <= tolerance_of(probe, q),
                  "%s, %s: found %g, described %g", probe->name, q->name, found, described);
    }
}

/* Points ascend, and no program is faster than one without an instruction. */
static void check_points(const struct probe_series *series, const char *what)
{
    cr_expect(!series->count == (series->why[0] != '\0'), "%s", what);
    for (int i = 0; i < series->count; i++) {
        const struct probe_point *point = &series->points[i];
        cr_expect(i == 0 || point->x > point[-1].x, "%s", what);
        cr_expect_geq(point->ns, point->empty_ns, "%s at %lld", what, (long long)point->x);
    }
}

static void run(const struct probe *probe, const struct hardware *hw, struct probe_answer *answer)
{
    struct error error;
    cr_assert_eq(probe_run(probe, hw, answer, &error), STATUS_OK, "%s on %s: %s", probe->name,
                 hw->name, error.text);
    for (int s = 0; s < answer->series_count; s++)
        check_points(&answer->series[s], probe->name);
}

static void run_all(gsl_rng *rng, const struct hardware *hw)
{
    (void)rng;
    for (int p = 0; probes[p]; p++) {
        struct probe_answer answer;
        run(probes[p], hw, &answer);
        compare(&answer);
        probe_answer_clear(&answer);
    }
}

Test(probe, finds_what_shipped_chips_describe)
{
    each_chip(run_all);
    cr_expect_geq(told, 9 * (told + untold) / 10, "%d told, %d not", told, untold);
}

/* What the paper says of the Ascend 910, within a tenth, where the description is its. */
Test(probe, finds_what_was_published)
{
    static const struct {
        const char *probe;
        int quantity;
    } rows[] = {{"vector-mask", 0},   {"vector-repeats", 0}, {"vector-repeats", 3},
                {"matrix-block", 0},  {"matrix-block", 3},   {"matrix-cycles", 0},
                {"matrix-cycles", 3}, {"matrix-cycles", 4},  {"l1-width", 0},
                {"l0c-width", 0},     {"strides", 0},        {"gm-bursts", 0},
                {"gm-bursts", 1},     {"gm-bursts", 2},      {"working-set", 0},
                {"cores", 0},         {"vector-load", 2}};
    struct hardware hw;
    machine_load_named(&hw, "ascend910", "");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct probe_answer answer;
        const struct probe *probe = probe_find(rows[i].probe);
        const struct probe_quantity *q = &probe->quantities[rows[i].quantity];
        run(probe, &hw, &answer);
        cr_expect_float_eq(quantity_found(&answer, q), q->paper_low, 0.1 * q->paper_low, "%s: %s",
                           probe->name, q->name);
        probe_answer_clear(&answer);
    }
    hardware_clear(&hw);
}

/* Descriptions whose numbers are drawn: nothing in them is what a procedure may have been written
 * to find. */
Test(probe, finds_what_random_machines_have)
{
    static const struct random_hardware options = {.prompt = true};
    struct hardware base, hw;
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    machine_load_named(&base, "ascend910", "");
    for (int i = 0; i < test_cases(MACHINES); i++) {
        random_hardware(&base, &options, rng, &hw);
        run_all(rng, &hw);
    }
    cr_expect_geq(told, 3 * (told + untold) / 4, "%d told, %d not", told, untold);
    hardware_clear(&base);
    gsl_rng_free(rng);
}

/* Every program can be run: of each curve the first, the last and one between. */
static void check_program(const struct probe_series *series, const struct hardware *hw,
                          const struct probe_point *point)
{
    struct program program = {0};
    struct error error;
    struct check check;
    struct probe_writer w = {.e = {.program = &program, .error = &error}, .hw = hw, .cores = 1};
    program_reset(&program, hw);
    series->curve->emit(&w, series->curve, point->x);
    cr_assert_eq(emit_close(&w.e), STATUS_OK, "%s", error.text);
    cr_assert_eq(program_check_safety(&program, &check, &error), STATUS_OK, "%s", error.text);
    cr_expect(check_is_safe(&check), "%s at %lld on %s: %s", series->curve->name,
              (long long)point->x, hw->name, check.count ? check.findings[0].text : "");
    check_clear(&check);
    program_clear(&program);
}

static void check_programs(gsl_rng *rng, const struct hardware *hw)
{
    (void)rng;
    for (int p = 0; probes[p]; p++) {
        struct probe_answer answer;
        run(probes[p], hw, &answer);
        for (int s = 0; s < answer.series_count; s++) {
            const struct probe_series *series = &answer.series[s];
            for (int i = 0; i < 3 && series->count; i++)
                check_program(series, hw, &series->points[i * (series->count - 1) / 2]);
        }
        probe_answer_clear(&answer);
    }
}

Test(probe, programs_are_safe)
{
    each_chip(check_programs);
}

/* What a chip lacks is said, and the rest answered. */
Test(probe, says_what_is_missing)
{
    struct hardware hw;
    struct probe_answer answer;
    machine_load_named(&hw, "ascend910b1", "");
    run(probe_find("l0c-width"), &hw, &answer);
    cr_expect_str_eq(probe_why(&answer), "it has no path l0c->ub");
    probe_answer_clear(&answer);
    run(probe_find("strides"), &hw, &answer);
    cr_expect_null(probe_why(&answer));
    cr_expect_str_eq(answer.series[0].why, "it has no path l1->ub");
    probe_answer_clear(&answer);
    hardware_clear(&hw);
}
