/* SelB-k-NN on the CPU: the selection against a stable sort, Alg. 5 and 6 against what they are
 * documented to do, and the work it saves against the counts that theory expects. */
#include "kernels/knn/host/knn_selb_host.h"
#include "tests/support/cases.h"

#include <criterion/criterion.h>
#include <gsl/gsl_fit.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_VALUES = 20 * 200 };

static gsl_rng *seeded(unsigned long seed)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_rng_set(rng, seed);
    return rng;
}

static int64_t draw(gsl_rng *rng, int64_t least, int64_t most)
{
    return least + (int64_t)gsl_rng_uniform_int(rng, (unsigned long)(most - least + 1));
}

/* Values that break careless comparisons: zeros, subnormals, limits, infinities, NaNs. */
static const half awkward[] = {
    0x0000, 0x8000, 0x0001, 0x8001, 0x0002, 0x03ff, 0x83ff, 0x0400, 0x8400, 0x0401, 0x3bff,
    0x3c00, 0x3c01, 0xbbff, 0xbc00, 0xbc01, 0x7bfe, 0x7bff, 0xfbfe, 0xfbff, 0x7c00, 0xfc00,
    0x7c01, 0xfc01, 0x7e00, 0xfe00, 0x7e01, 0x7fff, 0xffff, 0x7801, 0xf801,
};
enum { AWKWARD = sizeof awkward / sizeof *awkward };

/* Reference: a full sort by value, then index; NaN last. */

struct item {
    float value;
    int64_t index;
};

static int by_value_then_index(const void *left, const void *right)
{
    const struct item *a = left, *b = right;
    int nan_a = !!isnan(a->value), nan_b = !!isnan(b->value);
    if (nan_a != nan_b)
        return nan_a - nan_b;
    if (!nan_a && a->value != b->value)
        return a->value < b->value ? -1 : 1;
    return a->index < b->index ? -1 : 1;
}

static void sort_row(const float *row, int64_t columns, int64_t k, int64_t *indices)
{
    struct item *items = calloc((size_t)columns, sizeof *items);
    cr_assert(items);
    for (int64_t i = 0; i < columns; i++)
        items[i] = (struct item){row[i], i};
    qsort(items, (size_t)columns, sizeof *items, by_value_then_index);
    for (int64_t i = 0; i < k; i++)
        indices[i] = items[i].index;
    free(items);
}

static void expect_indices(const float *row, int64_t columns, int64_t k, const int64_t *indices,
                           const int64_t *expected)
{
    for (int64_t i = 0; i < k; i++)
        cr_assert_eq(indices[i], expected[i], "result %d of %d: %d (%g), expected %d (%g)", (int)i,
                     (int)k, (int)indices[i],
                     indices[i] < 0 || indices[i] >= columns ? NAN : (double)row[indices[i]],
                     (int)expected[i], (double)row[expected[i]]);
}

/* Kinds of data, all FP16 values. */

static half kind_random(gsl_rng *rng, int64_t i, int64_t n)
{
    (void)i, (void)n;
    return half_from_float((float)gsl_rng_uniform(rng) * 2 - 1);
}

static half kind_sorted(gsl_rng *rng, int64_t i, int64_t n)
{
    (void)rng;
    int64_t middle = n / 2;
    return half_from_float((float)(i - middle));
}

static half kind_reversed(gsl_rng *rng, int64_t i, int64_t n)
{
    return kind_sorted(rng, n - i, n);
}

static half kind_constant(gsl_rng *rng, int64_t i, int64_t n)
{
    (void)rng, (void)i;
    return awkward[n % AWKWARD];
}

static half kind_duplicates(gsl_rng *rng, int64_t i, int64_t n)
{
    (void)i, (void)n;
    return half_from_float((float)draw(rng, 0, 3));
}

static half kind_any_bits(gsl_rng *rng, int64_t i, int64_t n)
{
    (void)i, (void)n;
    return (half)draw(rng, 0, 0xffff);
}

static half kind_awkward(gsl_rng *rng, int64_t i, int64_t n)
{
    (void)i, (void)n;
    return awkward[draw(rng, 0, AWKWARD - 1)];
}

