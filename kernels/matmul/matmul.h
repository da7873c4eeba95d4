/* MatMul: C[m×n] = A[m×k]·B[k×n] (Y. Tang, thesis, 2.4.2). */
#ifndef AUTOTUNE_KERNELS_MATMUL_MATMUL_H
#define AUTOTUNE_KERNELS_MATMUL_MATMUL_H

#include "core/operator.h"
#include "kernels/slices.h"

enum matmul_size { MATMUL_M, MATMUL_K, MATMUL_N, MATMUL_BATCH, MATMUL_SIZES };

extern const struct operator matmul_operator;

/* The thesis's space: slices along m, k, n, one or two control flows, what stays in L1, and the
 * direction that is split over the cores. */
extern const struct operator_space matmul_thesis;

enum thesis_axis {
    THESIS_M,
    THESIS_K,
    THESIS_N,        /* slices, in elements */
    THESIS_BUFFERS,  /* control flows: buffers of L0A, L0B and of what is reloaded */
    THESIS_RESIDENT, /* enum thesis_resident */
    THESIS_SPLIT,    /* enum thesis_split */
    THESIS_CORES,    /* that work, all on equal shares */
    THESIS_AXES,
};

enum thesis_resident { RESIDENT_BOTH, RESIDENT_A, RESIDENT_B, RESIDENT_NONE, RESIDENT_KINDS };
enum thesis_split { SPLIT_M, SPLIT_N, SPLIT_BATCH, SPLIT_BATCH_M, SPLIT_BATCH_N, SPLIT_KINDS };

/* The places of a chip that a MatMul needs: where its tiles live and what moves them. */
struct matmul_machine {
    const struct hardware *hw;
    int l1, l0a, l0b, l0c, ub;              /* buffers */
    int load, feed_a, feed_b, drain, store; /* paths */
    int load_price, feed_a_price, feed_b_price, drain_price, store_price, matrix_price;
    int mte2, mte1, matrix, vector, mte3; /* the pipes of these paths and of mmad */
    int block, block_k;                   /* of the matrix unit: along m and n, and along k */
    enum dtype type, accumulator, out;    /* of the operands, in L0C, of C */
    int type_bytes, accumulator_bytes, out_bytes;
};

/* STATUS_INVALID, naming what the chip lacks. */
enum status matmul_machine_find(const struct hardware *hw, enum dtype type, enum dtype out,
                                struct matmul_machine *machine, struct error *error);

/* A time that no product of m×k×n, in whole blocks, takes less than on `cores` cores: its
 * operations at the matrix unit's peak, or A and B in and C out, once. */
double matmul_roofline_ns(const struct matmul_machine *machine, int64_t m, int64_t k, int64_t n,
                          int cores);

#endif
