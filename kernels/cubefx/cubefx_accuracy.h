/* How accurate Cube-fx is for functions that a user names: all of them in one call of cubefx_eval,
 * as a kernel would take them, and by Horner's rule in FP16, against the functions themselves. */
#ifndef AUTOTUNE_KERNELS_CUBEFX_CUBEFX_ACCURACY_H
#define AUTOTUNE_KERNELS_CUBEFX_CUBEFX_ACCURACY_H

#include "core/status.h"
#include "kernels/cubefx/cubefx_functions.h"

#include <stdbool.h>
#include <stdint.h>

#define CUBEFX_ACCURACY_SAMPLES 201 /* evenly over [point − 1, point + 1], rounded to FP16 */

/* Over the samples, of a function of windows over those that lie among them. A result that is not
 * finite where the function is makes both ∞; samples at which the function itself is not finite
 * (log1p below −1) do not count. */
struct cubefx_errors {
    double max_absolute, mean_absolute;
    double max_relative, mean_relative; /* where |f| > 1e-3; not in per cent */
};

struct cubefx_accuracy {
    double coefficients[SERIES_MAX_TERMS]; /* of (x − point)^i, i < terms */
    int64_t samples, relative_samples;     /* that counted */
    struct cubefx_errors cubefx, horner;
};

struct cubefx_accuracy_summary {
    double scale;   /* r: the unit takes powers of (x − point)/r and coefficients a_i·r^i */
    bool scaled;    /* r is not 1: FP16's range needed it */
    int64_t beyond; /* samples whose powers overflow in spite of it */
};

/* accuracies[f] for functions[f] to `terms` terms, f < count. STATUS_INVALID where a function has
 * no series at the point, or the samples are not FP16. `summary` may be NULL. */
enum status cubefx_accuracy(const struct cubefx_function *functions, int count, double point,
                            int terms, struct cubefx_accuracy *accuracies,
                            struct cubefx_accuracy_summary *summary, struct error *error);

#endif
