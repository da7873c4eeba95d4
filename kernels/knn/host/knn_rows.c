/* Where this departs from Alg. 4 of Tang 2024 as printed:
 *
 * - Distances are compared as keys: their bits made ascending unsigned integers, −0 as +0 and NaN
 *   as one value above +∞. A removed distance gets a key above NaN's, where the thesis stores +∞:
 *   real infinities stay selectable, for the same key stands in rows not yet filled, and the mark
 *   is not less than itself. NaN is thus selected last, by index.
 * - With Alg. 5 keys are compared by knn_half_bits.c, on the FP16 values behind them. reduceMin
 *   stays an instruction, as in the thesis.
 * - Equal distances: the smallest column is taken out first, and a new one must be strictly less
 *   than K[0], so it loses to older equals, whose columns are smaller. But the compare-exchange
 *   that finds the new maximum must compare indices where distances are equal, or a later, smaller
 *   distance could push out the wrong one of two equals. The thesis compares values only.
 * - Alg. 6 returns the largest position; so that this is the smallest column, the tile lies
 *   mirrored. (A descending index map would do the same.)
 * - The k results are sorted at the end, by taking the maximum from row 0 k times.
 * - Line 4 reads as "this row only"; lines 8 … 15 run once a step, for all rows. */
#include "kernels/knn/host/knn_rows.h"

#include <stdlib.h>
#include <string.h>

enum { SIGN_16 = 0x8000 };
static const uint32_t sign_32 = UINT32_C(0x80000000);
static const uint32_t removed = UINT32_MAX; /* HALF_REMOVED's key, and above FP32's NaN */

/* FP16 keys stand in the upper half, so that both types share the mark. */
static uint32_t key_of_half(half value)
{
    half magnitude = value & 0x7fff;
    if (magnitude == 0)
        value = 0;
    if (magnitude > HALF_INFINITY)
        value = HALF_NAN;
    uint16_t ascending = value & SIGN_16 ? (uint16_t)~value : value | SIGN_16;
    return (uint32_t)ascending << 16 | 0xffff;
}

static half half_of_key(uint32_t key)
{
    uint16_t ascending = (uint16_t)(key >> 16);
    return ascending & SIGN_16 ? ascending ^ SIGN_16 : (half)~ascending;
}

static uint32_t key_f16(const void *distances, int64_t at)
{
    return key_of_half(((const half *)distances)[at]);
}

static uint32_t key_f32(const void *distances, int64_t at)
{
    uint32_t bits;
    memcpy(&bits, (const float *)distances + at, sizeof bits);
    uint32_t magnitude = bits & ~sign_32;
    if (magnitude == 0)
        bits = 0;
    if (magnitude > 0x7f800000)
        bits = 0x7fc00000;
    return bits & sign_32 ? ~bits : bits | sign_32;
}

static uint16_t mask_of(bool set)
{
    return set ? 0xffff : 0;
}

static uint16_t less_key(uint32_t a, uint32_t b)
{
    return mask_of(a < b);
}

static uint16_t equal_key(uint32_t a, uint32_t b)
{
    return mask_of(a == b);
}

static uint16_t less_relu(uint32_t a, uint32_t b)
{
    return half_before_mask(half_of_key(a), half_of_key(b));
}

static uint16_t equal_relu(uint32_t a, uint32_t b)
{
    return half_same_mask(half_of_key(a), half_of_key(b));
}

static const struct selection_type type_f16 = {key_f16, less_key, equal_key};
static const struct selection_type type_f16_relu = {key_f16, less_relu, equal_relu};
static const struct selection_type type_f32 = {key_f32, less_key, equal_key};

/* vecSel on wider lanes: 16 bits at a time. */
static uint64_t select_wide(uint16_t mask, uint64_t x, uint64_t y)
{
    uint64_t result = 0;
    for (int shift = 0; shift < 64; shift += 16) {
        uint16_t part = mask_select(mask, (uint16_t)(x >> shift), (uint16_t)(y >> shift));
        result |= (uint64_t)part << shift;
    }
    return result;
}

static uint32_t select_key(uint16_t mask, uint32_t x, uint32_t y)
{
    return (uint32_t)select_wide(mask, x, y);
}

static int64_t select_index(uint16_t mask, int64_t x, int64_t y)
{
    return (int64_t)select_wide(mask, (uint64_t)x, (uint64_t)y);
}

