/* Advice keeps what a program computes and tells the time that it would take.
 *
 * tests/support/interpret.h runs random programs before and after on bytes, in random legal orders;
 * it shares no code with the proof that the strategies go through. */
#include "analysis/advice/advice.h"
#include "tests/support/advised.h"
#include "tests/support/cases.h"
#include "tests/support/machine.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static struct hardware hw;
static gsl_rng *rng;

static void start(void)
{
    machine_load(&hw, "dispatch_ns=3");
    rng = gsl_rng_alloc(gsl_rng_taus2);
}

static void end(void)
{
    hardware_clear(&hw);
    gsl_rng_free(rng);
}

TestSuite(advice_random, .init = start, .fini = end);

static int64_t time_of(const struct program *program)
{
    struct simulator *simulator = simulator_new();
    struct simulate_options options = {.cores = 1};
    struct timeline timeline;
    struct error error;
    cr_assert_eq(simulate(simulator, program, &options, &timeline, &error), STATUS_OK);
    cr_assert_eq(timeline.blocked, -1);
    simulator_free(simulator);
    return timeline.end_fs;
}

Test(advice_random, flags_written_anew_keep_every_order)
{
    int fitted = 0, runs = test_cases(1500);
    for (int run = 0; run < runs; run++) {
        gsl_rng_set(rng, (unsigned long)run + 1);
        char *text = advised_random(rng, true);
        struct program program = advised_parse(&hw, text), made;
        if (advised_resync(&program, &made)) {
            fitted++;
            advised_expect_same(&program, &made, "the program with flags", rng);
            program_clear(&made);
        }
        program_clear(&program);
        free(text);
    }
    cr_assert_gt(fitted, runs / 2, "only %d of %d programs fit", fitted, runs);
}

Test(advice_random, every_strategy_keeps_what_random_programs_compute)
{
    int applied[ADVICE_MAX] = {0}, runs = test_cases(600);
    for (int run = 0; run < runs; run++) {
        gsl_rng_set(rng, (unsigned long)run + 5000);
        char *text = advised_random(rng, true);
        struct program program = advised_parse(&hw, text), flags = {0};
        const struct program *start =
            run % 2 && advised_resync(&program, &flags) ? &flags : &program;
        struct advices advices;
        struct error error;
        cr_assert_eq(advise(start, 1, NULL, &advices, &error), STATUS_OK, "%s", error.text);
        cr_assert(advices.safe);
        cr_assert_eq(advices.time_fs, time_of(start));
        for (int i = 0; i < advices.count; i++) {
            const struct advice *advice = &advices.items[i];
            if (!advice->applies)
                continue;
            applied[advice->strategy - advice_strategies]++;
            cr_assert_eq(advice->time_fs, time_of(&advice->changed));
            cr_assert_lt(advice->time_fs, advices.time_fs);
            advised_expect_same(start, &advice->changed, advice->strategy->name, rng);
        }
        advices_clear(&advices);
        program_clear(&flags);
        program_clear(&program);
        free(text);
    }
    for (const struct advice_strategy *s = advice_strategies; s->name; s++)
        if (s->apply && test_thinning() == 1)
            cr_expect_gt(applied[s - advice_strategies], 0, "%s never applied", s->name);
}

/* What `--apply best` does. */
static void follow_best(const struct program *program, struct program *changed)
{
    struct advices advices;
    struct error error;
    const struct program *now = program;
    do {
        cr_assert_eq(advise(now, 1, NULL, &advices, &error), STATUS_OK, "%s", error.text);
        if (advices.items[0].applies) {
            program_clear(changed);
            *changed = advices.items[0].changed;
            advices.items[0].changed = (struct program){0};
            now = changed;
        }
        advices_clear(&advices);
    } while (advices.items[0].applies);
}

/* A program in which `check` finds nothing stays one, whichever changes are made. */
Test(advice_random, no_change_leaves_synchronisation_that_is_superfluous)
{
    int runs = test_cases(400), clean = 0, changed = 0, tidied = 0;
    for (int run = 0; run < runs; run++) {
        gsl_rng_set(rng, (unsigned long)run + 20000);
        char *text = advised_random(rng, true);
        struct program program = advised_parse(&hw, text), flags = {0}, best = {0};
        struct advices advices;
        struct error error;
        bool fits = advised_resync(&program, &flags);
        const struct program *start = fits ? &flags : &program;
        if (advised_superfluous(start) == 0) {
            clean++;
            cr_assert_eq(advise(start, 1, NULL, &advices, &error), STATUS_OK, "%s", error.text);
            for (int i = 0; i < advices.count && advices.items[i].applies; i++, changed++) {
                const struct advice *advice = &advices.items[i];
                cr_expect_eq(advised_superfluous(&advice->changed), 0, "%s of\n%s",
                             advice->strategy->name, text);
                tidied += advice->tidied_fs != 0;
            }
            advices_clear(&advices);
            follow_best(start, &best);
            cr_expect_eq(best.hw ? advised_superfluous(&best) : 0, 0, "the best of\n%s", text);
        }
        program_clear(&best);
        program_clear(&flags);
        program_clear(&program);
        free(text);
    }
    cr_expect_gt(clean, runs / 4, "%d", clean);
    cr_expect_gt(changed, runs / 4, "%d", changed);
    if (test_thinning() == 1)
        cr_expect_gt(tidied, 0);
}
