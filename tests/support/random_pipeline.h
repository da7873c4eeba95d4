/* Random kernels as text, for tests of loop folding: pipes that hand tiles on through flags.
 *
 * A body is a chain of pipes; each works on a tile and sets a flag for the next. A link may hand
 * its buffer back ("free" flags, set once before all loops and waited for after them) or let the
 * filling pipe run ahead without limit; bodies stand in pairs where a link has two buffers. Loops
 * nest, with remainders, work, scalars and barriers between them. Program order is a legal order
 * of play, so nothing here deadlocks. */
#ifndef AUTOTUNE_TESTS_RANDOM_PIPELINE_H
#define AUTOTUNE_TESTS_RANDOM_PIPELINE_H

#include "core/hardware.h"

#include <gsl/gsl_rng.h>

struct random_pipeline {
    int64_t executed;    /* about as many instructions, loops unrolled */
    int max_depth;       /* of loops, 1 … 4 */
    int scalar_percent;  /* of the bodies have a scalar instruction */
    int barrier_percent; /* of the bodies have a barrier */
    bool run_ahead;      /* some links have no back-pressure */
};

/* The text, to be freed by the caller; NULL without memory. */
char *random_pipeline_text(const struct hardware *hw, const struct random_pipeline *options,
                           gsl_rng *rng);

#endif
