/* Products of few rows, or of few columns, which are the transposes of such: they wait for the
 * large operand. Stored with rows along k it is swept, a few of its rows at a time; stored with
 * columns along k its columns are multiplied as they lie. Either way by pieces of C that stay in
 * the L1, and only there alpha and beta come in. */
#include "core/least.h"
#include "kernels/matmul/host/sgemm_plan.h"

#include <string.h>

/* Few rows of numbers, dense and k long, by a large operand; C may be its transpose. */
struct thin {
    const struct sgemm_code *code;
    int64_t rows, k, columns;
    const float *few, *large;
    int64_t ld_large;
    bool along_k; /* are the large operand's columns contiguous? */
    float *c;
    int64_t c_row, c_column; /* floats to the next */
    float alpha, beta;
};

/* By columns, as many at once as registers suffice for. */
static void multiply_columns(const struct thin *t, int64_t first, int64_t count, float *piece)
{
    static const int most[SGEMM_THIN] = {8, 8, 8, 6};
    struct sgemm_step step = {.k = t->k, .lda = t->k, .ldb = t->ld_large, .ldc = count};
    int64_t at_once = most[t->rows - 1];
    for (int64_t j = 0; j < count; j += at_once) {
        int64_t columns = least_of(at_once, count - j);
        t->code->dot[columns - 1][t->rows - 1](&step, t->few, t->large + (first + j) * t->ld_large,
                                               piece + j);
    }
}

static void sweep_rows(const struct thin *t, int64_t first, int64_t count, float *piece)
{
    struct sgemm_step step = {
        .k = t->k, .lda = t->k, .ldb = t->ld_large, .ldc = count, .columns = count};
    t->code->sweep[t->rows - 1](&step, t->few, t->large + first, piece);
}

static void keep(const struct thin *t, int64_t first, int64_t count, const float *piece)
{
    for (int64_t i = 0; i < t->rows; i++)
        for (int64_t j = 0; j < count; j++) {
            float *c = t->c + i * t->c_row + (first + j) * t->c_column;
            float product = t->alpha * piece[i * count + j];
            *c = t->beta == 0 ? product : product + t->beta * *c;
        }
}

static void run_columns(const struct thin *t, struct host_share share)
{
    enum { PIECE = 2048 }; /* floats */
    float piece[PIECE];
    int64_t width = PIECE / t->rows / t->code->lanes * t->code->lanes;
    for (int64_t j = 0; j < share.length; j += width) {
        int64_t count = least_of(width, share.length - j);
        (t->along_k ? multiply_columns : sweep_rows)(t, share.start + j, count, piece);
        keep(t, share.start + j, count, piece);
    }
}

/* Dense and with rows along k. */
static const float *dense(const struct sgemm_code *code, const float *from, int64_t ld,
                          bool transposed, int64_t rows, int64_t k, float *to)
{
    if (!transposed && ld == k)
        return from;
    if (transposed)
        code->transpose_b(from, ld, rows, k, to);
    else
        for (int64_t i = 0; i < rows; i++)
            memcpy(to + i * k, from + i * ld, (size_t)k * sizeof *to);
    return to;
}

int64_t sgemm_thin_floats(int64_t m, int64_t k, int64_t n)
{
    return least_of(m, n) * k;
}

void sgemm_thin(enum host_isa isa, int threads, int64_t m, int64_t k, int64_t n,
                const struct sgemm_operands *o, float *workspace)
{
    const struct sgemm_code *code = sgemm_code_of(isa);
    bool turned = n < m; /* C's transpose is B's times A's */
    struct thin t = {.code = code, .rows = turned ? n : m, .k = k, .columns = turned ? m : n};
    t.few = dense(code, turned ? o->b : o->a, turned ? o->ldb : o->lda,
                  turned ? !o->transpose_b : o->transpose_a, t.rows, k, workspace);
    t.large = turned ? o->a : o->b;
    t.ld_large = turned ? o->lda : o->ldb;
    t.along_k = turned ? !o->transpose_a : o->transpose_b;
    t.c = o->c;
    t.c_row = turned ? 1 : o->ldc;
    t.c_column = turned ? o->ldc : 1;
    t.alpha = o->alpha;
    t.beta = o->beta;
    if (threads == 1) {
        run_columns(&t, (struct host_share){0, t.columns});
        return;
    }
#pragma omp parallel for schedule(static, 1) num_threads(threads)
    for (int thread = 0; thread < threads; thread++)
        run_columns(&t, host_share(t.columns, code->lanes, threads, thread));
}
