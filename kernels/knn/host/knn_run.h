/* Runs tilings of k-NN on this processor. */
#ifndef AUTOTUNE_KERNELS_KNN_HOST_KNN_RUN_H
#define AUTOTUNE_KERNELS_KNN_HOST_KNN_RUN_H

#include "kernels/knn/host/knn_tiled.h"
#include "validate/runner.h"

extern const struct host_runner knn_runner;

/* What a tiling of space `host` of k-NN means. */
struct knn_tiling knn_tiling_of(const struct tiling *tiling);

#endif
