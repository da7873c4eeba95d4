/* One kernel of a bank: a product, the tiling it ran with, and how long that took.
 *
 * Banks come in several forms (formats/bank.h reads and writes them); a row is what they have in
 * common, as plain numbers. kernels/matmul/matmul_bank.h turns a row into a problem and a tiling.
 */
#ifndef AUTOTUNE_FORMATS_BANK_ROW_H
#define AUTOTUNE_FORMATS_BANK_ROW_H

#include "core/dtype.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum bank_format {
    BANK_REPOSITORY,  /* JSON lines: shape, tiling (51 numbers), cost_time */
    BANK_STATIC,      /* one object, keyed by a hash of the problem: arrays of kernels */
    BANK_RUNTIME_KB,  /* JSON lines: info_dict, knowledge (TCubeTiling's fields) */
    BANK_TCUBETILING, /* objects with the 50 fields of AscendC's TCubeTiling */
    BANK_FORMATS,
};

/* The tiling of a repository row in its order; a static bank says the same by name. L1 tiles are
 * in elements of k and multiples of the L0 tile, L0 tiles in blocks of 16 by 16, or by
 * bank_block_k along k. */
enum bank_number {
    BANK_AL1_BUFFERS,
    BANK_A_OVERHEAD,
    BANK_BATCH_DIM,
    BANK_M_DIM,
    BANK_GROUP_DIM,
    BANK_AL1_K,
    BANK_AL1_M,
    BANK_AL1_BATCH,
    BANK_AL1_GROUP,
    BANK_AUB_BUFFERS,
    BANK_AUB_SHAPE,
    BANK_BL1_BUFFERS = BANK_AUB_SHAPE + 4,
    BANK_B_OVERHEAD,
    BANK_N_DIM,
    BANK_BL1_K,
    BANK_BL1_N,
    BANK_BL1_BATCH,
    BANK_BL1_GROUP,
    BANK_BUB_BUFFERS,
    BANK_BUB_SHAPE,
    BANK_AL0_BUFFERS = BANK_BUB_SHAPE + 4,
    BANK_AL0_M,
    BANK_AL0_K,
    BANK_AL0_BATCH,
    BANK_AL0_GROUP,
    BANK_BL0_BUFFERS,
    BANK_BL0_K,
    BANK_BL0_N,
    BANK_BL0_BATCH,
    BANK_BL0_GROUP,
    BANK_CL0_BUFFERS,
    BANK_CL0_M,
    BANK_CL0_N,
    BANK_CL0_BATCH,
    BANK_CL0_GROUP,
    BANK_CUB_BUFFERS,
    BANK_CUB_N,
    BANK_CUB_M,
    BANK_CUB_BATCH,
    BANK_CUB_GROUP,
    BANK_CUB_CHANNEL_WISE,
    BANK_UBG_BUFFERS,
    BANK_N_BEFORE_BATCH,
    BANK_N_BEFORE_GROUP,
    BANK_BATCH_BEFORE_GROUP,
    BANK_NUMBERS, /* 51 */
};

/* In place of a number: `[]`, the core's whole operand; null, not by way of this buffer. */
enum { BANK_WHOLE = -1, BANK_ABSENT = -2 };

/* TCubeTiling's fields in its order, then those that only runtime tables have. */
enum bank_field {
    BANK_USED_CORES,
    BANK_M,
    BANK_N,
    BANK_KA,
    BANK_KB,
    BANK_SINGLE_M,
    BANK_SINGLE_N,
    BANK_SINGLE_K,
    BANK_BASE_M,
    BANK_BASE_N,
    BANK_BASE_K,
    BANK_DEPTH_A1,
    BANK_DEPTH_B1,
    BANK_STEP_M,
    BANK_STEP_N,
    BANK_IS_BIAS,
    BANK_TRANS_LENGTH,
    BANK_ITERATE_ORDER, /* 0: along m first */
    BANK_SHARE_MODE,
    BANK_SHARE_L1,
    BANK_SHARE_L0C,
    BANK_SHARE_UB,
    BANK_BATCH_M,
    BANK_BATCH_N,
    BANK_SINGLE_BATCH_M,
    BANK_SINGLE_BATCH_N,
    BANK_STEP_KA,
    BANK_STEP_KB,
    BANK_DEPTH_A_UB,
    BANK_DEPTH_B_UB,
    BANK_DB_L0A,
    BANK_DB_L0B,
    BANK_DB_L0C,
    BANK_A_LAYOUT, /* five each: batch, rows, heads, groups, columns */
    BANK_B_LAYOUT = BANK_A_LAYOUT + 5,
    BANK_C_LAYOUT = BANK_B_LAYOUT + 5,
    BANK_BATCH_COUNT = BANK_C_LAYOUT + 5,
    BANK_RESERVED,
    BANK_TCUBE_FIELDS, /* 50 */
    BANK_L2_M_TILES = BANK_TCUBE_FIELDS,
    BANK_L2_N_TILES,
    BANK_L2_M_BLOCKS,
    BANK_L2_N_BLOCKS,
    BANK_L2_ORDER,
    BANK_TILING_ENABLE, /* decimal digits: units split of k, tens full load, thousands fix-pipe */
    BANK_FIELDS,
};

/* Members of ours in a TCubeTiling, which has no words for types: of A and B, and of C. Without
 * them both are FP16. */
#define BANK_TYPE_MEMBER     "a_dtype"
#define BANK_OUT_TYPE_MEMBER "out_dtype"

/* And for how A and B are stored: true where it is transposed; false without them. */
#define BANK_TRANSPOSE_A_MEMBER "transpose_a"
#define BANK_TRANSPOSE_B_MEMBER "transpose_b"

/* Names as the files spell them: "usedCoreNum", …, "tilingEnable". */
extern const char *const bank_field_names[BANK_FIELDS];

struct bank_row {
    enum bank_format format;
    int record;      /* from 1 */
    int line;        /* where the record starts, from 1 */
    int batch_type;  /* as recorded; -1: not said */
    int64_t m, k, n; /* elements, as recorded: some banks say multiples of 16 only */
    int64_t batch;
    bool transpose_a, transpose_b;
    bool nz_a, nz_b, nz_c; /* 16×16 blocks instead of row by row */
    bool bias;
    bool share_b; /* one B for the whole batch */
    enum dtype type, out_type;
    double measured_ns; /* 0: not measured */
    const char *unfit;  /* why the row is no measurement to compare with; NULL: none (static) */
    /* BANK_REPOSITORY, BANK_STATIC: enum bank_number; else enum bank_field, 0 where not said. */
    int32_t number[BANK_FIELDS];
    const char *text; /* the record as it stands in the file; NULL: not kept */
    size_t text_length;
    const char *key; /* BANK_STATIC: of the array that holds it; else NULL */
};

/* Elements of k in a block: CANN's are of 32 bytes in every type. */
static inline int bank_block_k(enum dtype type)
{
    return 32 / dtype_bytes(type);
}

/* Do the tiling's numbers follow enum bank_number? */
static inline bool bank_has_numbers(const struct bank_row *row)
{
    return row->format == BANK_REPOSITORY || row->format == BANK_STATIC;
}

#endif
