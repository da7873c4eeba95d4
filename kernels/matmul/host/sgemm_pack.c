/* Packs tiles of operands, transposed or not. What is contiguous along k is turned by the code that
 * every instruction set has for A; what is contiguous across is copied row by row, by the code for
 * B where that fills up to whole vectors. */
#include "kernels/matmul/host/sgemm_plan.h"

#include <string.h>

/* Of a transposed A: k rows of `rows` numbers. */
static void copy_rows(const float *a, int64_t lda, int64_t rows, int64_t k, float *packed)
{
    for (int64_t p = 0; p < k; p++)
        memcpy(packed + p * rows, a + p * lda, (size_t)rows * sizeof *packed);
}

/* The last columns of a transposed B: `filled` a row of the copy, zeros beyond `columns`. */
static void turn_some(const float *b, int64_t ldb, int64_t columns, int64_t filled, int64_t k,
                      float *packed)
{
    for (int64_t p = 0; p < k; p++, packed += filled)
        for (int64_t j = 0; j < filled; j++)
            packed[j] = j < columns ? b[j * ldb + p] : 0;
}

void sgemm_pack_a(const struct sgemm_plan *plan, const struct sgemm_operands *o,
                  const struct host_share *i, const struct host_share *p, float *packed)
{
    struct host_pieces panels = host_pieces(i->length, plan->kernel->rows);
    int64_t row = i->start, count = i->length * p->length;
    float *at = packed;
    for (int64_t panel = 0; panel < panels.count; panel++) {
        int64_t rows = panels.least + (panel < panels.larger);
        if (o->transpose_a)
            copy_rows(o->a + p->start * o->lda + row, o->lda, rows, p->length, at);
        else
            plan->code->pack_a(o->a + row * o->lda + p->start, o->lda, rows, p->length, at);
        row += rows;
        at += rows * p->length;
    }
    for (int64_t x = 0; o->alpha != 1 && x < count; x++)
        packed[x] *= o->alpha;
}

void sgemm_pack_b(const struct sgemm_plan *plan, const struct sgemm_operands *o,
                  const struct host_share *p, const struct host_share *j, float *packed)
{
    int64_t lanes = plan->code->lanes, column = j->start, left = j->length;
    struct host_pieces panels = host_pieces(sgemm_vectors(plan, left), plan->kernel->vectors);
    for (int64_t panel = 0; panel < panels.count; panel++) {
        int64_t filled = (panels.least + (panel < panels.larger)) * lanes;
        int64_t columns = filled < left ? filled : left;
        if (!o->transpose_b)
            plan->code->pack_b(o->b + p->start * o->ldb + column, o->ldb, columns, p->length,
                               packed);
        else if (columns == filled)
            plan->code->pack_a(o->b + column * o->ldb + p->start, o->ldb, filled, p->length,
                               packed);
        else
            turn_some(o->b + column * o->ldb + p->start, o->ldb, columns, filled, p->length,
                      packed);
        column += columns;
        left -= columns;
        packed += filled * p->length;
    }
}
