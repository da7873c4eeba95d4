/* Sizes of space cann that mean the same kernels: what says so (matmul_cann_same.c) against the
 * legality and the times of random tilings. */
#include "kernels/matmul/matmul_cann_nesting.h"
#include "search/tiling_simulator.h"
#include "tests/support/cases.h"
#include "tests/support/random_cann.h"

#include <criterion/criterion.h>
#include <stdlib.h>

/* Two problems that differ in one size. */
struct pair {
    struct hardware hw;
    struct problem problem[2];
    struct space space[2];
    struct tiling_simulator simulator;
    gsl_rng *rng;
    int size;
    int64_t compared;
};

static int64_t time_in(struct pair *p, int which, const struct tiling *tiling)
{
    struct timeline timeline;
    struct error error;
    cr_assert_eq(
        tiling_simulator_run(&p->simulator, &p->space[which], tiling, 0, &timeline, &error),
        STATUS_OK, "%s", error.text);
    return timeline.end_fs;
}

static void expect_alike(struct pair *p, const struct tiling *tiling, bool legal)
{
    const struct operator_space *kind = p->space[0].kind;
    struct violation list[MAX_VIOLATIONS];
    int64_t other = p->problem[1].size[p->size];
    cr_assert_eq(kind->violations(&p->space[1], tiling, list) == 0, legal, "%s, at %lld",
                 random_cann_text(&p->problem[0], &p->space[0], tiling), (long long)other);
    if (!legal)
        return;
    cr_assert_eq(time_in(p, 0, tiling), time_in(p, 1, tiling), "%s, at %lld",
                 random_cann_text(&p->problem[0], &p->space[0], tiling), (long long)other);
    p->compared++;
}

static void compare_classes(struct pair *p)
{
    const struct operator_space *kind = p->space[0].kind;
    struct violation list[MAX_VIOLATIONS];
    struct tiling tiling;
    int64_t class[2];
    for (int i = 0; i < 2; i++)
        class[i] =
            kind->size_class(&p->space[0], &p->problem[0], p->size, p->problem[i].size[p->size]);
    if (class[0] != class[1])
        return;
    cr_assert_eq(p->space[0].candidates, p->space[1].candidates);
    for (int i = 0; i < 4; i++)
        if (random_cann_tiling(p->rng, &p->space[0], &tiling))
            expect_alike(p, &tiling, kind->violations(&p->space[0], &tiling, list) == 0);
}

static void compare_prefixes(struct pair *p)
{
    const struct operator_space *kind = p->space[0].kind;
    struct tiling tiling;
    for (int i = 0; i < 6; i++) {
        if (!random_cann_tiling(p->rng, &p->space[0], &tiling))
            continue;
        kind->agree(&p->space[0], &tiling);
        if (kind->legal(&p->space[0], &tiling) &&
            kind->nesting->same(&p->space[0], &p->space[1], &tiling))
            expect_alike(p, &tiling, true);
    }
}

static int64_t compare_pairs(unsigned long first, int most_apart, void (*compare)(struct pair *p))
{
    struct error error;
    int64_t compared = 0;
    for (unsigned long seed = first; seed < first + 40; seed++) {
        struct pair p = {.rng = gsl_rng_alloc(gsl_rng_mt19937)};
        gsl_rng_set(p.rng, seed);
        random_cann_hardware(p.rng, &p.hw);
        cr_assert_eq(tiling_simulator_open(&p.simulator, &error), STATUS_OK);
        for (int i = 0; i < test_cases(20); i++) {
            random_cann_space(p.rng, &p.hw, 400, &p.problem[0], &p.space[0]);
            p.size = (int)gsl_rng_uniform_int(p.rng, 3);
            p.problem[1] = p.problem[0];
            p.problem[1].size[p.size] +=
                1 + (int64_t)gsl_rng_uniform_int(p.rng, (unsigned long)most_apart);
            cr_assert_eq(space_open(&p.problem[1], p.space[0].kind, &p.hw,
                                    cann_of(&p.space[0])->cores, &p.space[1], &error),
                         STATUS_OK, "%s", error.text);
            compare(&p);
            space_close(&p.space[0]);
            space_close(&p.space[1]);
        }
        compared += p.compared;
        tiling_simulator_close(&p.simulator);
        hardware_clear(&p.hw);
        gsl_rng_free(p.rng);
    }
    return compared;
}

Test(cann_same, sizes_of_one_class_have_the_same_times)
{
    cr_assert_gt(compare_pairs(1, 15, compare_classes), test_cases(200));
}

Test(cann_same, prefixes_that_mean_the_same_have_the_same_times)
{
    cr_assert_gt(compare_pairs(1000, 60, compare_prefixes), test_cases(100));
}
