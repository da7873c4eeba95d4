/* What the tiles of a k-NN cost, simulated once each: f(m1,n1) of a distance tile, by the best
 * MatMul tiling of its own; g0(m2,n2) and g(m2,n2) of a selection tile (kernels/knn/selb.h). And
 * the legal tilings of a k-NN space, what they cost, and which of them an inequality rules out
 * before their distance tile is tuned. */
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

/* ---- legal tilings ---- */

#define KNN_FAR_FS (INT64_MAX / 4) /* a time that no clock holds; sums stop here */

enum fate { FATE_LIVES, FATE_SELB, FATE_HARMONIC, FATES };

/* One tiling and what is known of its time. */
struct choice {
    int64_t index;
    int64_t product;      /* number of its distance tile in the costs */
    int64_t products;     /* ceil(M/m1)·ceil(N/n1) */
    int64_t selection_fs; /* of all selection tiles; without the steps where an inequality prunes */
    int64_t bound_fs;
    enum fate fate;
};

/* The time of a choice, or a lower bound while its distance tile has one only. */
int64_t choice_time_fs(const struct knn_costs *costs, const struct choice *choice);

/* Calls `visit` with every legal tiling of one m1 (by its number); `prune` asks the inequalities.
 * Ends early when it returns false. */
typedef bool choice_visitor(void *context, const struct choice *choice);
void choices_visit(const struct knn_costs *costs, int m1, bool prune, choice_visitor *visit,
                   void *context);

/* How many there are, for which nothing need be profiled. */
int64_t choices_count(const struct knn_costs *costs, int m1);

/* The choice of one legal tiling that is a point of the space, simulated whatever its fate; and
 * what the inequalities say of it. */
struct choice choice_of(const struct knn_costs *costs, const struct tiling *tiling);
enum fate choice_fate(const struct knn_costs *costs, const struct tiling *tiling);

/* Fills *found from a choice whose distance tile is tuned: simulates the three programs of the
 * tiling once more for what each pipe does. STATUS_TOO_LARGE when the time is beyond the clock. */
enum status knn_found_fill(const struct knn_costs *costs, const struct choice *choice,
                           struct found *found, struct error *error);

#endif
