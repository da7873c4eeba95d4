/* What a result says of k-NN tilings: all of the best, and times and bounds of the others. */
#ifndef AUTOTUNE_KERNELS_KNN_KNN_FOUND_H
#define AUTOTUNE_KERNELS_KNN_KNN_FOUND_H

#include "kernels/knn/knn_choices.h"

/* Fills *found from a choice whose distance tile is tuned: simulates the three programs of the
 * tiling once more for what each pipe does. STATUS_TOO_LARGE when the time is beyond the clock. */
enum status knn_found_fill(const struct knn_costs *costs, const struct choice *choice,
                           struct found *found, struct error *error);

/* Fills result->reached with all of `choices`, and the times of those of `simulated`. */
enum status knn_reached_fill(const struct choices *choices, const struct candidate *simulated,
                             int64_t simulated_count, struct search_result *result,
                             struct error *error);

#endif
