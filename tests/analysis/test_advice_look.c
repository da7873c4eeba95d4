/* Looking one change further than the next. */
#include "analysis/advice/advice.h"
#include "tests/support/advised.h"
#include "tests/support/cases.h"
#include "tests/support/machine.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static struct hardware hw;
static gsl_rng *rng;

static void start(void)
{
    machine_load(&hw, "");
    rng = gsl_rng_alloc(gsl_rng_taus2);
}

static void end(void)
{
    hardware_clear(&hw);
    gsl_rng_free(rng);
}

TestSuite(advice_look, .init = start, .fini = end);

static void ask(const struct program *program, struct advices *advices)
{
    struct error error;
    cr_assert_eq(advise(program, 1, NULL, advices, &error), STATUS_OK, "%s", error.text);
}

/* What is left after the best change of a program; its own time where none helps. */
static int64_t best_fs(const struct program *program)
{
    struct advices advices;
    ask(program, &advices);
    int64_t least = advices.time_fs;
    for (int i = 0; i < advices.count; i++)
        if (advices.items[i].applies && advices.items[i].time_fs < least)
            least = advices.items[i].time_fs;
    advices_clear(&advices);
    return least;
}

/* The constant comes anew in every iteration, and behind the loop `tail` instructions do nothing.
 */
static struct program constant_in_loop(int tail)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    fputs("loop i 16\n"
          "MTE2 gm->ub bytes=16384 src=gm:0 dst=ub:131072\n"
          "MTE2 gm->ub bytes=16384 src=gm:16384+16384*i dst=ub:0\n"
          "barrier\n"
          "V vadd elements=8192 src=ub:0 src2=ub:131072 dst=ub:0\n"
          "barrier\n"
          "V relu elements=8192 src=ub:0 dst=ub:0\n"
          "barrier\n"
          "MTE3 ub->gm bytes=16384 src=ub:0 dst=gm:1048576+16384*i\n"
          "barrier\n"
          "end\n",
          out);
    fprintf(out, "loop %d\nS nop count=0\nend\n", tail);
    fclose(out);
    struct program program = advised_parse(&hw, text);
    free(text);
    return program;
}

/* Ping-pong saves most, but it doubles the load of the constant, which then is not moved out of the
 * loop as one: the other way round, less is left. */
Test(advice_look, the_best_change_need_not_be_the_best_to_begin_with)
{
    struct program program = constant_in_loop(1);
    struct advices advices, behind;
    struct error error;
    int first;
    ask(&program, &advices);
    cr_expect_str_eq(advices.items[0].strategy->name, "PP");
    cr_assert_eq(look_ahead(&advices, 1, &first, &behind, &error), STATUS_OK);
    cr_expect_str_eq(advices.items[first].strategy->name, "MRT");
    cr_expect_str_eq(behind.items[0].strategy->name, "PP");
    cr_expect_lt(behind.items[0].time_fs, best_fs(&advices.items[0].changed));
    advices_clear(&behind);
    advices_clear(&advices);
    program_clear(&program);
}

/* Against all pairs, one by one. */
static void expect_least(const struct advices *advices, int *others)
{
    struct advices behind;
    struct error error;
    int first, wanted = 0;
    int64_t least = INT64_MAX;
    for (int i = 0; i < advices->count && advices->items[i].applies; i++) {
        int64_t left = best_fs(&advices->items[i].changed);
        wanted = left < least ? i : wanted;
        least = left < least ? left : least;
    }
    cr_assert_eq(look_ahead(advices, 1, &first, &behind, &error), STATUS_OK, "%s", error.text);
    cr_expect_eq(first, wanted);
    cr_expect_eq(behind.time_fs, advices->items[first].time_fs);
    cr_expect_eq(behind.items[0].applies ? behind.items[0].time_fs : behind.time_fs, least);
    *others += first != 0;
    advices_clear(&behind);
}

Test(advice_look, leaves_least_of_all_pairs)
{
    int runs = test_cases(40), others = 0;
    for (int run = 0; run < runs; run++) {
        gsl_rng_set(rng, (unsigned long)run + 30000);
        char *text = advised_random(rng, true);
        struct program program = advised_parse(&hw, text);
        struct advices advices;
        ask(&program, &advices);
        if (advices.items[0].applies)
            expect_least(&advices, &others);
        advices_clear(&advices);
        program_clear(&program);
        free(text);
    }
    if (test_thinning() == 1)
        cr_expect_gt(others, 0);
}

/* A long program is not looked at from all sides. */
Test(advice_look, of_long_programs_only_the_best_is_followed)
{
    struct program program = constant_in_loop(LOOK_MAX_EXECUTED);
    struct advices advices, behind;
    struct error error;
    int first;
    ask(&program, &advices);
    cr_expect_str_eq(advices.items[0].strategy->name, "PP");
    cr_assert_eq(look_ahead(&advices, 1, &first, &behind, &error), STATUS_OK);
    cr_expect_eq(first, 0);
    cr_expect_eq(behind.time_fs, advices.items[0].time_fs);
    advices_clear(&behind);
    advices_clear(&advices);
    program_clear(&program);
}
