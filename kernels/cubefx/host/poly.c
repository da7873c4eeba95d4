/* Runs any tiling of polynomials on this processor. Each thread has a slab of inputs, cut into
 * tiles, and these into stretches of equal register tiles; a rest of less than a vector goes by
 * way of whole vectors on the stack. Horner's rule keeps a register tile's inputs and walks the
 * terms downwards. The matrix form (the second stage of Cube-fx, Tang 2024, 4.2) computes the
 * powers of a tile once and multiplies them by group after group of coefficients, which are packed
 * in the order in which the kernels read them. */
#include "kernels/cubefx/host/poly.h"

#include "kernels/cubefx/cubefx.h"
#include "kernels/slices.h"
#include "validate/loops.h"
#include "validate/measure.h"
#include "validate/random.h"
#include "validate/runner.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 64, MAX_LANES = 16 };

struct poly {
    struct poly_plan plan;
    const struct poly_kernels *kernels;
    float *coefficients;  /* packed, group by group */
    float *powers;        /* of all threads; NULL: none */
    int64_t powers_pitch; /* floats between threads' */
};

const struct poly_kernels *poly_kernels_of(enum host_isa isa)
{
    const struct poly_kernels *const all[HOST_ISA_COUNT] = {
        [HOST_PORTABLE] = &poly_kernels_portable,
        [HOST_NEON] = &poly_kernels_neon,
        [HOST_AVX2] = &poly_kernels_avx2,
        [HOST_AVX512] = &poly_kernels_avx512,
    };
    return host_isa_has(isa) && all[isa]->lanes ? all[isa] : NULL;
}

/* Where `size` stands in a list that has it. */
static int place(const int *list, int size)
{
    int i = 0;
    while (list[i] != size)
        i++;
    return i;
}

static float *aligned_floats(int64_t count)
{
    return aligned_alloc(LINE_BYTES, (size_t)round_up(count * (int64_t)sizeof(float), LINE_BYTES));
}

enum status poly_new(const struct poly_plan *plan, const struct poly_kernels *kernels,
                     struct poly **poly, struct error *error)
{
    struct poly *p = calloc(1, sizeof *p);
    *poly = NULL;
    if (!p)
        return error_memory(error);
    p->plan = *plan;
    p->kernels = kernels;
    p->powers_pitch = round_up(plan->powers_bytes, LINE_BYTES) / (int64_t)sizeof(float);
    p->coefficients = aligned_floats(plan->terms * plan->functions);
    if (p->powers_pitch)
        p->powers = aligned_floats(p->powers_pitch * plan->threads);
    if (!p->coefficients || (p->powers_pitch && !p->powers)) {
        poly_free(p);
        return error_memory(error);
    }
    *poly = p;
    return STATUS_OK;
}

void poly_free(struct poly *poly)
{
    if (!poly)
        return;
    free(poly->coefficients);
    free(poly->powers);
    free(poly);
}

void poly_pack(enum cubefx_host_algorithm algorithm, const float *coefficients, int64_t terms,
               int functions, float *packed)
{
    for (int64_t t = 0; t < terms; t++) {
        int64_t term = algorithm == CUBEFX_HOST_MATRIX ? t : terms - 1 - t;
        for (int f = 0; f < functions; f++)
            *packed++ = coefficients[f * terms + term];
    }
}

static void pack_all(const struct poly *poly, const float *coefficients)
{
    const struct poly_plan *plan = &poly->plan;
    float *packed = poly->coefficients;
    for (int g = 0; g < plan->group_parts; g++)
        for (int64_t i = 0; i < plan->groups[g].count; i++) {
            int64_t floats = plan->groups[g].size * plan->terms;
            poly_pack(plan->algorithm, coefficients, plan->terms, plan->groups[g].size, packed);
            coefficients += floats;
            packed += floats;
        }
}

