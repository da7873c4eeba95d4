/* Parts of k in rows of TCubeTiling's fields: what of them is read, and in which words they are
 * written. Internal to matmul_bank.c. */
#ifndef AUTOTUNE_KERNELS_MATMUL_MATMUL_BANK_PARTS_H
#define AUTOTUNE_KERNELS_MATMUL_MATMUL_BANK_PARTS_H

#include "formats/bank_row.h"
#include "kernels/matmul/matmul.h"

/* The k of a part: in whole blocks, the last one's may be less. */
int64_t matmul_bank_part_k(const struct problem *problem, int64_t parts);

/* Does the row split k as the space tcube does, or not at all? STATUS_INVALID says what else it
 * does. `blocks`: of singleCoreM by singleCoreN, in all. */
enum status matmul_bank_check_parts(const struct bank_row *row, const struct problem *problem,
                                    int64_t blocks, struct error *error);

/* Changes the fields of a row that is written as of one part, where the tiling has several. */
enum status matmul_bank_put_parts(const struct problem *problem, const struct tiling *tiling,
                                  struct bank_row *row, struct error *error);

#endif
