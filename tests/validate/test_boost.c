/* validate/boost and validate/ridge: quantiles of made-up data, cuts, and the same forest again. */
#include "validate/boost.h"
#include "validate/ridge.h"

#include <criterion/criterion.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 1500, FEATURES = 4 };

/* y is a step in x[0], a slope in x[1] and noise; x[2] says nothing and x[3] is always 7. */
struct sample {
    double x[ROWS * FEATURES], y[ROWS], truth[ROWS], weights[ROWS];
    struct trained_feature features[FEATURES];
    uint8_t bins[ROWS * FEATURES];
};

static struct sample *draw(unsigned long seed)
{
    struct error error;
    struct sample *s = calloc(1, sizeof *s);
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_rng_set(rng, seed);
    cr_assert(s);
    for (int r = 0; r < ROWS; r++) {
        double *x = s->x + (size_t)r * FEATURES;
        x[0] = floor(4 * gsl_rng_uniform(rng));
        x[1] = gsl_rng_uniform(rng);
        x[2] = gsl_rng_uniform(rng);
        x[3] = 7;
        s->truth[r] = (x[0] >= 2 ? 0.5 : 0) + 0.4 * x[1];
        s->y[r] = s->truth[r] + 0.1 * gsl_ran_gaussian(rng, 1);
        s->weights[r] = 1;
    }
    gsl_rng_free(rng);
    cr_assert_eq(boost_cuts(s->x, ROWS, FEATURES, s->features, &error), STATUS_OK);
    boost_bins(s->x, ROWS, FEATURES, s->features, s->bins);
    return s;
}

static struct forest grow(const struct sample *s, double quantile, uint64_t seed)
{
    struct error error;
    struct forest forest;
    const struct boost_data data = {ROWS, FEATURES, s->bins, s->y, s->weights};
    const struct boost_options options = {.quantile = quantile,
                                          .trees = 150,
                                          .depth = 3,
                                          .rate = 0.1,
                                          .row_share = 0.8,
                                          .feature_share = 0.8,
                                          .prior = 1,
                                          .seed = seed};
    cr_assert_eq(boost_train(&data, &options, &forest, &error), STATUS_OK);
    cr_assert_eq(forest.tree_count, 150);
    return forest;
}

static double at(const struct sample *s, const struct forest *forest, int row)
{
    feature_bins bins;
    for (int f = 0; f < FEATURES; f++)
        bins[f] = s->bins[f * ROWS + row];
    return forest_value(forest, bins);
}

Test(boost, cuts_lie_between_values)
{
    struct sample *s = draw(1);
    cr_expect_eq(s->features[0].cut_count, 3);
    for (int c = 0; c < 3; c++)
        cr_expect_eq(s->features[0].cuts[c], c + 0.5);
    cr_expect_eq(s->features[3].cut_count, 0);
    cr_expect(s->features[3].low == 7 && s->features[3].high == 7);
    cr_expect_eq(s->features[1].cut_count, CORRECTION_MAX_CUTS);
    for (int c = 1; c < CORRECTION_MAX_CUTS; c++)
        cr_expect_gt(s->features[1].cuts[c], s->features[1].cuts[c - 1]);
    cr_expect_eq(feature_bin(&s->features[0], -1), 0);
    cr_expect_eq(feature_bin(&s->features[0], 1.5), 1, "a cut belongs to what lies below it");
    cr_expect_eq(feature_bin(&s->features[0], 9), 3);
    free(s);
}

/* On rows that it has not seen. */
Test(boost, finds_the_step_and_the_slope)
{
    struct sample *s = draw(2), *fresh = draw(3);
    struct forest forest = grow(s, 0.5, 1);
    double error = 0, constant = 0;
    boost_bins(fresh->x, ROWS, FEATURES, s->features, fresh->bins);
    for (int r = 0; r < ROWS; r++) {
        error += fabs(at(fresh, &forest, r) - fresh->truth[r]) / ROWS;
        constant += fabs(forest.start * CORRECTION_LEAF - fresh->truth[r]) / ROWS;
    }
    cr_expect_lt(error, 0.04, "%g", error);
    cr_expect_lt(error, constant / 5, "%g, a constant %g", error, constant);
    free(forest.trees);
    free(fresh);
    free(s);
}

