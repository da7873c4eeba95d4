/* The source of candidates of k-NN's space (kernels/knn/knn.h): one number of cores after the
 * other, SelB's inequality and the harmonic one first, then distance tiles in order of bound.
 *
 * The inequalities are theorems (docs/knn.md), and nothing rests on them: what they rule out but
 * might, by its bound, still be among the best or within one percent of them is simulated all the
 * same, and no longer counted as ruled out. They spare the sums of the rest. */
#ifndef AUTOTUNE_KERNELS_KNN_KNN_SEARCH_H
#define AUTOTUNE_KERNELS_KNN_KNN_SEARCH_H

#include "search/search.h"

/* Costs of a tile that a tiling's time is made of; found->part_fs and part_weight by this index.
 * KNN_COST_STEP is g, the difference that one step makes. */
enum knn_cost { KNN_COST_DISTANCE, KNN_COST_IDLE, KNN_COST_STEP, KNN_COSTS };

/* Of search_result.pruned_by. */
enum knn_rule { KNN_RULE_SELB, KNN_RULE_HARMONIC, KNN_RULES };

extern const struct search_source knn_source;

enum status knn_search_simulate(const struct space *space, const struct tiling *tiling,
                                struct found *found, struct error *error);

#endif
