/* GSL's Mersenne twister (Matsumoto and Nishimura 1998). */
#include "validate/random.h"

gsl_rng *random_open(uint64_t seed, struct error *error)
{
    gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
    if (random)
        gsl_rng_set(random, (unsigned long)seed);
    else
        error_memory(error);
    return random;
}

int64_t random_below(gsl_rng *random, int64_t limit)
{
    return (int64_t)(gsl_rng_uniform(random) * (double)limit);
}

void random_floats(gsl_rng *random, float *x, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        x[i] = (float)(2 * gsl_rng_uniform(random) - 1);
}
