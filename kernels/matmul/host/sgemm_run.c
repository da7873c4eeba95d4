/* Runs tilings of products with made-up operands. Operands are random and the same for all tilings
 * of a problem. Plans share one workspace, as large as the largest needs, for only one runs at a
 * time. C is filled with NaN before a check, so that an element which is not written shows. */
#include "kernels/matmul/host/matmul_host.h"
#include "kernels/matmul/host/sgemm.h"
#include "kernels/matmul/host/sgemm_check.h"
#include "kernels/matmul/matmul.h"
#include "validate/memory.h"
#include "validate/random.h"
#include "validate/runner.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct problem_data {
    const struct matmul_host *host;
    float *a, *b, *c;
    float *workspace; /* of all plans: one runs at a time */
    int64_t workspace_bytes;
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
    free(data->workspace);
    free(data);
}

static enum status require_memory(const struct matmul_host *host, struct error *error)
{
    double m = (double)host->m, k = (double)host->k, n = (double)host->n;
    char operands[96];
    (void)snprintf(operands, sizeof operands, "operands and results of %lldx%lldx%lld",
                   (long long)host->m, (long long)host->k, (long long)host->n);
    return memory_require(operands, sizeof(float) * (m * k + k * n + m * n), error);
}

static enum status open_problem(const struct space *space, uint64_t seed, void **problem,
                                struct error *error)
{
    const struct matmul_host *host = matmul_host_of(space);
    *problem = NULL;
    TRY(require_memory(host, error));
    struct problem_data *data = calloc(1, sizeof *data);
    if (!data)
        return error_memory(error);
    *data = (struct problem_data){.host = host,
                                  .a = memory_floats(host->m, host->k),
                                  .b = memory_floats(host->k, host->n),
                                  .c = memory_floats(host->m, host->n),
                                  .seed = seed};
    gsl_rng *random = random_open(seed, error);
    if (!random || !data->a || !data->b || !data->c) {
        gsl_rng_free(random);
        close_problem(data);
        return error_memory(error);
    }
    random_floats(random, data->a, host->m * host->k);
    random_floats(random, data->b, host->k * host->n);
    gsl_rng_free(random);
    *problem = data;
    return STATUS_OK;
}

/* Plans that are held at once would need it many times. */
static enum status enlarge_workspace(struct problem_data *data, int64_t bytes, struct error *error)
{
    if (bytes <= data->workspace_bytes)
        return STATUS_OK;
    float *larger = sgemm_workspace(bytes);
    if (!larger)
        return error_memory(error);
    free(data->workspace);
    data->workspace = larger;
    data->workspace_bytes = bytes;
    return STATUS_OK;
}

static void release(void *plan)
{
    struct run_plan *p = plan;
    if (p)
        sgemm_free(p->plan);
    free(p);
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
    enum status status = sgemm_plan_shared(host->host->isa, host->m, host->k, host->n,
                                           host->threads, tiling, &plan->plan, error);
    if (status == STATUS_OK)
        status = enlarge_workspace(data, sgemm_workspace_bytes(plan->plan), error);
    if (status == STATUS_OK)
        *result = plan;
    else
        release(plan);
    return status;
}

static void run(void *plan)
{
    const struct run_plan *p = plan;
    const struct problem_data *data = p->data;
    sgemm_run_in(p->plan, data->workspace, data->a, data->b, data->c);
}

static enum status check(void *plan, struct host_check *check, struct error *error)
{
    struct problem_data *data = ((struct run_plan *)plan)->data;
    const struct matmul_host *host = data->host;
    if (!data->check)
        TRY(sgemm_check_new(host->m, host->k, host->n, data->a, data->b, data->seed, &data->check,
                            error));
    for (int64_t i = 0; i < host->m * host->n; i++)
        data->c[i] = NAN;
    run(plan);
    check->allowed_error = sgemm_allowed_error(host->k);
    sgemm_check_errors(data->check, data->c, &check->max_error, &check->sampled);
    return STATUS_OK;
}

const struct host_runner sgemm_runner = {
    .open = open_problem,
    .close = close_problem,
    .prepare = prepare,
    .release = release,
    .run = run,
    .check = check,
};