/* Some vectors of a tile, all functions of which are due: `tiles` pieces of `vectors`. */
struct stretch {
    int64_t tiles;
    int vectors;
    const float *inputs; /* matrix: their powers */
    float *results;
    int64_t pitch;
    bool stream;
};

static poly_strip_kernel *kernel_of(const struct poly *poly, int functions, int vectors)
{
    int f = place(poly_functions, functions), v = place(poly_vectors, vectors);
    return poly->plan.algorithm == CUBEFX_HOST_MATRIX ? poly->kernels->matrix[f][v]
                                                      : poly->kernels->horner[f][v];
}

/* One group of functions of one stretch. */
static void run_group(const struct poly *poly, const struct stretch *stretch, int functions,
                      int64_t first, const float *coefficients)
{
    const struct poly_strip strip = {
        .tiles = stretch->tiles,
        .terms = poly->plan.terms,
        .coefficients = coefficients,
        .inputs = stretch->inputs,
        .results = stretch->results + first * stretch->pitch,
        .pitch = stretch->pitch,
        .stream = stretch->stream,
    };
    kernel_of(poly, functions, stretch->vectors)(&strip);
}

/* Less than a vector: by way of whole vectors, so that nothing beside the arrays is touched. */
static void run_partial(const struct poly *poly, const struct stretch *stretch, int inputs,
                        int functions, int64_t first, const float *coefficients)
{
    _Alignas(LINE_BYTES) float x[MAX_LANES] = {0}, r[MAX_LANES * POLY_MAX_FUNCTIONS];
    struct stretch whole = {
        .tiles = 1, .vectors = 1, .inputs = x, .results = r, .pitch = MAX_LANES};
    if (poly->plan.algorithm == CUBEFX_HOST_MATRIX)
        whole.inputs = stretch->inputs;
    else
        memcpy(x, stretch->inputs, (size_t)inputs * sizeof *x);
    run_group(poly, &whole, functions, 0, coefficients);
    for (int f = 0; f < functions; f++)
        memcpy(stretch->results + (first + f) * stretch->pitch, r + (ptrdiff_t)f * MAX_LANES,
               (size_t)inputs * sizeof *r);
}

/* A tile's inputs cut into stretches; the last of them may be a partial vector. */
struct cuts {
    int count, partial;
    struct poly_part parts[POLY_MAX_PARTS];
    struct stretch stretches[POLY_MAX_PARTS];
};

/* Fills the powers of one stretch and returns where those of the next one begin. */
static float *make_powers(const struct poly *poly, const struct stretch *stretch, int partial,
                          float *powers)
{
    _Alignas(LINE_BYTES) float x[MAX_LANES] = {0};
    const float *inputs = stretch->inputs;
    if (partial) {
        memcpy(x, inputs, (size_t)partial * sizeof *x);
        inputs = x;
    }
    poly->kernels->powers[place(poly_vectors, stretch->vectors)](inputs, stretch->tiles,
                                                                 poly->plan.terms, powers);
    return powers + (poly->plan.terms - 1) * stretch->tiles * stretch->vectors * poly->plan.lanes;
}

/* The stretches of a tile and, where the form wants them, their powers. */
static void cut_tile(const struct poly *poly, const float *inputs, int64_t count, float *results,
                     bool stream, float *powers, struct cuts *cuts)
{
    const struct poly_plan *plan = &poly->plan;
    cuts->count = poly_cut(plan, count, cuts->parts, &cuts->partial);
    for (int i = 0; i < cuts->count; i++) {
        const struct poly_part *part = &cuts->parts[i];
        struct stretch *stretch = &cuts->stretches[i];
        int64_t floats = part->count * part->size * plan->lanes;
        bool partial = cuts->partial && i + 1 == cuts->count;
        *stretch = (struct stretch){
            part->count, part->size, inputs, results, plan->inputs, stream,
        };
        if (powers) {
            float *next = make_powers(poly, stretch, partial ? cuts->partial : 0, powers);
            stretch->inputs = powers;
            powers = next;
        }
        inputs += partial ? 0 : floats;
        results += partial ? 0 : floats;
    }
}

