/* How long a search takes, about: a power of each size for every space, fitted to searches of
 * random shapes on one core (docs/sweeps.md says how well; bench/bench_sweep.sh measures it). Only
 * additions, products and comparisons, which are exact or rounded alike on every machine: shards
 * are cut by these numbers, on each machine for itself. */
#include "jobs/tune/job_cost.h"

#include "jobs/tune/job.h"
#include "search/strategy.h"

#include <math.h>

#define LEAST_US 100
#define MOST_US  1e12 /* a million of them can be added up */

/* What one tiling costs to simulate, and to score on a processor. */
#define SIMULATE_US 20.0
#define SCORE_US    0.5

/* A tiling to trust takes two searches, each for many tilings. */
#define ROBUST_SEARCHES 4

/* What one tiling costs to measure, about: docs/host.md has eight in a second. */
enum { MEASURE_US = 125000 };

double log2_by_lines(double x)
{
    int exponent;
    double share = frexp(x, &exponent); /* x = share · 2^exponent, 1/2 <= share < 1 */
    return exponent - 1 + 2 * share - 1;
}

double exp2_by_lines(double x)
{
    double whole = floor(x);
    return ldexp(1 + x - whole, (int)whole);
}

/* 0 where nothing is known of the space. */
static double fitted_us(const struct job *job)
{
    const struct problem *problem = &job->problem;
    const struct operator_cost *cost = &job->space.kind->cost;
    double log = cost->base;
    if (log == 0)
        return 0;
    for (int i = 0; i < problem->op->size_count; i++)
        log += cost->power[i] * log2_by_lines((double)problem->size[i]);
    return exp2_by_lines(log < 40 ? log : 40);
}

int64_t job_measuring_cost(int64_t tilings)
{
    return MEASURE_US * tilings;
}

int64_t job_cost(const struct job *job)
{
    double all = (double)job->space.candidates;
    double us = fitted_us(job);
    if (us <= 0 || job->space.kind->ask)
        us = SCORE_US * all;
    double simulates = (double)search_strategy_find(job->strategy)->simulates;
    if (simulates > 0 && !job->space.kind->ask)
        us = SIMULATE_US * (simulates < all ? simulates : all);
    if (job_chooses(job))
        us *= ROBUST_SEARCHES;
    us = us > LEAST_US ? us : LEAST_US;
    return (int64_t)(us < MOST_US ? us : MOST_US);
}