static half kind_ends(gsl_rng *rng, int64_t i, int64_t n)
{
    static const half ends[] = {0x7bff, 0x7c00, 0xfc00, 0x7e00, 0xfe01, 0x7fff, 0xfbff};
    (void)i, (void)n;
    return ends[draw(rng, 0, 6)];
}

static half kind_zeros(gsl_rng *rng, int64_t i, int64_t n)
{
    static const half zeros[] = {0x0000, 0x8000, 0x0001, 0x8001};
    (void)i, (void)n;
    return zeros[draw(rng, 0, 3)];
}

static half (*const kinds[])(gsl_rng *rng, int64_t i, int64_t n) = {
    kind_random,   kind_sorted,  kind_reversed, kind_constant, kind_duplicates,
    kind_any_bits, kind_awkward, kind_ends,     kind_zeros,
};
enum { KINDS = sizeof kinds / sizeof *kinds };

struct drawing {
    int64_t rows, columns, k;
    struct knn_select_options options;
    half halves[MOST_VALUES];
    float floats[MOST_VALUES];
    int64_t expected[MOST_VALUES]; /* indices of the k smallest of each row */
};

static void draw_problem(struct drawing *d, gsl_rng *rng, int kind)
{
    bool wide = draw(rng, 0, 7) == 0;
    d->rows = draw(rng, 1, wide ? 20 : 9);
    d->columns = draw(rng, 1, wide ? 200 : 24);
    int64_t few = d->columns < 9 ? d->columns : 9;
    d->k = draw(rng, 1, wide || draw(rng, 0, 2) ? few : d->columns);
    if (draw(rng, 0, 63) == 0)
        d->k = d->columns;
    d->options = (struct knn_select_options){.tile_rows = draw(rng, 1, d->rows + 2),
                                             .tile_columns = draw(rng, 1, d->columns + 3)};
    for (int64_t i = 0; i < d->rows * d->columns; i++) {
        d->halves[i] = kinds[kind](rng, i % d->columns, d->columns);
        d->floats[i] = half_to_float(d->halves[i]);
    }
}

static void sort_rows(struct drawing *d)
{
    for (int64_t row = 0; row < d->rows; row++)
        sort_row(d->floats + row * d->columns, d->columns, d->k, d->expected + row * d->k);
}

static void expect_rows(const struct drawing *d, const int64_t *indices)
{
    for (int64_t row = 0; row < d->rows; row++)
        expect_indices(d->floats + row * d->columns, d->columns, d->k, indices + row * d->k,
                       d->expected + row * d->k);
}

static void run_f16(const struct drawing *d, const struct knn_select_options *options,
                    struct knn_select_count *count)
{
    int64_t indices[MOST_VALUES];
    struct error error;
    cr_assert_eq(
        knn_select_f16(d->halves, d->rows, d->columns, d->k, options, indices, count, &error),
        STATUS_OK, "%s", error.text);
    expect_rows(d, indices);
}

static void run_f32(const struct drawing *d, struct knn_select_count *count)
{
    int64_t indices[MOST_VALUES];
    struct error error;
    cr_assert_eq(
        knn_select_f32(d->floats, d->rows, d->columns, d->k, &d->options, indices, count, &error),
        STATUS_OK, "%s", error.text);
    expect_rows(d, indices);
}

static void expect_same_count(const struct knn_select_count *a, const struct knn_select_count *b)
{
    cr_assert_eq(a->tiles, b->tiles);
    cr_assert_eq(a->steps, b->steps);
    cr_assert_eq(a->row_updates, b->row_updates);
}

/* Both types and all options give the sort's result, by the same steps. */
static void expect_all_ways(const struct drawing *d)
{
    struct knn_select_count first, count;
    int64_t tiles = ((d->rows - 1) / d->options.tile_rows + 1) *
                    ((d->columns - 1) / d->options.tile_columns + 1);
    run_f32(d, &first);
    cr_assert_eq(first.tiles, tiles);
    cr_assert(first.steps >= first.tiles && first.steps <= tiles * d->k);
    cr_assert_geq(first.row_updates, d->rows * d->k);
    for (int way = 0; way < 4; way++) {
        struct knn_select_options options = d->options;
        options.relu_compare = way & 1;
        options.vector_index = way & 2;
        run_f16(d, &options, &count);
        expect_same_count(&count, &first);
    }
}

