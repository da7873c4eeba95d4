/* FP32 products: plans of them (what a tiling means for one product, checked, with the code of an
 * instruction set and the room that it needs), and running these: each thread its share, tile by
 * tile, operands packed where the plan says so (the loops are those of K. Goto and R. van de Geijn,
 * Anatomy of high-performance matrix multiplication, 2008).
 *
 * What is contiguous along k is packed by the code that every instruction set has for A; what is
 * contiguous across is copied row by row, by the code for B where that fills up to whole vectors.
 *
 * Products of few rows, or of few columns, which are the transposes of such, wait for the large
 * operand and need no plan. Stored with rows along k it is swept, a few of its rows at a time;
 * stored with columns along k its columns are multiplied as they lie. Either way by pieces of C
 * that stay in the L1, and only there alpha and beta come in. */
#include "kernels/matmul/host/sgemm.h"
#include "core/least.h"
#include "kernels/matmul/host/sgemm_code.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct sgemm_plan {
    const struct sgemm_code *code;
    const struct matmul_host_kernel *kernel;
    int64_t m, k, n;
    int64_t m_tile, k_tile, n_tile;
    bool pack_a, pack_b, m_outer, stream, sweep;
    int threads; /* that have work */
    int64_t split, unit;
    float *packed; /* of each thread A's, then B's tile */
    int64_t packed_a, packed_b, workspace_bytes;
    sgemm_tile_code *whole; /* NULL, or one call of it is the product: for the smallest ones */
    struct sgemm_step step; /* of that call */
};

/* Few rows wait for B, which is best read as it lies, a few rows at a time, beside a piece of C
 * that stays in the L1: whatever the tiles, unless B is to be packed or all of C is in registers.
 */
enum { SWEPT_FLOATS = 4096 }; /* of C */

static inline int64_t sgemm_vectors(const struct sgemm_plan *plan, int64_t columns)
{
    return (columns + plan->code->lanes - 1) / plan->code->lanes;
}

/* ---- plans ----------------------------------------------------------------------------------- */

static const struct sgemm_code *const codes[HOST_ISA_COUNT] = {
    [HOST_PORTABLE] = &sgemm_code_portable,
#if defined __aarch64__
    [HOST_NEON] = &sgemm_code_neon,
#elif defined __x86_64__
    [HOST_AVX2] = &sgemm_code_avx2,
    [HOST_AVX512] = &sgemm_code_avx512,
#endif
};

const struct sgemm_code *sgemm_code_of(enum host_isa isa)
{
    return codes[isa];
}

static enum status check_values(int64_t m, int64_t k, int64_t n, int threads,
                                const struct tiling *tiling, struct error *error)
{
    static const int64_t most[HOST_MATMUL_AXES] = {
        [HOST_M_TILE] = INT64_MAX,        [HOST_K_TILE] = INT64_MAX,
        [HOST_N_TILE] = INT64_MAX,        [HOST_PACK_A] = HOST_PACK_YES,
        [HOST_PACK_B] = HOST_PACK_YES,    [HOST_ORDER] = HOST_ORDER_M,
        [HOST_STORE] = HOST_STORE_STREAM, [HOST_SPLIT] = HOST_SPLIT_N,
    };
    int64_t elements;
    if (m < 1 || k < 1 || n < 1 || threads < 1 || __builtin_mul_overflow(m, k, &elements) ||
        __builtin_mul_overflow(k, n, &elements) || __builtin_mul_overflow(m, n, &elements))
        return error_set(error, STATUS_INVALID, "sgemm: %lldx%lldx%lld on %d threads is no product",
                         (long long)m, (long long)k, (long long)n, threads);
    for (int a = 0; a < HOST_MATMUL_AXES; a++) {
        int64_t limit = a == HOST_KERNEL ? MATMUL_HOST_KERNELS : most[a];
        if (tiling->value[a] < 1 || tiling->value[a] > limit)
            return error_set(error, STATUS_INVALID, "sgemm: value %lld of axis %d of a tiling",
                             (long long)tiling->value[a], a);
    }
    return STATUS_OK;
}

/* In floats, per thread; packed columns are filled up to whole vectors. False: their bytes are more
 * than can be counted. */
