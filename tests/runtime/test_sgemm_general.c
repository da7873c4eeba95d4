/* Products as BLAS has them: parts of matrices, transposes, alpha and beta, thin ones and others,
 * by default tilings and by those of a table, against sums in double and against the reference BLAS
 * that comes with GSL. */
#include "core/host.h"
#include "runtime/autotune_sgemm.h"
#include "tests/support/cases.h"
#include "tests/support/guarded.h"

#include <criterion/criterion.h>
#include <gsl/gsl_cblas.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const float untouched = 12345.5F;

/* A matrix as it is stored, with rows further apart than they are long; what lies between them is
 * no number, so that reading it shows. */
struct matrix {
    struct guarded memory;
    int64_t rows, columns, distance;
};

static int64_t pick(gsl_rng *rng, int64_t count)
{
    return (int64_t)gsl_rng_uniform_int(rng, (unsigned long)count);
}

static size_t floats_of(const struct matrix *x)
{
    return (size_t)((x->rows - 1) * x->distance + x->columns);
}

static bool is_inside(const struct matrix *x, size_t i)
{
    return (int64_t)i % x->distance < x->columns;
}

static struct matrix new_matrix(gsl_rng *rng, int64_t rows, int64_t columns, int64_t apart)
{
    struct matrix x = {.rows = rows, .columns = columns, .distance = columns + apart};
    x.memory = guarded_new(floats_of(&x), pick(rng, 4) > 0);
    for (size_t i = 0; i < floats_of(&x); i++)
        x.memory.data[i] = is_inside(&x, i) ? (float)(gsl_rng_uniform(rng) - 0.5) : NAN;
    return x;
}

struct call {
    struct autotune_sgemm_product product;
    struct matrix a, b, c, before;
};

static struct call new_call(gsl_rng *rng, int64_t m, int64_t k, int64_t n)
{
    static const float factors[] = {1, 0, -0.75F, 2.5F};
    struct autotune_sgemm_product p = {.m = m, .k = k, .n = n};
    p.transpose_a = (int)pick(rng, 2);
    p.transpose_b = (int)pick(rng, 2);
    p.alpha = pick(rng, 2) ? 1 : factors[pick(rng, 4)];
    p.beta = factors[pick(rng, 4)];
    struct call call = {
        .a = new_matrix(rng, p.transpose_a ? k : m, p.transpose_a ? m : k, pick(rng, 3) * 3),
        .b = new_matrix(rng, p.transpose_b ? n : k, p.transpose_b ? k : n, pick(rng, 3) * 3),
        .c = new_matrix(rng, m, n, pick(rng, 3) * 8)};
    call.before = call.c;
    call.before.memory = guarded_new(floats_of(&call.c), true);
    for (size_t i = 0; i < floats_of(&call.c); i++)
        if (!is_inside(&call.c, i))
            call.c.memory.data[i] = untouched;
        else if (p.beta == 0)
            call.c.memory.data[i] = NAN; /* must not count */
    memcpy(call.before.memory.data, call.c.memory.data, floats_of(&call.c) * sizeof(float));
    p.a = call.a.memory.data;
    p.b = call.b.memory.data;
    p.c = call.c.memory.data;
    p.lda = call.a.distance == call.a.columns ? 0 : call.a.distance;
    p.ldb = call.b.distance;
    p.ldc = call.c.distance;
    call.product = p;
    return call;
}

static void free_call(struct call *call)
{
    guarded_free(&call->a.memory);
    guarded_free(&call->b.memory);
    guarded_free(&call->c.memory);
    guarded_free(&call->before.memory);
}

static double element(const struct matrix *x, bool transposed, int64_t i, int64_t j)
{
    return x->memory.data[transposed ? j * x->distance + i : i * x->distance + j];
}

