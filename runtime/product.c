#include "runtime/product.h"

#include <stddef.h>

/* Rows of a matrix, as it is stored. */
static bool read_rows(int64_t rows, int64_t columns, int64_t given, int64_t *distance)
{
    int64_t all;
    *distance = given ? given : columns;
    return *distance >= columns && !__builtin_mul_overflow(rows, *distance, &all) &&
           all <= PTRDIFF_MAX / (int64_t)sizeof(float);
}

bool product_read(const struct autotune_sgemm_product *p, struct sgemm_operands *o)
{
    *o = (struct sgemm_operands){.a = p->a,
                                 .b = p->b,
                                 .c = p->c,
                                 .transpose_a = p->transpose_a != 0,
                                 .transpose_b = p->transpose_b != 0,
                                 .alpha = p->alpha,
                                 .beta = p->beta};
    return p->m >= 0 && p->k >= 0 && p->n >= 0 &&
           (p->transpose_a ? read_rows(p->k, p->m, p->lda, &o->lda)
                           : read_rows(p->m, p->k, p->lda, &o->lda)) &&
           (p->transpose_b ? read_rows(p->n, p->k, p->ldb, &o->ldb)
                           : read_rows(p->k, p->n, p->ldb, &o->ldb)) &&
           read_rows(p->m, p->n, p->ldc, &o->ldc);
}

bool product_is_plain(const struct autotune_sgemm_product *p, const struct sgemm_operands *o)
{
    return !o->transpose_a && !o->transpose_b && o->alpha == 1 && o->beta == 0 && o->lda == p->k &&
           o->ldb == p->n && o->ldc == p->n;
}

void product_scale(const struct autotune_sgemm_product *p, const struct sgemm_operands *o)
{
    for (int64_t i = 0; i < p->m && o->beta != 1; i++)
        for (int64_t j = 0; j < p->n; j++) {
            float *c = o->c + i * o->ldc + j;
            *c = o->beta == 0 ? 0 : o->beta * *c;
        }
}
