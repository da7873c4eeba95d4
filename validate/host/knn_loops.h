/* The inner loops of k-NN for the calibration (validate/host/loops.h): first the register tiles, in
 * the order of knn_host_kernels[], then what knn_host_loops[] names. */
#ifndef AUTOTUNE_VALIDATE_HOST_KNN_LOOPS_H
#define AUTOTUNE_VALIDATE_HOST_KNN_LOOPS_H

#include "validate/host/loops.h"

extern const struct loop_family knn_loops;

#endif