static bool size_workspace(struct sgemm_plan *plan)
{
    enum { UNIT = 16 };
    int64_t k = least_of(plan->k_tile, plan->k), a = least_of(plan->m_tile, plan->m), all;
    int64_t b = least_of(plan->n_tile, plan->n) + plan->code->lanes;
    if ((plan->pack_a && __builtin_mul_overflow(a, k, &plan->packed_a)) ||
        (plan->pack_b && __builtin_mul_overflow(b, k, &plan->packed_b)) ||
        __builtin_add_overflow(plan->packed_a, -plan->packed_a & (UNIT - 1), &plan->packed_a) ||
        __builtin_add_overflow(plan->packed_b, -plan->packed_b & (UNIT - 1), &plan->packed_b) ||
        __builtin_add_overflow(plan->packed_a, plan->packed_b, &all))
        return false;
    return !__builtin_mul_overflow(all, plan->threads * (int64_t)sizeof(float),
                                   &plan->workspace_bytes);
}

/* Packed operands are read in order again and again: large pages keep their translations few. */
float *sgemm_workspace(int64_t bytes)
{
    enum { LINE = 64, HUGE_PAGE = 2 << 20 };
    size_t unit = bytes < HUGE_PAGE ? LINE : HUGE_PAGE, whole = (size_t)bytes;
    whole += -whole & (unit - 1);
    float *workspace = aligned_alloc(unit, whole ? whole : unit);
    if (workspace && unit == HUGE_PAGE)
        madvise(workspace, whole, MADV_HUGEPAGE);
    return workspace;
}

static void set_plan(struct sgemm_plan *plan, int threads, const struct tiling *tiling,
                     enum host_isa isa)
{
    const int64_t *v = tiling->value;
    plan->kernel = matmul_host_kernel(tiling);
    plan->m_tile = least_of(v[HOST_M_TILE], plan->m);
    plan->k_tile = least_of(v[HOST_K_TILE], plan->k);
    plan->n_tile = least_of(
        sgemm_vectors(plan, least_of(v[HOST_N_TILE], plan->n)) * plan->code->lanes, plan->n);
    plan->split = v[HOST_SPLIT];
    plan->unit = matmul_host_unit(plan->kernel, isa, plan->split);
    plan->threads =
        host_sharers(plan->split == HOST_SPLIT_M ? plan->m : plan->n, plan->unit, threads);
    plan->m_outer = v[HOST_ORDER] == HOST_ORDER_M;
    plan->pack_a = v[HOST_PACK_A] == HOST_PACK_YES;
    plan->pack_b = v[HOST_PACK_B] == HOST_PACK_YES;
    if (plan->kernel->path == HOST_PATH_DOT) {
        plan->k_tile = plan->k;
        plan->n_tile = plan->n;
        plan->pack_a = false;
        plan->pack_b = plan->n > 1;
    }
    plan->stream = v[HOST_STORE] == HOST_STORE_STREAM && plan->k_tile == plan->k &&
                   plan->n % 16 == 0 && plan->kernel->path == HOST_PATH_TILE;
    plan->sweep = plan->kernel->path == HOST_PATH_TILE && !plan->pack_b &&
                  plan->m <= SGEMM_MAX_SWEEP_ROWS &&
                  sgemm_vectors(plan, plan->n) > plan->kernel->vectors;
    if (plan->sweep)
        plan->pack_a = plan->stream = false;
}

/* Products that one thread computes by one call, which need not look for it each time. */
static void set_one_call(struct sgemm_plan *plan)
{
    const struct sgemm_code *code = plan->code;
    bool one_panel = plan->m <= plan->kernel->rows && plan->k_tile == plan->k;
    int64_t vectors = sgemm_vectors(plan, plan->n);
    plan->step = (struct sgemm_step){.k = plan->k,
                                     .lda = plan->k,
                                     .ldb = plan->n,
                                     .ldc = plan->n,
                                     .columns = plan->n,
                                     .tail = (int)(plan->n - (vectors - 1) * code->lanes)};
    if (plan->threads > 1 || plan->stream || plan->pack_a || plan->pack_b)
        return;
    if (plan->sweep && plan->m * plan->n <= SWEPT_FLOATS) {
        plan->whole = code->sweep[plan->m - 1];
    } else if (plan->kernel->path == HOST_PATH_DOT && one_panel) { /* unpacked: of one column */
        plan->step.ldb = plan->k;
        plan->whole = plan->m <= 2 ? code->dot_apart[plan->m - 1] : code->dot[0][plan->m - 1];
    } else if (!plan->sweep && one_panel && vectors <= plan->kernel->vectors &&
               plan->n_tile == plan->n) {
        bool some = plan->n % code->lanes != 0;
        plan->whole = (plan->m * vectors <= 2 ? code->apart[some][vectors - 1][plan->m - 1]
                                              : code->tile[0][some][vectors - 1][plan->m - 1]);
    }
}

