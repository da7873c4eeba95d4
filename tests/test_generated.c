/* Every program that a tiling means is safe, aligned and free of superfluous synchronisation:
 * random problems and tilings of every operator and space on every shipped chip. And taking such
 * synchronisation out has changed no time. */
#include "analysis/check/check.h"
#include "analysis/check/oversync.h"
#include "costmodel/simulate.h"
#include "hardware/find.h"
#include "hardware/load.h"
#include "jobs/generate.h"
#include "results/tune.h"
#include "search/search.h"

#include <criterion/criterion.h>
#include <glob.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TILINGS = 12, TRIES = 4000 };

static int programs, thinner, pacing;

static int64_t log_uniform(gsl_rng *rng, double most)
{
    return (int64_t)pow(most, gsl_rng_uniform(rng));
}

static double play_fs(const struct program *program, int cores)
{
    struct simulator *simulator = simulator_new();
    struct timeline timeline;
    struct error error;
    cr_assert_eq(
        simulate(simulator, program, &(struct simulate_options){.cores = cores}, &timeline, &error),
        STATUS_OK, "%s", error.text);
    simulator_free(simulator);
    return (double)timeline.end_fs;
}

/* Nothing but synchronisation that costs time: a superfluous flag that paces the loads stays, since
 * the program takes the time that the search promises. */
static void expect_clean(const struct program *program, int cores, const char *what)
{
    struct program copy = {0};
    struct oversync found;
    struct check check;
    struct error error;
    cr_assert_eq(program_check(program, &check, &error), STATUS_OK, "%s: %s", what, error.text);
    for (size_t i = 0; i < check.count; i++)
        cr_expect_eq(check.findings[i].kind, FINDING_OVER_SYNC, "%s: %s", what,
                     check.findings[i].text);
    /* Where dispatching takes time, every superfluous line takes some. */
    pacing += check.count > 0 && program->hw->dispatch_fs == 0;
    cr_assert_eq(oversync_find(program, &found, &error), STATUS_OK, "%s", error.text);
    cr_expect_eq((size_t)found.unit_count, check.count);
    bool *gone = calloc((size_t)program->count + 1, sizeof *gone);
    for (int i = 0; i < found.item_count; i++)
        gone[found.items[i]] = true;
    if (check.count) {
        copy = *program;
        copy.items = malloc((size_t)program->count * sizeof *copy.items);
        memcpy(copy.items, program->items, (size_t)program->count * sizeof *copy.items);
        program_remove(&copy, gone);
        cr_expect_neq(play_fs(&copy, cores), play_fs(program, cores), "%s: %s", what,
                      check.findings[0].text);
        free(copy.items);
    }
    free(gone);
    oversync_clear(&found);
    check_clear(&check);
}

static void compare(const struct space *space, const int64_t *sizes, const struct tiling *tiling,
                    int part)
{
    struct program written = {0}, tidy = {0};
    struct error error;
    char text[512], what[1024];
    int cores = space->kind->cores_used(space, tiling);
    tiling_text(space->axes, space->axis_count, tiling, ",", text, sizeof text);
    snprintf(what, sizeof what, "%s part %d of %s on %s, sizes %lld %lld %lld %lld, cores %d",
             space->kind->name, part, text, space->hw->name, (long long)sizes[0],
             (long long)sizes[1], (long long)sizes[2], (long long)sizes[3], cores);
    program_reset(&written, space->hw);
    program_reset(&tidy, space->hw);
    cr_assert_eq(space->kind->generate(space, tiling, part, &written, &error), STATUS_OK, "%s",
                 error.text);
    cr_assert_eq(generate_program(space, tiling, part, &tidy, &error), STATUS_OK, "%s", error.text);
    expect_clean(&tidy, cores, what);
    cr_expect_eq(play_fs(&written, cores), play_fs(&tidy, cores), "%s: %g fs, tidy %g fs", what,
                 play_fs(&written, cores), play_fs(&tidy, cores));
    programs++;
    thinner += tidy.count < written.count;
    program_clear(&written);
    program_clear(&tidy);
}

static bool draw_tiling(gsl_rng *rng, const struct space *space, struct tiling *tiling)
{
    for (int i = 0; i < TRIES; i++) {
        space_tiling(space, (int64_t)(gsl_rng_uniform(rng) * (double)space->candidates), tiling);
        if (space->kind->legal(space, tiling))
            return true;
    }
    return false;
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
                      const struct hardware *hw)
{
    for (int t = 0; t < TILINGS; t++) {
        struct problem problem = {.op = op};
        struct space space;
        struct tiling tiling;
        struct found found;
        struct error error;
        draw_problem(rng, op, t % 2, &problem);
        int cores = 1 + (int)gsl_rng_uniform_int(rng, (unsigned long)hw->cores);
        if (problem_check(&problem, &error) != STATUS_OK ||
            space_open(&problem, kind, hw, cores, &space, &error) != STATUS_OK)
            continue;
        if (draw_tiling(rng, &space, &tiling) &&
            search_play(&space, &tiling, &found, &error) == STATUS_OK)
            for (int part = 0; part == 0 || kind->parts[part]; part++)
                compare(&space, problem.size, &found.tiling, part);
        space_close(&space);
    }
}

static void try_chip(gsl_rng *rng, const struct hardware *hw)
{
    for (int o = 0; operators[o]; o++)
        for (int s = 0; operators[o]->spaces[s]; s++)
            if (operators[o]->spaces[s]->generate)
                try_space(rng, operators[o], operators[o]->spaces[s], hw);
}

Test(generated, every_program_is_clean)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    glob_t files;
    struct error error;
    cr_assert_eq(glob(SOURCE_DIR "/configs/hardware/*.cfg", 0, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        struct hardware hw;
        cr_assert_eq(hardware_load(files.gl_pathv[i], NULL, &hw, &error), STATUS_OK, "%s",
                     error.text);
        try_chip(rng, &hw);
        hardware_clear(&hw);
    }
    globfree(&files);
    gsl_rng_free(rng);
    cr_expect_gt(programs, 150, "%d", programs);
    cr_expect_gt(thinner, programs / 3, "%d of %d", thinner, programs);
    cr_expect_lt(pacing, programs / 10, "%d of %d", pacing, programs);
}
