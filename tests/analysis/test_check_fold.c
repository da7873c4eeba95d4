/* Loops that are not executed to their end are checked as if they were. */
#include "analysis/check/oversync_search.h"
#include "tests/support/cases.h"
#include "tests/support/expect_check.h"
#include "tests/support/random_pipeline.h"
#include "tests/support/random_program.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

TestSuite(check_fold, .init = expect_check_start, .fini = expect_check_end);

/* As program_check; `whole` executes every iteration. Did it skip any? */
static bool check(const struct program *program, bool whole, struct check *check)
{
    struct findings findings = {0};
    struct execution execution;
    struct error error;
    cr_assert_eq(execution_init(&execution, program, NULL, &error), STATUS_OK, "%s", error.text);
    if (whole)
        execution.order.back = NULL;
    cr_assert_eq(execution_run(&execution, &findings, &error), STATUS_OK, "%s", error.text);
    cr_assert_eq(oversync_add(&execution, &findings, &error), STATUS_OK, "%s", error.text);
    cr_assert_eq(findings_take(&findings, check, &error), STATUS_OK, "%s", error.text);
    bool folded = execution.fold.folded;
    findings_clear(&findings);
    execution_clear(&execution);
    return folded;
}

static bool compare(const char *text, size_t *found)
{
    struct program program;
    struct check folded, whole;
    expect_parse(text, &program);
    bool skipped = check(&program, false, &folded);
    cr_assert_not(check(&program, true, &whole));
    cr_assert_eq(folded.count, whole.count, "%zu and %zu in\n%s", folded.count, whole.count, text);
    for (size_t i = 0; i < whole.count; i++) {
        const struct finding *a = &folded.findings[i], *b = &whole.findings[i];
        cr_assert(a->kind == b->kind && memcmp(a->lines, b->lines, sizeof a->lines) == 0,
                  "%s, and not %s in\n%s", a->text, b->text, text);
        found[a->kind]++;
    }
    check_clear(&folded);
    check_clear(&whole);
    program_clear(&program);
    return skipped;
}

static const struct hardware *chip(void)
{
    struct program program;
    expect_parse("", &program);
    const struct hardware *hw = program.hw;
    program_clear(&program);
    return hw;
}

Test(check_fold, random_programs)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    size_t found[FINDING_KINDS] = {0};
    int skipped = 0, cases = test_cases(300);
    for (int i = 0; i < cases; i++) {
        struct random_program options = {.statements = 3 + (int)gsl_rng_uniform_int(rng, 20),
                                         .max_depth = i % 10 ? 1 : 2,
                                         .max_count = i % 10 ? 300 : 150,
                                         .loop_percent = 15,
                                         .flag_percent = 20 + (int)gsl_rng_uniform_int(rng, 50),
                                         .scalar_percent = (int)gsl_rng_uniform_int(rng, 2) * 6,
                                         .barrier_percent = (int)gsl_rng_uniform_int(rng, 2) * 6,
                                         .operands = gsl_rng_uniform_int(rng, 2) == 0,
                                         .wild_flags = i % 3 == 0};
        char *text = random_program_text(chip(), &options, rng);
        skipped += compare(text, found);
        free(text);
    }
    cr_expect_gt(skipped, cases / 8, "%d", skipped);
    for (int kind = 0; kind < FINDING_KINDS; kind++)
        if (kind != FINDING_CAPACITY && kind != FINDING_ALIGNMENT && kind != FINDING_MEMORY)
            cr_expect_gt(found[kind], cases / 40, "%s", finding_kind_name((enum finding_kind)kind));
    gsl_rng_free(rng);
}

Test(check_fold, random_pipelines)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    size_t found[FINDING_KINDS] = {0};
    int skipped = 0, cases = test_cases(150);
    for (int i = 0; i < cases; i++) {
        struct random_pipeline options = {.executed = 2000 + (int)gsl_rng_uniform_int(rng, 10000),
                                          .max_depth = 1 + (int)gsl_rng_uniform_int(rng, 3),
                                          .scalar_percent = (int)gsl_rng_uniform_int(rng, 2) * 20,
                                          .barrier_percent = (int)gsl_rng_uniform_int(rng, 2) * 20,
                                          .run_ahead = gsl_rng_uniform_int(rng, 2)};
        char *text = random_pipeline_text(chip(), &options, rng);
        skipped += compare(text, found);
        free(text);
    }
    cr_expect_gt(skipped, cases / 3, "%d", skipped);
    gsl_rng_free(rng);
}

Test(check_fold, a_thousand_million_iterations)
{
    expect_all("loop 1000000000\n" LOAD("0") SET("MTE2", "MTE1") WAIT("MTE2", "MTE1") FEED("0")
                   SET("MTE1", "MTE2") WAIT("MTE1", "MTE2") "end\n",
               "");
    expect_all("loop 1000000000\n" LOAD("0") SET("MTE2", "MTE1") WAIT("MTE2", "MTE1")
                   FEED("0") "end\n",
               "double_set 3,4; hazard 2,5");
    expect_all("loop 1000\nloop 1000000\n" LOAD("0") "barrier\n" FEED("0") "barrier\nend\nend\n",
               "");
}
