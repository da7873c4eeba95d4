/* Runs plans of FP32 products: each thread its share, tile by tile, operands packed where the plan
 * says so (the loops are those of K. Goto and R. van de Geijn, Anatomy of high-performance matrix
 * multiplication, 2008). */
#include "core/least.h"
#include "kernels/matmul/host/sgemm_plan.h"

#include <stdlib.h>
#include <string.h>

/* Where a thread is: its operands, and the tile that it multiplies. */
struct worker {
    const struct sgemm_plan *plan;
    const struct sgemm_operands *o;
    float *packed_a, *packed_b;
    struct host_share m, n;    /* the thread's rows and columns */
    struct host_share i, j, p; /* the tile along m, n and k */
    struct sgemm_step step;
};

static struct host_share tile_at(const struct host_share *whole, int64_t start, int64_t tile)
{
    int64_t left = whole->start + whole->length - start;
    return (struct host_share){start, left < tile ? left : tile};
}

/* One panel of the tile along m or n: what micro-kernels of its size need. */
struct row_panel {
    int64_t rows;
    const float *a;
    float *c; /* its first row, in the tile's first column */
};

struct column_panel {
    sgemm_tile_code *const *code; /* by rows - 1 */
    int64_t columns;              /* in whole vectors */
    const float *b;
    int64_t offset; /* of C's columns in the tile */
};

static void first_rows(const struct worker *w, const struct host_pieces *panels,
                       struct row_panel *panel)
{
    const struct sgemm_plan *plan = w->plan;
    panel->rows = panels->least + (panels->larger > 0);
    panel->a = plan->pack_a ? w->packed_a : w->o->a + w->i.start * w->o->lda + w->p.start;
    panel->c = w->o->c + w->i.start * w->o->ldc + w->j.start;
}

static void next_rows(const struct worker *w, const struct host_pieces *panels, int64_t done,
                      struct row_panel *panel)
{
    panel->a += panel->rows * (w->plan->pack_a ? w->p.length : w->o->lda);
    panel->c += panel->rows * w->o->ldc;
    panel->rows = panels->least + (done < panels->larger);
}

/* Sets the step, too. */
static void set_columns(struct worker *w, int64_t vectors, struct column_panel *panel)
{
    const struct sgemm_plan *plan = w->plan;
    int64_t lanes = plan->code->lanes, left = w->j.length - panel->offset;
    panel->columns = vectors * lanes;
    bool some = left < panel->columns;
    w->step.tail = some ? (int)(left - (vectors - 1) * lanes) : (int)lanes;
    w->step.ldb = plan->pack_b ? panel->columns : w->o->ldb;
    panel->code = plan->code->tile[plan->pack_a][some][vectors - 1];
}

static void first_columns(struct worker *w, const struct host_pieces *panels,
                          struct column_panel *panel)
{
    const struct sgemm_plan *plan = w->plan;
    panel->b = plan->pack_b ? w->packed_b : w->o->b + w->p.start * w->o->ldb + w->j.start;
    panel->offset = 0;
    set_columns(w, panels->least + (panels->larger > 0), panel);
}

static void next_columns(struct worker *w, const struct host_pieces *panels, int64_t done,
                         struct column_panel *panel)
{
    panel->b += panel->columns * (w->plan->pack_b ? w->p.length : 1);
    panel->offset += panel->columns;
    set_columns(w, panels->least + (done < panels->larger), panel);
}

static void multiply_n_outer(struct worker *w, const struct host_pieces *m,
                             const struct host_pieces *n)
{
    struct column_panel columns;
    struct row_panel rows;
    first_columns(w, n, &columns);
    for (int64_t j = 0;;) {
        first_rows(w, m, &rows);
        for (int64_t i = 0;;) {
            columns.code[rows.rows - 1](&w->step, rows.a, columns.b, rows.c + columns.offset);
            if (++i == m->count)
                break;
            next_rows(w, m, i, &rows);
        }
        if (++j == n->count)
            break;
        next_columns(w, n, j, &columns);
    }
}

