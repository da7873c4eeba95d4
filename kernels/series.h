/* Taylor coefficients of the functions that Cube-fx evaluates, about any point, to any order, by
 * power-series recurrences on the functions' differential equations (tan' = 1 + tan², …). */
#ifndef AUTOTUNE_KERNELS_SERIES_H
#define AUTOTUNE_KERNELS_SERIES_H

#include <stdbool.h>

struct series {
    const char *name; /* "sin" */
    double (*value)(double x);
    /* Fills coefficients[0 … terms − 1] of (x − point)^i; false where the function has no Taylor
     * series at the point (tan at a pole, log1p at −1 and below) or one is not finite. */
    bool (*expand)(double point, int terms, double *coefficients);
};

/* sin, cos, tan, tanh, sigmoid, gelu (x·Φ(x), with erf), exp, log1p; ends with a row of NULL. */
extern const struct series series_functions[];
const struct series *series_find(const char *name, int length); /* any case; NULL: none */

#endif
