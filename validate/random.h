/* Random numbers: data to run kernels on and tilings to measure, the same everywhere for a seed. */
#ifndef AUTOTUNE_VALIDATE_RANDOM_H
#define AUTOTUNE_VALIDATE_RANDOM_H

#include "core/status.h"

#include <gsl/gsl_rng.h>
#include <stdint.h>

/* To be freed by gsl_rng_free; NULL: out of memory. */
gsl_rng *random_open(uint64_t seed, struct error *error);

/* Of 0 to limit - 1, each with equal chance. */
int64_t random_below(gsl_rng *random, int64_t limit);

/* From -1 to 1, all bits of a float in use. */
void random_floats(gsl_rng *random, float *x, int64_t count);

#endif
