/* Grows a forest of symmetric trees (core/correction.h) that predicts a quantile of y from x.
 *
 *   boost_cuts(x, rows, features, trained)      where features may be cut
 *   boost_bins(x, rows, features, trained, bins)
 *   boost_train(&data, &options, &forest, &error) */
#ifndef AUTOTUNE_VALIDATE_BOOST_H
#define AUTOTUNE_VALIDATE_BOOST_H

#include "core/correction.h"
#include "core/status.h"

/* Fills low, high and cuts of features[0 … count) from x[row · count + feature], rows >= 1, all
 * finite: cuts are midway between neighbouring values, at about equal shares of the rows. Names
 * stay. STATUS_NO_MEMORY. */
enum status boost_cuts(const double *x, size_t rows, int count, struct trained_feature features[],
                       struct error *error);

/* Fills bins[feature · rows + row]. */
void boost_bins(const double *x, size_t rows, int count, const struct trained_feature features[],
                uint8_t *bins);

struct boost_data {
    size_t rows; /* >= 1 */
    int features;
    const uint8_t *bins; /* of boost_bins */
    const double *y;
    const double *weights; /* >= 0; rows of 0 are not seen */
};

struct boost_options {
    double quantile; /* of y, between 0 and 1 */
    int trees, depth;
    double rate;          /* share of a leaf's quantile that its tree takes, 0 to 1 */
    double row_share;     /* of rows that a tree sees, drawn at random, 0 to 1 … */
    double feature_share; /* … and of features */
    double prior;         /* weight of rows without an error that each leaf has beside its own */
    uint64_t seed;
};

/* The caller frees forest->trees. The same data, options and seed give the same forest. */
enum status boost_train(const struct boost_data *data, const struct boost_options *options,
                        struct forest *forest, struct error *error);

#endif
