/* The kernels of poly.h for one instruction set: included once by each poly_ISA.c, which says
 *
 *   LANES          floats a vector, as an int64_t
 *   vector         its type, with + and *
 *   LOAD(p) STORE(p, v) STREAM(p, v)   STREAM: past the caches, p aligned
 *   SPREAD(p)      one float in all lanes
 *   MULTIPLY_ADD(a, b, c)   rounded once where FUSED
 *   STREAM_END()   before others may read what was streamed
 *   KERNELS, ISA   name and kind of the table
 *
 * Sizes of a register tile are constants in every instance: arrays of vectors are registers then.
 */
#include "kernels/cubefx/host/poly.h"
#include "kernels/unrolled.h"

INLINE void store_tile(const struct poly_strip *strip, int functions, int vectors,
                       const vector *sums, float *results)
{
    if (strip->stream) {
        UNROLLED
        for (int f = 0; f < functions; f++) {
            UNROLLED
            for (int v = 0; v < vectors; v++)
                STREAM(results + f * strip->pitch + v * LANES, sums[f * vectors + v]);
        }
        return;
    }
    UNROLLED
    for (int f = 0; f < functions; f++) {
        UNROLLED
        for (int v = 0; v < vectors; v++)
            STORE(results + f * strip->pitch + v * LANES, sums[f * vectors + v]);
    }
}

INLINE void horner_tile(const struct poly_strip *strip, int functions, int vectors,
                        const float *inputs, float *results)
{
    vector sums[POLY_MAX_FUNCTIONS * 4], x[POLY_MAX_VECTORS];
    const float *a = strip->coefficients;
    UNROLLED
    for (int v = 0; v < vectors; v++)
        x[v] = LOAD(inputs + v * LANES);
    UNROLLED
    for (int f = 0; f < functions; f++) {
        UNROLLED
        for (int v = 0; v < vectors; v++)
            sums[f * vectors + v] = SPREAD(a + f);
    }
    for (int64_t t = 1; t < strip->terms; t++) {
        a += functions;
        UNROLLED
        for (int f = 0; f < functions; f++) {
            vector coefficient = SPREAD(a + f);
            UNROLLED
            for (int v = 0; v < vectors; v++)
                sums[f * vectors + v] = MULTIPLY_ADD(sums[f * vectors + v], x[v], coefficient);
        }
    }
    store_tile(strip, functions, vectors, sums, results);
}

INLINE void matrix_tile(const struct poly_strip *strip, int functions, int vectors,
                        const float *powers, float *results)
{
    vector sums[POLY_MAX_FUNCTIONS * 4], power[POLY_MAX_VECTORS];
    const float *a = strip->coefficients;
    UNROLLED
    for (int f = 0; f < functions; f++) {
        UNROLLED
        for (int v = 0; v < vectors; v++)
            sums[f * vectors + v] = SPREAD(a + f);
    }
    for (int64_t t = 1; t < strip->terms; t++) {
        a += functions;
        UNROLLED
        for (int v = 0; v < vectors; v++)
            power[v] = LOAD(powers + v * LANES);
        powers += vectors * LANES;
        UNROLLED
        for (int f = 0; f < functions; f++) {
            vector coefficient = SPREAD(a + f);
            UNROLLED
            for (int v = 0; v < vectors; v++)
                sums[f * vectors + v] = MULTIPLY_ADD(coefficient, power[v], sums[f * vectors + v]);
        }
    }
    store_tile(strip, functions, vectors, sums, results);
}

INLINE void powers_panel(int vectors, const float *inputs, int64_t terms, float *powers)
{
    vector x[POLY_MAX_VECTORS], power[POLY_MAX_VECTORS];
    UNROLLED
    for (int v = 0; v < vectors; v++)
        power[v] = x[v] = LOAD(inputs + v * LANES);
    for (int64_t t = 1; t < terms; t++) {
        UNROLLED
        for (int v = 0; v < vectors; v++) {
            STORE(powers + v * LANES, power[v]);
            power[v] = power[v] * x[v];
        }
        powers += vectors * LANES;
    }
}

#define TILE_FLOATS(vectors) ((vectors)*LANES)