Test(knn_select, selects_what_a_stable_sort_does)
{
    static struct drawing d;
    gsl_rng *rng = seeded(1);
    for (int i = 0; i < test_cases(900); i++) {
        draw_problem(&d, rng, i % KINDS);
        sort_rows(&d);
        expect_all_ways(&d);
    }
    gsl_rng_free(rng);
}

/* FP32 has more values than FP16: any bits, neighbours, subnormals, large payloads. */
Test(knn_select, selects_any_floats)
{
    static struct drawing d;
    gsl_rng *rng = seeded(2);
    for (int i = 0; i < test_cases(900); i++) {
        draw_problem(&d, rng, 0);
        for (int64_t j = 0; j < d.rows * d.columns; j++) {
            uint32_t near = 0x80000000U * (uint32_t)draw(rng, 0, 1) + (uint32_t)draw(rng, 0, 2);
            uint32_t bits = i % 3 == 0   ? (uint32_t)gsl_rng_get(rng)
                            : i % 3 == 1 ? near
                                         : near + 0x7f7fffff;
            memcpy(&d.floats[j], &bits, sizeof bits);
        }
        sort_rows(&d);
        run_f32(&d, NULL);
    }
    gsl_rng_free(rng);
}

Test(knn_select, reaches_the_largest_index_by_vectors)
{
    enum { COLUMNS = KNN_MAX_INDEX_COLUMNS };
    static half distances[COLUMNS + 1];
    struct knn_select_options options = {1, COLUMNS, false, true};
    int64_t indices[3];
    struct error error;
    for (int64_t i = 0; i <= COLUMNS; i++)
        distances[i] = 0x3c00;
    distances[COLUMNS - 1] = distances[0] = distances[COLUMNS] = 0xbc00;
    cr_assert_eq(knn_select_f16(distances, 1, COLUMNS + 1, 3, &options, indices, NULL, &error),
                 STATUS_OK);
    cr_assert(indices[0] == 0 && indices[1] == COLUMNS - 1 && indices[2] == COLUMNS);
}

Test(knn_select, refuses_what_it_cannot_do)
{
    struct case_ {
        int64_t rows, columns, k;
        struct knn_select_options options;
        enum status status;
        bool f16;
    };
    static const struct case_ cases[] = {
        {1, 4, 4, {1, 1, true, true}, STATUS_OK, true},
        {0, 4, 4, {1, 1, true, true}, STATUS_OK, true},
        {1, 4, 5, {1, 1, false, false}, STATUS_INVALID, true},
        {1, 4, 0, {1, 1, false, false}, STATUS_INVALID, true},
        {-1, 4, 1, {1, 1, false, false}, STATUS_INVALID, true},
        {1, 4, 1, {0, 1, false, false}, STATUS_INVALID, true},
        {1, 4, 1, {1, 0, false, false}, STATUS_INVALID, true},
        {1, 4, 1, {1, 31744, false, true}, STATUS_OK, true},
        {1, 4, 1, {1, 31745, false, true}, STATUS_INVALID, true},
        {1, 4, 1, {1, 31745, true, false}, STATUS_OK, true},
        {1, 4, 1, {1, 4, true, false}, STATUS_INVALID, false},
        {1, 4, 1, {1, 4, false, true}, STATUS_INVALID, false},
        {1, 4, 4, {9, 9, false, false}, STATUS_OK, false},
    };
    static const half halves[4];
    static const float floats[4];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct case_ *c = &cases[i];
        struct error error = {0};
        struct knn_select_count count = {-1, -1, -1};
        int64_t indices[4] = {-7, -7, -7, -7};
        enum status status = c->f16 ? knn_select_f16(halves, c->rows, c->columns, c->k, &c->options,
                                                     indices, &count, &error)
                                    : knn_select_f32(floats, c->rows, c->columns, c->k, &c->options,
                                                     indices, &count, &error);
        cr_assert_eq(status, c->status, "case %zu: %s", i, error.text);
        cr_assert_eq(indices[0] == -7, status != STATUS_OK || c->rows == 0);
        cr_assert_eq(count.steps == -1, status != STATUS_OK);
    }
}

/* Alg. 5 and 6 */

static bool nan_half(half value)
{
    return (value & 0x7fff) > 0x7c00;
}

