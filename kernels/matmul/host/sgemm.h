/* FP32 matrix products on the host: C[m×n] = A[m×k]·B[k×n], row-major and dense, as one tiling of
 * space `host` says (kernels/matmul/host/matmul_host.h).
 *
 *   sgemm_plan(isa, m, k, n, threads, &tiling, &plan, &error)
 *   sgemm_run(plan, a, b, c)        as often as you like
 *   sgemm_free(plan)
 *
 * Such a plan owns its workspace: one run of it at a time. A shared plan has none and never
 * changes: any number of runs at a time, each in a workspace of its own. Operands may be aligned as
 * floats are; no element outside of them is read or written. C is overwritten. */
#ifndef AUTOTUNE_KERNELS_MATMUL_HOST_SGEMM_H
#define AUTOTUNE_KERNELS_MATMUL_HOST_SGEMM_H

#include "core/status.h"
#include "kernels/matmul/host/matmul_host.h"

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

/* The same for many runs at a time: a workspace (NULL where none is needed) is at least as large as
 * the plan says; from sgemm_workspace, NULL without memory, to be freed by free(). */
enum status sgemm_plan_shared(enum host_isa isa, int64_t m, int64_t k, int64_t n, int threads,
                              const struct tiling *tiling, struct sgemm_plan **plan,
                              struct error *error);
float *sgemm_workspace(int64_t bytes);
void sgemm_run_in(const struct sgemm_plan *plan, float *workspace, const float *a, const float *b,
                  float *c);

#endif
