/* Runs tilings of products with made-up operands, and checks what comes out. Operands are random
 * and the same for all tilings of a problem. Plans share one workspace, as large as the largest
 * needs, for only one runs at a time. C is filled with NaN before a check, so that an element which
 * is not written shows.
 *
 * The reference is in double, with the sums of absolute products beside it, by which errors are
 * measured. Of large products some rows are compared, and one that is found for each C: columns are
 * added up with random signs, once through A·B and once in C, and the row counts in which the two
 * differ most (Freivalds 1977). The error that is allowed grows with √k, as rounding errors do that
 * are not all of one sign (Higham and Mary 2019). */
#include "kernels/matmul/host/matmul_host.h"
#include "kernels/matmul/host/sgemm.h"
#include "kernels/matmul/matmul.h"
#include "validate/measure.h"
#include "validate/random.h"
#include "validate/runner.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- checking -------------------------------------------------------------------------------- */

/* Above so many multiply-adds, or results, rows are sampled. */
#define FULL_PRODUCTS (INT64_C(1) << 28)
#define FULL_RESULTS  (INT64_C(1) << 22)

enum { SAMPLED_ROWS = 6 }; /* and one that looks worst */

struct sgemm_check {
    int64_t m, k, n;
    const float *a, *b;
    bool sampled;
    int64_t rows[SAMPLED_ROWS + 1]; /* the last one is found for each C */
    int row_count;
    double *exact, *absolute; /* of the rows, or of all */
    double *mix, *mixed;      /* a sign for each column, and A·(B·mix) */
};

/* One row of the product, and of the product of absolute values. */
static void reference_row(const struct sgemm_check *check, int64_t row, double *exact,
                          double *absolute)
{
    const float *a = check->a + row * check->k, *b = check->b;
    memset(exact, 0, (size_t)check->n * sizeof *exact);
    memset(absolute, 0, (size_t)check->n * sizeof *absolute);
    for (int64_t p = 0; p < check->k; p++, b += check->n)
        for (int64_t j = 0; j < check->n; j++) {
            double product = (double)a[p] * (double)b[j];
            exact[j] += product;
            absolute[j] += fabs(product);
        }
}

static void reference_all(struct sgemm_check *check)
{
    for (int64_t i = 0; i < check->m; i++)
        reference_row(check, i, check->exact + i * check->n, check->absolute + i * check->n);
}

/* A·(B·mix) is what the rows of C must come to when they are mixed alike. */
static void mix_columns(struct sgemm_check *check, gsl_rng *random, double *of_b)
{
    for (int64_t j = 0; j < check->n; j++)
        check->mix[j] = random_below(random, 2) ? 1 : -1;
    for (int64_t p = 0; p < check->k; p++) {
        of_b[p] = 0;
        for (int64_t j = 0; j < check->n; j++)
            of_b[p] += (double)check->b[p * check->n + j] * check->mix[j];
    }
    for (int64_t i = 0; i < check->m; i++) {
        check->mixed[i] = 0;
        for (int64_t p = 0; p < check->k; p++)
            check->mixed[i] += (double)check->a[i * check->k + p] * of_b[p];
    }
}

/* First and last rows, and some between. */
static enum status prepare_samples(struct sgemm_check *check, uint64_t seed, struct error *error)
{
    double *of_b = malloc((size_t)check->k * sizeof *of_b);
    gsl_rng *random = random_open(seed, error);
    if (!of_b || !random) {
        free(of_b);
        gsl_rng_free(random);
        return error_memory(error);
    }
    check->row_count = SAMPLED_ROWS;
    for (int r = 0; r < SAMPLED_ROWS; r++)
        check->rows[r] = random_below(random, check->m);
    check->rows[0] = 0;
    check->rows[1] = check->m - 1;
    for (int r = 0; r < SAMPLED_ROWS; r++)
        reference_row(check, check->rows[r], check->exact + r * check->n,
                      check->absolute + r * check->n);
    mix_columns(check, random, of_b);
    gsl_rng_free(random);
    free(of_b);
    return STATUS_OK;
}

enum status sgemm_check_new(int64_t m, int64_t k, int64_t n, const float *a, const float *b,
                            uint64_t seed, struct sgemm_check **result, struct error *error)
{
    struct sgemm_check *check = calloc(1, sizeof *check);
    *result = NULL;
    if (!check)
        return error_memory(error);
    *check = (struct sgemm_check){.m = m, .k = k, .n = n, .a = a, .b = b};
    check->sampled = (double)m * (double)k * (double)n > (double)FULL_PRODUCTS ||
                     (double)m * (double)n > (double)FULL_RESULTS;
    size_t rows = check->sampled ? SAMPLED_ROWS + 1 : (size_t)m, results = rows * (size_t)n;
    check->exact = malloc(results * sizeof *check->exact);
    check->absolute = malloc(results * sizeof *check->absolute);
    check->mix = malloc((size_t)n * sizeof *check->mix);
    check->mixed = malloc((size_t)m * sizeof *check->mixed);
    enum status status = STATUS_OK;
    if (!check->exact || !check->absolute || !check->mix || !check->mixed)
        status = error_memory(error);
    else if (check->sampled)
        status = prepare_samples(check, seed, error);
    else
        reference_all(check);
    if (status == STATUS_OK)
        *result = check;
    else
        sgemm_check_free(check);
    return status;
}

void sgemm_check_free(struct sgemm_check *check)
{
    if (!check)
        return;
    free(check->exact);
    free(check->absolute);
    free(check->mix);
    free(check->mixed);
    free(check);
}

static double larger(double a, double b)
{
    return b > a ? b : a;
}

static double row_error(const struct sgemm_check *check, const float *c, const double *exact,
                        const double *absolute)
{
    double largest = 0;
    for (int64_t j = 0; j < check->n; j++) {
        double error = fabs((double)c[j] - exact[j]);
        if (!isfinite(error))
            return INFINITY;
        if (error > 0)
            largest = larger(largest, error / absolute[j]);
    }
    return largest;
}

/* The row whose combination is furthest from what it should be. */
static int64_t worst_row(const struct sgemm_check *check, const float *c)
{
    int64_t worst = 0;
    double most = -1;
    for (int64_t i = 0; i < check->m; i++) {
        double sum = 0;
        for (int64_t j = 0; j < check->n; j++)
            sum += (double)c[i * check->n + j] * check->mix[j];
        double off = fabs(sum - check->mixed[i]);
        if (!isfinite(off))
            return i;
        if (off > most) {
            most = off;
            worst = i;
        }
    }
    return worst;
}

void sgemm_check_errors(struct sgemm_check *check, const float *c, double *largest, bool *sampled)
{
    *largest = 0;
    *sampled = check->sampled;
    if (check->sampled) {
        int64_t offset = SAMPLED_ROWS * check->n, worst = worst_row(check, c);
        reference_row(check, worst, check->exact + offset, check->absolute + offset);
        check->rows[SAMPLED_ROWS] = worst;
        check->row_count = SAMPLED_ROWS + 1;
    }
    for (int64_t r = 0; r < (check->sampled ? check->row_count : check->m); r++) {
        int64_t row = check->sampled ? check->rows[r] : r;
        *largest =
            larger(*largest, row_error(check, c + row * check->n, check->exact + r * check->n,
                                       check->absolute + r * check->n));
    }
}

double sgemm_allowed_error(int64_t k)
{
    return (4 + 4 * sqrt((double)k)) * 0x1p-24;
}

/* ---- running --------------------------------------------------------------------------------- */

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