static bool infinite(half value)
{
    return (value & 0x7fff) == 0x7c00;
}

/* What knn_selb_host.c documents. */
static void expect_masks(half a, half b)
{
    float x = half_to_float(a), y = half_to_float(b);
    bool no_number = nan_half(a) || nan_half(b) || (infinite(a) && a == b);
    bool less = x < y || no_number || (a == 0x8000 && b == 0);
    bool differ = isnan(x) || isnan(y) || x != y || no_number || ((a ^ b) == 0x8000 && x == 0);
    int rank_a = nan_half(a) + (a == HALF_REMOVED), rank_b = nan_half(b) + (b == HALF_REMOVED);
    bool before = rank_a < rank_b || (rank_a == 0 && x < y);
    bool same = rank_a == rank_b && (rank_a > 0 || x == y);
    cr_assert_eq(half_less_mask(a, b), less ? 0xffff : 0, "%04x < %04x", a, b);
    cr_assert_eq(half_differ_mask(a, b), differ ? 0xffff : 0, "%04x != %04x", a, b);
    cr_assert_eq(half_before_mask(a, b), before ? 0xffff : 0, "%04x before %04x", a, b);
    cr_assert_eq(half_same_mask(a, b), same ? 0xffff : 0, "%04x same as %04x", a, b);
}

Test(knn_select, half_bits_masks_are_as_documented_for_pairs_that_matter)
{
    enum { COUNT = AWKWARD + 500 };
    static half values[COUNT];
    gsl_rng *rng = seeded(3);
    int count = AWKWARD + test_cases(500);
    memcpy(values, awkward, sizeof awkward);
    for (int i = AWKWARD; i < count; i++)
        values[i] = (half)draw(rng, 0, 0xffff);
    for (int i = 0; i < count; i++)
        for (int j = 0; j < count; j++)
            expect_masks(values[i], values[j]);
    gsl_rng_free(rng);
}

Test(knn_select, half_bits_masks_are_as_documented_for_every_half)
{
    for (int i = 0; i < AWKWARD; i++)
        for (uint32_t bits = 0; bits <= 0xffff; bits += 7 * (uint32_t)test_thinning()) {
            expect_masks(awkward[i], (half)bits);
            expect_masks((half)bits, awkward[i]);
        }
    for (uint32_t bits = 0; bits <= 0xffff; bits++) { /* neighbours, and the value itself */
        expect_masks((half)bits, (half)(bits + 1));
        expect_masks((half)(bits + 1), (half)bits);
        expect_masks((half)bits, (half)bits);
    }
}

Test(knn_select, half_bits_the_traps_by_name)
{
    cr_assert_eq(half_less_mask(0x8000, 0x0000), 0xffff); /* −0 < +0, wrongly */
    cr_assert_eq(half_less_mask(0x0000, 0x8000), 0);
    cr_assert_eq(half_less_mask(0x7c00, 0x7c00), 0xffff); /* ∞ < ∞, wrongly */
    cr_assert_eq(half_less_mask(0x7bff, 0x7c00), 0xffff);
    cr_assert_eq(half_less_mask(0xfbff, 0x7bff), 0xffff); /* overflows to −∞ */
    cr_assert_eq(half_less_mask(0x7bff, 0xfbff), 0);
    cr_assert_eq(half_less_mask(0x0001, 0x0002), 0xffff); /* a subnormal difference */
    cr_assert_eq(half_before_mask(0x7bff, 0x7c00), 0xffff);
    cr_assert_eq(half_before_mask(0x7c00, 0xfe00), 0xffff);
    cr_assert_eq(half_before_mask(0x7e00, HALF_REMOVED), 0xffff);
    cr_assert_eq(mask_select(0xffff, 0x1234, 0x5678), 0x1234);
    cr_assert_eq(mask_select(0x0000, 0x1234, 0x5678), 0x5678);
}

static int64_t plain_index_of(half value, const half *values, int64_t n)
{
    int64_t index = -1024;
    for (int64_t i = 0; i < n; i++) {
        bool mark = value == HALF_REMOVED || values[i] == HALF_REMOVED;
        bool nans = nan_half(value) && nan_half(values[i]);
        if (mark ? value == values[i] : nans || half_to_float(value) == half_to_float(values[i]))
            index = i;
    }
    return index;
}

