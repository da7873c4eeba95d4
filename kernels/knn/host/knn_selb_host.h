/* k-NN by SelB-k-NN on the CPU (thesis, 3.2): cosine distances tile by tile, as a product of
 * matrices, and the selection behind each tile with results carried along the training points.
 *
 * Points have norm 1 (nothing here normalises or checks them); the distance is 1 − p·q, summed in
 * ascending order of the dimensions in FP32, for both types. FP16 rounds once, after 1 − p·q. */
#ifndef AUTOTUNE_KERNELS_KNN_HOST_KNN_SELB_HOST_H
#define AUTOTUNE_KERNELS_KNN_HOST_KNN_SELB_HOST_H

#include "kernels/knn/host/knn_select.h"

struct knn_problem {
    int64_t tests, trainings, dimensions; /* M, N, d */
    int64_t k;
};

struct knn_options {
    int64_t tile_tests, tile_trainings; /* m1, n1 of the distance stage; > 0 */
    struct knn_select_options select;   /* m2 <= m1, n2 <= n1 */
};

/* indices[i·k …]: the training points nearest to test point i, nearest first; equal distances by
 * index. `tests` is M×d and `trainings` d×N (a training point is a column), both row-major. The
 * answer does not depend on the tiles. STATUS_INVALID as knn_select_f16, or where d < 1, or m2 > m1
 * or n2 > n1. `count` may be NULL. */
enum status knn_f16(const struct knn_problem *problem, const half *tests, const half *trainings,
                    const struct knn_options *options, int64_t *indices,
                    struct knn_select_count *count, struct error *error);
enum status knn_f32(const struct knn_problem *problem, const float *tests, const float *trainings,
                    const struct knn_options *options, int64_t *indices,
                    struct knn_select_count *count, struct error *error);

#endif
