/* The functions that a user names for Cube-fx: of the table (kernels/cubefx/series.h), polynomials
 * by their coefficients, or the short-time autocorrelation of cos (Tang 2024, Table 4.2).
 *
 *   "sin,gelu,1:0:-0.5"        sin, gelu and 1 − 0.5·(x − p)², p the point of expansion
 *   "autocorrelation:0.5:16"   cos(x)·cos(x + 0.5), summed over windows of 16 inputs */
#ifndef AUTOTUNE_KERNELS_CUBEFX_CUBEFX_FUNCTIONS_H
#define AUTOTUNE_KERNELS_CUBEFX_CUBEFX_FUNCTIONS_H

#include "core/status.h"
#include "kernels/cubefx/series.h"

struct cubefx_function {
    const struct series *series; /* NULL: what the members below say */
    double lag;                  /* of an autocorrelation */
    int window;                  /* inputs whose values are summed up; 1: it is not */
    int terms;                   /* of a polynomial, 1 … SERIES_MAX_TERMS; 0: it is none,
                                    but an autocorrelation */
    double coefficients[SERIES_MAX_TERMS]; /* of (x − point)^i, i < terms; finite */
    char name[48];                         /* of the table, or as given, cut to size */
};

/* Reads up to `most` functions. STATUS_INVALID says which is none and what was expected;
 * STATUS_TOO_LARGE beyond `most`. */
enum status cubefx_functions_parse(const char *text, int most, struct cubefx_function *functions,
                                   int *count, struct error *error);

enum { CUBEFX_MAX_WINDOW = 128 };

/* Its value for one input, in double; of an autocorrelation what is summed over windows. */
double cubefx_function_value(const struct cubefx_function *function, double point, double x);

/* Its first `terms` coefficients, with zeros beyond a polynomial's last; false as series->expand.
 */
bool cubefx_function_expand(const struct cubefx_function *function, double point, int terms,
                            double *coefficients);

#endif