Test(knn_select, half_bits_index_is_the_largest_equal_one)
{
    static half values[KNN_MAX_INDEX_COLUMNS];
    gsl_rng *rng = seeded(4);
    for (int i = 0; i < test_cases(4000); i++) {
        int64_t n = draw(rng, 0, 60);
        for (int64_t j = 0; j < n; j++)
            values[j] = awkward[draw(rng, 0, AWKWARD - 1)];
        half value = awkward[draw(rng, 0, AWKWARD - 1)];
        cr_assert_eq(half_index_of(value, values, n), plain_index_of(value, values, n));
    }
    /* Every index comes back: through subnormals, normals, up to 0x7bff. */
    memset(values, 0, sizeof values);
    for (int64_t at = 0; at < KNN_MAX_INDEX_COLUMNS; at += at < 1100 || at > 31700 ? 61 : 2003) {
        values[at] = 0x3c00;
        cr_assert_eq(half_index_of(0x3c00, values, KNN_MAX_INDEX_COLUMNS), at);
    }
    values[31743] = 0x3c00;
    cr_assert_eq(half_index_of(0x3c00, values, KNN_MAX_INDEX_COLUMNS), 31743);
    cr_assert_eq(half_index_of(0xbc00, values, KNN_MAX_INDEX_COLUMNS), -1024);
    gsl_rng_free(rng);
}

/* Work: what the early exit saves. */

enum { TILES = 10, TILE_COLUMNS = 64, GROUP = 8 };

struct work {
    double updates[TILES], steps[TILES], steps_square[TILES]; /* of a row; of a tile */
};

static void add_group(struct work *work, int64_t k, gsl_rng *rng)
{
    static float tile[GROUP * TILE_COLUMNS];
    const struct knn_select_options options = {GROUP, TILE_COLUMNS, false, false};
    struct knn_select_count before = {0};
    struct selection selection;
    cr_assert_eq(
        selection_open(&selection, SELECT_F32, GROUP, TILES * TILE_COLUMNS, k, &options, NULL),
        STATUS_OK);
    selection_start(&selection, GROUP);
    for (int64_t t = 0; t < TILES; t++) {
        for (int64_t i = 0; i < GROUP * TILE_COLUMNS; i++)
            tile[i] = (float)gsl_rng_uniform(rng);
        selection_tile(&selection, tile, TILE_COLUMNS, TILE_COLUMNS, t * TILE_COLUMNS);
        double steps = (double)(selection.count.steps - before.steps);
        work->updates[t] += (double)(selection.count.row_updates - before.row_updates) / GROUP;
        work->steps[t] += steps;
        work->steps_square[t] += steps * steps;
        before = selection.count;
    }
    selection_close(&selection);
}

static void measure(struct work *work, int64_t k, int64_t groups)
{
    gsl_rng *rng = seeded(100 + (unsigned long)k);
    memset(work, 0, sizeof *work);
    for (int64_t i = 0; i < groups; i++)
        add_group(work, k, rng);
    for (int t = 0; t < TILES; t++) {
        work->updates[t] /= (double)groups;
        work->steps[t] /= (double)groups;
        work->steps_square[t] /= (double)groups;
    }
    gsl_rng_free(rng);
}

/* Mean number of steps of tile t (from 0): the most updates of any row, and a failing step unless
 * that is k. A row's updates are those of its k smallest of t + 1 tiles that lie in the last. */
static double expected_steps(int64_t k, int t)
{
    double below = 0, mean = 0, all = 0;
    for (int64_t j = 0; j <= k; j++) {
        all += gsl_ran_hypergeometric_pdf((unsigned)j, TILE_COLUMNS, (unsigned)t * TILE_COLUMNS,
                                          (unsigned)k);
        double up_to = pow(all, GROUP);
        mean += (up_to - below) * (double)(j < k ? j + 1 : k);
        below = up_to;
    }
    return mean;
}

/* R² of measured means as k/t, the law as it stands, no fitted constant. */
static double r_squared(const struct work *work, int64_t k)
{
    double mean = 0, residual = 0, total = 0;
    for (int t = 0; t < TILES; t++)
        mean += work->updates[t] / TILES;
    for (int t = 0; t < TILES; t++) {
        residual += pow(work->updates[t] - (double)k / (t + 1), 2);
        total += pow(work->updates[t] - mean, 2);
    }
    return 1 - residual / total;
}

