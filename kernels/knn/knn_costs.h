/* What the tiles of a k-NN cost, simulated once each: f(m1,n1) of a distance tile, by the best
 * MatMul tiling of its own; g0(m2,n2) and g(m2,n2) of a selection tile (kernels/knn/selb.h). */
#ifndef AUTOTUNE_KERNELS_KNN_KNN_COSTS_H
#define AUTOTUNE_KERNELS_KNN_KNN_COSTS_H

#include "kernels/knn/knn_space.h"
#include "search/recorder.h"
#include "search/search.h"

struct selection_cost {
    int64_t idle_fs; /* g0; 0: this pair is in no tiling */
    int64_t step_fs; /* g: one step more */
    int number;      /* among the pairs that are used */
};

/* A bound from the roofline, the least bound of all its tilings, the time of the best. */
enum knowledge { ROOFLINE, BOUNDED, TUNED };

struct product_cost {
    int64_t time_fs; /* f, or a lower bound of it */
    int64_t tiling;  /* TUNED: index of the best in MatMul's space */
    enum knowledge known;
};

/* Of the tilings on one number of cores. */
struct knn_costs {
    const struct space *space;
    const struct space_block *block;   /* its */
    const struct knn_share *share;     /* its */
    struct recorder *recorder;         /* not owned; whose threads do it all */
    int used;                          /* pairs of a selection tile's sizes */
    int m1_count, n1_count;            /* of the axes: the values that fit at all */
    struct product_cost *products;     /* [m1][n1], owned */
    struct selection_cost *selections; /* [m2][n2] over the whole axes, owned */
    double *harmonic;                  /* Σ 1/i up to SELB_SUMMED, owned */
    double *steps; /* [number][SELB_SUMMED] with --steps max, owned; else NULL */
};

/* Finds which tiles the legal tilings of a block may use: what choices_count needs. */
void knn_costs_open(struct knn_costs *costs, const struct space *space,
                    const struct space_block *block, struct recorder *recorder);
/* Simulates these selection tiles, and bounds the distance tiles. */
enum status knn_costs_profile(struct knn_costs *costs, struct error *error);
void knn_costs_close(struct knn_costs *costs);

/* Σ_{t=1..tiles} E_t for selection tiles (m2, n2), by their numbers on the axes. */
double knn_costs_steps(const struct knn_costs *costs, int m2, int n2, int64_t tiles);

/* Makes f exact, or its bound better, for `count` products, by number m1·n1_count + n1; what is
 * known already stays. */
enum status knn_costs_bound(struct knn_costs *costs, const int64_t *products, int64_t count,
                            struct error *error);
enum status knn_costs_tune(struct knn_costs *costs, const int64_t *products, int64_t count,
                           struct error *error);

/* Fills in the distance tile's own tiling. The product must be exact. */
enum status knn_costs_complete(const struct knn_costs *costs, int64_t product,
                               struct tiling *tiling, struct error *error);

#endif
