/* Even tilings of the space `cann`: those that an operator library's tuner chooses from. All that
 * is cut is cut evenly, counted in blocks of the matrix unit: the grid divides m, n and the batch,
 * L0 tiles divide a core's block and k, L1 tiles the core's L0 tiles. */
#ifndef AUTOTUNE_KERNELS_MATMUL_MATMUL_EVEN_H
#define AUTOTUNE_KERNELS_MATMUL_MATMUL_EVEN_H

#include "kernels/matmul/matmul_cann.h"
#include "kernels/operator_bank.h"

/* The order of loops that the kernels of CANN's bank choose for a tiling whose other values are
 * given: their form has no word for it. */
enum cann_outer matmul_bank_outer(const struct tiling *tiling);

/* See struct operator_bank. */
bool matmul_even_grid(const struct space *space, int64_t cores);
void matmul_even_tilings(const struct space *space, const struct bank_row *row, int64_t least_cores,
                         tiling_visitor *visit, void *context);

#endif
