/* Taylor coefficients of the functions that Cube-fx evaluates, about any point, to SERIES_MAX_TERMS
 * terms, by power-series recurrences on the functions' differential equations (tan' = 1 + tan², …).
 * The recurrences run in long double: c_i·R^i, R about half the radius of convergence, is right to
 * 2e-15 of the function's largest value there. */
#ifndef AUTOTUNE_KERNELS_CUBEFX_SERIES_H
#define AUTOTUNE_KERNELS_CUBEFX_SERIES_H

#include <stdbool.h>

#define SERIES_MAX_TERMS 65 /* powers 0 … 64 */

struct series {
    const char *name; /* "sin" */
    double (*value)(double x);
    /* Fills c[0 … terms − 1], terms in range and the point finite; false: there is no series. */
    bool (*recur)(long double point, int terms, long double *c);
};

/* Fills coefficients[0 … terms − 1] of (x − point)^i, 1 <= terms <= SERIES_MAX_TERMS. False, and
 * nothing is filled, where `terms` is out of range, where the function has no Taylor series at the
 * point (log1p at −1 and below; tan where the point and the pole are the same double to rounding; a
 * point that is not finite), or where a coefficient is not finite. */
bool series_expand(const struct series *series, double point, int terms, double *coefficients);

/* sin, cos, tan, tanh, sigmoid, gelu (x·Φ(x), with erf), exp, log1p; and of an audio signal cos(x),
 * as Tang 2024, Table 4.2, has them, its amplitude cos(x), log-amplitude ln|cos(x)|, power cos²(x)
 * and gradient −sin(x); ends with a row of NULL. */
extern const struct series series_functions[];
const struct series *series_find(const char *name, int length); /* any case; NULL: none */

#endif
