/* Every program that this project writes is safe, aligned and free of superfluous synchronisation:
 * random problems and tilings of every operator and space on every shipped chip. And it takes the
 * time that the search found. */
#include "analysis/check/check.h"
#include "analysis/check/oversync.h"
#include "costmodel/simulate.h"
#include "hardware/load.h"
#include "jobs/tune/report_program.h"
#include "kernels/matmul/matmul.h"
#include "kernels/registry.h"
#include "results/tune.h"
#include "search/search.h"
#include "search/tiling_simulator.h"
#include "tests/support/cases.h"
#include "tests/support/expect_clean.h"

#include <criterion/criterion.h>
#include <glob.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TILINGS = 100, PANELS = 1500, TRIES = 4000 };

static int programs, thinner;

static void compare(const struct space *space, const int64_t *sizes, const struct tiling *tiling,
                    int part)
{
    struct program written = {0}, tidy = {0};
    struct timeline timeline;
    struct tiling_simulator simulator;
    struct error error;
    char text[512], what[1024];
    int cores = space->kind->cores_used(space, tiling, part);
    tiling_text(space->axes, space->axis_count, tiling, text, sizeof text);
    snprintf(what, sizeof what, "%s part %d of %s on %s, sizes %lld %lld %lld %lld, cores %d",
             space->kind->name, part, text, space->hw->name, (long long)sizes[0],
             (long long)sizes[1], (long long)sizes[2], (long long)sizes[3], cores);
    program_reset(&written, space->hw);
    program_reset(&tidy, space->hw);
    cr_assert_eq(space->kind->generate(space, tiling, part, &written, &error), STATUS_OK, "%s",
                 error.text);
    cr_assert_eq(generate_program(space, tiling, part, NULL, &tidy, &error), STATUS_OK, "%s",
                 error.text);
    expect_clean(&tidy, what);
    cr_assert_eq(tiling_simulator_open(&simulator, &error), STATUS_OK);
    cr_assert_eq(tiling_simulator_run(&simulator, space, tiling, part, &timeline, &error),
                 STATUS_OK, "%s: %s", what, error.text);
    bool alike = (double)timeline.end_fs == play_fs(&tidy, cores);
    cr_expect(alike, "%s: %lld fs, handed out %g fs", what, (long long)timeline.end_fs,
              play_fs(&tidy, cores));
    programs++;
    thinner += tidy.count < written.count;
    tiling_simulator_close(&simulator);
    program_clear(&written);
    program_clear(&tidy);
}

/* One that can be written, agreed or not. */
static bool draw_tiling(gsl_rng *rng, const struct space *space, struct tiling *tiling)
{
    struct violation list[MAX_VIOLATIONS];
    for (int i = 0; i < TRIES; i++) {
        space_tiling(space, (int64_t)(gsl_rng_uniform(rng) * (double)space->candidates), tiling);
        if (space->kind->violations(space, tiling, list) == 0)
            return true;
    }
    return false;
}

/* The one that stands for a tiling takes the same time, which neither's bound exceeds. */
static void expect_agreed(const struct space *space, const struct found *found)
{
    struct found agreed;
    struct tiling tiling = found->tiling;
    struct error error;
    cr_expect_leq(found->bound_fs, found->timeline.end_fs, "%s", space->hw->name);
    if (!space->kind->agree)
        return;
    space->kind->agree(space, &tiling);
    cr_assert_eq(search_simulate(space, &tiling, &agreed, &error), STATUS_OK, "%s", error.text);
    cr_expect_eq(agreed.timeline.end_fs, found->timeline.end_fs, "%s", space->hw->name);
    cr_expect_eq(agreed.bound_fs, found->bound_fs, "%s", space->hw->name);
}

static void draw_problem(gsl_rng *rng, const struct operator* op, bool choices,
                         struct problem *problem)
{
    char shape[96], number[32];
    struct error error;
    int used = 0;
    for (int i = 0; i < op->shape_sizes; i++)
        used += snprintf(shape + used, sizeof shape - (size_t)used, "%s%lld", i ? "x" : "",
                         (long long)log_uniform(rng, 700));
    cr_assert_eq(problem_parse(op, shape, problem, &error), STATUS_OK, "%s", error.text);
    for (int i = op->shape_sizes; i < op->size_count; i++) {
        snprintf(number, sizeof number, "%lld", (long long)log_uniform(rng, 20));
        problem_set(problem, op->size_names[i], number, &error);
    }
    for (int i = 0; choices && i < op->choice_count; i++)
        problem_set(
            problem, op->choices[i].name,
            op->choices[i].values[gsl_rng_uniform_int(rng, (unsigned long)op->choices[i].count)],
            &error);
}

static void try_space(gsl_rng *rng, const struct operator* op, const struct operator_space *kind,
                      const struct hardware *hw, int tilings)
{
    for (int t = 0; t < test_cases(tilings); t++) {
        struct problem problem = {.op = op};
        struct space space;
        struct tiling tiling;
        struct found found;
        struct error error;
        draw_problem(rng, op, t % 2, &problem);
        int cores = 1 + (int)gsl_rng_uniform_int(rng, (unsigned long)hw->cores);
        if (problem_settle(&problem, &error) != STATUS_OK ||
            space_open(&problem, kind, hw, cores, &space, &error) != STATUS_OK)
            continue;
        if (draw_tiling(rng, &space, &tiling) &&
            search_simulate(&space, &tiling, &found, &error) == STATUS_OK) {
            expect_agreed(&space, &found);
            for (int part = 0; part == 0 || kind->parts[part]; part++)
                compare(&space, problem.size, &found.tiling, part);
        }
        space_close(&space);
    }
}

static void try_chip(gsl_rng *rng, const struct hardware *hw)
{
    for (int o = 0; operators[o]; o++)
        for (int s = 0; operators[o]->spaces[s]; s++)
            if (operators[o]->spaces[s]->generate)
                try_space(rng, operators[o], operators[o]->spaces[s], hw, TILINGS);
}

Test(generated, every_program_is_clean)
{
    each_chip(try_chip);
    cr_expect_gt(programs, test_cases(150), "%d", programs);
    cr_expect_gt(thinner, programs / 3, "%d of %d", thinner, programs);
}

/* Flags that hand panels on: too few is a hazard, and too many hold loads back. */
static void try_panels(gsl_rng *rng, const struct hardware *hw)
{
    if (strcmp(hw->name, "Ascend 310") == 0)
        try_space(rng, &matmul_operator, &matmul_thesis, hw, PANELS);
}

Test(generated, panels_are_handed_on_by_flags_where_nothing_else_does)
{
    each_chip(try_panels);
    cr_expect_gt(programs, test_cases(PANELS) / 3, "%d", programs);
}
