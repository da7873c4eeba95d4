/* Tiles nest as in Tang 2024, Fig. 3.1: an m1×n1 tile of distances is selected from in m2×n2
 * tiles; each group of m2 rows carries its own results. */
#include "kernels/knn/host/knn_selb_host.h"
#include "core/least.h"

#include "kernels/knn/host/knn_rows.h"

#include <stdlib.h>
#include <string.h>

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

static enum status check(const struct knn *knn, struct error *error)
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

static enum status search(struct knn *knn, int64_t *indices, struct knn_select_count *count,
                          struct error *error)
{
    struct knn_select_count total = {0};
    int64_t tests = knn->problem->tests, rows = least_of(tests, knn->options->tile_tests);
    TRY(check(knn, error));
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
    return search(&knn, indices, count, error);
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
    return search(&knn, indices, count, error);
}