enum status knn_select_check(enum selection_dtype type, int64_t rows, int64_t columns, int64_t k,
                             const struct knn_select_options *options, struct error *error)
{
    if (rows < 0)
        return error_set(error, STATUS_INVALID, "k-selection of %lld rows", (long long)rows);
    if (k < 1 || k > columns)
        return error_set(error, STATUS_INVALID, "k is %lld, expected 1 … %lld, the columns",
                         (long long)k, (long long)columns);
    if (options->tile_rows < 1 || options->tile_columns < 1)
        return error_set(error, STATUS_INVALID, "selection tile %lldx%lld, expected 1x1 or more",
                         (long long)options->tile_rows, (long long)options->tile_columns);
    if (type != SELECT_F16 && (options->relu_compare || options->vector_index))
        return error_set(error, STATUS_INVALID,
                         "comparison by ReLU and index by vectors are for FP16 only");
    if (options->vector_index && options->tile_columns > KNN_MAX_INDEX_COLUMNS)
        return error_set(error, STATUS_INVALID,
                         "%lld columns a tile, an index by vectors reaches %d",
                         (long long)options->tile_columns, KNN_MAX_INDEX_COLUMNS);
    return STATUS_OK;
}

static void *array(int64_t count, size_t size)
{
    return calloc(count > 0 ? (size_t)count : 1, size);
}

enum status selection_open(struct selection *selection, enum selection_dtype type, int64_t rows,
                           int64_t columns, int64_t k, const struct knn_select_options *options,
                           struct error *error)
{
    int64_t width = rows < options->tile_rows ? rows : options->tile_rows;
    int64_t depth = columns < options->tile_columns ? columns : options->tile_columns;
    const struct selection_type *f16 = options->relu_compare ? &type_f16_relu : &type_f16;
    *selection = (struct selection){
        .type = type == SELECT_F16 ? f16 : &type_f32,
        .vector_index = options->vector_index,
        .k = k,
        .width = width,
        .depth = depth,
        .keys = array(k * width, sizeof(uint32_t)),
        .indices = array(k * width, sizeof(int64_t)),
        .tile = array(width * depth, sizeof(uint32_t)),
        .halves = array(depth, sizeof(half)),
        .minima = array(width, sizeof(uint32_t)),
        .columns = array(width, sizeof(int64_t)),
        .less = array(width, sizeof(uint16_t)),
        .masked = array(width, sizeof(uint16_t)),
    };
    if (selection->keys && selection->indices && selection->tile && selection->halves &&
        selection->minima && selection->columns && selection->less && selection->masked)
        return STATUS_OK;
    selection_close(selection);
    return error_memory(error);
}

void selection_close(struct selection *selection)
{
    free(selection->keys);
    free(selection->indices);
    free(selection->tile);
    free(selection->halves);
    free(selection->minima);
    free(selection->columns);
    free(selection->less);
    free(selection->masked);
    memset(selection, 0, sizeof *selection);
}

void selection_start(struct selection *selection, int64_t rows)
{
    selection->rows = rows;
    for (int64_t i = 0; i < selection->k * selection->width; i++) {
        selection->keys[i] = removed;
        selection->indices[i] = -1;
    }
}

/* Mirrored for Alg. 6, the column of a position and the position of a column are the same. */
static int64_t column_at(const struct selection *selection, int64_t position, int64_t columns)
{
    return selection->vector_index ? columns - 1 - position : position;
}

static void load(struct selection *selection, const void *distances, int64_t stride,
                 int64_t columns)
{
    for (int64_t row = 0; row < selection->rows; row++)
        for (int64_t i = 0; i < columns; i++)
            selection->tile[row * selection->depth + i] =
                selection->type->key(distances, row * stride + column_at(selection, i, columns));
}

/* The value alone: where it is, is Alg. 6's business or the loop's below. */
static uint32_t reduce_min(const uint32_t *values, int64_t count)
{
    uint32_t least = values[0];
    for (int64_t i = 1; i < count; i++)
        least = values[i] < least ? values[i] : least;
    return least;
}

static int64_t position_by_vectors(struct selection *selection, uint32_t key,
                                   const uint32_t *values, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        selection->halves[i] = half_of_key(values[i]);
    return half_index_of(half_of_key(key), selection->halves, count);
}

