/* Runs any tiling of polynomials on this processor. Each thread has a slab of inputs, cut into
 * tiles, and these into stretches of equal register tiles; a rest of less than a vector goes by
 * way of whole vectors on the stack. Horner's rule keeps a register tile's inputs and walks the
 * terms downwards. The matrix form (the second stage of Cube-fx, Tang 2024, 4.2) computes the
 * powers of a tile once and multiplies them by group after group of coefficients, which are packed
 * in the order in which the kernels read them. */
#include "kernels/cubefx/host/poly.h"

#include "kernels/slices.h"
#include "validate/loops.h"

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
