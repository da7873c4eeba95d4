/* k-NN: the k nearest of N training points for each of M test points, by cosine distance (Y. Tang,
 * thesis, chapter 3, SelB-k-NN).
 *
 * Two stages. Distances: tiles of m1 × n1 of the product of M×d test and d×N training points, a
 * MatMul each. Selection: tiles of m2 × n2 of a distance tile; each carries the k smallest
 * distances and their indices of every row on to the next tile along n (Alg. 4).
 *
 * knn.c is the operator and which tilings exist, knn_search.c how they are searched with the costs
 * of knn_costs.c; knn_selection.c writes Alg. 4, knn_baselines.c what it is compared with, both
 * with knn_emitter.h. */
#ifndef AUTOTUNE_KERNELS_KNN_KNN_H
#define AUTOTUNE_KERNELS_KNN_KNN_H

#include "kernels/matmul/matmul.h"

enum knn_size { KNN_M, KNN_D, KNN_N, KNN_K, KNN_SIZES };
/* An index in a selection tile has 16 bits; with Alg. 6 it is read as FP16, where NaN begins at
 * 31745. */
enum { KNN_MAX_K = 4096, KNN_MAX_TILE = 65536, KNN_MAX_VECTOR_INDEX = 31744 };

/* How the selection kernel is written and how its work is counted. */
enum knn_choice {
    KNN_LOOP,    /* enum knn_loop */
    KNN_COMPARE, /* enum knn_compare */
    KNN_INDEX,   /* enum knn_index */
    KNN_STEPS,   /* enum knn_steps */
    KNN_CHOICES,
};
enum knn_loop { KNN_LOOP_EARLY, KNN_LOOP_FULL };             /* full: all k·m2 row tests run */
enum knn_compare { KNN_COMPARE_HARDWARE, KNN_COMPARE_RELU }; /* relu: Alg. 5, no vecCmp, vecSel */
enum knn_index { KNN_INDEX_HARDWARE, KNN_INDEX_VECTOR };     /* vector: Alg. 6 */
enum knn_steps { KNN_STEPS_MEAN, KNN_STEPS_MAX };            /* k/t, or E[max over a tile's rows] */

extern const struct operator knn_operator;
extern const struct operator_space knn_selb;

/* The first axes are the space; the rest, which no user sets, is the distance tile's own MatMul
 * tiling (enum thesis_axis), 0 until the search has chosen it. */
enum knn_axis { KNN_M1, KNN_N1, KNN_M2, KNN_N2, KNN_CORES, KNN_AXES, KNN_DISTANCE = KNN_AXES };

/* Programs of a tiling: a distance tile; a selection tile in which no row is updated (g0); one with
 * a single step (g is the difference); one with all k steps, as the first tile along n. */
enum knn_part { KNN_PART_DISTANCE, KNN_PART_IDLE, KNN_PART_STEP, KNN_PART_FULL, KNN_PARTS };

/* The places of a chip that a selection needs; -1 for an operation that only some variants use and
 * the chip lacks (a generator asks). */
struct knn_machine {
    const struct hardware *hw;
    int ub;
    int load, store;                /* paths gm->ub, ub->gm */
    int mte2, vector, scalar, mte3; /* pipes */
    int reduce_min, reduce_max, compare, select, duplicate;
    int relu, subtract, and, or, not ; /* operations */
    int branch, assign;
};

/* STATUS_INVALID names what no variant can do without: f16, UB and its paths, reduceMin, vecDup,
 * branch and assign, four pipes, a scalar pipe that blocks dispatch. */
enum status knn_machine_find(const struct hardware *hw, enum dtype type,
                             struct knn_machine *machine, struct error *error);

/* One selection tile: rows × columns distances. */
struct knn_tile {
    int64_t rows, columns, k;
    enum dtype type;
    enum knn_loop loop;
    enum knn_compare compare;
    enum knn_index index;
};

/* Bytes of UB that the selection program of a tile uses, all its arrays; INT64_MAX when they do not
 * fit in an int64. */
int64_t knn_selection_ub_bytes(const struct knn_machine *machine, const struct knn_tile *tile);

/* Appends Alg. 4 for one tile and closes the program: load distances and the carried results,
 * `steps` steps (<= k) that update every row, then, where `failing`, a step after whose test every
 * row is masked (after k steps there is none); store the results. STATUS_INVALID for sizes below 1,
 * steps outside 0 … k and variants that the chip cannot run. */
enum status knn_selection_program(const struct knn_machine *machine, const struct knn_tile *tile,
                                  int64_t steps, bool failing, struct program *program,
                                  struct error *error);

/* What the selection is compared with, for a whole tile without early exit: a bitonic k-selection,
 * and heaps of k, of which `rebuilds` (<= columns) of the n2 columns re-heap (knn_heap_rebuilds for
 * random data). Both take the distances transposed: columns × rows. The bitonic selection goes
 * through UB in as few equal chunks of columns as fit. The loop and index choices do not apply. */
int64_t knn_bitonic_ub_bytes(const struct knn_machine *machine, const struct knn_tile *tile);
int64_t knn_heap_ub_bytes(const struct knn_machine *machine, const struct knn_tile *tile);
enum status knn_bitonic_program(const struct knn_machine *machine, const struct knn_tile *tile,
                                struct program *program, struct error *error);
enum status knn_heap_program(const struct knn_machine *machine, const struct knn_tile *tile,
                             int64_t rebuilds, struct program *program, struct error *error);

/* Expected number of columns at which at least one of the rows takes a new value, for random data
 * of which `before` columns have already been seen: Σ 1 − (1 − min(1, k/i))^rows. */
double knn_heap_rebuilds(const struct knn_tile *tile, int64_t before);

/* What the thesis measured of it (kernels/chapter.h). */
extern const struct chapter knn_chapter;

#endif
