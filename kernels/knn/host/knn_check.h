/* Is an answer of k-NN right, whatever the order of its sums?
 *
 * Distances are computed in double precision, of all rows or of a sample. An answer's indices are
 * in range and differ; its distances ascend, equal ones by index; each is that of its index, and
 * number i is the i-th smallest of the row, both but for rounding: a row's i-th smallest value
 * moves by no more than the value that moves most. For finite points.
 *
 *   knn_check_new(&problem, tests, trainings, &check, &error)     both must outlive it
 *   knn_check_error(check, indices, distances)                    any number of answers
 *   knn_check_free(check) */
#ifndef AUTOTUNE_KERNELS_KNN_HOST_KNN_CHECK_H
#define AUTOTUNE_KERNELS_KNN_HOST_KNN_CHECK_H

#include "kernels/knn/host/knn_selb_host.h"

struct knn_check;

enum status knn_check_new(const struct knn_problem *problem, const float *tests,
                          const float *trainings, struct knn_check **check, struct error *error);
void knn_check_free(struct knn_check *check);

bool knn_check_sampled(const struct knn_check *check);

/* The largest difference over the rows that are checked, relative to 1 + the largest sum of
 * absolute products of the row; INFINITY where a rule is broken. Both M×k. */
double knn_check_error(const struct knn_check *check, const int64_t *indices,
                       const float *distances);

/* Of sums of so many products in FP32 in any order, and 1 − the sum. */
double knn_allowed_error(int64_t dimensions);

#endif