#define STRIPS(functions, vectors)                                                                 \
    static void horner_##functions##x##vectors(const struct poly_strip *strip)                     \
    {                                                                                              \
        for (int64_t i = 0; i < strip->tiles; i++)                                                 \
            horner_tile(strip, functions, vectors, strip->inputs + i * TILE_FLOATS(vectors),       \
                        strip->results + i * TILE_FLOATS(vectors));                                \
        if (strip->stream)                                                                         \
            STREAM_END();                                                                          \
    }
#define MATRIX_STRIPS(functions, vectors)                                                          \
    static void matrix_##functions##x##vectors(const struct poly_strip *strip)                     \
    {                                                                                              \
        int64_t panel = (strip->terms - 1) * TILE_FLOATS(vectors);                                 \
        for (int64_t i = 0; i < strip->tiles; i++)                                                 \
            matrix_tile(strip, functions, vectors, strip->inputs + i * panel,                      \
                        strip->results + i * TILE_FLOATS(vectors));                                \
        if (strip->stream)                                                                         \
            STREAM_END();                                                                          \
    }
#define POWERS(vectors)                                                                            \
    static void powers_##vectors(const float *inputs, int64_t panels, int64_t terms,               \
                                 float *powers)                                                    \
    {                                                                                              \
        for (int64_t i = 0; i < panels; i++)                                                       \
            powers_panel(vectors, inputs + i * TILE_FLOATS(vectors), terms,                        \
                         powers + i * (terms - 1) * TILE_FLOATS(vectors));                         \
    }

/* The register tiles of kernels/cubefx/host/cubefx_host.c. */
STRIPS(1, 1)
STRIPS(1, 2)
STRIPS(1, 3)
STRIPS(1, 4)
STRIPS(1, 6)
STRIPS(1, 8)
STRIPS(2, 1)
STRIPS(2, 2)
STRIPS(2, 3)
STRIPS(2, 4)
STRIPS(2, 6)
STRIPS(2, 8)
STRIPS(3, 1)
STRIPS(3, 2)
STRIPS(3, 3)
STRIPS(3, 4)
STRIPS(3, 6)
STRIPS(4, 1)
STRIPS(4, 2)
STRIPS(4, 3)
STRIPS(4, 4)
STRIPS(4, 6)
STRIPS(6, 1)
STRIPS(6, 2)
STRIPS(6, 3)
STRIPS(6, 4)
STRIPS(8, 1)
STRIPS(8, 2)
STRIPS(8, 3)
MATRIX_STRIPS(1, 1)
MATRIX_STRIPS(1, 2)
MATRIX_STRIPS(1, 3)
MATRIX_STRIPS(1, 4)
MATRIX_STRIPS(2, 1)
MATRIX_STRIPS(2, 2)
MATRIX_STRIPS(2, 3)
MATRIX_STRIPS(2, 4)
MATRIX_STRIPS(4, 1)
MATRIX_STRIPS(4, 2)
MATRIX_STRIPS(4, 3)
MATRIX_STRIPS(4, 4)
MATRIX_STRIPS(8, 1)
MATRIX_STRIPS(8, 2)
MATRIX_STRIPS(8, 3)
POWERS(1)
POWERS(2)
POWERS(3)
POWERS(4)

const struct poly_kernels KERNELS = {
    .isa = ISA,
    .lanes = (int)LANES,
    .fused = FUSED,
    .horner =
        {
            {horner_1x1, horner_1x2, horner_1x3, horner_1x4, horner_1x6, horner_1x8},
            {horner_2x1, horner_2x2, horner_2x3, horner_2x4, horner_2x6, horner_2x8},
            {horner_3x1, horner_3x2, horner_3x3, horner_3x4, horner_3x6},
            {horner_4x1, horner_4x2, horner_4x3, horner_4x4, horner_4x6},
            {horner_6x1, horner_6x2, horner_6x3, horner_6x4},
            {horner_8x1, horner_8x2, horner_8x3},
        },
    .matrix =
        {
            {matrix_1x1, matrix_1x2, matrix_1x3, matrix_1x4},
            {matrix_2x1, matrix_2x2, matrix_2x3, matrix_2x4},
            {NULL},
            {matrix_4x1, matrix_4x2, matrix_4x3, matrix_4x4},
            {NULL},
            {matrix_8x1, matrix_8x2, matrix_8x3},
        },
    .powers = {powers_1, powers_2, powers_3, powers_4},
};
