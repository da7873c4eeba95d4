/* Runs tilings of k-NN with made-up points, and checks answers against distances in double. Points
 * are random and of norm 1, the same for every tiling of a problem. What answers are checked by is
 * computed when the first is checked; before each check results are overwritten with what no answer
 * has, so that one which is not written shows.
 *
 * The k smallest distances of each checked row are selected once, in double, and kept for all
 * answers that are compared. Doubles are ordered as integers (key_of), so that entries_select()
 * takes them. Where all products would take too long, only every stride-th row is looked at. The
 * error that is allowed is γ = nu/(1 − nu) of Higham 2002, 3.1, which holds for any order of a sum.
 */
#include "kernels/knn/host/knn_host.h"
#include "kernels/knn/host/knn_tiled.h"
#include "validate/measure.h"
#include "validate/random.h"
#include "validate/runner.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- checking -------------------------------------------------------------------------------- */

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

/* ---- running --------------------------------------------------------------------------------- */

struct problem_data {
    const struct knn_host *host;
    struct knn_problem problem;
    float *tests, *trainings, *distances;
    int64_t *indices;
    struct knn_check *check; /* made for the first tiling that is checked */
};

struct run_plan {
    struct problem_data *data;
    struct knn_tiled *tiled;
    int64_t held_bytes;
};

_Static_assert((int)KNN_HOST_ORDER_PANELS == KNN_ORDER_PANELS &&
                   (int)KNN_HOST_ORDER_ROWS == KNN_ORDER_ROWS &&
                   (int)KNN_HOST_SELECT_LIST == KNN_SELECT_LIST &&
                   (int)KNN_HOST_SELECT_HEAP == KNN_SELECT_HEAP &&
                   (int)KNN_HOST_SELECT_BUFFER == KNN_SELECT_BUFFER,
               "values of a tiling are those of the kernel");

struct knn_tiling knn_tiling_of(const struct tiling *tiling)
{
    const struct knn_host_kernel *kernel = knn_host_kernel(tiling);
    const int64_t *v = tiling->value;
    return (struct knn_tiling){
        .rows = kernel->rows,
        .vectors = kernel->vectors,
        .m_tile = v[KNN_HOST_M_TILE],
        .n_tile = v[KNN_HOST_N_TILE],
        .d_tile = v[KNN_HOST_D_TILE],
        .pack = v[KNN_HOST_PACK] == KNN_HOST_PACK_YES,
        .order = (enum knn_order)v[KNN_HOST_ORDER],
        .select = (enum knn_select)v[KNN_HOST_SELECT],
        .buffer = v[KNN_HOST_BUFFER],
    };
}

static void close_problem(void *problem)
{
    struct problem_data *data = problem;
    if (!data)
        return;
    knn_check_free(data->check);
    free(data->tests);
    free(data->trainings);
    free(data->indices);
    free(data->distances);
    free(data);
}

/* Gives `count` points norm 1; numbers of a point are `step` apart, points `next`. */
static void normalise(float *x, int64_t count, int64_t next, int64_t dimensions, int64_t step)
{
    for (int64_t i = 0; i < count; i++) {
        double squares = 0;
        for (int64_t l = 0; l < dimensions; l++)
            squares += (double)x[i * next + l * step] * (double)x[i * next + l * step];
        float scale = squares > 0 ? (float)(1 / sqrt(squares)) : 1;
        for (int64_t l = 0; l < dimensions; l++)
            x[i * next + l * step] *= scale;
    }
}

static enum status require_memory(const struct knn_problem *problem, struct error *error)
{
    double m = (double)problem->tests, n = (double)problem->trainings;
    double d = (double)problem->dimensions, k = (double)problem->k;
    return memory_require("points and neighbours",
                          sizeof(float) * d * (m + n) + (sizeof(float) + sizeof(int64_t)) * m * k,
                          error);
}

static enum status open_problem(const struct space *space, uint64_t seed, void **problem,
                                struct error *error)
{
    const struct knn_host *host = knn_host_of(space);
    const struct knn_problem sizes = {host->m, host->n, host->d, host->k};
    *problem = NULL;
    TRY(require_memory(&sizes, error));
    struct problem_data *data = calloc(1, sizeof *data);
    if (!data)
        return error_memory(error);
    *data = (struct problem_data){
        .host = host,
        .problem = sizes,
        .tests = memory_floats(host->m, host->d),
        .trainings = memory_floats(host->d, host->n),
        .distances = memory_floats(host->m, host->k),
        .indices = calloc((size_t)host->m, (size_t)host->k * sizeof *data->indices)};
    gsl_rng *random = random_open(seed, error);
    if (!random || !data->tests || !data->trainings || !data->distances || !data->indices) {
        gsl_rng_free(random);
        close_problem(data);
        return error_memory(error);
    }
    random_floats(random, data->tests, host->m * host->d);
    random_floats(random, data->trainings, host->d * host->n);
    gsl_rng_free(random);
    normalise(data->tests, host->m, host->d, host->d, 1);
    normalise(data->trainings, host->n, 1, host->d, host->n);
    *problem = data;
    return STATUS_OK;
}

static enum status prepare(void *problem, const struct tiling *tiling, void **result,
                           struct error *error)
{
    struct problem_data *data = problem;
    const struct knn_tiling meant = knn_tiling_of(tiling);
    struct run_plan *plan = calloc(1, sizeof *plan);
    *result = NULL;
    if (!plan)
        return error_memory(error);
    plan->data = data;
    plan->held_bytes = knn_host_workspace_bytes(data->host, tiling);
    enum status status = knn_tiled_open(&data->problem, &meant, data->host->host->isa,
                                        data->host->threads, &plan->tiled, error);
    if (status == STATUS_OK)
        *result = plan;
    else
        free(plan);
    return status;
}

static void release(void *plan)
{
    struct run_plan *p = plan;
    if (p)
        knn_tiled_close(p->tiled);
    free(p);
}

static int64_t held_bytes(const void *plan)
{
    return ((const struct run_plan *)plan)->held_bytes;
}

static void run(void *plan)
{
    const struct run_plan *p = plan;
    const struct problem_data *data = p->data;
    knn_tiled_run(p->tiled, data->tests, data->trainings, data->indices, data->distances);
}

static enum status check(void *plan, struct host_check *check, struct error *error)
{
    struct problem_data *data = ((struct run_plan *)plan)->data;
    int64_t results = data->problem.tests * data->problem.k;
    if (!data->check)
        TRY(knn_check_new(&data->problem, data->tests, data->trainings, &data->check, error));
    assert(data->check);
    for (int64_t i = 0; i < results; i++) {
        data->indices[i] = -1;
        data->distances[i] = NAN;
    }
    run(plan);
    *check = (struct host_check){
        .max_error = knn_check_error(data->check, data->indices, data->distances),
        .allowed_error = knn_allowed_error(data->problem.dimensions),
        .sampled = knn_check_sampled(data->check),
    };
    return STATUS_OK;
}

const struct host_runner knn_runner = {
    .open = open_problem,
    .close = close_problem,
    .prepare = prepare,
    .release = release,
    .held_bytes = held_bytes,
    .run = run,
    .check = check,
};
