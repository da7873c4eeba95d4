/* Checks a product. The reference is in double, with the sums of absolute products beside it, by
 * which errors are measured. Of large products some rows are compared, and one that is found for
 * each C: columns are added up with random signs, once through A·B and once in C, and the row
 * counts in which the two differ most (Freivalds 1977). The error that is allowed grows with √k,
 * as rounding errors do that are not all of one sign (Higham and Mary 2019). */
#include "kernels/matmul/host/sgemm_check.h"
#include "validate/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* Xorshift64 (Marsaglia 2003). */
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