static void multiply_m_outer(struct worker *w, const struct host_pieces *m,
                             const struct host_pieces *n)
{
    struct column_panel columns;
    struct row_panel rows;
    first_rows(w, m, &rows);
    for (int64_t i = 0;;) {
        first_columns(w, n, &columns);
        for (int64_t j = 0;;) {
            columns.code[rows.rows - 1](&w->step, rows.a, columns.b, rows.c + columns.offset);
            if (++j == n->count)
                break;
            next_columns(w, n, j, &columns);
        }
        if (++i == m->count)
            break;
        next_rows(w, m, i, &rows);
    }
}

/* Before anything is added to a tile of C. */
static void scale_tile(const struct worker *w)
{
    float *c = w->o->c + w->i.start * w->o->ldc + w->j.start;
    for (int64_t i = 0; i < w->i.length; i++, c += w->o->ldc)
        for (int64_t j = 0; j < w->j.length; j++)
            c[j] *= w->o->beta;
}

static void multiply(struct worker *w)
{
    const struct sgemm_plan *plan = w->plan;
    struct host_pieces m = host_pieces(w->i.length, plan->kernel->rows);
    struct host_pieces n = host_pieces(sgemm_vectors(plan, w->j.length), plan->kernel->vectors);
    w->step.k = w->p.length;
    w->step.accumulate = w->p.start > 0 || w->o->beta != 0;
    if (w->p.start == 0 && w->o->beta != 0 && w->o->beta != 1)
        scale_tile(w);
    (plan->m_outer ? multiply_m_outer : multiply_n_outer)(w, &m, &n);
}

static void run_n_outer(struct worker *w)
{
    const struct sgemm_plan *plan = w->plan;
    const struct host_share k = {0, plan->k};
    for (int64_t j = w->n.start; j < w->n.start + w->n.length; j += plan->n_tile) {
        w->j = tile_at(&w->n, j, plan->n_tile);
        for (int64_t p = 0; p < plan->k; p += plan->k_tile) {
            w->p = tile_at(&k, p, plan->k_tile);
            if (plan->pack_b)
                sgemm_pack_b(plan, w->o, &w->p, &w->j, w->packed_b);
            for (int64_t i = w->m.start; i < w->m.start + w->m.length; i += plan->m_tile) {
                w->i = tile_at(&w->m, i, plan->m_tile);
                if (plan->pack_a)
                    sgemm_pack_a(plan, w->o, &w->i, &w->p, w->packed_a);
                multiply(w);
            }
        }
    }
}

static void run_m_outer(struct worker *w)
{
    const struct sgemm_plan *plan = w->plan;
    const struct host_share k = {0, plan->k};
    for (int64_t i = w->m.start; i < w->m.start + w->m.length; i += plan->m_tile) {
        w->i = tile_at(&w->m, i, plan->m_tile);
        for (int64_t p = 0; p < plan->k; p += plan->k_tile) {
            w->p = tile_at(&k, p, plan->k_tile);
            if (plan->pack_a)
                sgemm_pack_a(plan, w->o, &w->i, &w->p, w->packed_a);
            for (int64_t j = w->n.start; j < w->n.start + w->n.length; j += plan->n_tile) {
                w->j = tile_at(&w->n, j, plan->n_tile);
                if (plan->pack_b)
                    sgemm_pack_b(plan, w->o, &w->p, &w->j, w->packed_b);
                multiply(w);
            }
        }
    }
}

