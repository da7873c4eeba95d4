/* The inner loops of polynomials for the calibration: register tiles of both forms, powers, the
 * order of coefficients, and what a strip costs beside its register tiles. */
#include "core/least.h"
#include "kernels/cubefx/host/poly.h"
#include "validate/loops.h"

#include <string.h>

enum loop_kind { LOOP_HORNER, LOOP_MATRIX, LOOP_POWERS, LOOP_PACK, LOOP_STRIP };

struct poly_loop {
    const char *variant;
    enum loop_kind kind;
    int functions, vectors; /* places in poly_functions and poly_vectors */
};

/* clang-format off */
#define HORNER(f, v, F, V) {"horner " #F "x" #V, LOOP_HORNER, f, v}
#define MATRIX(f, v, F, V) {"matrix " #F "x" #V, LOOP_MATRIX, f, v}
#define POWERS(v, V)       {"powers " #V, LOOP_POWERS, 0, v}
static const struct poly_loop loops[] = {
    HORNER(0, 0, 1, 1), HORNER(0, 1, 1, 2), HORNER(0, 2, 1, 3), HORNER(0, 3, 1, 4),
    HORNER(0, 4, 1, 6), HORNER(0, 5, 1, 8),
    HORNER(1, 0, 2, 1), HORNER(1, 1, 2, 2), HORNER(1, 2, 2, 3), HORNER(1, 3, 2, 4),
    HORNER(1, 4, 2, 6), HORNER(1, 5, 2, 8),
    HORNER(2, 0, 3, 1), HORNER(2, 1, 3, 2), HORNER(2, 2, 3, 3), HORNER(2, 3, 3, 4),
    HORNER(2, 4, 3, 6),
    HORNER(3, 0, 4, 1), HORNER(3, 1, 4, 2), HORNER(3, 2, 4, 3), HORNER(3, 3, 4, 4),
    HORNER(3, 4, 4, 6),
    HORNER(4, 0, 6, 1), HORNER(4, 1, 6, 2), HORNER(4, 2, 6, 3), HORNER(4, 3, 6, 4),
    HORNER(5, 0, 8, 1), HORNER(5, 1, 8, 2), HORNER(5, 2, 8, 3),
    MATRIX(0, 0, 1, 1), MATRIX(0, 1, 1, 2), MATRIX(0, 2, 1, 3), MATRIX(0, 3, 1, 4),
    MATRIX(1, 0, 2, 1), MATRIX(1, 1, 2, 2), MATRIX(1, 2, 2, 3), MATRIX(1, 3, 2, 4),
    MATRIX(3, 0, 4, 1), MATRIX(3, 1, 4, 2), MATRIX(3, 2, 4, 3), MATRIX(3, 3, 4, 4),
    MATRIX(5, 0, 8, 1), MATRIX(5, 1, 8, 2), MATRIX(5, 2, 8, 3),
    POWERS(0, 1), POWERS(1, 2), POWERS(2, 3), POWERS(3, 4),
    {"pack", LOOP_PACK, 0, 0},
    {"strip", LOOP_STRIP, 0, 0},
};
/* clang-format on */

static const char *variant(int index)
{
    return loops[index].variant;
}

/* Register tiles of a strip side by side, as many as fit behind the coefficients. A tile reads
 * `read` floats and writes `written`. */
static int64_t run_strips(poly_strip_kernel *kernel, int64_t calls, const struct poly_strip *first,
                          int64_t read, int64_t written, int64_t room)
{
    struct poly_strip strip = *first;
    int64_t tiles = room / (read + written);
    if (!kernel || tiles < 1)
        return 0;
    /* results behind the inputs; rows one after the other */
    strip.results += tiles * read;
    strip.pitch = tiles * strip.pitch;
    for (int64_t done = 0; done < calls; done += strip.tiles) {
        strip.tiles = least_of(tiles, calls - done);
        kernel(&strip);
    }
    return strip.terms;
}

