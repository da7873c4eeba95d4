/* Runs and checks tilings of polynomials (space host of Cube-fx). */
#include "kernels/cubefx/host/poly.h"
#include "validate/runner.h"

#include "kernels/cubefx/cubefx.h"
#include "validate/measure.h"
#include "validate/random.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Results whose reference is computed, at most this many products of them. */
#define MOST_PRODUCTS 2e8

struct poly_problem {
    const struct space *space;
    const struct poly_kernels *kernels;
    int64_t inputs, terms, functions;
    float *coefficients, *x, *results;
};

struct poly_run {
    struct poly_problem *problem;
    enum cubefx_host_algorithm algorithm;
    struct poly *poly;
};

/* Of either sign, with absolute values from `least` to 1. */
static void fill(float *values, int64_t count, double least, gsl_rng *random)
{
    random_floats(random, values, count);
    for (int64_t i = 0; i < count; i++)
        values[i] =
            (float)copysign(least + (1 - least) * fabs((double)values[i]), (double)values[i]);
}

static void close_problem(void *opened)
{
    struct poly_problem *problem = opened;
    free(problem->coefficients);
    free(problem->x);
    free(problem->results);
    free(problem);
}

static enum status allocate(struct poly_problem *problem, struct error *error)
{
    double n = (double)problem->inputs, j = (double)problem->functions;
    double bytes = sizeof(float) * (n + n * j + 2 * j * (double)problem->terms);
    TRY(memory_require("inputs, coefficients and results", bytes, error));
    problem->coefficients = memory_floats(problem->terms, problem->functions);
    problem->x = memory_floats(problem->inputs, 1);
    problem->results = memory_floats(problem->inputs, problem->functions);
    return problem->coefficients && problem->x && problem->results ? STATUS_OK
                                                                   : error_memory(error);
}

static enum status open_problem(const struct space *space, uint64_t seed, void **opened,
                                struct error *error)
{
    enum host_isa isa = space->hw->host->isa;
    const struct poly_kernels *kernels = poly_kernels_of(isa);
    struct tiling any;
    struct poly_plan plan;
    if (!kernels)
        return error_set(error, STATUS_INVALID, "this processor cannot run kernels for %s",
                         host_isa_name(isa));
    space_tiling(space, 0, &any);
    cubefx_host_plan(space, &any, &plan);
    struct poly_problem *problem = calloc(1, sizeof *problem);
    if (!problem)
        return error_memory(error);
    *problem = (struct poly_problem){
        .space = space,
        .kernels = kernels,
        .inputs = plan.inputs,
        .terms = plan.terms,
        .functions = plan.functions,
    };
    enum status status = allocate(problem, error);
    gsl_rng *random = status == STATUS_OK ? random_open(seed, error) : NULL;
    if (!random) {
        close_problem(problem);
        return status == STATUS_OK ? STATUS_NO_MEMORY : status;
    }
    fill(problem->coefficients, problem->terms * problem->functions, 0, random);
    /* no power is subnormal, which takes some processors a hundred times as long */
    fill(problem->x, problem->inputs, exp2(-100.0 / (double)problem->terms), random);
    gsl_rng_free(random);
    memset(problem->results, 0,
           (size_t)(problem->inputs * problem->functions) * sizeof *problem->results);
    *opened = problem;
    return STATUS_OK;
}

static enum status prepare(void *opened, const struct tiling *tiling, void **prepared,
                           struct error *error)
{
    struct poly_problem *problem = opened;
    struct poly_plan plan;
    struct poly_run *run = calloc(1, sizeof *run);
    if (!run)
        return error_memory(error);
    cubefx_host_plan(problem->space, tiling, &plan);
    run->problem = problem;
    run->algorithm = plan.algorithm;
    enum status status = poly_new(&plan, problem->kernels, &run->poly, error);
    if (status != STATUS_OK) {
        free(run);
        return status;
    }
    *prepared = run;
    return STATUS_OK;
}

static void release(void *prepared)
{
    struct poly_run *run = prepared;
    poly_free(run->poly);
    free(run);
}

static void run_once(void *prepared)
{
    struct poly_run *run = prepared;
    struct poly_problem *problem = run->problem;
    poly_run(run->poly, problem->coefficients, problem->x, problem->results);
}

/* Horner's rule in double precision for the value, and for the sum of absolute terms. A double
 * holds a product of two floats, so its own error is far below that of what is checked. */
static double relative_error(const float *coefficients, int64_t terms, float x, float result)
{
    double value = 0, absolute = 0;
    for (int64_t t = terms - 1; t >= 0; t--) {
        value = value * x + coefficients[t];
        absolute = absolute * fabs((double)x) + fabs((double)coefficients[t]);
    }
    double difference = fabs((double)result - value);
    if (!isfinite(difference))
        return INFINITY;
    /* below the least normal number, roundings are absolute */
    return difference / (absolute > (double)FLT_MIN ? absolute : (double)FLT_MIN);
}

/* Every input where that is quick, else a stride of them that is odd and so meets all places of
 * vectors, register tiles and tiles, whose sizes have no such divisors but 3; and the last ones. */
static int64_t stride_of(const struct poly_problem *problem)
{
    double products = (double)problem->inputs * (double)problem->terms * (double)problem->functions;
    return products <= MOST_PRODUCTS ? 1 : 2 * (int64_t)(products / MOST_PRODUCTS / 2) + 5;
}

static enum status check(void *prepared, struct host_check *check, struct error *error)
{
    struct poly_run *run = prepared;
    const struct poly_problem *problem = run->problem;
    int64_t terms = problem->terms, stride = stride_of(problem);
    int64_t count = problem->inputs * problem->functions;
    (void)error;
    for (int64_t i = 0; i < count; i++)
        problem->results[i] = NAN;
    run_once(run);
    *check = (struct host_check){.sampled = stride > 1};
    /* Higham, Accuracy and Stability of Numerical Algorithms, 5.1: Horner's rule is within
     * gamma(2K); so is the matrix form, of at most K roundings in a power and K in its sum. */
    check->allowed_error = 2 * (double)terms * (double)FLT_EPSILON / 2;
    check->allowed_error /= 1 - check->allowed_error;
    for (int64_t f = 0; f < problem->functions; f++)
        for (int64_t i = f % stride; i < problem->inputs; i += stride) {
            double e = relative_error(problem->coefficients + f * terms, terms, problem->x[i],
                                      problem->results[f * problem->inputs + i]);
            check->max_error = e > check->max_error ? e : check->max_error;
        }
    return STATUS_OK;
}

const struct host_runner poly_runner = {
    .open = open_problem,
    .close = close_problem,
    .prepare = prepare,
    .release = release,
    .run = run_once,
    .check = check,
};
