/* Counts or collects the tilings of k-NN on one number of cores, on all threads of a search and
 * within its limits: where it has to stop, run->candidates is no longer complete. */
#ifndef AUTOTUNE_KERNELS_KNN_KNN_GATHER_H
#define AUTOTUNE_KERNELS_KNN_KNN_GATHER_H

#include "kernels/knn/knn_choices.h"
#include "search/strategy.h"

/* Starts as zero. */
struct gathered {
    int64_t feasible, pruned[FATES];
    struct choices kept; /* by bound, then index; the caller frees its items */
};

/* How many are legal, for which nothing need be profiled. */
enum status knn_gather_count(struct search_run *run, const struct knn_costs *costs,
                             struct gathered *total, struct error *error);
/* … and what happens to each; keeps at least the `most` of lowest bound that live, and of no row
 * more than twice as many. */
enum status knn_gather_best(struct search_run *run, const struct knn_costs *costs, bool prune,
                            int64_t most, struct gathered *total, struct error *error);
/* Keeps all whose bound does not exceed the limit; counts nothing. */
enum status knn_gather_up_to(struct search_run *run, const struct knn_costs *costs, bool prune,
                             int64_t limit_fs, struct gathered *total, struct error *error);

#endif
