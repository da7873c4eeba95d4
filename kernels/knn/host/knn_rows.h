/* One row of selection tiles, thesis Alg. 4: the carried k smallest distances of up to m2 rows.
 *
 * selection_open, then for each group of rows: selection_start, selection_tile for its tiles in
 * ascending order of columns, selection_finish; at the end selection_close. Checks nothing: what
 * knn_select_check accepts is right. */
#ifndef AUTOTUNE_KERNELS_KNN_HOST_KNN_ROWS_H
#define AUTOTUNE_KERNELS_KNN_HOST_KNN_ROWS_H

#include "kernels/knn/host/knn_select.h"

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

/* STATUS_INVALID, with a text, where knn_select_f16 or _f32 says so. */
enum status knn_select_check(enum selection_dtype type, int64_t rows, int64_t columns, int64_t k,
                             const struct knn_select_options *options, struct error *error);

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

/* indices[r·k …], nearest first. At least k columns must have been seen. */
void selection_finish(struct selection *selection, int64_t *indices);

#endif
