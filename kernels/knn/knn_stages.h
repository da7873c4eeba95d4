/* What tuning one stage of a k-NN on its own would choose (thesis, 3.5.2, Fig. 3.5). */
#ifndef AUTOTUNE_KERNELS_KNN_KNN_STAGES_H
#define AUTOTUNE_KERNELS_KNN_KNN_STAGES_H

#include "search/search.h"

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

#endif
