/* A k-NN tiling with all that an answer says of it. */
#ifndef AUTOTUNE_SEARCH_KNN_FOUND_H
#define AUTOTUNE_SEARCH_KNN_FOUND_H

#include "search/knn_choices.h"

/* Fills *found from a choice whose time is known and whose distance tile is tuned: plays the three
 * programs of the tiling once more for what each pipe does. STATUS_TOO_LARGE when the time is
 * beyond the clock. */
enum status knn_found_fill(const struct knn_costs *costs, const struct choice *choice,
                           struct found *found, struct error *error);

#endif
