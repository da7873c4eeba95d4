/* Checks answers of k-NN against distances in double. The k smallest distances of each checked row
 * are selected once, in double, and kept for all answers that are compared. Doubles are ordered as
 * integers (key_of), so that knn_order.h selects them. Where all products would take too long,
 * only every stride-th row is looked at. The error that is allowed is γ = nu/(1 − nu) of Higham
 * 2002, 3.1, which holds for any order of a sum. */
#include "kernels/knn/host/knn_check.h"

#include "kernels/knn/host/knn_order.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Products of all rows that are checked: some tenths of a second. At least this many rows. */
#define MOST_PRODUCTS 3e8
enum { LEAST_ROWS = 2 };

struct knn_check {
    struct knn_problem problem;
    const float *tests, *trainings;
    int64_t rows, stride; /* that are checked: every stride-th */
    double *least;        /* rows × k: the row's smallest distances, ascending */
    double *scale;        /* a row: 1 + its largest sum of absolute products */
    /* one row's, while it is looked at */
    double *sums, *absolute; /* N */
    uint64_t *keys;          /* N */
};

double knn_allowed_error(int64_t dimensions)
{
    double unit = (double)FLT_EPSILON / 2, terms = (double)dimensions + 1;
    return terms * unit / (1 - terms * unit);
}

/* Doubles as integers of the same order, as entry_of does for floats. */
static uint64_t key_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits ^ ((bits >> 63 ? UINT64_MAX : 0) | UINT64_C(1) << 63);
}

static double value_of(uint64_t key)
{
    double x;
    key ^= key >> 63 ? UINT64_C(1) << 63 : UINT64_MAX;
    memcpy(&x, &key, sizeof x);
    return x;
}

/* Distances of the test point and their sums of absolute products, into check->sums, absolute. */
static void exact_row(struct knn_check *check, const float *test)
{
    const int64_t n = check->problem.trainings;
    memset(check->sums, 0, (size_t)n * sizeof *check->sums);
    memset(check->absolute, 0, (size_t)n * sizeof *check->absolute);
    for (int64_t l = 0; l < check->problem.dimensions; l++) {
        const float *trainings = check->trainings + l * n;
        double p = test[l];
        for (int64_t j = 0; j < n; j++) {
            check->sums[j] += p * (double)trainings[j];
            check->absolute[j] += fabs(p * (double)trainings[j]);
        }
    }
}

static void keep_least(struct knn_check *check, int64_t number)
{
    const int64_t n = check->problem.trainings, k = check->problem.k;
    check->scale[number] = 1;
    for (int64_t j = 0; j < n; j++) {
        check->keys[j] = key_of(1 - check->sums[j]);
        check->scale[number] = fmax(check->scale[number], 1 + check->absolute[j]);
    }
    entries_select(check->keys, n, k);
    entries_sort(check->keys, k);
    for (int64_t i = 0; i < k; i++)
        check->least[number * k + i] = value_of(check->keys[i]);
}

static enum status allocate(struct knn_check *check, struct error *error)
{
    size_t n = (size_t)check->problem.trainings, rows = (size_t)check->rows;
    check->least = calloc(rows, (size_t)check->problem.k * sizeof *check->least);
    check->scale = calloc(rows, sizeof *check->scale);
    check->sums = calloc(n, sizeof *check->sums);
    check->absolute = calloc(n, sizeof *check->absolute);
    check->keys = calloc(n, sizeof *check->keys);
    return check->least && check->scale && check->sums && check->absolute && check->keys
               ? STATUS_OK
               : error_memory(error);
}

enum status knn_check_new(const struct knn_problem *problem, const float *tests,
                          const float *trainings, struct knn_check **check, struct error *error)
{
    struct knn_check *made = calloc(1, sizeof *made);
    double row = (double)problem->dimensions * (double)problem->trainings;
    double rows = fmax(LEAST_ROWS, floor(MOST_PRODUCTS / row));
    if (!made)
        return error_memory(error);
    *made = (struct knn_check){.problem = *problem, .tests = tests, .trainings = trainings};
    made->stride = rows >= (double)problem->tests ? 1 : (int64_t)((double)problem->tests / rows);
    made->rows = (problem->tests - 1) / made->stride + 1;
    enum status status = allocate(made, error);
    if (status != STATUS_OK) {
        knn_check_free(made);
        return status;
    }
    for (int64_t r = 0; r < made->rows; r++) {
        exact_row(made, tests + r * made->stride * problem->dimensions);
        keep_least(made, r);
    }
    *check = made;
    return STATUS_OK;
}

void knn_check_free(struct knn_check *check)
{
    if (!check)
        return;
    free(check->least);
    free(check->scale);
    free(check->sums);
    free(check->absolute);
    free(check->keys);
    free(check);
}

bool knn_check_sampled(const struct knn_check *check)
{
    return check->stride > 1;
}

static double exact_distance(const struct knn_check *check, int64_t test, int64_t training)
{
    const int64_t d = check->problem.dimensions, n = check->problem.trainings;
    double sum = 0;
    for (int64_t l = 0; l < d; l++)
        sum += (double)check->tests[test * d + l] * (double)check->trainings[l * n + training];
    return 1 - sum;
}

/* Indices are in range and differ, distances ascend, equal ones by index. */
static bool is_ordered(const struct knn_check *check, const int64_t *indices,
                       const float *distances)
{
    const int64_t n = check->problem.trainings, k = check->problem.k;
    for (int64_t i = 0; i < k; i++)
        if (indices[i] < 0 || indices[i] >= n || !isfinite(distances[i]))
            return false;
    for (int64_t i = 1; i < k; i++)
        if (distances[i] < distances[i - 1] ||
            (distances[i] == distances[i - 1] && indices[i] <= indices[i - 1]))
            return false;
    for (int64_t i = 0; i < k; i++)
        check->keys[i] = (uint64_t)indices[i];
    entries_sort(check->keys, k);
    for (int64_t i = 1; i < k; i++)
        if (check->keys[i] == check->keys[i - 1])
            return false;
    return true;
}

double knn_check_error(const struct knn_check *check, const int64_t *indices,
                       const float *distances)
{
    const int64_t k = check->problem.k;
    double most = 0;
    for (int64_t r = 0; r < check->rows; r++) {
        int64_t test = r * check->stride;
        const int64_t *index = indices + test * k;
        const float *distance = distances + test * k;
        if (!is_ordered(check, index, distance))
            return INFINITY;
        for (int64_t i = 0; i < k; i++) {
            double own = fabs(distance[i] - exact_distance(check, test, index[i]));
            double rank = fabs(distance[i] - check->least[r * k + i]);
            most = fmax(most, fmax(own, rank) / check->scale[r]);
        }
    }
    return most;
}