/* Rows outside, columns inside: a few rows of A stay in the L1 over all columns. */
static void run_dot(struct worker *w)
{
    const struct sgemm_plan *plan = w->plan;
    const float *b = w->o->b + w->n.start;
    struct host_pieces m = host_pieces(w->m.length, plan->kernel->rows);
    struct host_pieces n = host_pieces(w->n.length, plan->kernel->vectors);
    w->step.k = w->step.ldb = plan->k;
    if (plan->pack_b) {
        plan->code->transpose_b(b, w->o->ldb, w->n.length, plan->k, w->packed_b);
        b = w->packed_b;
    }
    for (int64_t i = 0, row = w->m.start; i < m.count; i++) {
        int64_t rows = m.least + (i < m.larger);
        const float *panel = b;
        float *c = w->o->c + row * w->o->ldc + w->n.start;
        for (int64_t j = 0; j < n.count; j++) {
            int64_t columns = n.least + (j < n.larger);
            plan->code->dot[columns - 1][rows - 1](&w->step, w->o->a + row * w->o->lda, panel, c);
            panel += columns * plan->k;
            c += columns;
        }
        row += rows;
    }
}

/* Whatever the tiles: see SWEPT_FLOATS. */
static void run_sweep(struct worker *w)
{
    const struct sgemm_plan *plan = w->plan;
    int64_t end = w->n.start + w->n.length, piece = SWEPT_FLOATS / plan->m;
    piece -= piece % plan->code->lanes;
    w->step.k = plan->k;
    w->step.ldb = w->o->ldb;
    for (int64_t j = w->n.start; j < end && w->m.length > 0; j += piece) {
        w->step.columns = tile_at(&w->n, j, piece).length;
        plan->code->sweep[w->m.length - 1](&w->step, w->o->a + w->m.start * w->o->lda, w->o->b + j,
                                           w->o->c + w->m.start * w->o->ldc + j);
    }
}

/* Past the caches go whole lines that nothing is added to. */
static bool streams(const struct sgemm_plan *plan, const struct sgemm_operands *o)
{
    enum { LINE = 64 };
    return plan->stream && o->beta == 0 && ((uintptr_t)o->c | (uintptr_t)(4 * o->ldc)) % LINE == 0;
}

static void run_part(const struct sgemm_plan *plan, int thread, float *packed,
                     const struct sgemm_operands *o)
{
    struct worker w = {
        .plan = plan,
        .o = o,
        .packed_a = packed ? packed + thread * (plan->packed_a + plan->packed_b) : NULL,
        .m = {0, plan->m},
        .n = {0, plan->n},
        .step = {.lda = o->lda, .ldc = o->ldc, .stream = streams(plan, o)},
    };
    w.packed_b = packed ? w.packed_a + plan->packed_a : NULL;
    if (plan->split == HOST_SPLIT_M)
        w.m = host_share(plan->m, plan->unit, plan->threads, thread);
    else
        w.n = host_share(plan->n, plan->unit, plan->threads, thread);
    if (plan->kernel->path == HOST_PATH_DOT)
        run_dot(&w);
    else if (plan->sweep)
        run_sweep(&w);
    else
        (plan->m_outer ? run_m_outer : run_n_outer)(&w);
    if (w.step.stream)
        plan->code->finish();
}

void sgemm_run_operands(const struct sgemm_plan *plan, float *workspace,
                        const struct sgemm_operands *operands)
{
    if (plan->threads == 1) {
        run_part(plan, 0, workspace, operands);
        return;
    }
#pragma omp parallel for schedule(static, 1) num_threads(plan->threads)
    for (int thread = 0; thread < plan->threads; thread++)
        run_part(plan, thread, workspace, operands);
}

void sgemm_run_in(const struct sgemm_plan *plan, float *workspace, const float *a, const float *b,
                  float *c)
{
    if (plan->whole) {
        plan->whole(&plan->step, a, b, c);
        return;
    }
    const struct sgemm_operands dense = {
        .a = a, .b = b, .c = c, .lda = plan->k, .ldb = plan->n, .ldc = plan->n, .alpha = 1};
    sgemm_run_operands(plan, workspace, &dense);
}

void sgemm_run(const struct sgemm_plan *plan, const float *a, const float *b, float *c)
{
    sgemm_run_in(plan, plan->packed, a, b, c);
}
