/* Cube-fx: J functions of N inputs, each a polynomial of K terms, on a matrix unit (Y. Tang,
 * thesis, chapter 4).
 *
 * Preparation: ln of the inputs; products with Sequence Matrices, which put i·ln x for K powers of
 * every input side by side; exp. Computation: powers × coefficients. `merge` Sequence Matrices side
 * by side fill the matrix unit where K is smaller than its edge (eq. 4.6–4.9). A constant term
 * needs no instruction: power 0 is one of the K columns, for exp(0·ln x) = 1.
 *
 * cubefx.c is the operator, cubefx_space.c which tilings exist, cubefx_legal.c what fits,
 * cubefx_summary.c what a tiling does, cubefx_program.c writes the pipeline, cubefx_baselines.c
 * what it is compared with. */
#ifndef AUTOTUNE_KERNELS_CUBEFX_CUBEFX_H
#define AUTOTUNE_KERNELS_CUBEFX_CUBEFX_H

#include "core/operator.h"
#include "kernels/slices.h"

enum cubefx_size { CUBEFX_N, CUBEFX_ORDER, CUBEFX_FUNCTIONS, CUBEFX_SIZES };

extern const struct operator cubefx_operator;
extern const struct operator_space cubefx_segments;

/* merge: Sequence Matrices side by side, 1 … s; tile: inputs that go through the pipeline together,
 * a multiple of s²; segments: into how many groups of steps a tile's ⌈s/merge⌉ steps are cut, so
 * that the matrix unit works on one while the vector unit works on another; cores: that work, on
 * equal shares of the inputs. */
enum cubefx_axis { CUBEFX_MERGE, CUBEFX_TILE, CUBEFX_SEGMENTS, CUBEFX_CORES, CUBEFX_AXES };

/* The places of a chip that the pipeline needs. */
enum cubefx_move {
    CUBEFX_LOAD,   /* gm->ub: inputs */
    CUBEFX_LOAD_B, /* gm->l1: the constant matrices */
    CUBEFX_TO_L1,  /* ub->l1 */
    CUBEFX_FEED_A, /* l1->l0a */
    CUBEFX_FEED_B, /* l1->l0b */
    CUBEFX_DRAIN,  /* l0c->ub, with cast */
    CUBEFX_STORE,  /* ub->gm */
    CUBEFX_MOVES,
};

struct cubefx_machine {
    const struct hardware *hw;
    int l1, l0a, l0b, l0c, ub;                   /* buffers */
    int path[CUBEFX_MOVES], price[CUBEFX_MOVES]; /* of each move */
    int mte2, mte1, mte3, matrix, vector;        /* pipes */
    int ln, exp;                                 /* operations */
    int matrix_price;
    int block; /* s */
    enum dtype type, accumulator;
    int type_bytes, accumulator_bytes;
};

/* STATUS_INVALID, naming what the chip lacks. */
enum status cubefx_machine_find(const struct hardware *hw, enum dtype type,
                                struct cubefx_machine *machine, struct error *error);

/* One core's share of a problem. */
struct cubefx_share {
    int64_t inputs; /* padded to s² */
    int64_t order, functions;
    int64_t window; /* of baselines: the last function is summed over so many rows of 16 inputs, a
                       power of two; at most 1: it is not */
};

/* A tiling in numbers; for values within 1 … s, 1 … share->inputs and 1 … ⌈s/merge⌉ (others are
 * taken as the nearest of these). A step multiplies the tile's logarithms, rows × s, with `merge`
 * Sequence Matrices, s × powers, and the powers, rows × powers, with `merge` coefficient matrices,
 * powers × outputs. */
struct cubefx_plan {
    struct tiles tiles;      /* of inputs */
    struct tiles groups;     /* of a tile's steps: slice steps in each, `last` in the last */
    int64_t rows, last_rows; /* of a tile and of the last one: inputs / s */
    int64_t powers, outputs; /* ⌈K·merge/s⌉·s and ⌈J·merge/s⌉·s */
    int64_t steps;           /* ⌈s/merge⌉ */
    int64_t sequence_bytes;  /* of one step's Sequence Matrices, s × powers */
    int64_t coefficient_bytes;
    bool sequences_stay; /* all in L0B; otherwise each group's are fed again, to two places in turn
                          */
    int copies;          /* of what alternates from group to group: 2 if there is more than one */
    int64_t second_rows, second_steps; /* the most that the second copy holds */
};

void cubefx_plan(const struct cubefx_machine *machine, const struct cubefx_share *share,
                 const struct tiling *tiling, struct cubefx_plan *plan);

/* Appends the pipeline for all inputs of one core and closes the program. Results leave tile by
 * tile, in each step by step, rows × outputs: input r·s + i·merge + c of a tile has its J values at
 * row r of step i, from column c·J on. */
enum status cubefx_program(const struct cubefx_machine *machine, const struct cubefx_share *share,
                           const struct tiling *tiling, struct program *program,
                           struct error *error);

/* The same functions by vector instructions alone, each function on its own. CORDIC takes its
 * number of iterations from `order`. Sums over windows are as audio_features.kernel has them. */
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

/* What the thesis measured of it (kernels/chapter.h). */
extern const struct chapter cubefx_chapter, precision_chapter;

#endif
