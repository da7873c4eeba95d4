/* Row of host_runners[] of k-NN. */
#ifndef AUTOTUNE_VALIDATE_HOST_KNN_RUN_H
#define AUTOTUNE_VALIDATE_HOST_KNN_RUN_H

#include "validate/host/knn_tiled.h"
#include "validate/host/runner.h"

extern const struct host_runner knn_runner;

/* What a tiling of space `host` of k-NN means. */
struct knn_tiling knn_tiling_of(const struct tiling *tiling);

#endif
