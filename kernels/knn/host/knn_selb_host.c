/* SelB-k-NN on the CPU. Tiles nest as in Tang 2024, Fig. 3.1: an m1×n1 tile of distances is
 * selected from in m2×n2 tiles; each group of m2 rows carries its own results.
 *
 * Alg. 5 and 6 are computed lane by lane, on FP16 bits. half_less_mask, the sign of a − b, is < for
 * all finite values: gradual underflow leaves no difference zero, and an overflow to ±∞ keeps the
 * sign. It differs from < exactly for
 *   (−0, +0)               −0 − +0 = −0 has the sign of "less"
 *   (+∞, +∞), (−∞, −∞)     the difference is NaN
 *   every pair with a NaN  likewise
 * A NaN's sign is the machine's affair (x86 sets it, ARM clears it); here it is set, so all these
 * pairs are "less" and a use that relies on them fails in tests. half_differ_mask says "differ"
 * for the same pairs and for (+0, −0).
 * (A−B)|(B−A) has its sign where A ≠ B; the thesis prints it as the mask of A = B (eq. 3.5).
 * half_before_mask and half_same_mask keep away from those pairs: see split_by_rank().
 *
 * Where the selection departs from Alg. 4 as printed:
 * - Distances are compared as keys: their bits made ascending unsigned integers, −0 as +0 and NaN
 *   as one value above +∞. A removed distance gets a key above NaN's, where the thesis stores +∞:
 *   real infinities stay selectable, for the same key stands in rows not yet filled, and the mark
 *   is not less than itself. NaN is thus selected last, by index.
 * - With Alg. 5 keys are compared on the FP16 values behind them. reduceMin stays an instruction,
 * as in the thesis.
 * - Equal distances: the smallest column is taken out first, and a new one must be strictly less
 *   than K[0], so it loses to older equals, whose columns are smaller. But the compare-exchange
 *   that finds the new maximum must compare indices where distances are equal, or a later, smaller
 *   distance could push out the wrong one of two equals. The thesis compares values only.
 * - Alg. 6 returns the largest position; so that this is the smallest column, the tile lies
 *   mirrored. (A descending index map would do the same.)
 * - The k results are sorted at the end, by taking the maximum from row 0 k times.
 * - Line 4 reads as "this row only"; lines 8 … 15 run once a step, for all rows. */
#include "kernels/knn/host/knn_selb_host.h"
#include "core/least.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Alg. 5 and 6 ---------------------------------------------------------------------------- */

/* a − b rounded to FP16, subnormals kept. */
static half subtract(half a, half b)
{
    float difference = half_to_float(a) - half_to_float(b);
    return isnan(difference) ? (half)(HALF_NAN | 0x8000) : half_from_float(difference);
}

static half relu(half value)
{
    return value & 0x8000 ? 0 : value;
}

/* All ones where the sign is set: ReLU of the smallest subnormal with that sign, less one. */
static uint16_t sign_mask(half value)
{
    half unit = (half)((value & 0x8000) | 0x0001);
    return (uint16_t)(relu(unit) - 1);
}

uint16_t half_less_mask(half a, half b)
{
    return sign_mask(subtract(a, b));
}

uint16_t half_differ_mask(half a, half b)
{
    return sign_mask(subtract(a, b) | subtract(b, a));
}

uint16_t mask_select(uint16_t mask, uint16_t x, uint16_t y)
{
    return (uint16_t)((x & mask) | (y & ~mask));
}

/* A value as two finite ones without −0, in the order of (head, rank). FP16 has no room for the
 * infinities, NaN and the mark beyond its finite values: they share the heads ±65504 with
 * real distances, and the rank tells them apart. */
struct ranked {
    half head, rank;
};

enum { MINUS_ONE = 0xbc00, ONE = 0x3c00, TWO = 0x4000, THREE = 0x4200 };

