/* SelB-k-NN on the CPU: thesis Alg. 4 (selection with early exit across tiles), Alg. 5 (compare and
 * select without such instructions) and Alg. 6 (index without hardware), in FP16 on real FP16 bits
 * and in FP32.
 *
 * Order: ascending distance, equal distances by ascending index; −0 equals +0; NaN sorts after
 * everything, +∞ included (NaN = NaN, by index). The result is that of a full stable sort. */
#ifndef AUTOTUNE_KERNELS_KNN_HOST_KNN_SELECT_H
#define AUTOTUNE_KERNELS_KNN_HOST_KNN_SELECT_H

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

/* Alg. 5 on one lane: all ones where a < b, else zero, by subtraction, AND, OR, ReLU and a 16-bit
 * integer subtraction only. Header of half_bits.c says for which values it differs from <. */
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

#endif
