/* What is said of the time that is left, on thousands of made-up runs of work: right within a
 * factor of three wherever it is said, said where work is even, and not said where nobody could
 * know. */
#include "cli/progress.h"

#include <criterion/criterion.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>

enum { MOST_PIECES = 2000, RUNS = 600 };

/* ---- seconds of piece number `i` of `count`; `bent` and `rough` are the run's own */

static double even(gsl_rng *rng, int i, int count, double bent, double rough)
{
    (void)rng, (void)i, (void)count, (void)bent, (void)rough;
    return 0.25;
}

static double rough_one(gsl_rng *rng, int i, int count, double bent, double rough)
{
    (void)i, (void)count, (void)bent;
    return gsl_ran_lognormal(rng, 0, 1.5 * rough);
}

/* By size: the last take far longer than the first, or shorter. */
static double sorted(gsl_rng *rng, int i, int count, double bent, double rough)
{
    (void)rng, (void)rough;
    return pow((i + 1.0) / count, 4 * bent - 0.8);
}

static double sorted_rough(gsl_rng *rng, int i, int count, double bent, double rough)
{
    return sorted(rng, i, count, bent, rough) * gsl_ran_lognormal(rng, 0, rough);
}

/* Kinds that take turns, such as chips in a sweep. */
static double in_turns(gsl_rng *rng, int i, int count, double bent, double rough)
{
    (void)rng, (void)bent, (void)rough;
    return i / (count / 10 + 1) % 2 ? 3 : 1;
}

/* A machine that others come to use, for a while. */
static double disturbed(gsl_rng *rng, int i, int count, double bent, double rough)
{
    double from = bent * count;
    return gsl_ran_exponential(rng, i > from && i < from + count / 4.0 ? 1 + rough : 1);
}

static const struct {
    const char *name;
    double (*piece)(gsl_rng *rng, int i, int count, double bent, double rough);
    double least_told; /* share of the moments after a tenth */
} kinds[] = {
    {"even", even, 0.95},        {"rough", rough_one, 0.9},
    {"sorted", sorted, 0.1},     {"sorted and rough", sorted_rough, 0.1},
    {"in turns", in_turns, 0.5}, {"disturbed", disturbed, 0.9},
};

struct tally {
    int64_t asked, told, wrong;
};

/* Plays one run, and asks after each piece. */
static void play(gsl_rng *rng, size_t kind, struct tally *tally)
{
    static double seconds[MOST_PIECES];
    int count = 24 + (int)gsl_rng_uniform_int(rng, MOST_PIECES - 24);
    double bent = gsl_rng_uniform(rng), rough = gsl_rng_uniform(rng), whole = 0, now = 0;
    struct eta eta = {0};
    for (int i = 0; i < count; i++)
        whole += seconds[i] = kinds[kind].piece(rng, i, count, bent, rough);
    for (int i = 0; i < count - 1; i++) {
        double share = (i + 1.0) / count;
        now += seconds[i];
        eta_note(&eta, share, now);
        double left_s = eta_left_s(&eta);
        if (share < 0.1)
            cr_assert_lt(left_s, 0, "said before a tenth is done");
        tally->asked += share >= 0.1;
        tally->told += left_s >= 0;
        tally->wrong += left_s >= 0 && fabs(log(left_s / (whole - now))) > log(3);
    }
}

Test(eta, is_right_within_three_or_not_said)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        struct tally tally = {0};
        gsl_rng_set(rng, 22 + k);
        for (int run = 0; run < RUNS; run++)
            play(rng, k, &tally);
        cr_expect_gt((double)tally.told, kinds[k].least_told * (double)tally.asked,
                     "%s: said %lld times of %lld", kinds[k].name, (long long)tally.told,
                     (long long)tally.asked);
        cr_expect_lt((double)tally.wrong, 0.005 * (double)tally.told,
                     "%s: wrong %lld times of %lld", kinds[k].name, (long long)tally.wrong,
                     (long long)tally.told);
    }
    gsl_rng_free(rng);
}

/* What is exact for even work stays so between the marks. */
Test(eta, even_work_is_told_exactly)
{
    struct eta eta = {0};
    for (int i = 1; i <= 1000; i++)
        eta_note(&eta, i / 2000.0, i / 10.0);
    cr_expect_float_eq(eta_left_s(&eta), 100, 1e-6);
}

/* Much is done at once, as by a store that has it: what is left goes at another pace. */
Test(eta, a_leap_tells_nothing)
{
    struct eta eta = {0};
    eta_note(&eta, 0.5, 0.1);
    cr_expect_lt(eta_left_s(&eta), 0);
    for (int i = 1; i <= 4; i++)
        eta_note(&eta, 0.5 + i / 1000.0, 0.1 + i);
    cr_expect_lt(eta_left_s(&eta), 0);
}

/* The first half takes a moment and the second no longer does: what was told is taken back. */
Test(eta, a_change_of_pace_is_noticed)
{
    struct eta eta = {0};
    for (int i = 1; i <= 100; i++)
        eta_note(&eta, i / 200.0, i / 100.0);
    cr_expect_float_eq(eta_left_s(&eta), 1, 1e-6);
    for (int i = 1; i <= 20; i++)
        eta_note(&eta, 0.5 + i / 200.0, 1 + i);
    cr_expect_lt(eta_left_s(&eta), 0);
}

/* Shares that do not grow, and more than the whole. */
Test(eta, odd_notes_do_no_harm)
{
    struct eta eta = {0};
    for (int i = 0; i < 1000; i++)
        eta_note(&eta, 0, i);
    cr_expect_lt(eta_left_s(&eta), 0);
    eta_note(&eta, 2, 1000);
    eta_note(&eta, 0.5, 1001);
    cr_expect_lt(eta_left_s(&eta), 0);
}
