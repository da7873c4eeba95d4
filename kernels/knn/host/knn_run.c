/* Runs tilings of k-NN with made-up points. Points are random and of norm 1, the same for every
 * tiling of a problem. What answers are checked by is computed when the first is checked; before
 * each check results are overwritten with what no answer has, so that one which is not written
 * shows. */
#include "kernels/knn/host/knn_check.h"
#include "kernels/knn/host/knn_host.h"
#include "kernels/knn/host/knn_tiled.h"
#include "validate/memory.h"
#include "validate/random.h"
#include "validate/runner.h"

#include <math.h>
#include <stdlib.h>

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
