/* What only whole kernels determine, by Nelder and Mead's simplex on the numbers' logarithms. */
#include "jobs/calibrate/calibrate_fit.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_multifit.h>
#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of a number in the mean kernel: a permille of the time for twice the number cannot be told from
 * nothing. */
static const double least_sensitivity = 1e-3;

/* ---- how well the numbers are known ---- */

/* The logarithms of all rows at the point with one number changed by a factor of e^step. */
static bool logs_at(struct kernel_fit *s, const double at[], int v, double step, double logs[])
{
    double point[SIMPLEX_MAX_VARIABLES], value;
    memcpy(point, at, (size_t)s->variable_count * sizeof *point);
    point[v] += step;
    if (!kernel_fit_try(s, point, &value))
        return false;
    memcpy(logs, s->logs, s->fitted * sizeof *logs);
    return true;
}

/* rows × variables: d ln(predicted) / d ln(number), for rows with both times; *used of them. The
 * scratch has room for twice the rows. */
static bool sensitivities(struct kernel_fit *s, const double at[], double *matrix, double *scratch,
                          size_t *used)
{
    const double step = 0.05;
    double *up = scratch, *down = scratch + s->fitted;
    for (int v = 0; v < s->variable_count; v++) {
        if (!logs_at(s, at, v, step, up) || !logs_at(s, at, v, -step, down))
            return false;
        *used = 0;
        for (size_t i = 0; i < s->fitted; i++)
            if (isfinite(up[i]))
                matrix[(*used)++ * (size_t)s->variable_count + (size_t)v] =
                    (up[i] - down[i]) / (2 * step);
    }
    return s->variable_count == 0 || logs_at(s, at, 0, 0, up); /* s->logs as at the point */
}

/* Does half the number change anything? Limits that nothing reaches show only there. */
static bool matters_halved(struct kernel_fit *s, const double at[], int v, double *scratch)
{
    double sum = 0;
    if (!logs_at(s, at, v, 0, scratch) || !logs_at(s, at, v, -M_LN2, scratch + s->fitted))
        return false;
    for (size_t i = 0; i < s->fitted; i++)
        sum += isfinite(scratch[i]) ? fabs(scratch[i] - scratch[s->fitted + i]) : 0;
    return sum > least_sensitivity * (double)s->fitted;
}

/* Numbers that no kernel here depends on are again what they were before the trials. */
static enum status drop_undetermined(struct kernel_fit *s, double at[], const double *matrix,
                                     size_t used, double *scratch)
{
    bool keep[SIMPLEX_MAX_VARIABLES];
    enum status status = STATUS_OK;
    int count = s->variable_count, kept = 0;
    for (int v = 0; v < count; v++) {
        double sum = 0;
        for (size_t i = 0; i < used; i++)
            sum += fabs(matrix[i * (size_t)count + (size_t)v]);
        keep[v] = sum > least_sensitivity * (double)used || matters_halved(s, at, v, scratch);
    }
    for (int v = 0; v < count && status == STATUS_OK; v++) {
        const struct variable *variable = &s->variables[v];
        if (!keep[v]) {
            status = kernel_fit_set(s, variable, variable->before, variable->source);
            continue;
        }
        s->variables[kept] = *variable;
        at[kept++] = at[v];
    }
    s->variable_count = kept;
    return status;
}

/* Relative standard errors as of a fit of least absolute deviations: twice the median residual
 * times the square root of the diagonal of the inverse of JᵀJ. */
static bool standard_errors(const struct kernel_fit *s, const double *matrix, size_t used,
                            double errors[])
{
    size_t n = (size_t)s->variable_count;
    if (used <= n || used < 1)
        return false;
    double *residuals = malloc(used * sizeof *residuals), chi = 0;
    gsl_multifit_linear_workspace *workspace = gsl_multifit_linear_alloc(used, n);
    gsl_vector *logs = gsl_vector_alloc(used), *shift = gsl_vector_alloc(n);
    gsl_matrix *covariance = gsl_matrix_alloc(n, n);
    bool good = residuals && workspace && logs && shift && covariance;
    size_t next = 0;
    for (size_t i = 0; i < s->fitted && good; i++)
        if (isfinite(s->logs[i]) && next < used) {
            residuals[next] = fabs(s->logs[i]);
            gsl_vector_set(logs, next++, s->logs[i]);
        }
    if (good) {
        gsl_matrix_const_view view = gsl_matrix_const_view_array(matrix, used, n);
        good = gsl_multifit_linear(&view.matrix, logs, shift, covariance, &chi, workspace) ==
                   GSL_SUCCESS &&
               chi > 0;
        gsl_sort(residuals, 1, used);
    }
    double median = good ? residuals[used / 2] : 0;
    for (size_t v = 0; v < n && good; v++)
        errors[v] = 2 * median * sqrt(gsl_matrix_get(covariance, v, v) * (double)(used - n) / chi);
    if (workspace)
        gsl_multifit_linear_free(workspace);
    gsl_vector_free(logs);
    gsl_vector_free(shift);
    gsl_matrix_free(covariance);
    free(residuals);
    return good;
}