static void expect_element(const struct call *call, int64_t i, int64_t j, float reference)
{
    const struct autotune_sgemm_product *p = &call->product;
    double sum = 0, magnitude = 0, old = element(&call->before, false, i, j);
    for (int64_t x = 0; x < p->k; x++) {
        double term =
            element(&call->a, p->transpose_a, i, x) * element(&call->b, p->transpose_b, x, j);
        sum += term;
        magnitude += fabs(term);
    }
    sum = (double)p->alpha * sum + (p->beta == 0 ? 0 : (double)p->beta * old);
    magnitude = fabs((double)p->alpha) * magnitude + (p->beta == 0 ? 0 : fabs(p->beta * old));
    double allowed = magnitude * (double)(p->k + 4) * 6e-8, got = element(&call->c, false, i, j);
    cr_assert(fabs(got - sum) <= allowed,
              "%ldx%ldx%ld transposed %d %d alpha %g beta %g: C[%ld][%ld] is %.9g, expected %.9g",
              p->m, p->k, p->n, p->transpose_a, p->transpose_b, (double)p->alpha, (double)p->beta,
              i, j, got, sum);
    cr_assert(fabs(got - (double)reference) <= 2 * allowed, "BLAS has %.9g, not %.9g",
              (double)reference, got);
}

static void expect_product(struct autotune_sgemm *sgemm, struct call *call)
{
    const struct autotune_sgemm_product *p = &call->product;
    size_t floats = floats_of(&call->c);
    float *reference = malloc(floats * sizeof *reference);
    cr_assert(reference);
    memcpy(reference, call->before.memory.data, floats * sizeof *reference);
    cblas_sgemm(CblasRowMajor, p->transpose_a ? CblasTrans : CblasNoTrans,
                p->transpose_b ? CblasTrans : CblasNoTrans, (int)p->m, (int)p->n, (int)p->k,
                p->alpha, p->a, (int)call->a.distance, p->b, (int)p->ldb, p->beta, reference,
                (int)p->ldc);
    cr_assert_eq(autotune_sgemm_general(sgemm, p), AUTOTUNE_SGEMM_OK);
    for (int64_t i = 0; i < p->m; i++)
        for (int64_t j = 0; j < p->n; j++)
            expect_element(call, i, j, reference[i * p->ldc + j]);
    for (size_t i = 0; i < floats; i++)
        cr_assert(is_inside(&call->c, i) || p->c[i] == untouched, "between rows of C: %zu", i);
    free(reference);
}

static void expect_size(struct autotune_sgemm *sgemm, gsl_rng *rng, int64_t m, int64_t k, int64_t n)
{
    struct call call = new_call(rng, m, k, n);
    expect_product(sgemm, &call);
    free_call(&call);
}

/* Every way to be thin with every way to be stored, and rests of every kind. */
Test(sgemm_general, thin_products_are_right)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    struct autotune_sgemm *sgemm = autotune_sgemm_open(NULL, 2, NULL, 0);
    for (int i = 0; i < test_cases(1200); i++) {
        int64_t few = 1 + i % 4, many = 1 + pick(rng, 1 + i % 7 * 20), k = 1 + pick(rng, 70);
        expect_size(sgemm, rng, i / 4 % 2 ? few : many, k, i / 4 % 2 ? many : few);
    }
    expect_size(sgemm, rng, 1, 40, 5000); /* several pieces, on two threads */
    expect_size(sgemm, rng, 5000, 40, 3);
    autotune_sgemm_close(sgemm);
    gsl_rng_free(rng);
}

Test(sgemm_general, default_tilings_are_right)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    struct autotune_sgemm *sgemm = autotune_sgemm_open(NULL, 2, NULL, 0);
    for (int i = 0; i < test_cases(240); i++)
        expect_size(sgemm, rng, 5 + pick(rng, 60), 1 + pick(rng, 70), 5 + pick(rng, 90));
    expect_size(sgemm, rng, 210, 400, 70); /* several tiles of m and k */
    autotune_sgemm_close(sgemm);
    gsl_rng_free(rng);
}

/* Entries that do not pack, that stream, that have several tiles, and dot products, which take no
 * such operands. */