enum status sgemm_plan_shared(enum host_isa isa, int64_t m, int64_t k, int64_t n, int threads,
                              const struct tiling *tiling, struct sgemm_plan **plan,
                              struct error *error)
{
    *plan = NULL;
    TRY(check_values(m, k, n, threads, tiling, error));
    if (!host_isa_has(isa))
        return error_set(error, STATUS_INVALID, "sgemm: %s is not there or not to be used",
                         host_isa_name(isa));
    struct sgemm_plan *made = calloc(1, sizeof *made);
    if (!made)
        return error_memory(error);
    *made = (struct sgemm_plan){.code = sgemm_code_of(isa), .m = m, .k = k, .n = n};
    set_plan(made, threads, tiling, isa);
    set_one_call(made);
    if (!size_workspace(made)) {
        free(made);
        return error_memory(error);
    }
    *plan = made;
    return STATUS_OK;
}

enum status sgemm_plan(enum host_isa isa, int64_t m, int64_t k, int64_t n, int threads,
                       const struct tiling *tiling, struct sgemm_plan **plan, struct error *error)
{
    struct sgemm_plan *made;
    enum status status = sgemm_plan_shared(isa, m, k, n, threads, tiling, &made, error);
    *plan = NULL;
    if (!made)
        return status;
    if (made->workspace_bytes > 0)
        made->packed = sgemm_workspace(made->workspace_bytes);
    if (made->workspace_bytes > 0 && !made->packed) {
        sgemm_free(made);
        return error_memory(error);
    }
    *plan = made;
    return STATUS_OK;
}

void sgemm_free(struct sgemm_plan *plan)
{
    if (plan)
        free(plan->packed);
    free(plan);
}

int64_t sgemm_workspace_bytes(const struct sgemm_plan *plan)
{
    return plan->workspace_bytes;
}

/* ---- packing --------------------------------------------------------------------------------- */

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

/* Copies a tile of A (rows i, depth p), of B (depth p, columns j) into the order in which
 * micro-kernels read it: panel after panel. A's times alpha. */
static void sgemm_pack_a(const struct sgemm_plan *plan, const struct sgemm_operands *o,
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

static void sgemm_pack_b(const struct sgemm_plan *plan, const struct sgemm_operands *o,
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

/* ---- running tiles --------------------------------------------------------------------------- */

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

static void multiply_tile(struct worker *w)
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
                multiply_tile(w);
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
                multiply_tile(w);
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
    assert(packed || !(plan->pack_a || plan->pack_b));
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

/* ---- thin products --------------------------------------------------------------------------- */

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

static void keep_piece(const struct thin *t, int64_t first, int64_t count, const float *piece)
{
    for (int64_t i = 0; i < t->rows; i++)
        for (int64_t j = 0; j < count; j++) {
            float *c = t->c + i * t->c_row + (first + j) * t->c_column;
            float product = t->alpha * piece[i * count + j];
            *c = t->beta == 0 ? product : product + t->beta * *c;
        }
}

static void run_thin_columns(const struct thin *t, struct host_share share)
{
    enum { PIECE = 2048 }; /* floats */
    float piece[PIECE];
    int64_t width = PIECE / t->rows / t->code->lanes * t->code->lanes;
    for (int64_t j = 0; j < share.length; j += width) {
        int64_t count = least_of(width, share.length - j);
        (t->along_k ? multiply_columns : sweep_rows)(t, share.start + j, count, piece);
        keep_piece(t, share.start + j, count, piece);
    }
}

/* Dense and with rows along k. */
static const float *make_dense(const struct sgemm_code *code, const float *from, int64_t ld,
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
    t.few = make_dense(code, turned ? o->b : o->a, turned ? o->ldb : o->lda,
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
        run_thin_columns(&t, (struct host_share){0, t.columns});
        return;
    }
#pragma omp parallel for schedule(static, 1) num_threads(threads)
    for (int thread = 0; thread < threads; thread++)
        run_thin_columns(&t, host_share(t.columns, code->lanes, threads, thread));
}
