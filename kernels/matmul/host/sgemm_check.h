/* Is C the product of A and B? Reference values are sums in double precision; small products are
 * compared in full, large ones by rows: some fixed ones, and the row that a random combination of
 * the columns (Freivalds 1977) shows to be furthest off. */
#ifndef AUTOTUNE_KERNELS_MATMUL_HOST_SGEMM_CHECK_H
#define AUTOTUNE_KERNELS_MATMUL_HOST_SGEMM_CHECK_H

#include "core/status.h"

#include <stdbool.h>
#include <stdint.h>

struct sgemm_check;

/* Keeps the operands, which must outlive it. *result belongs to the caller. */
enum status sgemm_check_new(int64_t m, int64_t k, int64_t n, const float *a, const float *b,
                            uint64_t seed, struct sgemm_check **result, struct error *error);
void sgemm_check_free(struct sgemm_check *check);

/* The largest error of C's elements looked at, relative to the sum of the products' absolute
 * values; INFINITY where one is no number. *sampled: not all were looked at. */
void sgemm_check_errors(struct sgemm_check *check, const float *c, double *largest, bool *sampled);

/* Errors up to this are rounding: a chain of k additions in FP32 is off by about √k half units in
 * the last place of the absolute sum (Higham and Mary, SIAM J. Sci. Comput. 41, 2019); far below
 * that of one product left out or counted twice. */
double sgemm_allowed_error(int64_t k);

#endif
