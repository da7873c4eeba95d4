/* Internal to the FP32 product: what is compiled once for every instruction set.
 *
 * sgemm_portable.c, sgemm_neon.c, sgemm_avx2.c and sgemm_avx512.c define a vector and a few
 * operations on it and include sgemm_template.h, which fills one struct sgemm_code. Nothing here
 * checks its arguments: sgemm.c plans so that they are right. */
#ifndef AUTOTUNE_KERNELS_MATMUL_HOST_SGEMM_CODE_H
#define AUTOTUNE_KERNELS_MATMUL_HOST_SGEMM_CODE_H

#include "core/host.h"
#include "kernels/each_row.h"
#include "kernels/unrolled.h"

#include <stdbool.h>
#include <stdint.h>

/* Four floats at once; every processor has something for it. */
typedef float quad __attribute__((vector_size(16), aligned(4), may_alias));

enum {
    SGEMM_MAX_ROWS = 28, /* of a micro-kernel with one vector */
    SGEMM_MAX_VECTORS = 8,
    SGEMM_MAX_DOT_ROWS = 8,
    SGEMM_MAX_DOT_COLUMNS = 8,
    SGEMM_MAX_SWEEP_ROWS = 4,
    SGEMM_SWEEP_STEPS = 4, /* rows of B that a sweep reads at once */
};

/* Every micro-kernel, F(rows, vectors), and every dot kernel, F(rows, columns): for each number of
 * vectors as many rows as fit the registers of AVX-512. */
#define EACH_TILE(F)                                                                               \
    EACH_ROW_28(1, F)                                                                              \
    EACH_ROW_14(2, F)                                                                              \
    EACH_ROW_9(3, F)                                                                               \
    EACH_ROW_6(4, F) EACH_ROW_5(5, F) EACH_ROW_4(6, F) EACH_ROW_3(7, F) EACH_ROW_3(8, F)
#define EACH_DOT(F)                                                                                \
    EACH_ROW_8(1, F)                                                                               \
    EACH_ROW_8(2, F)                                                                               \
    EACH_ROW_8(3, F)                                                                               \
    EACH_ROW_6(4, F) EACH_ROW_5(5, F) EACH_ROW_4(6, F) EACH_ROW_3(7, F) EACH_ROW_3(8, F)

/* What calls of micro-kernels within one tile have in common; distances between rows in floats. */
struct sgemm_step {
    int64_t k, lda, ldb, ldc;
    int64_t columns; /* of a sweep */
    int tail;        /* floats of the last vector that are columns of C, of masked kernels */
    bool accumulate; /* adds to C */
    bool stream;     /* writes C past the caches: its vectors are aligned */
};

/* C[r][v] (+)= A·B for fixed numbers of rows and vectors. Packed: A is k × rows, k slowest. */
typedef void sgemm_tile_code(const struct sgemm_step *step, const float *a, const float *b,
                             float *c);

/* Rows of A (lda apart) times columns of B, each contiguous (ldb apart), into C. */
typedef sgemm_tile_code sgemm_dot_code;

/* All rows of a few columns of a B that is read as it lies, row by row: `columns` of it, for a few
 * rows of A and C. */
typedef sgemm_tile_code sgemm_sweep_code;

struct sgemm_code {
    int lanes;
    /* [packed A][masked last vector][vectors - 1][rows - 1]; NULL where there is none. */
    sgemm_tile_code *tile[2][2][SGEMM_MAX_VECTORS][SGEMM_MAX_ROWS];
    sgemm_dot_code *dot[SGEMM_MAX_DOT_COLUMNS][SGEMM_MAX_DOT_ROWS];
    /* The same, where one or two sums would wait for each other: several k are summed apart. For
     * products of one call, so that no result depends on what it was computed together with. */
    sgemm_tile_code *apart[2][2][2]; /* [masked][vectors - 1][rows - 1], unpacked */
    sgemm_dot_code *dot_apart[2];    /* [rows - 1], of one column */
    sgemm_sweep_code *sweep[SGEMM_MAX_SWEEP_ROWS];
    /* Rows × k of A, k slowest. */
    void (*pack_a)(const float *a, int64_t lda, int64_t rows, int64_t k, float *packed);
    /* k × columns of B, row by row, with zeros up to whole vectors. */
    void (*pack_b)(const float *b, int64_t ldb, int64_t columns, int64_t k, float *packed);
    /* k × columns of B, column by column. */
    void (*transpose_b)(const float *b, int64_t ldb, int64_t columns, int64_t k, float *packed);
    void (*finish)(void); /* after streaming: what was written is seen by others */
};

extern const struct sgemm_code sgemm_code_portable, sgemm_code_neon, sgemm_code_avx2,
    sgemm_code_avx512;

/* The table of an instruction set that host_isa_has. */
const struct sgemm_code *sgemm_code_of(enum host_isa isa);

#endif