static void run_tile(const struct poly *poly, const struct cuts *cuts)
{
    const struct poly_plan *plan = &poly->plan;
    const float *coefficients = poly->coefficients;
    int64_t first = 0;
    for (int g = 0; g < plan->group_parts; g++)
        for (int64_t i = 0; i < plan->groups[g].count; i++) {
            int functions = plan->groups[g].size;
            for (int c = 0; c < cuts->count; c++)
                if (cuts->partial && c + 1 == cuts->count)
                    run_partial(poly, &cuts->stretches[c], cuts->partial, functions, first,
                                coefficients);
                else
                    run_group(poly, &cuts->stretches[c], functions, first, coefficients);
            first += functions;
            coefficients += functions * plan->terms;
        }
}

static void run_slab(const struct poly *poly, int thread, const float *inputs, float *results)
{
    const struct poly_plan *plan = &poly->plan;
    int64_t begin = thread * plan->slab, end = begin + plan->slab;
    float *powers = poly->powers ? poly->powers + thread * poly->powers_pitch : NULL;
    bool stream = plan->stream && (uintptr_t)results % LINE_BYTES == 0;
    end = end < plan->inputs ? end : plan->inputs;
    for (int64_t i = begin; i < end; i += plan->tile) {
        struct cuts cuts;
        int64_t count = plan->tile < end - i ? plan->tile : end - i;
        cut_tile(poly, inputs + i, count, results + i, stream, powers, &cuts);
        run_tile(poly, &cuts);
    }
}

void poly_run(struct poly *poly, const float *coefficients, const float *inputs, float *results)
{
    int threads = poly->plan.threads;
    pack_all(poly, coefficients);
    if (threads == 1) { /* without OpenMP, whose threads do not survive a fork */
        run_slab(poly, 0, inputs, results);
        return;
    }
#pragma omp parallel for num_threads(threads) schedule(static, 1)
    for (int thread = 0; thread < threads; thread++)
        run_slab(poly, thread, inputs, results);
}

static float multiply_add(bool fused, float a, float b, float c)
{
    return fused ? fmaf(a, b, c) : a * b + c;
}

float poly_scalar(enum cubefx_host_algorithm algorithm, bool fused, const float *coefficients,
                  int64_t terms, float x)
{
    float power = x, sum = coefficients[0];
    if (algorithm != CUBEFX_HOST_MATRIX) {
        sum = coefficients[terms - 1];
        for (int64_t t = terms - 2; t >= 0; t--)
            sum = multiply_add(fused, sum, x, coefficients[t]);
        return sum;
    }
    for (int64_t t = 1; t < terms; t++) {
        sum = multiply_add(fused, coefficients[t], power, sum);
        power *= x;
    }
    return sum;
}

/* ------------------------------------------------------------------ runs and checks of tilings */

/* Results whose reference is computed, at most this many products of them. */
#define MOST_PRODUCTS 2e8

struct poly_problem {
    const struct space *space;
    const struct poly_kernels *kernels;
    int64_t inputs, terms, functions;
    float *coefficients, *x, *results;
};

struct prepared_poly {
    struct poly_problem *problem;
    enum cubefx_host_algorithm algorithm;
    struct poly *poly;
};

/* Of either sign, with absolute values from `least` to 1. */
static void fill_inputs(float *values, int64_t count, double least, gsl_rng *random)
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
    fill_inputs(problem->coefficients, problem->terms * problem->functions, 0, random);
    /* no power is subnormal, which takes some processors a hundred times as long */
    fill_inputs(problem->x, problem->inputs, exp2(-100.0 / (double)problem->terms), random);
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
    struct prepared_poly *run = calloc(1, sizeof *run);
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
    struct prepared_poly *run = prepared;
    poly_free(run->poly);
    free(run);
}

static void run_once(void *prepared)
{
    struct prepared_poly *run = prepared;
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
    struct prepared_poly *run = prepared;
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
