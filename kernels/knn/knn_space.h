/* What one k-NN problem is on one chip: made by knn_selb's create, read by its search. */
#ifndef AUTOTUNE_KERNELS_KNN_KNN_SPACE_H
#define AUTOTUNE_KERNELS_KNN_KNN_SPACE_H

#include "kernels/knn/knn.h"

/* What some cores have to do. */
struct knn_share {
    int64_t rows; /* of the core with most work, padded to blocks */
    int cores_used;
    int64_t cores;    /* the axis's value */
    int64_t *m1, *m2; /* values, ascending, owned; NULL: no number of cores of its own */
    int m1_count, m2_count;
};

struct knn_space {
    struct knn_machine machine;
    struct matmul_machine product; /* of the distance stage */
    struct knn_tile tile;          /* k and the kernel's form; rows and columns by tiling */
    enum knn_steps steps;
    int64_t rows, d, columns; /* of the problem, padded to blocks */
    int64_t block;
    int64_t ub_bytes, memory_bytes; /* UB; L1 + UB, where eq. 3.9's tiles must fit together */
    int cores;                      /* up to so many */
    int64_t *n1, *n2;               /* values, ascending, owned */
    int n1_count, n2_count;
    struct knn_share *shares; /* [cores - 1], owned */
};

static inline const struct knn_space *knn_space_of(const struct space *space)
{
    return space->detail;
}

/* What the cores of a tiling have to do. Numbers that the axis does not have are taken as the
 * nearest up to --cores. */
static inline const struct knn_share *knn_share_of(const struct space *space,
                                                   const struct tiling *tiling)
{
    const struct knn_space *knn = knn_space_of(space);
    int64_t cores = tiling->value[KNN_CORES];
    cores = cores < 1 ? 1 : cores < knn->cores ? cores : knn->cores;
    return &knn->shares[cores - 1];
}

/* A time that no tiling of a share beats. */
double knn_share_roofline_ns(const struct knn_space *knn, const struct knn_share *share);

/* The MatMul that computes a distance tile of m1 rows on each working core: (cores·m1) × d × n1,
 * on up to so many cores. */
void knn_distance_problem(const struct space *space, const struct tiling *tiling,
                          struct problem *problem);

/* Its space, which the caller closes, and its tiling: what stands behind the axes. */
enum status knn_distance_open(const struct space *space, const struct tiling *tiling,
                              struct space *product, struct tiling *own, struct error *error);

/* Is the distance stage's tiling, behind the axes, a legal one? */
bool knn_own_legal(const struct space *space, const struct tiling *tiling);

/* What an answer says beyond its best tiling. */
enum status knn_details(const struct problem *problem, const struct space *space,
                        const struct search_result *result, const struct details_options *options,
                        struct json_t *details, struct error *error);

#endif
