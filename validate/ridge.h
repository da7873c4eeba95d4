/* A line through standardised features, as a yardstick for what is not one: least squares with a
 * penalty on the slopes. */
#ifndef AUTOTUNE_VALIDATE_RIDGE_H
#define AUTOTUNE_VALIDATE_RIDGE_H

#include "core/correction.h"
#include "core/status.h"

struct ridge {
    int count;
    double middle; /* the mean of y */
    double mean[FEATURES_MAX], slope[FEATURES_MAX];
};

/* Of the rows of x[row · count + feature] with weights > 0, of which there are more than one;
 * `penalty` in rows. STATUS_NO_MEMORY. */
enum status ridge_fit(const double *x, const double *y, const double *weights, size_t rows,
                      int count, double penalty, struct ridge *ridge, struct error *error);

double ridge_value(const struct ridge *ridge, const double *x);

#endif
