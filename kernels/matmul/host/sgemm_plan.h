/* Internal to the FP32 product: a plan, which sgemm_plan.c makes and sgemm.c runs. */
#ifndef AUTOTUNE_KERNELS_MATMUL_HOST_SGEMM_PLAN_H
#define AUTOTUNE_KERNELS_MATMUL_HOST_SGEMM_PLAN_H

#include "kernels/matmul/host/sgemm.h"
#include "kernels/matmul/host/sgemm_code.h"

struct sgemm_plan {
    const struct sgemm_code *code;
    const struct matmul_host_kernel *kernel;
    int64_t m, k, n;
    int64_t m_tile, k_tile, n_tile;
    bool pack_a, pack_b, m_outer, stream, sweep;
    int threads; /* that have work */
    int64_t split, unit;
    float *packed; /* of each thread A's, then B's tile */
    int64_t packed_a, packed_b, workspace_bytes;
    sgemm_tile_code *whole; /* NULL, or one call of it is the product: for the smallest ones */
    struct sgemm_step step; /* of that call */
};

/* Few rows wait for B, which is best read as it lies, a few rows at a time, beside a piece of C
 * that stays in the L1: whatever the tiles, unless B is to be packed or all of C is in registers.
 */
enum { SWEPT_FLOATS = 4096 }; /* of C */

static inline int64_t sgemm_vectors(const struct sgemm_plan *plan, int64_t columns)
{
    return (columns + plan->code->lanes - 1) / plan->code->lanes;
}

/* Copies a tile of A (rows i, depth p), of B (depth p, columns j) into the order in which
 * micro-kernels read it: panel after panel. A's times alpha. */
void sgemm_pack_a(const struct sgemm_plan *plan, const struct sgemm_operands *o,
                  const struct host_share *i, const struct host_share *p, float *packed);
void sgemm_pack_b(const struct sgemm_plan *plan, const struct sgemm_operands *o,
                  const struct host_share *p, const struct host_share *j, float *packed);

#endif
