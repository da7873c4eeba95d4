/* Compares Cube-fx and Horner's rule, both in FP16, with the functions themselves. Inputs lie
 * evenly from p − 1 to p + 1, rounded to FP16. All functions go through one call of cubefx_eval,
 * as they share its scale; what they ought to be is the function itself, in double, of the rounded
 * input. A result that is not finite counts as infinitely wrong, and truths near 0 have no
 * relative error. A function of windows is compared by their sums, exact but for one rounding. */
#include "kernels/cubefx/cubefx_accuracy.h"

#include "kernels/cubefx/cubefx_eval.h"
#include "kernels/cubefx/cubefx_windows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = CUBEFX_ACCURACY_SAMPLES, EDGE = 16 };

static const double relative_from = 1e-3;
static const double half_largest = 65504;

struct buffers {
    half inputs[SAMPLES];
    double *coefficients; /* count × terms */
    half *cubefx, *horner;
};

static void buffers_free(struct buffers *buffers)
{
    free(buffers->coefficients);
    free(buffers->cubefx);
    free(buffers->horner);
}

static enum status expand_all(const struct cubefx_function *functions, int count, double point,
                              int terms, double *coefficients, struct error *error)
{
    for (int f = 0; f < count; f++)
        if (!cubefx_function_expand(&functions[f], point, terms,
                                    coefficients + (size_t)f * (size_t)terms))
            return error_set(error, STATUS_INVALID,
                             "%s has no Taylor series of %d terms at %g in double precision",
                             functions[f].name, terms, point);
    return STATUS_OK;
}

static void add_error(double result, double truth, struct cubefx_errors *errors)
{
    double absolute = isfinite(result) ? fabs(result - truth) : INFINITY;
    errors->max_absolute = fmax(errors->max_absolute, absolute);
    errors->mean_absolute += absolute;
    if (fabs(truth) <= relative_from)
        return;
    errors->max_relative = fmax(errors->max_relative, absolute / fabs(truth));
    errors->mean_relative += absolute / fabs(truth);
}

static void divide_means(const struct cubefx_accuracy *accuracy, struct cubefx_errors *errors)
{
    if (accuracy->samples > 0)
        errors->mean_absolute /= (double)accuracy->samples;
    if (accuracy->relative_samples > 0)
        errors->mean_relative /= (double)accuracy->relative_samples;
}

/* What a window of inputs ought to give. */
static double truth_of(const struct cubefx_function *function, double point, const half *inputs)
{
    double truth = 0;
    for (int i = 0; i < function->window; i++)
        truth += cubefx_function_value(function, point, (double)half_to_float(inputs[i]));
    return truth;
}

/* `results` of one function lie `stride` apart. Each stands for the window that begins with it. */
static void measure(const struct cubefx_function *function, double point,
                    const struct buffers *buffers, int f, int stride,
                    struct cubefx_accuracy *accuracy)
{
    half cubefx[SAMPLES], horner[SAMPLES];
    cubefx_windows(buffers->cubefx + f, SAMPLES, stride, function->window, cubefx);
    cubefx_windows(buffers->horner + f, SAMPLES, stride, function->window, horner);
    for (int i = 0; i + function->window <= SAMPLES; i++) {
        double truth = truth_of(function, point, buffers->inputs + i);
        if (!isfinite(truth))
            continue;
        accuracy->samples++;
        accuracy->relative_samples += fabs(truth) > relative_from;
        add_error((double)half_to_float(cubefx[i]), truth, &accuracy->cubefx);
        add_error((double)half_to_float(horner[i]), truth, &accuracy->horner);
    }
    divide_means(accuracy, &accuracy->cubefx);
    divide_means(accuracy, &accuracy->horner);
}

static enum status run(const struct cubefx_function *functions, int count, double point, int terms,
                       struct buffers *buffers, struct cubefx_accuracy *accuracies,
                       struct cubefx_accuracy_summary *summary, struct error *error)
{
    struct cubefx_polynomials polynomials = {count, terms, buffers->coefficients, point, 0};
    struct cubefx_eval_summary seen;
    TRY(expand_all(functions, count, point, terms, buffers->coefficients, error));
    TRY(cubefx_eval(&polynomials, buffers->inputs, SAMPLES, EDGE, 1, buffers->cubefx, &seen,
                    error));
    cubefx_horner(&polynomials, buffers->inputs, SAMPLES, buffers->horner);
    for (int f = 0; f < count; f++) {
        accuracies[f] = (struct cubefx_accuracy){0};
        memcpy(accuracies[f].coefficients, buffers->coefficients + (size_t)f * (size_t)terms,
               (size_t)terms * sizeof *buffers->coefficients);
        measure(&functions[f], point, buffers, f, count, accuracies + f);
    }
    if (summary)
        *summary = (struct cubefx_accuracy_summary){seen.scale, seen.scaled, seen.beyond};
    return STATUS_OK;
}

enum status cubefx_accuracy(const struct cubefx_function *functions, int count, double point,
                            int terms, struct cubefx_accuracy *accuracies,
                            struct cubefx_accuracy_summary *summary, struct error *error)
{
    struct buffers buffers = {.coefficients = NULL};
    if (count < 1 || count > INT32_MAX / SAMPLES)
        return error_set(error, STATUS_INVALID, "%d functions: expected 1 to %d", count,
                         INT32_MAX / SAMPLES);
    if (terms < 1 || terms > SERIES_MAX_TERMS)
        return error_set(error, STATUS_INVALID, "%d terms: expected 1 to %d", terms,
                         SERIES_MAX_TERMS);
    if (!(fabs(point) <= half_largest - 1))
        return error_set(error, STATUS_INVALID,
                         "expansion point %g: expected a number of -65503 to 65503, so that FP16 "
                         "holds what is around it",
                         point);
    for (int i = 0; i < SAMPLES; i++)
        buffers.inputs[i] =
            half_from_float((float)(point - 1 + 2 * (double)i / (double)(SAMPLES - 1)));
    size_t functions_count = (size_t)count;
    buffers.coefficients = calloc(functions_count * (size_t)terms, sizeof *buffers.coefficients);
    buffers.cubefx = calloc(functions_count * SAMPLES, sizeof *buffers.cubefx);
    buffers.horner = calloc(functions_count * SAMPLES, sizeof *buffers.horner);
    enum status status = STATUS_NO_MEMORY;
    if (buffers.coefficients && buffers.cubefx && buffers.horner)
        status = run(functions, count, point, terms, &buffers, accuracies, summary, error);
    else
        error_memory(error);
    buffers_free(&buffers);
    return status;
}
