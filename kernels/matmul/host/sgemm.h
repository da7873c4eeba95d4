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

/* STATUS_INVALID for sizes below 1, values that no tiling has, and an instruction set that is
 * not host_isa_has(). Tiles larger than the product are cut to it, and begin at whole vectors.
 * *plan belongs to the caller. */
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

/* C = alpha·op(A)·op(B) + beta·C, as BLAS has it: with beta = 0 what was in C does not count. */
struct sgemm_operands {
    const float *a, *b;
    float *c;
    int64_t lda, ldb, ldc;         /* floats from one row, as it is stored, to the next */
    bool transpose_a, transpose_b; /* stored are k×m, n×k */
    float alpha, beta;
};

/* By a plan of tiles for more than SGEMM_THIN rows, which packs what is transposed, and A where
 * alpha is not 1. */
void sgemm_run_operands(const struct sgemm_plan *plan, float *workspace,
                        const struct sgemm_operands *operands);

/* The same of at most SGEMM_THIN rows or columns, without a plan: B's elements, A's where it is the
 * columns that are few, are read once and as they lie. Of `threads` threads each has columns of its
 * own. `workspace`: sgemm_thin_floats() of them. */
enum { SGEMM_THIN = 4 };
int64_t sgemm_thin_floats(int64_t m, int64_t k, int64_t n);
void sgemm_thin(enum host_isa isa, int threads, int64_t m, int64_t k, int64_t n,
                const struct sgemm_operands *operands, float *workspace);

/* Is C the product of A and B? Reference values are sums in double precision; small products are
 * compared in full, large ones by rows: some fixed ones, and the row that a random combination of
 * the columns (Freivalds 1977) shows to be furthest off. Of sgemm_run.c. */
struct sgemm_check;

/* Keeps the operands, which must outlive it. *result belongs to the caller. */
enum status sgemm_check_new(int64_t m, int64_t k, int64_t n, const float *a, const float *b,
                            uint64_t seed, struct sgemm_check **result, struct error *error);
void sgemm_check_free(struct sgemm_check *check);

/* The largest error of C's elements looked at, relative to the sum of the products' absolute
 * values; INFINITY where one is no number. *sampled: not all were looked at. */
void sgemm_check_errors(struct sgemm_check *check, const float *c, double *largest, bool *sampled);

/* Errors up to this are rounding: a chain of k additions in FP32 is off by about √k half units in
 * the last place of the absolute sum (Higham and Mary, SIAM J. Sci. Comput. 41, 2019); far below
 * that of one product left out or counted twice. */
double sgemm_allowed_error(int64_t k);

#endif
