/* Runs tilings of MatMul on this processor. */
#ifndef AUTOTUNE_KERNELS_MATMUL_HOST_SGEMM_RUN_H
#define AUTOTUNE_KERNELS_MATMUL_HOST_SGEMM_RUN_H

#include "validate/runner.h"

extern const struct host_runner sgemm_runner;

#endif