Test(sgemm_general, tables_tilings_are_right)
{
    static const char *const tilings[] = {
        "12x2,24,40,48,no,no,n,cached,m",   "12x2,24,40,48,no,no,m,stream,n",
        "6x4,12,13,32,yes,no,n,cached,n",   "6x2,7,20,16,no,yes,m,cached,m",
        "28x1,24,40,48,yes,yes,n,stream,m", "dot 4x2,24,40,48,no,yes,n,cached,m"};
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    char name[64];
    snprintf(name, sizeof name, "/dev/shm/autotune-general-%d.csv", (int)getpid());
    for (size_t t = 0; t < sizeof tilings / sizeof *tilings; t++) {
        char message[256] = "";
        FILE *file = fopen(name, "w");
        cr_assert(file);
        fprintf(file,
                "m,k,n,isa,kernel,m_tile,k_tile,n_tile,pack_a,pack_b,order,store,split\n"
                "24,40,48,%s,%s\n",
                host_isa_name(host_isa_best()), tilings[t]);
        fclose(file);
        struct autotune_sgemm *sgemm =
            autotune_sgemm_open(name, 1 + (int)t % 2, message, sizeof message);
        unlink(name);
        cr_assert(sgemm, "%s", message);
        for (int i = 0; i < 40; i++)
            expect_size(sgemm, rng, 24, 40, 48);
        for (int i = 0; i < 20; i++)
            expect_size(sgemm, rng, 20 + pick(rng, 9), 30 + pick(rng, 20), 40 + pick(rng, 17));
        autotune_sgemm_close(sgemm);
    }
    gsl_rng_free(rng);
}

Test(sgemm_general, results_do_not_depend_on_threads)
{
    static const int64_t sizes[][3] = {{1, 700, 901}, {3, 300, 900}, {901, 300, 2}, {40, 300, 130}};
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    struct autotune_sgemm *one = autotune_sgemm_open(NULL, 1, NULL, 0);
    struct autotune_sgemm *more = autotune_sgemm_open(NULL, 3, NULL, 0);
    for (int i = 0; i < 32; i++) {
        const int64_t *s = sizes[i % 4];
        struct call call = new_call(rng, s[0], s[1], s[2]);
        size_t bytes = floats_of(&call.c) * sizeof(float);
        float *alone = malloc(bytes);
        cr_assert(alone);
        cr_assert_eq(autotune_sgemm_general(one, &call.product), AUTOTUNE_SGEMM_OK);
        memcpy(alone, call.product.c, bytes);
        memcpy(call.product.c, call.before.memory.data, bytes);
        cr_assert_eq(autotune_sgemm_general(more, &call.product), AUTOTUNE_SGEMM_OK);
        cr_assert_eq(memcmp(alone, call.product.c, bytes), 0, "%ldx%ldx%ld", s[0], s[1], s[2]);
        free(alone);
        free_call(&call);
    }
    autotune_sgemm_close(one);
    autotune_sgemm_close(more);
    gsl_rng_free(rng);
}

/* What is asked plainly is autotune_sgemm's answer, bit for bit. */
Test(sgemm_general, a_plain_product_is_the_plain_products)
{
    enum { M = 33, K = 70, N = 45 };
    static float a[M * K], b[K * N], c[M * N], plain[M * N];
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    struct autotune_sgemm *sgemm = autotune_sgemm_open(NULL, 1, NULL, 0);
    for (int i = 0; i < M * K; i++)
        a[i] = (float)gsl_rng_uniform(rng);
    for (int i = 0; i < K * N; i++)
        b[i] = (float)gsl_rng_uniform(rng);
    const struct autotune_sgemm_product p = {
        .m = M, .k = K, .n = N, .a = a, .b = b, .c = c, .alpha = 1};
    cr_assert_eq(autotune_sgemm_general(sgemm, &p), AUTOTUNE_SGEMM_OK);
    cr_assert_eq(autotune_sgemm(sgemm, M, K, N, a, b, plain), AUTOTUNE_SGEMM_OK);
    cr_assert_eq(memcmp(c, plain, sizeof c), 0);
    autotune_sgemm_close(sgemm);
    gsl_rng_free(rng);
}