/* ---- halves ---- */

/* One number for all kernels of a shape, so that no shape is on both sides (splitmix64). */
static double shape_share(const struct bank_row *row)
{
    const int64_t sizes[] = {row->m, row->k, row->n, row->batch};
    uint64_t hash = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        hash += (uint64_t)sizes[i] + 0x9e3779b97f4a7c15u;
        hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9u;
        hash = (hash ^ (hash >> 27)) * 0x94d049bb133111ebu;
        hash ^= hash >> 31;
    }
    return (double)(hash >> 11) / 9007199254740992.0;
}

static enum status split(struct kernel_fit *s, const struct bank_row rows[], size_t count)
{
    s->rows = calloc(count + 1, sizeof *s->rows);
    s->predictions = calloc(count + 1, sizeof *s->predictions);
    s->logs = calloc(count + 1, sizeof *s->logs);
    if (!s->rows || !s->predictions || !s->logs)
        return error_memory(s->error);
    for (int half = 0; half < 2; half++) {
        for (size_t i = 0; i < count; i++)
            if (rows[i].measured_ns > 0 && !rows[i].unfit &&
                (shape_share(&rows[i]) < s->options->held_out) == (half == 1))
                s->rows[s->count++] = rows[i];
        s->fitted = half == 0 ? s->count : s->fitted;
    }
    return STATUS_OK;
}

/* Both halves on the description as it stands; before the fit, which `stop` may end, or after it:
 * what was fitted is judged even then. */
static enum status judge(struct kernel_fit *s, const volatile sig_atomic_t *stop,
                         struct accuracy *fitted, struct accuracy *held_out)
{
    TRY(kernel_fit_play(s, s->count, stop));
    TRY(accuracy_of(s->rows, s->predictions, s->fitted, NULL, fitted, s->error));
    return accuracy_of(s->rows + s->fitted, s->predictions + s->fitted, s->count - s->fitted, NULL,
                       held_out, s->error);
}

/* ---- the fit ---- */

static enum status note_variable(struct kernel_fit *s, int v, double at, double relative_error)
{
    const struct variable *variable = &s->variables[v];
    struct calibration *c = s->calibration;
    double value = calibration_rounded(kernel_fit_number(variable, at));
    struct parameter parameter = {.value = value,
                                  .error = value * relative_error,
                                  .unit = variable->candidate->unit,
                                  .points = (int)c->fitted_half.after.used,
                                  .median_error = c->fitted_half.after.median_ape,
                                  .r_squared = NAN};
    snprintf(parameter.from, sizeof parameter.from, "%.95s", s->options->from);
    char source[512];
    snprintf(source, sizeof source,
             "measured on %s: fitted to %d kernels of %s by %s, median error %.3g %%", c->chip,
             parameter.points, parameter.from, variable->candidate->determined_by,
             100 * parameter.median_error);
    TRY(kernel_fit_set(s, variable, value, source));
    if (variable->bus >= 0 || strstr(variable->key, ".bandwidth_gbps"))
        TRY(kernel_fit_set_buses(s, source));
    if (variable->bus >= 0) /* the number that stands for the list: its last */
        snprintf(parameter.key, sizeof parameter.key, "buses.%s.total_gbps.%d",
                 c->hw.buses[variable->bus].name, c->hw.buses[variable->bus].sharers);
    else
        snprintf(parameter.key, sizeof parameter.key, "%s", variable->key);
    return calibration_note(c, &parameter, variable->start, s->error);
}