static struct ranked split_by_rank(half value)
{
    half magnitude = value & 0x7fff;
    if (magnitude == 0)
        return (struct ranked){0, 0};
    if (magnitude < HALF_INFINITY)
        return (struct ranked){value, 0};
    if (value == HALF_MINUS_INF)
        return (struct ranked){HALF_LARGEST | 0x8000, MINUS_ONE};
    if (value == HALF_INFINITY)
        return (struct ranked){HALF_LARGEST, ONE};
    return (struct ranked){HALF_LARGEST, value == HALF_REMOVED ? THREE : TWO};
}

uint16_t half_before_mask(half a, half b)
{
    struct ranked x = split_by_rank(a), y = split_by_rank(b);
    uint16_t differ = half_differ_mask(x.head, y.head);
    return mask_select(differ, half_less_mask(x.head, y.head), half_less_mask(x.rank, y.rank));
}

uint16_t half_same_mask(half a, half b)
{
    struct ranked x = split_by_rank(a), y = split_by_rank(b);
    return (uint16_t) ~(half_differ_mask(x.head, y.head) | half_differ_mask(x.rank, y.rank));
}

/* The index bits 0 … 31743 read as FP16 ascend from +0 through the subnormals to 65504, so an FP16
 * maximum is theirs; −∞ is below all of them (−1024 as an integer; the thesis prints −1023). */
int16_t half_index_of(half value, const half *values, int64_t n)
{
    half largest = HALF_MINUS_INF;
    for (int64_t i = 0; i < n; i++) {
        half index = mask_select(half_same_mask(value, values[i]), (half)i, HALF_MINUS_INF);
        if (half_to_float(index) > half_to_float(largest))
            largest = index;
    }
    if (largest == HALF_MINUS_INF)
        return -1024;
    return (int16_t)largest;
}

/* ---- Alg. 4 ---------------------------------------------------------------------------------- */

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

static enum status knn_select_check(enum selection_dtype type, int64_t rows, int64_t columns,
                                    int64_t k, const struct knn_select_options *options,
                                    struct error *error)
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

static void *zeroed_array(int64_t count, size_t size)
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
        .keys = zeroed_array(k * width, sizeof(uint32_t)),
        .indices = zeroed_array(k * width, sizeof(int64_t)),
        .tile = zeroed_array(width * depth, sizeof(uint32_t)),
        .halves = zeroed_array(depth, sizeof(half)),
        .minima = zeroed_array(width, sizeof(uint32_t)),
        .columns = zeroed_array(width, sizeof(int64_t)),
        .less = zeroed_array(width, sizeof(uint16_t)),
        .masked = zeroed_array(width, sizeof(uint16_t)),
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

