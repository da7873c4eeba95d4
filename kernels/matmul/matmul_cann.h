/* The tilings that operator libraries use (space `cann`): a grid of blocks over cores, L1 and L0
 * tiles apart, what stays where, double buffering of each buffer (AscendC's TCubeTiling; CANN's
 * MatMul bank).
 *
 * The product of one batch is cut into blocks of single_m × single_n, the whole k each; `cores`
 * cores take batch · ceil(m/single_m) · ceil(n/single_n) blocks in turns, and the time is that of
 * the core with most of them (all working cores run its program in step). With split_k > 1 there
 * are so many blocks of a part of k each for every one of these, on a core of its own, and the
 * vector cores add them up (matmul_cann_split.c). One core's program is a
 * nest of loops, each of which cuts one direction of what its parent gave it into equal tiles and
 * a rest (outer = m; outer = n swaps both pairs of m and n, outer = m_n that of the L0 tiles):
 *
 *   batch groups   max(step_batch_a, step_batch_b) blocks, then min(…), then 1
 *   L1 tiles       m by step_m·base_m, then n by step_n·base_n
 *   L0 tiles       m by base_m, then n by base_n
 *   K chunks       k by the larger of step_ka·base_k and step_kb·base_k, then by the smaller
 *   K steps        k by base_k: one mmad
 *
 * Every operand is held in L1 and in L0 over a scope, the body of one of these loops: the tile is
 * fetched when the scope begins and given up when it ends. The scope of A in L1 is the loop that
 * gives it its size (step_ka·base_k of k, step_m·base_m of m); the scope in L0 the K steps; each
 * widens outwards over loops that run once (in every full tile that they cut) or cut a direction
 * the operand does not have, so that nothing is fetched again while its index stays. With l0b_holds
 * = slab all of the core's B stands in L0B. C is held in L0C over the K loops of one L0 tile, then
 * leaves through FIXP.
 *
 * Each buffer of depth 2 runs one scope ahead. In the body of a loop the loads of an operand with
 * two buffers stand before those of one with a single buffer, which waits. Loads that miss the
 * cache move from behind it (core/hardware.h, struct cache).
 *
 * The space `static` has those that do not split k; CANN's static bank has words for no others.
 * The space `tcube` has the tilings that a TCubeTiling has words for, parts of k as MatMulV3 takes
 * them among these (matmul_cann_split.c), and AscendC's template runs
 * them: where both buffers of L1 are single and both operands are loaded by the same loop, parts of
 * A and B are one set, and loading it does not overlap with feeding it (struct cann_plan). */
#ifndef AUTOTUNE_KERNELS_MATMUL_MATMUL_CANN_H
#define AUTOTUNE_KERNELS_MATMUL_MATMUL_CANN_H

#include "kernels/matmul/matmul.h"

extern const struct operator_space matmul_cann, matmul_static, matmul_tcube;

/* Sizes in elements, steps in tiles of the size they multiply. In the order of the nested search:
 * what decides most comes first. */
enum cann_axis {
    CANN_SINGLE_M,
    CANN_SINGLE_N,
    CANN_SPLIT_K, /* parts of k, each on cores of its own */
    CANN_CORES,   /* that work */
    CANN_OUTER,   /* enum cann_outer */
    CANN_BASE_M,
    CANN_BASE_N,
    CANN_BASE_K,
    CANN_L0B_HOLDS, /* enum cann_holds */
    CANN_STEP_KA,
    CANN_STEP_KB,
    CANN_STEP_M,
    CANN_STEP_N,
    CANN_STEP_BATCH_A, /* blocks of a batch whose operands are loaded at once */
    CANN_STEP_BATCH_B,
    CANN_L1A_BUFFERS, /* 1 or 2, as all of these */
    CANN_L1B_BUFFERS,
    CANN_L0A_BUFFERS,
    CANN_L0B_BUFFERS,
    CANN_L0C_BUFFERS,
    CANN_AXES,
};

/* Whose tiles run in the outer loop; OUTER_M_N: m's of the L1 tiles, n's of the L0 tiles. */
enum cann_outer { OUTER_M, OUTER_N, OUTER_M_N, OUTER_KINDS };
enum cann_holds { HOLDS_TILE, HOLDS_SLAB, HOLDS_KINDS };

/* How operands lie in global memory, and what else the kernel does: choices of the operator
 * (`--a-layout nd`), in the order of matmul_operator.choices. The space `thesis` knows the first
 * value of each only, but every result type. */
enum matmul_choice {
    MATMUL_TRANSPOSE, /* none, a, b, both: which operands are stored transposed */
    MATMUL_A_LAYOUT,  /* nd: row by row; nz: 16×16 blocks, as the matrix unit takes them */
    MATMUL_B_LAYOUT,
    MATMUL_C_LAYOUT,
    MATMUL_BIAS,     /* no, yes: a row of n added to C */
    MATMUL_OUT_TYPE, /* enum choice_type */
    MATMUL_SHARE_B,  /* no, yes: one B for the whole batch */
    MATMUL_CHOICES,
};

#endif
