#include "validate/host/sgemm_run.h"
#include "kernels/matmul.h"
#include "validate/host/sgemm.h"
#include "validate/host/sgemm_check.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

struct problem_data {
    const struct matmul_host *host;
    float *a, *b, *c;
    uint64_t seed;
    struct sgemm_check *check; /* made for the first tiling that is checked */
};

struct run_plan {
    struct problem_data *data;
    struct sgemm_plan *plan;
};

static void close_problem(void *problem)
{
    struct problem_data *data = problem;
    if (!data)
        return;
    sgemm_check_free(data->check);
    free(data->a);
    free(data->b);
    free(data->c);
    free(data);
}

/* From -1 to 1, all bits of a float in use. */
static void fill(float *x, int64_t count, uint64_t *state)
{
    for (int64_t i = 0; i < count; i++) {
        *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        x[i] = (float)((int64_t)*state >> 39) * 0x1p-24F;
    }
}

static float *matrix(int64_t rows, int64_t columns)
{
    enum { ALIGNMENT = 64 };
    size_t bytes = (size_t)rows * (size_t)columns * sizeof(float);
    return aligned_alloc(ALIGNMENT, bytes + (-bytes & (ALIGNMENT - 1)));
}

/* Memory is given out more freely than there is. */
static bool fits_memory(const struct matmul_host *host)
{
    double m = (double)host->m, k = (double)host->k, n = (double)host->n;
    double bytes = sizeof(float) * (m * k + k * n + m * n);
    return bytes < (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
}

static enum status open_problem(const struct space *space, uint64_t seed, void **problem,
                                struct error *error)
{
    const struct matmul_host *host = matmul_host_of(space);
    *problem = NULL;
    if (!fits_memory(host))
        return error_set(error, STATUS_NO_MEMORY,
                         "the operands of %lldx%lldx%lld take more than this machine's memory",
                         (long long)host->m, (long long)host->k, (long long)host->n);
    struct problem_data *data = calloc(1, sizeof *data);
    if (!data)
        return error_memory(error);
    *data = (struct problem_data){.host = host,
                                  .a = matrix(host->m, host->k),
                                  .b = matrix(host->k, host->n),
                                  .c = matrix(host->m, host->n),
                                  .seed = seed};
    if (!data->a || !data->b || !data->c) {
        close_problem(data);
        return error_memory(error);
    }
    fill(data->a, host->m * host->k, &seed);
    fill(data->b, host->k * host->n, &seed);
    *problem = data;
    return STATUS_OK;
}

static enum status prepare(void *problem, const struct tiling *tiling, void **result,
                           struct error *error)
{
    struct problem_data *data = problem;
    const struct matmul_host *host = data->host;
    struct run_plan *plan = calloc(1, sizeof *plan);
    *result = NULL;
    if (!plan)
        return error_memory(error);
    plan->data = data;
    enum status status = sgemm_plan(host->host->isa, host->m, host->k, host->n, host->threads,
                                    tiling, &plan->plan, error);
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
        sgemm_free(p->plan);
    free(p);
}

static void run(void *plan)
{
    const struct run_plan *p = plan;
    sgemm_run(p->plan, p->data->a, p->data->b, p->data->c);
}

static enum status check(void *plan, struct host_check *check, struct error *error)
{
    struct problem_data *data = ((struct run_plan *)plan)->data;
    const struct matmul_host *host = data->host;
    enum status status = STATUS_OK;
    if (!data->check)
        status = sgemm_check_new(host->m, host->k, host->n, data->a, data->b, data->seed,
                                 &data->check, error);
    if (status != STATUS_OK)
        return status;
    for (int64_t i = 0; i < host->m * host->n; i++)
        data->c[i] = NAN;
    run(plan);
    check->allowed_error = sgemm_allowed_error(host->k);
    sgemm_check_errors(data->check, data->c, &check->max_error, &check->sampled);
    return STATUS_OK;
}

const struct host_runner sgemm_runner = {
    .op = &matmul_operator,
    .open = open_problem,
    .close = close_problem,
    .prepare = prepare,
    .release = release,
    .run = run,
    .check = check,
};
