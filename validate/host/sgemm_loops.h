/* Rows of loop_families[] of the FP32 product.
 *
 * sgemm, a variant for every number of rows and vectors: a step is one k of a full micro-kernel
 * with packed operands (of a dot kernel: one vector along k), a call one micro-kernel, its C
 * stored. pack, variants a, b and "b for dot": a step is 64 packed bytes, a call one panel. */
#ifndef AUTOTUNE_VALIDATE_HOST_SGEMM_LOOPS_H
#define AUTOTUNE_VALIDATE_HOST_SGEMM_LOOPS_H

#include "validate/host/loops.h"

extern const struct loop_family sgemm_loops, pack_loops;

#endif