static double fitted_slope(const struct work *work)
{
    double inverse[TILES], slope, variance, squares;
    for (int t = 0; t < TILES; t++)
        inverse[t] = 1.0 / (t + 1);
    gsl_fit_mul(inverse, 1, work->updates, 1, TILES, &slope, &variance, &squares);
    return slope;
}

static const int64_t work_k[] = {4, 8, 16, 32};

/* Variance of the hypergeometric number of updates, for its standard error. */
static double update_variance(int64_t k, int t)
{
    double share = 1.0 / (t + 1), all = (t + 1.0) * TILE_COLUMNS;
    return (double)k * share * (1 - share) * (all - (double)k) / (all - 1);
}

/* Updates of a row are k over t. */
static void expect_updates(const struct work *work, int64_t k, int64_t groups)
{
    cr_assert_float_eq(work->updates[0], (double)k, 1e-9);
    cr_assert_geq(r_squared(work, k), 0.97, "k = %d: R² %g", (int)k, r_squared(work, k));
    cr_assert_float_eq(fitted_slope(work), (double)k, 0.02 * (double)k);
    for (int t = 1; t < TILES; t++) {
        double error = sqrt(update_variance(k, t) / (double)(groups * GROUP));
        cr_assert_float_eq(work->updates[t], (double)k / (t + 1), 4 * error,
                           "k = %d, tile %d: %g updates", (int)k, t + 1, work->updates[t]);
    }
}

/* Steps of a tile are the expected maximum. */
static void expect_steps(const struct work *work, int64_t k, int64_t groups)
{
    for (int t = 0; t < TILES; t++) {
        double variance = work->steps_square[t] - work->steps[t] * work->steps[t];
        double error = sqrt(fmax(variance, 1e-12) / (double)groups);
        double expected = expected_steps(k, t);
        cr_assert_float_eq(work->steps[t], expected, 4 * error + 1e-6,
                           "k = %d, tile %d: %g steps, expected %g", (int)k, t + 1, work->steps[t],
                           expected);
    }
}

Test(knn_select, updates_and_steps_are_those_that_theory_expects)
{
    int64_t groups = 60 + test_cases(180);
    for (size_t i = 0; i < sizeof work_k / sizeof *work_k; i++) {
        struct work work;
        measure(&work, work_k[i], groups);
        expect_updates(&work, work_k[i], groups);
        expect_steps(&work, work_k[i], groups);
    }
}

/* Sorted columns: the first tile does it all, and each later one ends with its first step. */
Test(knn_select, a_tile_without_updates_costs_one_step)
{
    enum { ROWS = 5, COLUMNS = 60, K = 7 };
    half distances[ROWS * COLUMNS];
    int64_t indices[ROWS * K];
    for (int64_t i = 0; i < ROWS * COLUMNS; i++)
        distances[i] = half_from_float((float)(i % COLUMNS));
    for (int way = 0; way < 4; way++) {
        struct knn_select_options options = {ROWS, 10, way & 1, way & 2};
        struct knn_select_count count;
        cr_assert_eq(knn_select_f16(distances, ROWS, COLUMNS, K, &options, indices, &count, NULL),
                     STATUS_OK);
        cr_assert_eq(count.steps, K + 5);
        cr_assert_eq(count.row_updates, ROWS * K);
    }
}

/* The complete k-NN */

struct points {
    struct knn_problem problem;
    half tests[20 * 40], trainings[40 * 90];
    float wide_tests[20 * 40], wide_trainings[40 * 90];
};

/* A point with norm 1, `stride` apart, in FP32 and rounded to FP16; few directions give ties. */
static void draw_point(gsl_rng *rng, int64_t d, int64_t stride, half *point, float *wide)
{
    double x[40], square = 1e-9;
    bool coarse = draw(rng, 0, 1);
    for (int64_t i = 0; i < d; i++) {
        x[i] = coarse ? (double)draw(rng, -1, 1) : gsl_ran_ugaussian(rng);
        square += x[i] * x[i];
    }
    for (int64_t i = 0; i < d; i++) {
        wide[i * stride] = (float)(x[i] / sqrt(square));
        point[i * stride] = half_from_float(wide[i * stride]);
    }
}

