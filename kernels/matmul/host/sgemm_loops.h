/* The inner loops of the FP32 product for the calibration (validate/loops.h).
 *
 * sgemm, a variant for every number of rows and vectors: a step is one k of a full micro-kernel
 * with packed operands (of a dot kernel: one vector along k), a call one micro-kernel, its C
 * stored. pack, variants a, b and "b for dot": a step is 64 packed bytes, a call one panel. */
#ifndef AUTOTUNE_KERNELS_MATMUL_HOST_SGEMM_LOOPS_H
#define AUTOTUNE_KERNELS_MATMUL_HOST_SGEMM_LOOPS_H

#include "validate/loops.h"

extern const struct loop_family sgemm_loops, pack_loops;

#endif
