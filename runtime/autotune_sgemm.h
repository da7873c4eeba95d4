/* Products of FP32 matrices with tilings that `autotune` has tuned on this processor.
 *
 *   autotune --op matmul --shape 512x1024x512 --hw host --validate 40 --format csv >> table.csv
 *
 *   struct autotune_sgemm *sgemm = autotune_sgemm_open("table.csv", 1, message, sizeof message);
 *   autotune_sgemm(sgemm, m, k, n, a, b, c);        as often as wanted, from any thread
 *   autotune_sgemm_close(sgemm);
 *
 * C = A·B, all row-major and dense: a has m×k numbers, b k×n, c m×n; c overlaps neither. The three
 * need no more alignment than a float has; C's rows at multiples of 64 bytes can be faster. Parts
 * of matrices, transposes, alpha and beta are autotune_sgemm_general's.
 *
 * Which tiling a shape gets. The table's entry for just this shape and number of threads, as it is.
 * Otherwise the nearest entry, the one with the least |ln(m/m')| + |ln(k/k')| + |ln(n/n')| +
 * |ln(threads/threads')|, of equal ones the first in the table: its tiles are re-fitted (each of
 * m, k and n is cut into as many tiles as its size over the entry's tile, rounded, so that a tile
 * grows by half at most), and the tiling must then be legal for the shape; where it is not, the
 * next nearest one, of 16. When no entry serves, a tiling that suits most shapes; nor is another
 * shape's taken for products of at most 4 rows or columns, whose default reads every operand once.
 * autotune_sgemm_explain says which it was and why. Without an entry of its own a small product
 * takes fewer threads, each 65536 multiply-adds at least; no result depends on how many. Entries
 * tuned for another instruction set than this processor's best are not used (AUTOTUNE_ISA=portable,
 * neon, avx2 or avx512 can ask for a lesser one).
 *
 * The table: CSV as autotune writes it; several such files one after the other are a table too, and
 * of entries for one shape, number of threads and instruction set the last counts.
 *
 * The first product of a shape finds its tiling and allocates; later ones do neither, as long as
 * no more of them run at once than ever before. Plans are kept until the table is closed, 300 bytes
 * each; workspaces are shared by all shapes. */
#ifndef AUTOTUNE_SGEMM_H
#define AUTOTUNE_SGEMM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct autotune_sgemm; /* an opened table */

enum autotune_sgemm_status {
    AUTOTUNE_SGEMM_OK = 0,
    AUTOTUNE_SGEMM_SIZE, /* a size below 1 (0 in _general), rows that overlap, or more numbers than
                            memory can hold; C is as it was */
    AUTOTUNE_SGEMM_MEMORY, /* none left for plan or workspace; C is as it was */
};

enum autotune_sgemm_source {
    AUTOTUNE_SGEMM_EXACT,   /* the shape's own entry */
    AUTOTUNE_SGEMM_NEAREST, /* re-fitted from another shape's */
    AUTOTUNE_SGEMM_DEFAULT, /* no entry served */
};

/* What a shape is multiplied with. */
struct autotune_sgemm_plan {
    enum autotune_sgemm_source source;
    int64_t m, k, n;  /* of the entry; 0: AUTOTUNE_SGEMM_DEFAULT */
    int line;         /* of the entry in the table's file; 0: none */
    char isa[16];     /* instruction set of the kernel: "avx512" */
    char tiling[192]; /* "kernel=12x2,m_tile=…", as --set of autotune takes it */
    char reason[160]; /* source is not EXACT: why, in one line; "" otherwise */
};

/* Reads a table for products on `threads` threads (1 to 256). file = NULL: no table, default
 * tilings only. NULL when it fails, with one line in message (of `size` bytes, may be NULL): a file
 * that cannot be read, or "file:line: what, and what was expected". A table tuned elsewhere opens.
 */
struct autotune_sgemm *autotune_sgemm_open(const char *file, int threads, char *message,
                                           size_t size);

/* C = A·B. Any number of threads may call it at once with one table. */
enum autotune_sgemm_status autotune_sgemm(struct autotune_sgemm *sgemm, int64_t m, int64_t k,
                                          int64_t n, const float *a, const float *b, float *c);

/* What sgemm of BLAS computes, row by row: C = alpha·op(A)·op(B) + beta·C. */
struct autotune_sgemm_product {
    int64_t m, k, n; /* 0: no rows, no columns, or an empty sum */
    const float *a, *b;
    float *c;
    int transpose_a, transpose_b; /* not 0: a is stored k×m, b is stored n×k */
    int64_t lda, ldb, ldc;        /* from one row, as it is stored, to the next; 0: dense */
    float alpha, beta;            /* alpha = 0: a and b are not read; beta = 0: nor is c */
};

/* Any number of threads may call it at once. No number between rows is read or written. A product
 * of one row or few, or of so few columns, reads its large operand once and as it lies, transposed
 * or not; another gets a tiling as autotune_sgemm does, with copies of what is transposed, and of A
 * where alpha is not 1. Results do not depend on how many threads there are. */
enum autotune_sgemm_status autotune_sgemm_general(struct autotune_sgemm *sgemm,
                                                  const struct autotune_sgemm_product *product);

/* What a shape gets (shown may be NULL); also finds it, so that the first product of the shape need
 * not. */
enum autotune_sgemm_status autotune_sgemm_explain(struct autotune_sgemm *sgemm, int64_t m,
                                                  int64_t k, int64_t n,
                                                  struct autotune_sgemm_plan *shown);

/* When no product runs any more. NULL is allowed. */
void autotune_sgemm_close(struct autotune_sgemm *sgemm);

#ifdef __cplusplus
}
#endif

#endif
