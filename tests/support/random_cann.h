/* Random problems, chips and tilings of MatMul's spaces `cann` and `tcube`, for property tests. */
#ifndef AUTOTUNE_TESTS_RANDOM_CANN_H
#define AUTOTUNE_TESTS_RANDOM_CANN_H

#include "kernels/matmul/matmul_cann_internal.h"

#include <gsl/gsl_rng.h>

/* Loads a small variant of ascend910b1, with or without latencies, tables of bursts, a table of
 * biases, a unit flag, slower transposing moves and a cache; aborts the test on failure. The caller
 * clears it. */
void random_cann_hardware(gsl_rng *rng, struct hardware *hw);

/* A problem of up to `most` rows and columns, with any choices, on some cores. */
void random_cann_space(gsl_rng *rng, const struct hardware *hw, int64_t most,
                       struct problem *problem, struct space *space);

/* Values that need neither fit nor be a point of the space. */
void random_cann_values(gsl_rng *rng, const struct space *space, struct tiling *tiling);

/* Values that fit and need be no points of the space; false when none was found. */
bool random_cann_tiling(gsl_rng *rng, const struct space *space, struct tiling *tiling);

/* All of it as text, for messages; in memory of its own. */
const char *random_cann_text(const struct problem *problem, const struct space *space,
                             const struct tiling *tiling);

#endif
