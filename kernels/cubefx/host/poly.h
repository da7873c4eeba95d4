/* Polynomials in FP32 on this processor, by any tiling of kernels/cubefx/host/cubefx_host.h.
 *
 *   poly_kernels_of(isa)                 or NULL where this processor cannot run them
 *   poly_new(&plan, kernels, &poly, &error)
 *   poly_run(poly, coefficients, inputs, results)   as often as wanted; allocates nothing
 *   poly_free(poly)
 *
 * Coefficients are a[f·K + t], inputs x[i], results r[f·N + i]; they may lie anywhere and must not
 * overlap the results. Streaming stores are made where the results start at a cache line; where
 * they do not, the same tiling stores by way of the caches.
 *
 * A result is that of its algorithm for one input alone (poly_scalar), bit for bit, NaNs apart
 * (which NaN an operation hands on is not defined): whatever the tiling, the number of threads and
 * the place of the input. NaN, infinities, subnormal numbers and overflow follow from it. */
#ifndef AUTOTUNE_KERNELS_CUBEFX_HOST_POLY_H
#define AUTOTUNE_KERNELS_CUBEFX_HOST_POLY_H

#include "core/status.h"
#include "kernels/cubefx/host/cubefx_host.h"

/* A row of register tiles: `tiles` of them side by side along the inputs. */
struct poly_strip {
    int64_t tiles, terms;
    const float *coefficients; /* [term][function], terms in the order of use */
    const float *inputs;       /* matrix: powers, [tile][power from 1][vector] */
    float *results;
    int64_t pitch; /* floats between functions' rows of results */
    bool stream;   /* rows start at multiples of vectors then */
};

typedef void poly_strip_kernel(const struct poly_strip *strip);

/* The powers 1 … terms - 1 of panels of some vectors each, [panel][power][vector]; aligned. */
typedef void poly_powers_kernel(const float *inputs, int64_t panels, int64_t terms, float *powers);

/* By place in poly_functions and poly_vectors; NULL where there is no such register tile. */
struct poly_kernels {
    enum host_isa isa;
    int lanes;
    bool fused; /* a product and a sum are rounded once */
    poly_strip_kernel *horner[POLY_SIZES][POLY_SIZES], *matrix[POLY_SIZES][POLY_SIZES];
    poly_powers_kernel *powers[POLY_SIZES];
};

extern const struct poly_kernels poly_kernels_portable, poly_kernels_neon, poly_kernels_avx2,
    poly_kernels_avx512;

/* NULL where they are not built or this processor has not got the instructions. */
const struct poly_kernels *poly_kernels_of(enum host_isa isa);

struct poly;

/* The kernels' lanes must be the plan's. STATUS_NO_MEMORY for the workspace. */
enum status poly_new(const struct poly_plan *plan, const struct poly_kernels *kernels,
                     struct poly **poly, struct error *error);
void poly_free(struct poly *poly);
void poly_run(struct poly *poly, const float *coefficients, const float *inputs, float *results);

/* One polynomial of one input as the algorithm defines it, `fused` as in struct poly_kernels. */
float poly_scalar(enum cubefx_host_algorithm algorithm, bool fused, const float *coefficients,
                  int64_t terms, float x);

/* Puts coefficients of `functions` polynomials into the order of struct poly_strip. */
void poly_pack(enum cubefx_host_algorithm algorithm, const float *coefficients, int64_t terms,
               int functions, float *packed);

/* For the calibration (validate/loops.h), and what runs tilings. */
struct loop_family;
struct host_runner;
extern const struct loop_family poly_loops;
extern const struct host_runner poly_runner;

#endif
