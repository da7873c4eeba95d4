/* Cube-fx: J functions of N inputs, each a polynomial of K terms, on a matrix unit (Y. Tang,
 * thesis, chapter 4).
 *
 * Preparation: ln of the inputs; products with Sequence Matrices, which put i·ln x for K powers of
 * every input side by side; exp. Computation: powers × coefficients. `merge` Sequence Matrices side
 * by side fill the matrix unit where K is smaller than its edge (eq. 4.6–4.9).
 *
 * cubefx.c is the operator, cubefx_space.c which tilings exist and what they do, cubefx_program.c
 * writes the pipeline, cubefx_baselines.c what it is compared with. */
#ifndef AUTOTUNE_KERNELS_CUBEFX_H
#define AUTOTUNE_KERNELS_CUBEFX_H

#include "kernels/operator.h"

enum cubefx_size { CUBEFX_N, CUBEFX_ORDER, CUBEFX_FUNCTIONS, CUBEFX_SIZES };

extern const struct operator cubefx_operator;
extern const struct operator_space cubefx_segments;

/* merge: Sequence Matrices side by side, 1 … s; tile: inputs that go through the pipeline together,
 * a multiple of s²; segments: into how many groups of steps a tile's ⌈s/merge⌉ steps are cut, so
 * that the matrix unit works on one while the vector unit works on another. */
enum cubefx_axis { CUBEFX_MERGE, CUBEFX_TILE, CUBEFX_SEGMENTS, CUBEFX_AXES };

/* The places of a chip that the pipeline needs. */
struct cubefx_machine {
    const struct hardware *hw;
    int l1, l0a, l0b, l0c, ub;
    int load_ub, load_l1, to_l1, feed_a, feed_b, drain, store; /* gm->ub, gm->l1, ub->l1, … */
    int mte2, mte1, mte3, matrix, vector;                      /* pipes */
    int ln, exp;                                               /* operations */
    int block;                                                 /* s */
    enum dtype type, accumulator;
    int type_bytes, accumulator_bytes;
};

enum status cubefx_machine_find(const struct hardware *hw, enum dtype type,
                                struct cubefx_machine *machine, struct error *error);

/* One core's share of a problem. */
struct cubefx_share {
    int64_t inputs; /* padded to s² */
    int64_t order, functions;
};

/* Appends the pipeline for all inputs of one core and closes the program. */
enum status cubefx_program(const struct cubefx_machine *machine, const struct cubefx_share *share,
                           const struct tiling *tiling, struct program *program,
                           struct error *error);

/* The same functions by vector instructions alone, each function on its own. CORDIC takes its
 * number of iterations from `order`. */
enum cubefx_baseline {
    CUBEFX_NAIVE_TAYLOR,
    CUBEFX_HORNER,
    CUBEFX_ESTRIN,
    CUBEFX_MOTZKIN,
    CUBEFX_CORDIC,
    CUBEFX_BASELINES,
};
extern const char *const cubefx_baseline_names[CUBEFX_BASELINES]; /* "horner" … */

/* Appends a baseline for all inputs of one core, in tiles of `tile` inputs, and closes the
 * program. */
enum status cubefx_baseline_program(const struct hardware *hw, enum dtype type,
                                    const struct cubefx_share *share, int64_t tile,
                                    enum cubefx_baseline baseline, struct program *program,
                                    struct error *error);

/* The largest tile, a multiple of a vector repeat, at which the baseline fits. */
int64_t cubefx_baseline_tile(const struct hardware *hw, enum dtype type,
                             const struct cubefx_share *share, enum cubefx_baseline baseline);

#endif