static void draw_points(struct points *p, gsl_rng *rng)
{
    int64_t m = draw(rng, 1, 20), n = draw(rng, 1, 90), d = draw(rng, 1, 40);
    p->problem = (struct knn_problem){m, n, d, draw(rng, 1, n < 12 ? n : 12)};
    for (int64_t i = 0; i < m; i++)
        draw_point(rng, d, 1, p->tests + i * d, p->wide_tests + i * d);
    for (int64_t j = 0; j < n; j++)
        draw_point(rng, d, n, p->trainings + j, p->wide_trainings + j);
}

/* Distances of test point i by the definition. */
static void plain_distances(const struct points *p, int64_t i, bool f16, float *row)
{
    int64_t n = p->problem.trainings, d = p->problem.dimensions;
    for (int64_t j = 0; j < n; j++) {
        float sum = 0;
        for (int64_t l = 0; l < d; l++)
            sum += f16 ? half_to_float(p->tests[i * d + l]) * half_to_float(p->trainings[l * n + j])
                       : p->wide_tests[i * d + l] * p->wide_trainings[l * n + j];
        row[j] = f16 ? half_to_float(half_from_float(1 - sum)) : 1 - sum;
    }
}

static void expect_nearest(const struct points *p, bool f16, const struct knn_options *options)
{
    int64_t indices[20 * 12], expected[12], k = p->problem.k;
    struct knn_select_count count;
    struct error error;
    float row[90];
    enum status status =
        f16 ? knn_f16(&p->problem, p->tests, p->trainings, options, indices, &count, &error)
            : knn_f32(&p->problem, p->wide_tests, p->wide_trainings, options, indices, &count,
                      &error);
    cr_assert_eq(status, STATUS_OK, "%s", error.text);
    cr_assert(count.tiles > 0 && count.steps >= count.tiles);
    for (int64_t i = 0; i < p->problem.tests; i++) {
        plain_distances(p, i, f16, row);
        sort_row(row, p->problem.trainings, k, expected);
        expect_indices(row, p->problem.trainings, k, indices + i * k, expected);
    }
}

Test(knn_select, finds_the_nearest_points_with_any_tiles)
{
    static struct points p;
    gsl_rng *rng = seeded(5);
    for (int i = 0; i < test_cases(300); i++) {
        draw_points(&p, rng);
        struct knn_options options = {.tile_tests = draw(rng, 1, 24),
                                      .tile_trainings = draw(rng, 1, 99)};
        options.select.tile_rows = draw(rng, 1, options.tile_tests);
        options.select.tile_columns = draw(rng, 1, options.tile_trainings);
        expect_nearest(&p, false, &options);
        options.select.relu_compare = draw(rng, 0, 1);
        options.select.vector_index = draw(rng, 0, 1);
        expect_nearest(&p, true, &options);
    }
    gsl_rng_free(rng);
}

Test(knn_select, refuses_tiles_that_do_not_nest)
{
    static const half points[4];
    static const struct {
        struct knn_problem problem;
        struct knn_options options;
        enum status status;
    } cases[] = {
        {{2, 2, 2, 1}, {2, 2, {2, 2, false, false}}, STATUS_OK},
        {{0, 2, 2, 1}, {2, 2, {2, 2, false, false}}, STATUS_OK},
        {{2, 2, 2, 1}, {2, 2, {3, 2, false, false}}, STATUS_INVALID},
        {{2, 2, 2, 1}, {2, 2, {2, 3, false, false}}, STATUS_INVALID},
        {{2, 2, 2, 3}, {2, 2, {2, 2, false, false}}, STATUS_INVALID},
        {{2, 2, 0, 1}, {2, 2, {2, 2, false, false}}, STATUS_INVALID},
        {{2, 2, 2, 1}, {0, 2, {0, 2, false, false}}, STATUS_INVALID},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t indices[2];
        struct error error = {0};
        cr_assert_eq(
            knn_f16(&cases[i].problem, points, points, &cases[i].options, indices, NULL, &error),
            cases[i].status, "case %zu: %s", i, error.text);
    }
}