static enum status minimise(struct kernel_fit *s, double at[])
{
    static const char *const ends[] = {[SIMPLEX_CONVERGED] = "converged",
                                       [SIMPLEX_ROUNDS] = "all rounds done",
                                       [SIMPLEX_STOPPED] = "time or interrupt"};
    double steps[SIMPLEX_MAX_VARIABLES];
    for (int v = 0; v < s->variable_count; v++) /* a bus starts where it limits nothing */
        steps[v] = s->variables[v].bus >= 0 ? -0.5 : 0.25;
    const struct simplex simplex = {
        .value = kernel_fit_try,
        .context = s,
        .count = s->variable_count,
        .steps = steps,
        .size = 0.003,
        .gain = 0.002,
        .rounds = (int)s->options->rounds,
        .steps_a_round = 60 * s->variable_count,
    };
    double value;
    enum simplex_end end;
    s->searching = true;
    enum status status = simplex_minimise(&simplex, at, &value, &end, s->error);
    s->searching = false;
    s->calibration->ended = status == STATUS_OK ? ends[end] : NULL;
    return status == STATUS_OK ? s->status : status;
}

/* From `at`, which becomes the best point, to the numbers' errors; then all is set. */
static enum status fit_variables(struct kernel_fit *s, double at[], double *matrix, double *scratch)
{
    double errors[SIMPLEX_MAX_VARIABLES] = {0};
    size_t used = 0;
    bool legal, known = sensitivities(s, at, matrix, scratch, &used);
    if (s->status != STATUS_OK)
        return s->status;
    if (known)
        TRY(drop_undetermined(s, at, matrix, used, scratch));
    if (s->variable_count)
        TRY(minimise(s, at));
    known = s->variable_count && sensitivities(s, at, matrix, scratch, &used) &&
            standard_errors(s, matrix, used, errors);
    TRY(s->status == STATUS_OK ? kernel_fit_apply(s, at, &legal) : s->status);
    TRY(judge(s, NULL, &s->calibration->fitted_half.after, &s->calibration->held_out.after));
    for (int v = 0; v < s->variable_count; v++)
        TRY(note_variable(s, v, at[v], known && errors[v] > 0 ? errors[v] : NAN));
    return STATUS_OK;
}

static enum status fit(struct kernel_fit *s)
{
    double at[SIMPLEX_MAX_VARIABLES] = {0};
    struct calibration *c = s->calibration;
    kernel_fit_remember(s);
    kernel_fit_numbers(s);
    enum status status = kernel_fit_check_keys(s);
    for (int v = 0; v < s->variable_count; v++)
        at[v] = log(s->variables[v].start);
    if (status == STATUS_OK)
        status = judge(s, s->options->stop, &c->fitted_half.before, &c->held_out.before);
    if (status == STATUS_OK && s->options->stop && *s->options->stop)
        status = error_set(s->error, STATUS_STOPPED, "stopped");
    if (status != STATUS_OK)
        return status;
    if (c->fitted_half.before.used <= s->variable_count)
        return error_set(s->error, STATUS_INVALID,
                         "%lld kernels that can be played, expected more than the %d numbers to "
                         "fit (the first that cannot: %.200s)",
                         (long long)c->fitted_half.before.used, s->variable_count,
                         s->count && *s->predictions[0].reason ? s->predictions[0].reason : "none");
    s->first = s->best = c->fitted_half.before.mean_log;
    double *matrix = calloc(s->fitted * (size_t)s->variable_count + 1, sizeof *matrix);
    double *scratch = calloc(2 * s->fitted + 1, sizeof *scratch);
    status = matrix && scratch ? fit_variables(s, at, matrix, scratch) : error_memory(s->error);
    free(matrix);
    free(scratch);
    return status;
}

enum status calibrate_kernels(struct calibration *calibration, const struct bank_row rows[],
                              size_t count, const struct kernel_options *options,
                              struct error *error)
{
    struct kernel_fit search = {
        .calibration = calibration, .options = options, .error = error, .status = STATUS_OK};
    gsl_error_handler_t *handler = gsl_set_error_handler_off(); /* GSL's own ends the process */
    clock_gettime(CLOCK_MONOTONIC, &search.began);
    enum status status = split(&search, rows, count);
    if (status == STATUS_OK)
        status = fit(&search);
    calibration->has_kernels = status == STATUS_OK;
    free(search.rows);
    free(search.predictions);
    free(search.logs);
    gsl_set_error_handler(handler);
    return status == STATUS_OK ? calibration_rebuild(calibration, error) : status;
}
