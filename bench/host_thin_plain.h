/* What a user writes without a library, built for this processor (-O3 -march=native -ffast-math):
 * C = A·B, row-major and dense. Rows of B are the innermost loop, or dot products are. */
#ifndef AUTOTUNE_BENCH_HOST_THIN_PLAIN_H
#define AUTOTUNE_BENCH_HOST_THIN_PLAIN_H

#include <stdint.h>

void plain_rows(int64_t m, int64_t k, int64_t n, const float *a, const float *b, float *c);
void plain_dots(int64_t m, int64_t k, int64_t n, const float *a, const float *b, float *c);

/* Of one column, b: what is written where that is known. */
void plain_vector(int64_t m, int64_t k, const float *a, const float *b, float *c);

#endif
