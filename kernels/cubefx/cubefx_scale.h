/* What cubefx_eval decides before the matrix unit runs: the plain polynomial as the measure of what
 * is right, and the power of two by which FP16's range is used best. */
#ifndef AUTOTUNE_KERNELS_CUBEFX_CUBEFX_SCALE_H
#define AUTOTUNE_KERNELS_CUBEFX_CUBEFX_SCALE_H

#include "kernels/cubefx/cubefx_eval.h"

#define CUBEFX_LOG_OF_ZERO                                                                         \
    (-1000.0F) /* stands for ln 0: 64 times it is finite in FP16, exp is 0                         \
                */

float cubefx_round(float value); /* to FP16, kept in a float */

/* The i-th power from a logarithm in FP16, as the unit makes it. */
float cubefx_power(float logarithm, int64_t i);

/* The highest power whose coefficient is not 0 in some function. */
int64_t cubefx_degree(const struct cubefx_polynomials *polynomials);

/* The f-th polynomial at point + v in double; NaN and ±∞ as cubefx_eval.h says. */
double cubefx_value(const struct cubefx_polynomials *polynomials, int64_t f, double v);

/* True where some power of v/scale does not fit FP16; v is finite. */
bool cubefx_overflows(double v, double scale, int64_t degree);

/* Sets *scale for inputs of up to `reach` from the point, or to the polynomials' own; false where
 * the coefficients do not fit FP16 under it. */
bool cubefx_choose_scale(const struct cubefx_polynomials *polynomials, double reach, double *scale);

#endif
