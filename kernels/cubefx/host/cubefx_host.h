/* Space `host` of Cube-fx: FP32 polynomials on the processor of this machine.
 *
 * Coefficients are a[f·K + t], inputs x[i], results r[f·N + i]: a function's results lie together,
 * for vectors lie along the inputs. Threads take slabs of inputs, each does
 *   for tile of inputs (matrix: make its powers): for group of functions: for group of vectors:
 *       a register tile of functions × vectors, one term a step
 * kernels/cubefx/host/poly.h runs what a tiling of it means; this file says for both sides which
 * register tiles there are and how sizes are cut into them.
 *
 *   horner  r = a[K-1]; then r·x + a[t] down to t = 0
 *   sweep   the same, one function at a time over all inputs
 *   matrix  r = a[0]; then r + a[t]·x^t up to t = K-1, powers x^t = x^(t-1)·x kept in memory,
 *           register tile by register tile. It overflows where a power does, horner where a partial
 *           sum does.
 * Products and sums are fused where the instruction set does that (NEON, AVX2, AVX-512). */
#ifndef AUTOTUNE_KERNELS_CUBEFX_HOST_CUBEFX_HOST_H
#define AUTOTUNE_KERNELS_CUBEFX_HOST_CUBEFX_HOST_H

#include "core/operator.h"

enum cubefx_host_axis {
    CUBEFX_HOST_ALGORITHM,
    CUBEFX_HOST_FUNCTIONS, /* RJ, of a register tile */
    CUBEFX_HOST_VECTORS,   /* RX, of a register tile */
    CUBEFX_HOST_TILE,      /* TN, inputs that all functions see before the next ones come */
    CUBEFX_HOST_STORE,     /* cached, or streaming past the caches */
    CUBEFX_HOST_AXES
};

enum cubefx_host_algorithm {
    CUBEFX_HOST_HORNER = 1,
    CUBEFX_HOST_SWEEP,
    CUBEFX_HOST_MATRIX,
    CUBEFX_HOST_ALGORITHMS = CUBEFX_HOST_MATRIX
};
enum { CUBEFX_HOST_CACHED = 1, CUBEFX_HOST_STREAM };

/* Register tiles: sizes are places in these lists, ascending from 1. */
enum { POLY_SIZES = 6, POLY_MAX_FUNCTIONS = 8, POLY_MAX_VECTORS = 8, POLY_MAX_PARTS = 4 };
extern const int poly_functions[POLY_SIZES];
extern const int poly_vectors[POLY_SIZES];

/* Is there such a register tile? If so, then all smaller ones of the same algorithm that have both
 * sizes on its lists. Sweeps have those of Horner's rule for one function. */
bool poly_tile_exists(enum cubefx_host_algorithm algorithm, int64_t functions, int64_t vectors);

/* "poly horner 4x6", the loop of a register tile in the calibration; returns `name`. */
const char *poly_loop_name(enum cubefx_host_algorithm algorithm, int functions, int vectors,
                           char name[HOST_NAME_SIZE]);

/* "poly powers 4": powers of so many vectors side by side, one power a step. */
const char *poly_powers_loop_name(int vectors, char name[HOST_NAME_SIZE]);

/* Coefficients put into the order in which register tiles read them, one a step; and what begins
 * and ends a row of register tiles (a strip), by call. */
#define POLY_PACK_LOOP  "poly pack"
#define POLY_STRIP_LOOP "poly strip"

/* A size as `count` pieces of `size`. */
struct poly_part {
    int64_t count;
    int size;
};

/* A tiling in numbers. */
struct poly_plan {
    int64_t inputs, terms, functions;
    enum cubefx_host_algorithm algorithm;
    int function_tile, vector_tile;
    int lanes;
    int threads;  /* that have work */
    int64_t slab; /* inputs of a thread; of the last one less */
    int64_t tile; /* <= slab; of the last one in a slab less */
    bool stream;
    int group_parts; /* groups of functions: largest first */
    struct poly_part groups[POLY_MAX_PARTS];
    int64_t powers_bytes; /* a thread's workspace; 0: none */
};

/* For a tiling without violations. */
void cubefx_host_plan(const struct space *space, const struct tiling *tiling,
                      struct poly_plan *plan);

/* The register tiles along `inputs` inputs: whole vectors in the largest pieces, then, in a part of
 * its own, one of a single vector for what is no whole one (*partial inputs, 0: none). Returns the
 * number of parts. */
int poly_cut(const struct poly_plan *plan, int64_t inputs, struct poly_part parts[POLY_MAX_PARTS],
             int *partial);

/* Floats a vector of an instruction set. */
int poly_lanes(enum host_isa isa);

/* What a thread with a whole slab asks of the processor: of one register tile a call, of one term a
 * step; and the least time of them all (struct operator_space). */
void cubefx_host_ask(const struct space *space, const struct tiling *tiling,
                     struct host_work *work);
double cubefx_host_roofline_ns(const struct space *space);

extern const struct operator_space cubefx_host_space;

#endif