static int64_t first_position(uint32_t key, const uint32_t *values)
{
    int64_t position = 0;
    while (values[position] != key)
        position++;
    return position;
}

/* Takes the nearest distance of a row out of its tile (lines 6 and 7). */
static void extract(struct selection *selection, int64_t row, int64_t columns, int64_t first_column)
{
    uint32_t *values = selection->tile + row * selection->depth;
    uint32_t least = reduce_min(values, columns);
    int64_t position = selection->vector_index
                           ? position_by_vectors(selection, least, values, columns)
                           : first_position(least, values);
    values[position] = removed;
    selection->minima[row] = least;
    selection->columns[row] = first_column + column_at(selection, position, columns);
}

/* Lines 8 … 11; false when every row is masked. A masked row keeps its old minimum, which stays
 * not less than K[0]. */
static bool compare(struct selection *selection)
{
    uint16_t smallest = 1;
    for (int64_t row = 0; row < selection->rows; row++) {
        uint16_t less = selection->type->less(selection->minima[row], selection->keys[row]);
        uint16_t masked = mask_select(less, selection->masked[row], 1);
        selection->less[row] = less;
        selection->masked[row] = masked;
        smallest = masked < smallest ? masked : smallest;
        selection->count.row_updates += less & 1;
    }
    return smallest == 0;
}

/* Lines 13 and 14. */
static void replace_largest(struct selection *selection)
{
    for (int64_t row = 0; row < selection->rows; row++) {
        uint16_t less = selection->less[row];
        uint32_t *key = &selection->keys[row];
        int64_t *index = &selection->indices[row];
        *key = select_key(less, selection->minima[row], *key);
        *index = select_index(less, selection->columns[row], *index);
    }
}

/* Results number `upper` and `lower` of all rows: the larger one goes up. */
static void compare_exchange(struct selection *selection, int64_t upper, int64_t lower)
{
    uint32_t *keys = selection->keys;
    int64_t *indices = selection->indices;
    for (int64_t row = 0; row < selection->rows; row++) {
        int64_t a = upper * selection->width + row, b = lower * selection->width + row;
        uint32_t key_a = keys[a], key_b = keys[b];
        int64_t index_a = indices[a], index_b = indices[b];
        uint16_t later = mask_of(index_a < index_b);
        uint16_t swap =
            selection->type->less(key_a, key_b) | (selection->type->equal(key_a, key_b) & later);
        keys[a] = select_key(swap, key_b, key_a);
        keys[b] = select_key(swap, key_a, key_b);
        indices[a] = select_index(swap, index_b, index_a);
        indices[b] = select_index(swap, index_a, index_b);
    }
}

/* Bitonic 1-selection: brings the largest of the first `count` results to row 0, in halving
 * stages of count − 1 exchanges in all; the middle one of an odd number waits a stage. */
static void lift_largest(struct selection *selection, int64_t count)
{
    while (count > 1) {
        int64_t half_count = (count + 1) / 2;
        for (int64_t i = half_count; i < count; i++)
            compare_exchange(selection, i - half_count, i);
        count = half_count;
    }
}

/* One step of Alg. 4's loop; false when no row is left. */
static bool step(struct selection *selection, int64_t columns, int64_t first_column)
{
    for (int64_t row = 0; row < selection->rows; row++)
        if (!selection->masked[row])
            extract(selection, row, columns, first_column);
    selection->count.steps++;
    if (!compare(selection))
        return false;
    replace_largest(selection);
    lift_largest(selection, selection->k);
    return true;
}

void selection_tile(struct selection *selection, const void *distances, int64_t stride,
                    int64_t columns, int64_t first_column)
{
    load(selection, distances, stride, columns);
    memset(selection->masked, 0, (size_t)selection->rows * sizeof *selection->masked);
    selection->count.tiles++;
    for (int64_t i = 0; i < selection->k; i++)
        if (!step(selection, columns, first_column))
            return;
}

void selection_finish(struct selection *selection, int64_t *indices)
{
    int64_t width = selection->width;
    for (int64_t left = selection->k - 1; left >= 0; left--) {
        for (int64_t row = 0; row < selection->rows; row++) {
            indices[row * selection->k + left] = selection->indices[row];
            selection->keys[row] = selection->keys[left * width + row];
            selection->indices[row] = selection->indices[left * width + row];
        }
        lift_largest(selection, left);
    }
}
