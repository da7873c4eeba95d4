/* The legal tilings of a k-NN space, what they cost, and which of them an inequality rules out
 * before their distance tile is tuned (kernels/knn/selb.h). */
#ifndef AUTOTUNE_KERNELS_KNN_KNN_CHOICES_H
#define AUTOTUNE_KERNELS_KNN_KNN_CHOICES_H

#include "kernels/knn/knn_costs.h"

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

/* Growing list; items are owned by whoever holds it. */
struct choices {
    int64_t count, capacity;
    struct choice *items;
};

bool choices_push(struct choices *choices, const struct choice *choice);
void choices_sort(struct choices *choices); /* by bound, then index */

/* All selection tiles of a tiling: row_tiles · Σ_{t<=tiles} (E_t·g + g0). */
struct selection_sum {
    const struct selection_cost *cost;
    int64_t tiles;     /* T2 */
    int64_t row_tiles; /* ceil(M/m1)·ceil(m1/m2) */
    int m2, n2;        /* numbers on their axes */
};

struct selection_sum selection_sum_of(const struct knn_costs *costs, const struct tiling *tiling);

/* Σ_{t<=tiles} E_t; and the time of all tiles, with these steps or without any. */
double selection_sum_steps(const struct knn_costs *costs, const struct selection_sum *sum);
int64_t selection_sum_fs(const struct selection_sum *sum, double steps);

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

/* ---- knn_found.c: what a result says of them ---- */

/* Fills *found from a choice whose distance tile is tuned: simulates the three programs of the
 * tiling once more for what each pipe does. STATUS_TOO_LARGE when the time is beyond the clock. */
enum status knn_found_fill(const struct knn_costs *costs, const struct choice *choice,
                           struct found *found, struct error *error);

/* Fills result->reached with all of `choices`, and the times of those of `simulated`. */
enum status knn_reached_fill(const struct choices *choices, const struct candidate *simulated,
                             int64_t simulated_count, struct search_result *result,
                             struct error *error);

#endif
