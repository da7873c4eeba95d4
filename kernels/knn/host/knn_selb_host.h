/* k-NN by SelB-k-NN on the CPU (thesis, 3.2): cosine distances tile by tile, as a product of
 * matrices, and the selection behind each tile with results carried along the training points:
 * thesis Alg. 4 (selection with early exit across tiles), Alg. 5 (compare and select without such
 * instructions) and Alg. 6 (index without hardware), in FP16 on real FP16 bits and in FP32.
 *
 * Points have norm 1 (nothing here normalises or checks them); the distance is 1 − p·q, summed in
 * ascending order of the dimensions in FP32, for both types. FP16 rounds once, after 1 − p·q.
 *
 * Order: ascending distance, equal distances by ascending index; −0 equals +0; NaN sorts after
 * everything, +∞ included (NaN = NaN, by index). The result is that of a full stable sort. */
#ifndef AUTOTUNE_KERNELS_KNN_HOST_KNN_SELB_HOST_H
#define AUTOTUNE_KERNELS_KNN_HOST_KNN_SELB_HOST_H

#include "core/half.h"
#include "core/status.h"

#include <stdbool.h>
#include <stdint.h>

enum { KNN_MAX_INDEX_COLUMNS = 31744 }; /* indices from 0x7c00 on are no finite FP16 values */

struct knn_select_options {
    int64_t tile_rows, tile_columns; /* m2, n2; > 0; n2 <= 31744 with vector_index */
    bool relu_compare;               /* FP16 only: Alg. 5 */
    bool vector_index;               /* FP16 only: Alg. 6 */
};

struct knn_select_count {
    int64_t tiles;       /* selection tiles done */
    int64_t steps;       /* loop steps over all tiles, failing ones included */
    int64_t row_updates; /* values that entered a row's k smallest */
};

/* The k nearest of each of `rows` rows of `columns` distances (row-major, not changed).
 * indices[r·k … r·k + k − 1]: column numbers, nearest first. STATUS_INVALID: fewer than k columns,
 * k or a tile edge below 1, rows below 0, an option of FP16 for FP32. `count` may be NULL. */
enum status knn_select_f16(const half *distances, int64_t rows, int64_t columns, int64_t k,
                           const struct knn_select_options *options, int64_t *indices,
                           struct knn_select_count *count, struct error *error);
enum status knn_select_f32(const float *distances, int64_t rows, int64_t columns, int64_t k,
                           const struct knn_select_options *options, int64_t *indices,
                           struct knn_select_count *count, struct error *error);

struct knn_problem {
    int64_t tests, trainings, dimensions; /* M, N, d */
    int64_t k;
};

struct knn_options {
    int64_t tile_tests, tile_trainings; /* m1, n1 of the distance stage; > 0 */
    struct knn_select_options select;   /* m2 <= m1, n2 <= n1 */
};

/* indices[i·k …]: the training points nearest to test point i, nearest first; equal distances by
 * index. `tests` is M×d and `trainings` d×N (a training point is a column), both row-major. The
 * answer does not depend on the tiles. STATUS_INVALID as knn_select_f16, or where d < 1, or m2 > m1
 * or n2 > n1. `count` may be NULL. */
enum status knn_f16(const struct knn_problem *problem, const half *tests, const half *trainings,
                    const struct knn_options *options, int64_t *indices,
                    struct knn_select_count *count, struct error *error);
enum status knn_f32(const struct knn_problem *problem, const float *tests, const float *trainings,
                    const struct knn_options *options, int64_t *indices,
                    struct knn_select_count *count, struct error *error);

/* ---- the selection alone ---- */

/* Alg. 5 on one lane: all ones where a < b, else zero, by subtraction, AND, OR, ReLU and a 16-bit
 * integer subtraction only. The head of knn_selb_host.c says for which values it differs from <. */
uint16_t half_less_mask(half a, half b);
/* All ones where a and b differ; its complement is equality, for finite values but (−0, +0). */
uint16_t half_differ_mask(half a, half b);
uint16_t mask_select(uint16_t mask, uint16_t x, uint16_t y); /* x where the mask is ones */

/* The mark of a distance that the selection has taken out of its tile: sorts after every NaN. */
#define HALF_REMOVED ((half)0x7fff)

/* The order above by Alg. 5: less and equal for all values. HALF_REMOVED equals only itself. */
uint16_t half_before_mask(half a, half b);
uint16_t half_same_mask(half a, half b);

/* Alg. 6: the largest index < n whose value is equal to `value` (half_same_mask);
 * n <= KNN_MAX_INDEX_COLUMNS; −1024 (0xfc00) when there is none. By duplicate, compare-equal,
 * select and an FP16 maximum over the index bits. */
int16_t half_index_of(half value, const half *values, int64_t n);

/* One row of selection tiles, Alg. 4: selection_open, then for each group of up to m2 rows:
 * selection_start and selection_tile for its tiles in ascending order of columns; at the end
 * selection_close. Checks nothing. */

/* What differs between FP16, FP32 and Alg. 5; keys are ordered as unsigned integers. */
struct selection_type {
    uint32_t (*key)(const void *distances, int64_t at);
    uint16_t (*less)(uint32_t a, uint32_t b); /* masks: all ones or zero */
    uint16_t (*equal)(uint32_t a, uint32_t b);
};

struct selection {
    const struct selection_type *type;
    bool vector_index;
    int64_t k, width, depth; /* results a row; most rows and columns of a tile */
    int64_t rows;            /* of this group */
    uint32_t *keys;          /* K, k × width, row 0 the largest */
    int64_t *indices;        /* I, k × width: columns */
    uint32_t *tile;          /* depth distances a row; what was taken out is marked */
    half *halves;            /* depth: a tile's row as FP16, for Alg. 6 */
    uint32_t *minima;        /* a row */
    int64_t *columns;        /* a row: of its minimum */
    uint16_t *less, *masked; /* a row */
    struct knn_select_count count;
};

enum selection_dtype { SELECT_F16, SELECT_F32 };

/* Counts start at zero. After a failure (STATUS_NO_MEMORY) there is nothing to close. */
enum status selection_open(struct selection *selection, enum selection_dtype type, int64_t rows,
                           int64_t columns, int64_t k, const struct knn_select_options *options,
                           struct error *error);
void selection_close(struct selection *selection);

/* Forgets the results; `rows` <= tile_rows. */
void selection_start(struct selection *selection, int64_t rows);

/* `columns` <= tile_columns distances of each row, row r from distances[r·stride] on (half or
 * float, as opened); the first is number `first_column`. */
void selection_tile(struct selection *selection, const void *distances, int64_t stride,
                    int64_t columns, int64_t first_column);

#endif
