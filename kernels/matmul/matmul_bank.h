/* A bank's row as a problem and a tiling of the space `cann`, and back. */
#ifndef AUTOTUNE_KERNELS_MATMUL_MATMUL_BANK_H
#define AUTOTUNE_KERNELS_MATMUL_MATMUL_BANK_H

#include "formats/bank_row.h"
#include "kernels/matmul/matmul_cann.h"
#include "kernels/operator_bank.h"

/* What the row computes, with its choices (layouts, bias, transposes …). STATUS_INVALID when
 * MatMul has no such problem. */
enum status matmul_bank_problem(const struct bank_row *row, struct problem *problem,
                                struct error *error);

/* The tiling that the row's kernel ran with. STATUS_INVALID says what the space has no words for:
 * a core's k split over rounds, a kernel without L1 … Legality on a chip is not asked. */
enum status matmul_bank_tiling(const struct bank_row *row, const struct problem *problem,
                               struct tiling *tiling, struct error *error);

/* A row of `format` that says this tiling; measured_ns, text and key are left empty. What the
 * format has no word for is STATUS_INVALID. */
enum status matmul_bank_row(const struct problem *problem, const struct tiling *tiling,
                            enum bank_format format, struct bank_row *row, struct error *error);

/* Reads "single_m=128,single_n=…" without a problem or a chip; every axis must be given once. */
enum status matmul_bank_parse(const char *text, struct tiling *tiling, struct error *error);

/* The four of them. */
extern const struct operator_bank matmul_bank;

#endif