/* As BLAS has it: nothing is read that does not count. */
Test(sgemm_general, empty_sums_and_factors_of_zero)
{
    struct autotune_sgemm *sgemm = autotune_sgemm_open(NULL, 1, NULL, 0);
    float c[6] = {NAN, 1, 2, 3, 4, 5};
    struct autotune_sgemm_product p = {.m = 2, .k = 7, .n = 2, .c = c, .ldc = 3, .beta = 2};
    cr_expect_eq(autotune_sgemm_general(sgemm, &p), AUTOTUNE_SGEMM_OK);
    cr_expect(isnan(c[0]) && c[1] == 2 && c[2] == 2 && c[3] == 6 && c[4] == 8 && c[5] == 5);
    p.alpha = 1;
    p.k = 0;
    p.beta = 0;
    cr_expect_eq(autotune_sgemm_general(sgemm, &p), AUTOTUNE_SGEMM_OK);
    cr_expect(c[0] == 0 && c[1] == 0 && c[2] == 2 && c[3] == 0 && c[4] == 0 && c[5] == 5);
    p.m = 0;
    p.c = NULL;
    cr_expect_eq(autotune_sgemm_general(sgemm, &p), AUTOTUNE_SGEMM_OK);
    autotune_sgemm_close(sgemm);
}

/* Of a single row nothing lies behind it, however far the next would be. */
Test(sgemm_general, rows_as_far_apart_as_can_be)
{
    const int64_t far = PTRDIFF_MAX / (int64_t)sizeof(float);
    struct autotune_sgemm *sgemm = autotune_sgemm_open(NULL, 1, NULL, 0);
    const float a = 2, b = 3;
    float c = 7;
    struct autotune_sgemm_product p = {.m = 1, .k = 1, .n = 1, .a = &a, .b = &b, .c = &c};
    p.alpha = 1;
    p.lda = p.ldb = p.ldc = far;
    cr_expect_eq(autotune_sgemm_general(sgemm, &p), AUTOTUNE_SGEMM_OK);
    cr_expect_eq(c, 6);
    p.lda = far + 1;
    cr_expect_eq(autotune_sgemm_general(sgemm, &p), AUTOTUNE_SGEMM_SIZE);
    autotune_sgemm_close(sgemm);
}

Test(sgemm_general, what_is_no_product_is_refused)
{
    static const struct autotune_sgemm_product bad[] = {
        {.m = -1, .k = 1, .n = 1},
        {.m = 1, .k = -1, .n = 1},
        {.m = 1, .k = 1, .n = INT64_MIN},
        {.m = 4, .k = 8, .n = 6, .lda = 7},
        {.m = 4, .k = 8, .n = 6, .lda = 4, .ldb = 5},
        {.m = 4, .k = 8, .n = 6, .lda = 3, .transpose_a = 1},
        {.m = 4, .k = 8, .n = 6, .ldb = 7, .transpose_b = 1},
        {.m = 4, .k = 8, .n = 6, .ldc = 5},
        {.m = 4, .k = 8, .n = 6, .ldc = -6},
        {.m = 4, .k = 8, .n = 6, .lda = INT64_MAX},
        {.m = INT64_C(1) << 31, .k = 1, .n = INT64_C(1) << 31},
        {.m = 4, .k = 8, .n = 6, .ldc = INT64_C(1) << 61},
    };
    struct autotune_sgemm *sgemm = autotune_sgemm_open(NULL, 1, NULL, 0);
    float c = 7;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct autotune_sgemm_product p = bad[i];
        p.a = p.b = p.c = &c;
        cr_expect_eq(autotune_sgemm_general(sgemm, &p), AUTOTUNE_SGEMM_SIZE, "%zu", i);
    }
    cr_assert_eq(c, 7);
    autotune_sgemm_close(sgemm);
}
