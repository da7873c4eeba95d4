/* Distances that lie in memory, in tiles of m2×n2, one row of tiles after the other: selection.c
 * does the work. */
#include "kernels/knn/host/knn_select.h"
#include "core/least.h"

#include "kernels/knn/host/knn_rows.h"

/* All distances of a matrix, by whose bytes the tiles are found. */
struct distances {
    const char *bytes;
    int64_t rows, columns, size;
};

static void select_rows(struct selection *selection, const struct distances *distances,
                        int64_t first, int64_t tile_columns, int64_t *indices)
{
    int64_t columns = distances->columns;
    const char *row = distances->bytes + first * columns * distances->size;
    selection_start(selection, least_of(selection->width, distances->rows - first));
    for (int64_t at = 0; at < columns; at += least_of(tile_columns, columns - at))
        selection_tile(selection, row + at * distances->size, columns,
                       least_of(tile_columns, columns - at), at);
    selection_finish(selection, indices + first * selection->k);
}

static enum status select_all(enum selection_dtype type, const struct distances *distances,
                              int64_t k, const struct knn_select_options *options, int64_t *indices,
                              struct knn_select_count *count, struct error *error)
{
    struct selection selection;
    int64_t rows = distances->rows, columns = distances->columns;
    TRY(knn_select_check(type, rows, columns, k, options, error));
    TRY(selection_open(&selection, type, rows, columns, k, options, error));
    for (int64_t first = 0; first < rows; first += selection.width)
        select_rows(&selection, distances, first, options->tile_columns, indices);
    if (count)
        *count = selection.count;
    selection_close(&selection);
    return STATUS_OK;
}

enum status knn_select_f16(const half *distances, int64_t rows, int64_t columns, int64_t k,
                           const struct knn_select_options *options, int64_t *indices,
                           struct knn_select_count *count, struct error *error)
{
    struct distances all = {(const char *)distances, rows, columns, sizeof *distances};
    return select_all(SELECT_F16, &all, k, options, indices, count, error);
}

enum status knn_select_f32(const float *distances, int64_t rows, int64_t columns, int64_t k,
                           const struct knn_select_options *options, int64_t *indices,
                           struct knn_select_count *count, struct error *error)
{
    struct distances all = {(const char *)distances, rows, columns, sizeof *distances};
    return select_all(SELECT_F32, &all, k, options, indices, count, error);
}
