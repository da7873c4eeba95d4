#include "kernels/matmul/host/sgemm.h"
#include "core/least.h"
#include "kernels/matmul/host/sgemm_code.h"
#include "validate/loops.h"

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

/* ---- one thread's part ---------------------------------------------------------------------- */

/* Where a thread is: its operands, and the tile that it multiplies. */
struct worker {
    const struct sgemm_plan *plan;
    const float *a, *b;
    float *c;
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

static int64_t vectors_of(const struct sgemm_plan *plan, int64_t columns)
{
    return (columns + plan->code->lanes - 1) / plan->code->lanes;
}

static void pack_a(struct worker *w)
{
    const struct sgemm_plan *plan = w->plan;
    struct host_pieces panels = host_pieces(w->i.length, plan->kernel->rows);
    float *packed = w->packed_a;
    const float *a = w->a + w->i.start * plan->k + w->p.start;
    for (int64_t panel = 0; panel < panels.count; panel++) {
        int64_t rows = panels.least + (panel < panels.larger);
        plan->code->pack_a(a, plan->k, rows, w->p.length, packed);
        a += rows * plan->k;
        packed += rows * w->p.length;
    }
}

static void pack_b(struct worker *w)
{
    const struct sgemm_plan *plan = w->plan;
    int64_t lanes = plan->code->lanes, left = w->j.length;
    struct host_pieces panels = host_pieces(vectors_of(plan, left), plan->kernel->vectors);
    float *packed = w->packed_b;
    const float *b = w->b + w->p.start * plan->n + w->j.start;
    for (int64_t panel = 0; panel < panels.count; panel++) {
        int64_t columns = (panels.least + (panel < panels.larger)) * lanes;
        plan->code->pack_b(b, plan->n, columns < left ? columns : left, w->p.length, packed);
        b += columns;
        left -= columns;
        packed += columns * w->p.length;
    }
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
    panel->a = plan->pack_a ? w->packed_a : w->a + w->i.start * plan->k + w->p.start;
    panel->c = w->c + w->i.start * plan->n + w->j.start;
}

static void next_rows(const struct worker *w, const struct host_pieces *panels, int64_t done,
                      struct row_panel *panel)
{
    panel->a += panel->rows * (w->plan->pack_a ? w->p.length : w->plan->k);
    panel->c += panel->rows * w->plan->n;
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
    w->step.ldb = plan->pack_b ? panel->columns : plan->n;
    panel->code = plan->code->tile[plan->pack_a][some][vectors - 1];
}

static void first_columns(struct worker *w, const struct host_pieces *panels,
                          struct column_panel *panel)
{
    const struct sgemm_plan *plan = w->plan;
    panel->b = plan->pack_b ? w->packed_b : w->b + w->p.start * plan->n + w->j.start;
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

static void multiply(struct worker *w)
{
    const struct sgemm_plan *plan = w->plan;
    struct host_pieces m = host_pieces(w->i.length, plan->kernel->rows);
    struct host_pieces n = host_pieces(vectors_of(plan, w->j.length), plan->kernel->vectors);
    w->step.k = w->p.length;
    w->step.accumulate = w->p.start > 0;
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
                pack_b(w);
            for (int64_t i = w->m.start; i < w->m.start + w->m.length; i += plan->m_tile) {
                w->i = tile_at(&w->m, i, plan->m_tile);
                if (plan->pack_a)
                    pack_a(w);
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
                pack_a(w);
            for (int64_t j = w->n.start; j < w->n.start + w->n.length; j += plan->n_tile) {
                w->j = tile_at(&w->n, j, plan->n_tile);
                if (plan->pack_b)
                    pack_b(w);
                multiply(w);
            }
        }
    }
}

/* Rows outside, columns inside: a few rows of A stay in the L1 over all columns. */
static void run_dot(struct worker *w)
{
    const struct sgemm_plan *plan = w->plan;
    const float *b = w->b + w->n.start;
    struct host_pieces m = host_pieces(w->m.length, plan->kernel->rows);
    struct host_pieces n = host_pieces(w->n.length, plan->kernel->vectors);
    w->step.k = w->step.ldb = plan->k;
    if (plan->pack_b) {
        plan->code->transpose_b(b, plan->n, w->n.length, plan->k, w->packed_b);
        b = w->packed_b;
    }
    for (int64_t i = 0, row = w->m.start; i < m.count; i++) {
        int64_t rows = m.least + (i < m.larger);
        const float *panel = b;
        float *c = w->c + row * plan->n + w->n.start;
        for (int64_t j = 0; j < n.count; j++) {
            int64_t columns = n.least + (j < n.larger);
            plan->code->dot[columns - 1][rows - 1](&w->step, w->a + row * plan->k, panel, c);
            panel += columns * plan->k;
            c += columns;
        }
        row += rows;
    }
}

/* Few rows wait for B, which is best read as it lies, a few rows at a time, beside a piece of C
 * that stays in the L1: whatever the tiles, unless B is to be packed or all of C is in registers.
 */
enum { SWEPT_FLOATS = 4096 }; /* of C */

static void run_sweep(struct worker *w)
{
    const struct sgemm_plan *plan = w->plan;
    int64_t end = w->n.start + w->n.length, piece = SWEPT_FLOATS / plan->m;
    piece -= piece % plan->code->lanes;
    w->step.k = plan->k;
    w->step.ldb = plan->n;
    for (int64_t j = w->n.start; j < end && w->m.length > 0; j += piece) {
        w->step.columns = tile_at(&w->n, j, piece).length;
        plan->code->sweep[w->m.length - 1](&w->step, w->a + w->m.start * plan->k, w->b + j,
                                           w->c + w->m.start * plan->n + j);
    }
}

static void run_part(const struct sgemm_plan *plan, int thread, float *packed, const float *a,
                     const float *b, float *c)
{
    struct worker w = {
        .plan = plan,
        .a = a,
        .b = b,
        .c = c,
        .packed_a = packed ? packed + thread * (plan->packed_a + plan->packed_b) : NULL,
        .m = {0, plan->m},
        .n = {0, plan->n},
        .step = {.lda = plan->k, .ldc = plan->n, .stream = plan->stream && (uintptr_t)c % 64 == 0},
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

void sgemm_run_in(const struct sgemm_plan *plan, float *workspace, const float *a, const float *b,
                  float *c)
{
    if (plan->whole) {
        plan->whole(&plan->step, a, b, c);
        return;
    }
    if (plan->threads == 1) {
        run_part(plan, 0, workspace, a, b, c);
        return;
    }
#pragma omp parallel for schedule(static, 1) num_threads(plan->threads)
    for (int thread = 0; thread < plan->threads; thread++)
        run_part(plan, thread, workspace, a, b, c);
}

void sgemm_run(const struct sgemm_plan *plan, const float *a, const float *b, float *c)
{
    sgemm_run_in(plan, plan->packed, a, b, c);
}

/* ---- plans ---------------------------------------------------------------------------------- */

static const struct sgemm_code *const codes[HOST_ISA_COUNT] = {
    [HOST_PORTABLE] = &sgemm_code_portable,
#if defined __x86_64__
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
    plan->n_tile =
        least_of(vectors_of(plan, least_of(v[HOST_N_TILE], plan->n)) * plan->code->lanes, plan->n);
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
                  vectors_of(plan, plan->n) > plan->kernel->vectors;
    if (plan->sweep)
        plan->pack_a = plan->stream = false;
}

/* Products that one thread computes by one call, which need not look for it each time. */
static void set_whole(struct sgemm_plan *plan)
{
    const struct sgemm_code *code = plan->code;
    bool one_panel = plan->m <= plan->kernel->rows && plan->k_tile == plan->k;
    int64_t vectors = vectors_of(plan, plan->n);
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
    enum status status = check_values(m, k, n, threads, tiling, error);
    if (status != STATUS_OK)
        return status;
    if (isa > host_isa_best())
        return error_set(error, STATUS_INVALID, "sgemm: %s is not there or not to be used",
                         host_isa_name(isa));
    struct sgemm_plan *made = calloc(1, sizeof *made);
    if (!made)
        return error_memory(error);
    *made = (struct sgemm_plan){.code = sgemm_code_of(isa), .m = m, .k = k, .n = n};
    set_plan(made, threads, tiling, isa);
    set_whole(made);
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
