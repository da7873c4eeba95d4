/* What one k-NN problem is on one chip: made by knn_selb's create, read by its search; and
 * what that search, and answers, say of it. */
#ifndef AUTOTUNE_KERNELS_KNN_KNN_SPACE_H
#define AUTOTUNE_KERNELS_KNN_KNN_SPACE_H

#include "kernels/knn/knn.h"
#include "search/search.h"

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

/* Costs of a tile that a tiling's time is made of; found->part_fs and part_weight by this index.
 * KNN_COST_STEP is g, the difference that one step makes. */
enum knn_cost { KNN_COST_DISTANCE, KNN_COST_IDLE, KNN_COST_STEP, KNN_COSTS };

/* Of search_result.pruned_by. */
enum knn_rule { KNN_RULE_SELB, KNN_RULE_HARMONIC, KNN_RULES };

/* Its source of candidates: one number of cores after the other, SelB's inequality and the harmonic
 * one first, then distance tiles in order of bound. */
extern const struct search_source knn_source;

enum status knn_search_simulate(const struct space *space, const struct tiling *tiling,
                                struct found *found, struct error *error);

/* What tuning one stage of a k-NN on its own would choose (thesis, 3.5.2, Fig. 3.5). */
struct knn_stages {
    bool any;                          /* false: no tiling is legal, or told to stop */
    struct tiling distance;            /* the best of those whose distance stage is fastest */
    struct tiling selection;           /* … whose selection stage is fastest */
    int64_t distance_fs, selection_fs; /* their whole times */
};

/* On one number of cores of the space's axis. Equal times of a stage are decided by the other one.
 * `stop` (or NULL) ends it early, with nothing found. */
enum status knn_stages_find(const struct space *space, int cores, int threads,
                            const volatile sig_atomic_t *stop, struct knn_stages *stages,
                            struct error *error);

/* What an answer says beyond its best tiling. */
enum status knn_details(const struct problem *problem, const struct space *space,
                        const struct search_result *result, const struct details_options *options,
                        struct json_t *details, struct error *error);

#endif