static void load_tile(struct selection *selection, const void *distances, int64_t stride,
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
static void extract_nearest(struct selection *selection, int64_t row, int64_t columns,
                            int64_t first_column)
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
static bool compare_with_largest(struct selection *selection)
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
static bool run_step(struct selection *selection, int64_t columns, int64_t first_column)
{
    for (int64_t row = 0; row < selection->rows; row++)
        if (!selection->masked[row])
            extract_nearest(selection, row, columns, first_column);
    selection->count.steps++;
    if (!compare_with_largest(selection))
        return false;
    replace_largest(selection);
    lift_largest(selection, selection->k);
    return true;
}

void selection_tile(struct selection *selection, const void *distances, int64_t stride,
                    int64_t columns, int64_t first_column)
{
    load_tile(selection, distances, stride, columns);
    memset(selection->masked, 0, (size_t)selection->rows * sizeof *selection->masked);
    selection->count.tiles++;
    for (int64_t i = 0; i < selection->k; i++)
        if (!run_step(selection, columns, first_column))
            return;
}

/* At least k columns must have been seen. */
static void selection_finish(struct selection *selection, int64_t *indices)
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

/* ---- distances in memory --------------------------------------------------------------------- */

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

/* ---- both stages ----------------------------------------------------------------------------- */

/* What differs between the types. */
struct point_type {
    enum selection_dtype dtype;
    int64_t size;
    float (*value)(const void *points, int64_t at);
    void (*store)(void *distances, int64_t at, float value);
};

struct knn {
    const struct knn_problem *problem;
    const struct knn_options *options;
    const struct point_type *type;
    const void *tests, *trainings;
    struct selection *groups; /* of m2 test points of a distance tile */
    int64_t group_count;
    float *points;   /* d × n1: the tile's training points */
    float *sums;     /* n1 */
    char *distances; /* m1 × n1, of the type */
    int64_t stride;  /* n1, or fewer training points */
};

static float value_f16(const void *points, int64_t at)
{
    return half_to_float(((const half *)points)[at]);
}

static float value_f32(const void *points, int64_t at)
{
    return ((const float *)points)[at];
}

static void store_f16(void *distances, int64_t at, float value)
{
    ((half *)distances)[at] = half_from_float(value);
}

static void store_f32(void *distances, int64_t at, float value)
{
    ((float *)distances)[at] = value;
}

static const struct point_type points_f16 = {SELECT_F16, sizeof(half), value_f16, store_f16};
static const struct point_type points_f32 = {SELECT_F32, sizeof(float), value_f32, store_f32};

static void load_points(struct knn *knn, int64_t first, int64_t columns)
{
    for (int64_t l = 0; l < knn->problem->dimensions; l++)
        for (int64_t j = 0; j < columns; j++)
            knn->points[l * knn->stride + j] =
                knn->type->value(knn->trainings, l * knn->problem->trainings + first + j);
}

/* Distances of one test point, row `row` of the tile, to the tile's `columns` training points. */
static void distance_row(struct knn *knn, int64_t test, int64_t row, int64_t columns)
{
    int64_t d = knn->problem->dimensions;
    memset(knn->sums, 0, (size_t)columns * sizeof *knn->sums);
    for (int64_t l = 0; l < d; l++) {
        const float *points = knn->points + l * knn->stride;
        float p = knn->type->value(knn->tests, test * d + l);
        for (int64_t j = 0; j < columns; j++)
            knn->sums[j] += p * points[j];
    }
    for (int64_t j = 0; j < columns; j++)
        knn->type->store(knn->distances, row * knn->stride + j, 1 - knn->sums[j]);
}

static void select_tile(struct knn *knn, int64_t first, int64_t columns)
{
    for (int64_t g = 0; g < knn->group_count && knn->groups[g].rows > 0; g++) {
        struct selection *group = &knn->groups[g];
        int64_t row = g * group->width;
        for (int64_t at = 0; at < columns; at += least_of(group->depth, columns - at))
            selection_tile(group, knn->distances + (row * knn->stride + at) * knn->type->size,
                           knn->stride, least_of(group->depth, columns - at), first + at);
    }
}

/* All training points for up to m1 test points. */
static void search_rows(struct knn *knn, int64_t test, int64_t rows, int64_t *indices)
{
    int64_t n = knn->problem->trainings, width = knn->groups[0].width, left = rows;
    for (int64_t g = 0; g < knn->group_count; g++, left -= least_of(width, left))
        selection_start(&knn->groups[g], least_of(width, left));
    for (int64_t first = 0; first < n; first += least_of(knn->stride, n - first)) {
        int64_t columns = least_of(knn->stride, n - first);
        load_points(knn, first, columns);
        for (int64_t row = 0; row < rows; row++)
            distance_row(knn, test + row, row, columns);
        select_tile(knn, first, columns);
    }
    for (int64_t g = 0; g < knn->group_count; g++)
        selection_finish(&knn->groups[g], indices + (test + g * width) * knn->problem->k);
}

static enum status check_problem(const struct knn *knn, struct error *error)
{
    const struct knn_problem *problem = knn->problem;
    const struct knn_options *options = knn->options;
    TRY(knn_select_check(knn->type->dtype, problem->tests, problem->trainings, problem->k,
                         &options->select, error));
    if (problem->dimensions < 1)
        return error_set(error, STATUS_INVALID, "points of %lld dimensions",
                         (long long)problem->dimensions);
    if (options->select.tile_rows > options->tile_tests ||
        options->select.tile_columns > options->tile_trainings)
        return error_set(error, STATUS_INVALID,
                         "selection tile %lldx%lld does not fit in a distance tile %lldx%lld",
                         (long long)options->select.tile_rows,
                         (long long)options->select.tile_columns, (long long)options->tile_tests,
                         (long long)options->tile_trainings);
    return STATUS_OK;
}

static void close_search(struct knn *knn, struct knn_select_count *count)
{
    for (int64_t g = 0; g < knn->group_count; g++) {
        count->tiles += knn->groups[g].count.tiles;
        count->steps += knn->groups[g].count.steps;
        count->row_updates += knn->groups[g].count.row_updates;
        selection_close(&knn->groups[g]);
    }
    free(knn->groups);
    free(knn->points);
    free(knn->sums);
    free(knn->distances);
}

static enum status open_search(struct knn *knn, int64_t rows, struct error *error)
{
    const struct knn_options *options = knn->options;
    int64_t width = least_of(rows, options->select.tile_rows);
    int64_t groups = (rows - 1) / width + 1;
    struct knn_select_count unused = {0};
    enum status status = STATUS_OK;
    knn->stride = least_of(knn->problem->trainings, options->tile_trainings);
    knn->groups = calloc((size_t)groups, sizeof *knn->groups);
    knn->points = calloc((size_t)(knn->problem->dimensions * knn->stride), sizeof *knn->points);
    knn->sums = calloc((size_t)knn->stride, sizeof *knn->sums);
    knn->distances = calloc((size_t)(rows * knn->stride), (size_t)knn->type->size);
    if (!knn->groups || !knn->points || !knn->sums || !knn->distances)
        status = error_memory(error);
    while (status == STATUS_OK && knn->group_count < groups) {
        status = selection_open(&knn->groups[knn->group_count], knn->type->dtype, rows, knn->stride,
                                knn->problem->k, &options->select, error);
        knn->group_count += status == STATUS_OK;
    }
    if (status != STATUS_OK)
        close_search(knn, &unused);
    return status;
}

static enum status search_all(struct knn *knn, int64_t *indices, struct knn_select_count *count,
                              struct error *error)
{
    struct knn_select_count total = {0};
    int64_t tests = knn->problem->tests, rows = least_of(tests, knn->options->tile_tests);
    TRY(check_problem(knn, error));
    if (tests > 0)
        TRY(open_search(knn, rows, error));
    for (int64_t test = 0; test < tests; test += least_of(rows, tests - test))
        search_rows(knn, test, least_of(rows, tests - test), indices);
    if (tests > 0)
        close_search(knn, &total);
    if (count)
        *count = total;
    return STATUS_OK;
}

enum status knn_f16(const struct knn_problem *problem, const half *tests, const half *trainings,
                    const struct knn_options *options, int64_t *indices,
                    struct knn_select_count *count, struct error *error)
{
    struct knn knn = {.problem = problem,
                      .options = options,
                      .type = &points_f16,
                      .tests = tests,
                      .trainings = trainings};
    return search_all(&knn, indices, count, error);
}

enum status knn_f32(const struct knn_problem *problem, const float *tests, const float *trainings,
                    const struct knn_options *options, int64_t *indices,
                    struct knn_select_count *count, struct error *error)
{
    struct knn knn = {.problem = problem,
                      .options = options,
                      .type = &points_f32,
                      .tests = tests,
                      .trainings = trainings};
    return search_all(&knn, indices, count, error);
}
