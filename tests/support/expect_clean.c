/* A program is clean where the hazard check has nothing to say of it, superfluous synchronisation
 * included. Baselines may be written with more flags than they need: they are tidied first, which
 * must not change their time. */
#include "tests/support/expect_clean.h"

#include "analysis/check/check.h"
#include "analysis/check/oversync.h"
#include "costmodel/simulate.h"
#include "hardware/load.h"

#include <criterion/criterion.h>
#include <glob.h>
#include <math.h>

int64_t log_uniform(gsl_rng *rng, double most)
{
    return (int64_t)pow(most, gsl_rng_uniform(rng));
}

double play_fs(const struct program *program, int cores)
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

void expect_clean(const struct program *program, const char *what)
{
    struct check check;
    struct error error;
    cr_assert_eq(program_check(program, &check, &error), STATUS_OK, "%s: %s", what, error.text);
    cr_expect_eq(check.count, 0u, "%s: %s", what, check.count ? check.findings[0].text : "");
    check_clear(&check);
}

void each_chip(void (*act)(gsl_rng *rng, const struct hardware *hw))
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    glob_t files;
    struct error error;
    cr_assert_eq(glob(SOURCE_DIR "/configs/hardware/*.cfg", 0, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        struct hardware hw;
        cr_assert_eq(hardware_load(files.gl_pathv[i], NULL, &hw, &error), STATUS_OK, "%s",
                     error.text);
        act(rng, &hw);
        hardware_clear(&hw);
    }
    globfree(&files);
    gsl_rng_free(rng);
}

/* Its program is in `program`, as written: now as it is played. */
void expect_clean_baseline(struct program *program, enum status status, const struct error *error,
                           const char *what)
{
    struct error late;
    cr_assert_eq(status, STATUS_OK, "%s: %s", what, error->text);
    double written_fs = play_fs(program, 1);
    cr_assert_eq(program_tidy(program, NULL, &late), STATUS_OK);
    expect_clean(program, what);
    if (program->hw->dispatch_fs == 0)
        cr_expect_eq(play_fs(program, 1), written_fs, "%s", what);
}