Test(boost, quantiles_hold_their_shares)
{
    static const double quantiles[] = {0.1, 0.4, 0.9};
    struct sample *s = draw(4), *fresh = draw(5);
    boost_bins(fresh->x, ROWS, FEATURES, s->features, fresh->bins);
    for (size_t q = 0; q < sizeof quantiles / sizeof *quantiles; q++) {
        struct forest forest = grow(s, quantiles[q], 1);
        double below = 0;
        for (int r = 0; r < ROWS; r++)
            below += fresh->y[r] <= at(fresh, &forest, r) ? 1.0 / ROWS : 0;
        cr_expect_lt(fabs(below - quantiles[q]), 0.05, "%g: %g", quantiles[q], below);
        free(forest.trees);
    }
    free(fresh);
    free(s);
}

Test(boost, the_same_seed_grows_the_same_forest)
{
    struct sample *s = draw(6);
    struct forest a = grow(s, 0.4, 9), b = grow(s, 0.4, 9), c = grow(s, 0.4, 10);
    cr_expect_eq(a.start, b.start);
    cr_expect_eq(memcmp(a.trees, b.trees, 150 * sizeof *a.trees), 0);
    cr_expect_neq(memcmp(a.trees, c.trees, 150 * sizeof *a.trees), 0);
    free(a.trees);
    free(b.trees);
    free(c.trees);
    free(s);
}

Test(boost, rows_without_weight_are_not_seen)
{
    struct sample *s = draw(7);
    struct forest before, after;
    for (int r = 0; r < ROWS; r += 3)
        s->weights[r] = 0;
    before = grow(s, 0.4, 1);
    for (int r = 0; r < ROWS; r += 3)
        s->y[r] = 1e6;
    after = grow(s, 0.4, 1);
    cr_expect_eq(memcmp(before.trees, after.trees, 150 * sizeof *before.trees), 0);
    free(before.trees);
    free(after.trees);
    free(s);
}

Test(boost, ridge_finds_slopes_and_leaves_constants_alone)
{
    struct sample *s = draw(8);
    struct ridge ridge;
    struct error error;
    cr_assert_eq(ridge_fit(s->x, s->y, s->weights, ROWS, FEATURES, 1, &ridge, &error), STATUS_OK);
    cr_expect_lt(fabs(ridge.slope[1] - 0.4), 0.05, "%g", ridge.slope[1]);
    cr_expect_lt(fabs(ridge.slope[2]), 0.05, "%g", ridge.slope[2]);
    cr_expect_eq(ridge.slope[3], 0);
    double off = 0;
    for (int r = 0; r < ROWS; r++)
        off += (ridge_value(&ridge, s->x + (size_t)r * FEATURES) - s->y[r]) / ROWS;
    cr_expect_lt(fabs(off), 1e-9, "%g", off);
    free(s);
}

/* Whatever unit a feature is in, its slope is found: here one that varies by some 1e-7. */
Test(boost, ridge_finds_the_slope_of_a_feature_in_a_large_unit)
{
    struct sample *s = draw(9);
    struct ridge ridge;
    struct error error;
    for (int r = 0; r < ROWS; r++)
        s->x[(size_t)r * FEATURES + 1] *= 4e-7;
    cr_assert_eq(ridge_fit(s->x, s->y, s->weights, ROWS, FEATURES, 1, &ridge, &error), STATUS_OK);
    cr_expect_lt(fabs(ridge.slope[1] * 4e-7 - 0.4), 0.05, "%g", ridge.slope[1]);
    free(s);
}
