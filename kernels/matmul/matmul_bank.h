/* A bank's row as a problem and a tiling of the space `cann`, and back. */
#ifndef AUTOTUNE_KERNELS_MATMUL_MATMUL_BANK_H
#define AUTOTUNE_KERNELS_MATMUL_MATMUL_BANK_H

#include "formats/bank_row.h"
#include "kernels/matmul/matmul_cann.h"
#include "kernels/operator_bank.h"

/* See struct operator_bank; tilings are of the space `cann`. */
enum status matmul_bank_problem(const struct bank_row *row, struct problem *problem,
                                struct error *error);
enum status matmul_bank_tiling(const struct bank_row *row, const struct problem *problem,
                               struct tiling *tiling, struct error *error);
enum status matmul_bank_row(const struct problem *problem, const struct tiling *tiling,
                            enum bank_format format, struct bank_row *row, struct error *error);

/* The order of loops that the kernels of CANN's bank choose for a tiling whose other values are
 * given: their form has no word for it. */
enum cann_outer matmul_bank_outer(const struct tiling *tiling);

/* Even tilings: all that is cut is cut evenly, counted in blocks of the matrix unit: the grid
 * divides m, n and the batch, L0 tiles divide a core's block and k, L1 tiles the core's L0 tiles.
 * See struct operator_bank. */
bool matmul_even_grid(const struct space *space, int64_t cores);
void matmul_even_tilings(const struct space *space, const struct bank_row *row, int64_t least_cores,
                         tiling_visitor *visit, void *context);

/* All of them. */
extern const struct operator_bank matmul_bank;

#endif
