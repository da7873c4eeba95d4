/* Fits costs to times. The fit is robust: Tukey's bisquare (Beaton and Tukey 1974) by GSL's
 * iteratively reweighted least squares, of rows divided by their times. A point far out on its own
 * can still bend that, so points further off than six times the median error are left out and the
 * rest is fitted again, until none is. A term whose cost comes out negative is taken out, the
 * worst first, and its cost is 0. */
#include "validate/linear_fit.h"

#include <gsl/gsl_blas.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_multifit.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ITERATIONS = 1000, MAX_TRIMS = 20 };

/* An outlier is this many median errors off, and more than the least: an exact fit has no scale. */
static const double outlier_errors = 6, outlier_least = 1e-3;

/* The points that are used, with the terms in `kept` only, in relative form: term / time against 1.
 * Columns are scaled to a mean of 1, so that nanoseconds and bytes stand beside each other. */
struct system {
    const double *terms, *times;
    int point_count, term_count, used_count;
    bool *used;     /* of the points */
    double *errors; /* scratch, one a point */
    bool kept[LINEAR_FIT_MAX_TERMS];
    double scale[LINEAR_FIT_MAX_TERMS];
    gsl_matrix *rows;
    gsl_vector *ones, *costs;
    gsl_matrix *covariance;
};

static int kept_count(const struct system *s)
{
    int count = 0;
    for (int j = 0; j < s->term_count; j++)
        count += s->kept[j];
    return count;
}

static void clear(struct system *s)
{
    gsl_matrix_free(s->rows);
    gsl_vector_free(s->ones);
    gsl_vector_free(s->costs);
    gsl_matrix_free(s->covariance);
}

static bool allocate(struct system *s)
{
    size_t points = (size_t)s->used_count, terms = (size_t)kept_count(s);
    s->rows = gsl_matrix_alloc(points, terms);
    s->ones = gsl_vector_alloc(points);
    s->costs = gsl_vector_alloc(terms);
    s->covariance = gsl_matrix_alloc(terms, terms);
    return s->rows && s->ones && s->costs && s->covariance;
}

/* Column `column` of the rows is term j, relative to the times. */
static void fill_column(struct system *s, size_t column, int j)
{
    double sum = 0;
    size_t row = 0;
    for (int i = 0; i < s->point_count; i++)
        sum += s->terms[i * s->term_count + j] / s->times[i];
    s->scale[j] = sum > 0 ? sum / s->point_count : 1;
    for (int i = 0; i < s->point_count; i++)
        if (s->used[i])
            gsl_matrix_set(s->rows, row++, column,
                           s->terms[i * s->term_count + j] / s->times[i] / s->scale[j]);
}

static void fill(struct system *s)
{
    size_t column = 0;
    gsl_vector_set_all(s->ones, 1.0);
    for (int j = 0; j < s->term_count; j++)
        if (s->kept[j])
            fill_column(s, column++, j);
}

static int run_gsl(struct system *s)
{
    gsl_multifit_robust_workspace *workspace = gsl_multifit_robust_alloc(
        gsl_multifit_robust_bisquare, (size_t)s->used_count, (size_t)kept_count(s));
    if (!workspace)
        return GSL_ENOMEM;
    gsl_multifit_robust_maxiter(MAX_ITERATIONS, workspace);
    int problem = gsl_multifit_robust(s->rows, s->ones, s->costs, s->covariance, workspace);
    gsl_multifit_robust_free(workspace);
    return problem == GSL_EMAXITER ? GSL_SUCCESS : problem; /* then it is the last iterate */
}

/* Costs and errors of the kept terms; false when the points do not determine them. */
static bool unpack(const struct system *s, struct linear_fit *fit)
{
    size_t column = 0;
    bool determined = true;
    memset(fit, 0, sizeof *fit);
    for (int j = 0; j < s->term_count; j++) {
        if (!s->kept[j])
            continue;
        double variance = gsl_matrix_get(s->covariance, column, column);
        fit->cost[j] = gsl_vector_get(s->costs, column) / s->scale[j];
        fit->error[j] = sqrt(fmax(variance, 0)) / s->scale[j];
        determined = determined && isfinite(fit->cost[j]) && isfinite(fit->error[j]);
        column++;
    }
    return determined;
}

static enum status fit_once(struct system *s, struct linear_fit *fit, struct error *error)
{
    enum status status = STATUS_OK;
    if (!allocate(s)) {
        clear(s);
        return error_memory(error);
    }
    fill(s);
    int problem = run_gsl(s);
    if (problem == GSL_ENOMEM)
        status = error_memory(error);
    else if (problem || !unpack(s, fit))
        status = error_set(error, STATUS_INVALID, "%d points that do not tell %d costs apart (%s)",
                           s->point_count, kept_count(s),
                           problem ? gsl_strerror(problem) : "no finite solution");
    clear(s);
    return status;
}

