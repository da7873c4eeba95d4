/* Polynomials by vectors alone: safe programs with as many instructions as their methods say. */
#include "analysis/check/check.h"
#include "core/work.h"
#include "costmodel/simulate.h"
#include "kernels/cubefx/cubefx.h"
#include "tests/support/cases.h"
#include "tests/support/expect_clean.h"
#include "tests/support/machine.h"

#include <criterion/criterion.h>
#include <gsl/gsl_rng.h>
#include <stdio.h>

struct fixture {
    struct hardware hw;
    struct program program;
    struct simulator *simulator;
    gsl_rng *rng;
};

static int64_t pick(struct fixture *f, int64_t most)
{
    return 1 + (int64_t)gsl_rng_uniform_int(f->rng, (unsigned long)most);
}

static void open_fixture(struct fixture *f, unsigned long seed)
{
    char ub[64];
    *f = (struct fixture){.rng = gsl_rng_alloc(gsl_rng_mt19937), .simulator = simulator_new()};
    gsl_rng_set(f->rng, seed);
    snprintf(ub, sizeof ub, "buffers.ub.capacity_bytes=%d", 253952 >> 2 * (int)seed);
    machine_load(&f->hw, ub);
}

static void close_fixture(struct fixture *f)
{
    program_clear(&f->program);
    simulator_free(f->simulator);
    hardware_clear(&f->hw);
    gsl_rng_free(f->rng);
}

static int64_t play(struct fixture *f, bool fully)
{
    struct error error;
    struct timeline timeline;
    struct simulate_options options = {.cores = 1, .execute_fully = fully};
    cr_assert_eq(simulate(f->simulator, &f->program, &options, &timeline, &error), STATUS_OK, "%s",
                 error.text);
    cr_assert_eq(timeline.blocked, -1);
    return timeline.end_fs;
}

static void expect_safe(const struct program *program)
{
    struct check check;
    struct error error;
    cr_assert_eq(program_check(program, &check, &error), STATUS_OK, "%s", error.text);
    cr_assert(check_is_safe(&check), "%s in line %d", check.count ? check.findings[0].text : "",
              check.count ? check.findings[0].lines[0] : 0);
    check_clear(&check);
}

/* Vector instructions for one function of `order` terms, from the methods' definitions. */
static int64_t count_instructions(enum cubefx_baseline baseline, int64_t order)
{
    int64_t squares = 0, parts = (order + 3) / 4;
    while (INT64_C(2) << squares < order)
        squares++;
    switch (baseline) {
    case CUBEFX_NAIVE_TAYLOR:
        return 2 + 3 * (order - 1);
    case CUBEFX_HORNER:
        return order == 1 ? 1 : 2 * (order - 1);
    case CUBEFX_ESTRIN: /* order − 1 multiplications and additions, and an odd term alone */
        return 2 * (order - 1) + squares + order % 2;
    case CUBEFX_MOTZKIN:
        return 7 * parts + 1 + 2 * (parts - 1) + (parts > 1 ? 2 : 0);
    case CUBEFX_CORDIC:
        return 3 + 8 * order;
    default:
        return -1;
    }
}

static void expect_baseline(struct fixture *f, enum cubefx_baseline baseline)
{
    struct error error;
    struct cubefx_share share = {pick(f, 40000), pick(f, 40), pick(f, 9)};
    struct work_total totals[HARDWARE_MAX_PRICES];
    int64_t tile = cubefx_baseline_tile(&f->hw, DTYPE_F16, &share, baseline), vectors = 0;
    program_reset(&f->program, &f->hw);
    cr_assert_eq(
        cubefx_baseline_program(&f->hw, DTYPE_F16, &share, tile, baseline, &f->program, &error),
        STATUS_OK, "%s", error.text);
    expect_safe(&f->program);
    cr_assert_eq(work_totals(&f->program, totals, &error), STATUS_OK);
    for (int o = 0; o < f->hw.operation_count; o++)
        vectors += totals[f->hw.operations[o].price].instructions;
    int64_t tiles = (share.inputs + tile - 1) / tile;
    cr_assert_eq(vectors, tiles * share.functions * count_instructions(baseline, share.order));
    int ub = hardware_buffer(&f->hw, "ub", 2), gm = hardware_buffer(&f->hw, "gm", 2);
    cr_assert_eq(totals[f->hw.paths[hardware_path(&f->hw, gm, ub)].price].units, 2 * share.inputs);
    cr_assert_eq(totals[f->hw.paths[hardware_path(&f->hw, ub, gm)].price].units,
                 2 * share.inputs * share.functions);
    cr_assert_eq(tile % 128, 0);
    cr_assert_eq(play(f, false), play(f, true));
}

