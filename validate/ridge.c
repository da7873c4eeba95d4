/* Ridge regression (Hoerl and Kennard 1970) by GSL's regularised least squares. Features are
 * centred and scaled to a variance of 1, so that one penalty is fair to all; one that does not vary
 * gets no slope. */
#include "validate/ridge.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_multifit.h>
#include <math.h>

static double weighted_mean(const double *values, size_t stride, const double *weights, size_t rows)
{
    double sum = 0, all = 0;
    for (size_t r = 0; r < rows; r++) {
        sum += weights[r] * values[r * stride];
        all += weights[r];
    }
    return sum / all;
}

static double weighted_deviation(const double *values, size_t stride, const double *weights,
                                 size_t rows, double mean)
{
    double sum = 0, all = 0;
    for (size_t r = 0; r < rows; r++) {
        double off = values[r * stride] - mean;
        sum += weights[r] * off * off;
        all += weights[r];
    }
    return sqrt(sum / all);
}

struct system {
    gsl_matrix *a;
    gsl_vector *b, *slopes;
    gsl_multifit_linear_workspace *work;
};

static void fill(const struct system *s, const double *x, const double *y, const double *weights,
                 const struct ridge *ridge, const double *scale)
{
    for (size_t r = 0; r < s->a->size1; r++) {
        double root = sqrt(weights[r]);
        gsl_vector_set(s->b, r, root * (y[r] - ridge->middle));
        for (size_t f = 0; f < s->a->size2; f++) {
            double off = x[r * s->a->size2 + f] - ridge->mean[f];
            gsl_matrix_set(s->a, r, f, scale[f] > 1e-9 ? root * off / scale[f] : 0);
        }
    }
}

enum status ridge_fit(const double *x, const double *y, const double *weights, size_t rows,
                      int count, double penalty, struct ridge *ridge, struct error *error)
{
    double scale[FEATURES_MAX] = {0}, rest, norm;
    size_t features = (size_t)count;
    gsl_error_handler_t *handler = gsl_set_error_handler_off(); /* GSL's own ends the process */
    struct system s = {gsl_matrix_alloc(rows, features), gsl_vector_alloc(rows),
                       gsl_vector_alloc(features), gsl_multifit_linear_alloc(rows, features)};
    bool fits = s.a && s.b && s.slopes && s.work;
    *ridge = (struct ridge){.count = count, .middle = weighted_mean(y, 1, weights, rows)};
    for (size_t f = 0; f < features; f++) {
        ridge->mean[f] = weighted_mean(x + f, features, weights, rows);
        scale[f] = weighted_deviation(x + f, features, weights, rows, ridge->mean[f]);
    }
    if (fits) {
        fill(&s, x, y, weights, ridge, scale);
        fits =
            gsl_multifit_linear_svd(s.a, s.work) == 0 &&
            gsl_multifit_linear_solve(sqrt(penalty), s.a, s.b, s.slopes, &rest, &norm, s.work) == 0;
    }
    for (size_t f = 0; fits && f < features; f++)
        ridge->slope[f] = scale[f] > 1e-9 ? gsl_vector_get(s.slopes, f) / scale[f] : 0;
    gsl_multifit_linear_free(s.work);
    gsl_vector_free(s.slopes);
    gsl_vector_free(s.b);
    gsl_matrix_free(s.a);
    gsl_set_error_handler(handler);
    return fits ? STATUS_OK : error_memory(error);
}

double ridge_value(const struct ridge *ridge, const double *x)
{
    double value = ridge->middle;
    for (int f = 0; f < ridge->count; f++)
        value += ridge->slope[f] * (x[f] - ridge->mean[f]);
    return value;
}
