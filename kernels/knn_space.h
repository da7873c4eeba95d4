/* What one k-NN problem is on one chip: made by knn_selb's create, read by its search. */
#ifndef AUTOTUNE_KERNELS_KNN_SPACE_H
#define AUTOTUNE_KERNELS_KNN_SPACE_H

#include "kernels/knn.h"

struct knn_space {
    struct knn_machine machine;
    struct matmul_machine product; /* of the distance stage */
    struct knn_tile tile;          /* k and the kernel's form; rows and columns by tiling */
    enum knn_steps steps;
    int64_t rows, d, columns; /* of the core with most work, padded to blocks */
    int64_t block;
    int64_t ub_bytes, memory_bytes; /* UB; L1 + UB, where eq. 3.9's tiles must fit together */
    int cores_used;
    int64_t *values[KNN_AXES]; /* of the axes, ascending */
};

static inline const struct knn_space *knn_space_of(const struct space *space)
{
    return space->detail;
}

/* The MatMul that computes a distance tile of m1 rows on each working core: (cores·m1) × d × n1. */
void knn_distance_problem(const struct space *space, const struct tiling *tiling,
                          struct problem *problem);

/* Its space, which the caller closes, and its tiling: what stands behind the axes. */
enum status knn_distance_open(const struct space *space, const struct tiling *tiling,
                              struct space *product, struct tiling *own, struct error *error);

#endif