Test(cubefx_baselines, are_safe_and_count_as_their_methods)
{
    for (unsigned long seed = 0; seed < 3; seed++) {
        struct fixture f;
        open_fixture(&f, seed);
        for (int b = 0; b < CUBEFX_BASELINES; b++)
            for (int i = 0; i < test_cases(12); i++)
                expect_baseline(&f, (enum cubefx_baseline)b);
        close_fixture(&f);
    }
}

/* No larger tile fits. */
Test(cubefx_baselines, tiles_fill_the_buffer)
{
    struct fixture f;
    struct error error;
    struct check check;
    struct cubefx_share share = {1 << 20, 16, 3};
    open_fixture(&f, 0);
    for (int b = 0; b < CUBEFX_BASELINES; b++) {
        int64_t tile = cubefx_baseline_tile(&f.hw, DTYPE_F16, &share, (enum cubefx_baseline)b);
        program_reset(&f.program, &f.hw);
        cr_assert_eq(cubefx_baseline_program(&f.hw, DTYPE_F16, &share, tile + 128,
                                             (enum cubefx_baseline)b, &f.program, &error),
                     STATUS_OK);
        cr_assert_eq(program_check(&f.program, &check, &error), STATUS_OK);
        cr_assert_not(check_is_safe(&check), "%s", cubefx_baseline_names[b]);
        for (size_t i = 0; i < check.count; i++)
            cr_assert(check.findings[i].kind == FINDING_CAPACITY ||
                      check.findings[i].kind == FINDING_OVER_SYNC);
        check_clear(&check);
    }
    close_fixture(&f);
}

/* Horner for one function of one tile: load, 2·15 instructions on 1024 elements, store. */
Test(cubefx_baselines, horner_by_hand)
{
    struct fixture f;
    struct error error;
    struct cubefx_share share = {1024, 16, 1};
    open_fixture(&f, 0);
    program_reset(&f.program, &f.hw);
    cr_assert_eq(
        cubefx_baseline_program(&f.hw, DTYPE_F16, &share, 1024, CUBEFX_HORNER, &f.program, &error),
        STATUS_OK);
    double expected = 2050 + 2 * (40 + 2048 / 28.0) + 30 * (41.5 + 7 * 2 / 0.68);
    cr_assert_float_eq((double)play(&f, false) / 1e6, expected, 1e-4);
    close_fixture(&f);
}

static int programs;

static void try_polynomials(gsl_rng *rng, const struct hardware *hw)
{
    struct program program = {0};
    struct error error;
    for (int t = 0; t < 100; t++) {
        struct cubefx_share share = {.inputs = 256 * log_uniform(rng, 200),
                                     .order = 1 + log_uniform(rng, 20),
                                     .functions = log_uniform(rng, 5)};
        enum cubefx_baseline baseline = (enum cubefx_baseline)(t % CUBEFX_BASELINES);
        int64_t tile = cubefx_baseline_tile(hw, DTYPE_F16, &share, baseline);
        program_reset(&program, hw);
        enum status status =
            cubefx_baseline_program(hw, DTYPE_F16, &share, tile, baseline, &program, &error);
        if (status == STATUS_INVALID) /* the chip cannot */
            continue;
        programs++;
        expect_clean_baseline(&program, status, &error, cubefx_baseline_names[baseline]);
    }
    program_clear(&program);
}

Test(cubefx_baselines, are_clean)
{
    each_chip(try_polynomials);
    cr_expect_gt(programs, 50, "%d", programs);
}
