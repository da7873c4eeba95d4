/* FP32 matrix products on the host: C[m×n] = A[m×k]·B[k×n], row-major and dense, as one tiling of
 * space `host` says (kernels/matmul_host.h).
 *
 *   sgemm_plan(isa, m, k, n, threads, &tiling, &plan, &error)
 *   sgemm_run(plan, a, b, c)        as often as you like
 *   sgemm_free(plan)
 *
 * A plan owns its workspace: one run of it at a time. Operands may be aligned as floats are; no
 * element outside of them is read or written. C is overwritten. */
#ifndef AUTOTUNE_VALIDATE_HOST_SGEMM_H
#define AUTOTUNE_VALIDATE_HOST_SGEMM_H

#include "core/status.h"
#include "kernels/matmul_host.h"

struct sgemm_plan;

/* STATUS_INVALID for sizes below 1, values that no tiling has, and an instruction set beyond
 * host_isa_best(). Tiles larger than the product are cut to it, and
 * begin at whole vectors. *plan belongs to the caller. */
enum status sgemm_plan(enum host_isa isa, int64_t m, int64_t k, int64_t n, int threads,
                       const struct tiling *tiling, struct sgemm_plan **plan, struct error *error);
void sgemm_run(const struct sgemm_plan *plan, const float *a, const float *b, float *c);
void sgemm_free(struct sgemm_plan *plan);

/* Of all threads, for packed operands. */
int64_t sgemm_workspace_bytes(const struct sgemm_plan *plan);

#endif
