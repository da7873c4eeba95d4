/* The inner loops of k-NN for the calibration (validate/loops.h): first the register tiles, in
 * the order of knn_host_kernels[], then what knn_host_loops[] names. */
#ifndef AUTOTUNE_KERNELS_KNN_HOST_KNN_LOOPS_H
#define AUTOTUNE_KERNELS_KNN_HOST_KNN_LOOPS_H

#include "validate/loops.h"

extern const struct loop_family knn_loops;

#endif