static int64_t run_tiles(const struct poly_loop *loop, const struct poly_kernels *kernels,
                         int64_t calls, int64_t steps, float *data, int64_t floats)
{
    bool matrix = loop->kind == LOOP_MATRIX;
    int functions = poly_functions[loop->functions], vectors = poly_vectors[loop->vectors];
    int64_t width = (int64_t)vectors * kernels->lanes;
    /* coefficients, and one tile's powers, results */
    int64_t per_term = functions + (matrix ? width : 0);
    int64_t terms = least_of(steps, (floats - width * (functions + 1)) / per_term);
    if (terms < 1)
        return 0;
    int64_t coefficients = (terms * functions + 15) / 16 * 16;
    const struct poly_strip strip = {
        .terms = terms,
        .coefficients = data,
        .inputs = data + coefficients,
        .results = data + coefficients,
        .pitch = width,
    };
    return run_strips((matrix ? kernels->matrix : kernels->horner)[loop->functions][loop->vectors],
                      calls, &strip, matrix ? (terms - 1) * width : width, functions * width,
                      floats - coefficients);
}

/* Of ones, whose powers are no subnormal numbers, which would be slow. */
static int64_t run_powers(const struct poly_loop *loop, const struct poly_kernels *kernels,
                          int64_t calls, int64_t steps, float *data, int64_t floats)
{
    int64_t width = (int64_t)poly_vectors[loop->vectors] * kernels->lanes;
    int64_t inputs = floats / 8 / width * width;
    int64_t powers = least_of(steps, inputs ? (floats - inputs) / width : 0);
    if (powers < 1)
        return 0;
    int64_t panels = least_of(inputs / width, (floats - inputs) / (powers * width));
    for (int64_t i = 0; i < inputs; i++)
        data[i] = 1;
    for (int64_t done = 0; done < calls; done += panels)
        kernels->powers[loop->vectors](data, least_of(panels, calls - done), powers + 1,
                                       data + inputs);
    return powers;
}

static int64_t run_pack(int64_t calls, int64_t steps, float *data, int64_t floats)
{
    static const int functions = 4;
    int64_t terms = least_of(steps / functions, floats / (2 * (int64_t)functions));
    for (int64_t done = 0; done < calls && terms > 0; done++)
        poly_pack(CUBEFX_HOST_HORNER, data, terms, functions, &data[terms * functions]);
    return terms * functions;
}

/* Without register tiles the steps are free. */
static int64_t run_empty(const struct poly_kernels *kernels, int64_t calls, int64_t steps,
                         float *data)
{
    const struct poly_strip strip = {
        .terms = steps, .coefficients = data, .inputs = data, .results = data};
    for (int64_t done = 0; done < calls; done++)
        kernels->horner[3][3](&strip);
    return steps;
}

static int64_t run(int index, enum host_isa isa, int64_t calls, int64_t steps, void *data,
                   int64_t bytes)
{
    const struct poly_loop *loop = &loops[index];
    const struct poly_kernels *kernels = poly_kernels_of(isa);
    int64_t floats = bytes / (int64_t)sizeof(float);
    if (!kernels)
        return 0;
    switch (loop->kind) {
    case LOOP_HORNER:
    case LOOP_MATRIX:
        return run_tiles(loop, kernels, calls, steps, data, floats);
    case LOOP_POWERS:
        return run_powers(loop, kernels, calls, steps, data, floats);
    case LOOP_PACK:
        return run_pack(calls, steps, data, floats);
    case LOOP_STRIP:
        break;
    }
    return run_empty(kernels, calls, steps, data);
}

static double flops(int index, enum host_isa isa)
{
    const struct poly_loop *loop = &loops[index];
    double results =
        (double)poly_functions[loop->functions] * poly_vectors[loop->vectors] * poly_lanes(isa);
    return loop->kind == LOOP_HORNER || loop->kind == LOOP_MATRIX ? 2 * results
           : loop->kind == LOOP_POWERS                            ? results
                                                                  : 0;
}

const struct loop_family poly_loops = {
    .name = "poly",
    .count = sizeof loops / sizeof *loops,
    .variant = variant,
    .run = run,
    .flops = flops,
};