/* The kept term with the most negative share of the times, or -1. */
static int most_negative(const struct system *s, const struct linear_fit *fit)
{
    int worst = -1;
    for (int j = 0; j < s->term_count; j++)
        if (s->kept[j] && fit->cost[j] < 0 &&
            (worst < 0 || fit->cost[j] * s->scale[j] < fit->cost[worst] * s->scale[worst]))
            worst = j;
    return worst;
}

static double error_of(const struct system *s, const struct linear_fit *fit, int i, double *fitted)
{
    *fitted = 0;
    for (int j = 0; j < s->term_count; j++)
        *fitted += s->terms[i * s->term_count + j] * fit->cost[j];
    return fabs(*fitted / s->times[i] - 1);
}

/* Quality over all points; s->errors is sorted afterwards. */
static void judge(const struct system *s, struct linear_fit *fit)
{
    double mean = 0, squares = 0, residuals = 0, fitted;
    int count = s->point_count;
    for (int i = 0; i < count; i++)
        mean += s->times[i] / count;
    for (int i = 0; i < count; i++) {
        s->errors[i] = error_of(s, fit, i, &fitted);
        squares += (s->times[i] - mean) * (s->times[i] - mean);
        residuals += (s->times[i] - fitted) * (s->times[i] - fitted);
    }
    gsl_sort(s->errors, 1, (size_t)count);
    fit->point_count = count;
    fit->outlier_count = count - s->used_count;
    fit->r_squared = squares > 0 ? 1 - residuals / squares : 0;
    fit->median_error = gsl_stats_median_from_sorted_data(s->errors, 1, (size_t)count);
    fit->max_error = s->errors[count - 1];
}

static enum status fit_used(struct system *s, struct linear_fit *fit, struct error *error)
{
    for (int j = 0; j < s->term_count; j++)
        s->kept[j] = true;
    TRY(fit_once(s, fit, error));
    for (int negative; (negative = most_negative(s, fit)) >= 0;) {
        s->kept[negative] = false;
        if (kept_count(s) == 0)
            return error_set(error, STATUS_INVALID, "%d points that no cost explains",
                             s->point_count);
        TRY(fit_once(s, fit, error));
    }
    judge(s, fit);
    return STATUS_OK;
}

/* Leaves out what is too far off; false when that changes nothing or leaves too few points. */
static bool trim(struct system *s, const struct linear_fit *fit)
{
    double most = fmax(outlier_errors * fit->median_error, outlier_least), fitted;
    int count = 0;
    bool changed = false;
    for (int i = 0; i < s->point_count; i++)
        count += error_of(s, fit, i, &fitted) <= most;
    if (count <= s->term_count || 2 * count < s->point_count)
        return false;
    for (int i = 0; i < s->point_count; i++) {
        bool used = error_of(s, fit, i, &fitted) <= most;
        changed = changed || used != s->used[i];
        s->used[i] = used;
    }
    s->used_count = count;
    return changed;
}

static enum status fit_all(struct system *s, struct linear_fit *fit, struct error *error)
{
    s->used_count = s->point_count;
    for (int i = 0; i < s->point_count; i++)
        s->used[i] = true;
    TRY(fit_used(s, fit, error));
    for (int i = 0; i < MAX_TRIMS && trim(s, fit); i++) {
        struct linear_fit better;
        struct error ignored;
        if (fit_used(s, &better, &ignored) != STATUS_OK)
            break;
        *fit = better;
    }
    return STATUS_OK;
}

enum status linear_fit(const double *terms, const double *times, int point_count, int term_count,
                       struct linear_fit *fit, struct error *error)
{
    struct system system = {
        .terms = terms, .times = times, .point_count = point_count, .term_count = term_count};
    if (point_count <= term_count)
        return error_set(error, STATUS_INVALID, "%d points, expected more than %d", point_count,
                         term_count);
    system.used = malloc((size_t)point_count * sizeof *system.used);
    system.errors = malloc((size_t)point_count * sizeof *system.errors);
    gsl_error_handler_t *handler = gsl_set_error_handler_off(); /* GSL's own ends the process */
    enum status status =
        system.used && system.errors ? fit_all(&system, fit, error) : error_memory(error);
    gsl_set_error_handler(handler);
    free(system.used);
    free(system.errors);
    return status;
}
