/* What a user writes without a library, built for this processor (-O3 -march=native). Coefficients
 * a[f·K + t], results r[f·N + i]. */
#ifndef AUTOTUNE_BENCH_HOST_POLY_PLAIN_H
#define AUTOTUNE_BENCH_HOST_POLY_PLAIN_H

#include <stdint.h>

/* Horner's rule for every function and input: the terms are the innermost loop and gcc takes
 * inputs side by side, or (terms outside) the inputs are innermost. */
void plain_horner(const float *coefficients, int64_t functions, int64_t terms, const float *x,
                  int64_t count, float *results);
void plain_terms_outside(const float *coefficients, int64_t functions, int64_t terms,
                         const float *x, int64_t count, float *results);

/* powers[t·N + i] = x[i]^t. */
void plain_powers(int64_t terms, const float *x, int64_t count, float *powers);

#endif
