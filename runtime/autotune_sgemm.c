/* Multiplies with the tiling that suits a shape. Plans stand in a hash table (multiplicative,
 * Knuth, The Art of Computer Programming 3, 1998, 6.4) of lists that only grow. A plan is complete
 * before a release store puts it at the head of its list, so products find theirs without a lock;
 * adding one takes a lock, and looks again under it.
 *
 * Memory that products pack their tiles into is shared by all shapes and threads: who needs some
 * takes the first free piece, so that a single caller always gets the same, warm in its caches.
 * That waits for nobody, and allocates only when the one taken is too small.
 *
 * A tiling is made to fit another product in several ways, whose number is made of bits: are tiles
 * only cut, do stores go through the caches, is the order of loops the usual one. So counting tries
 * them in the order of what they change. Whether one is legal the space itself says, of which no
 * more is opened than it looks at. Without a tiling to start from there is a table of plain
 * choices. */
#include "runtime/autotune_sgemm.h"
#include "kernels/matmul/host/matmul_host.h"
#include "kernels/matmul/host/sgemm.h"
#include "runtime/sgemm_table.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORKSPACES = 64 };

/* Beginning in a cache line of its own each. */
struct workspace {
    _Alignas(64) atomic_flag taken;
    float *memory;
    int64_t bytes;
};

struct workspaces {
    struct workspace list[WORKSPACES];
};

/* ---- workspaces ------------------------------------------------------------------------------ */

static void workspaces_open(struct workspaces *all)
{
    for (int i = 0; i < WORKSPACES; i++) {
        all->list[i] = (struct workspace){.memory = NULL};
        atomic_flag_clear(&all->list[i].taken);
    }
}

/* When none is taken. */
static void workspaces_close(struct workspaces *all)
{
    for (int i = 0; i < WORKSPACES; i++)
        free(all->list[i].memory);
}

static bool make_room(struct workspace *workspace, int64_t bytes)
{
    if (workspace->bytes >= bytes)
        return true;
    free(workspace->memory);
    workspace->memory = sgemm_workspace(bytes);
    workspace->bytes = workspace->memory ? bytes : 0;
    return workspace->memory != NULL;
}

static struct workspace *take_first_free(struct workspaces *all)
{
    for (int i = 0; i < WORKSPACES; i++)
        if (!atomic_flag_test_and_set_explicit(&all->list[i].taken, memory_order_acquire))
            return &all->list[i];
    return NULL;
}

static void workspace_give_back(struct workspace *workspace, const struct workspace *own)
{
    if (workspace == own)
        free(workspace->memory);
    else
        atomic_flag_clear_explicit(&workspace->taken, memory_order_release);
}

/* NULL without memory. To be given back by the same caller. With more than WORKSPACES callers at
 * once the rest get memory of their own, for this once: `own`. */
static struct workspace *workspace_take(struct workspaces *all, int64_t bytes,
                                        struct workspace *own)
{
    struct workspace *workspace = take_first_free(all);
    if (!workspace) {
        workspace = own;
        own->memory = NULL;
        own->bytes = 0;
    }
    if (make_room(workspace, bytes))
        return workspace;
    workspace_give_back(workspace, own);
    return NULL;
}

/* ---- what a call asks for, checked ----------------------------------------------------------- */

/* Rows of a matrix, as it is stored. */
static bool read_rows(int64_t rows, int64_t columns, int64_t given, int64_t *distance)
{
    int64_t all;
    *distance = given ? given : columns;
    return *distance >= columns && !__builtin_mul_overflow(rows, *distance, &all) &&
           all <= PTRDIFF_MAX / (int64_t)sizeof(float);
}

/* False: sizes or distances are none, or more than memory can hold. Distances of 0 become those of
 * dense rows. */
static bool product_read(const struct autotune_sgemm_product *p, struct sgemm_operands *o)
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

static bool product_is_plain(const struct autotune_sgemm_product *p, const struct sgemm_operands *o)
{
    return !o->transpose_a && !o->transpose_b && o->alpha == 1 && o->beta == 0 && o->lda == p->k &&
           o->ldb == p->n && o->ldc == p->n;
}

/* C = beta·C: all that there is to do where alpha is 0 or a sum is empty. */
static void product_scale(const struct autotune_sgemm_product *p, const struct sgemm_operands *o)
{
    for (int64_t i = 0; i < p->m && o->beta != 1; i++)
        for (int64_t j = 0; j < p->n; j++) {
            float *c = o->c + i * o->ldc + j;
            *c = o->beta == 0 ? 0 : o->beta * *c;
        }
}

/* ---- tilings made to fit another product ----------------------------------------------------- */

/* What is cut into tiles: the axis, and how much of it a micro-kernel does at once. */
struct cut {
    int axis;
    int64_t size, step;
};

static int64_t columns_at_once(const struct tiling *tiling, int isa)
{
    const struct matmul_host_kernel *kernel = matmul_host_kernel(tiling);
    return kernel->path == HOST_PATH_DOT ? kernel->vectors
                                         : (int64_t)kernel->vectors * host_lanes(isa);
}

/* A size in equal tiles, of whole steps, as near to the wanted tile as their number can be. */
static int64_t equal_tile(const struct cut *cut, int64_t wanted)
{
    int64_t tiles = (cut->size + wanted / 2) / wanted;
    int64_t tile = tiles > 1 ? (cut->size + tiles - 1) / tiles : cut->size;
    tile = (tile + cut->step - 1) / cut->step * cut->step;
    return tile < cut->size ? tile : cut->size;
}

static int64_t cut_tile(const struct cut *cut, int64_t wanted)
{
    return wanted < cut->size ? wanted : cut->size;
}

enum { REFIT_CUT = 4, REFIT_CACHED = 1, REFIT_ORDER = 2 };

void refit(const struct tiling *tiling, const struct table_wish *wish, int which,
           struct tiling *fitted)
{
    const struct cut cuts[] = {
        {HOST_M_TILE, wish->m, matmul_host_kernel(tiling)->rows},
        {HOST_K_TILE, wish->k, 1},
        {HOST_N_TILE, wish->n, columns_at_once(tiling, wish->isa)},
    };
    *fitted = *tiling;
    for (int i = 0; i < (int)(sizeof cuts / sizeof *cuts); i++) {
        int64_t *tile = &fitted->value[cuts[i].axis];
        *tile = (which & REFIT_CUT ? cut_tile : equal_tile)(&cuts[i], *tile);
    }
    if (which & REFIT_CACHED)
        fitted->value[HOST_STORE] = HOST_STORE_CACHED;
    if (which & REFIT_ORDER)
        fitted->value[HOST_ORDER] = HOST_ORDER_N;
}

/* The space's own rules, which look at no more of it than this. */
bool refit_is_legal(const struct tiling *tiling, const struct table_wish *wish)
{
    const struct host host = {.isa = (enum host_isa)wish->isa, .threads = wish->threads};
    struct matmul_host product = {
        .host = &host, .m = wish->m, .k = wish->k, .n = wish->n, .threads = wish->threads};
    const struct space space = {.kind = &matmul_host_space, .detail = &product};
    bool dot = matmul_host_kernel(tiling)->path == HOST_PATH_DOT;
    return (!dot || wish->n <= HOST_DOT_MOST_COLUMNS) && matmul_host_space.legal(&space, tiling);
}

bool refit_legal(const struct tiling *tiling, const struct table_wish *wish, struct tiling *fitted)
{
    for (int which = 0; which < REFITS; which++) {
        refit(tiling, wish, which, fitted);
        if (refit_is_legal(fitted, wish))
            return true;
    }
    return false;
}

/* Register tiles that fill the vector registers of an instruction set, and cache tiles: packed, A's
 * takes 288 KiB of an L2 and a panel of B 48 KiB at most. The first row whose sizes and instruction
 * set suffice is taken. Plain choices: a table is what speed comes from. But thin products wait for
 * memory alone, and what suits them is known: every operand is read once, so nothing is packed (the
 * sweeps of kernels/matmul/host/sgemm.c). */
static const struct {
    const char *kernel;
    int64_t most_m, most_n, m_tile, k_tile, n_tile;
    enum host_isa least_isa;
    bool pack;
} defaults[] = {
    {"dot 8x1", INT64_MAX, 1, INT64_MAX, INT64_MAX, INT64_MAX, HOST_PORTABLE, false},
    {"1x8", 1, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, HOST_PORTABLE, false},
    {"3x8", 3, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, HOST_AVX512, false},
    {"4x6", REFIT_THIN, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, HOST_AVX512, false},
    {"4x4", 2, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, HOST_PORTABLE, false},
    {"4x3", REFIT_THIN, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, HOST_PORTABLE, false},
    {"dot 4x2", INT64_MAX, REFIT_THIN, INT64_MAX, INT64_MAX, INT64_MAX, HOST_PORTABLE, true},
    {"12x2", INT64_MAX, INT64_MAX, 192, 384, 2048, HOST_AVX512, true},
    {"6x2", INT64_MAX, INT64_MAX, 96, 256, 2048, HOST_PORTABLE, true},
};

bool refit_is_thin(const struct table_wish *wish)
{
    return wish->m <= REFIT_THIN || wish->n <= REFIT_THIN;
}

static int64_t kernel_called(const char *name)
{
    int64_t kernel = 0;
    while (kernel < MATMUL_HOST_KERNELS && strcmp(matmul_host_kernels[kernel].name, name) != 0)
        kernel++;
    return kernel < MATMUL_HOST_KERNELS ? kernel + 1 : 1;
}

void refit_default(const struct table_wish *wish, struct tiling *fitted)
{
    int row = 0;
    while (defaults[row].most_m < wish->m || defaults[row].most_n < wish->n ||
           (int)defaults[row].least_isa > wish->isa)
        row++;
    int64_t pack = defaults[row].pack ? HOST_PACK_YES : HOST_PACK_NO;
    bool dot = matmul_host_kernels[kernel_called(defaults[row].kernel) - 1].path == HOST_PATH_DOT;
    struct tiling tiling = {
        .value = {[HOST_KERNEL] = kernel_called(defaults[row].kernel),
                  [HOST_M_TILE] = defaults[row].m_tile,
                  [HOST_K_TILE] = defaults[row].k_tile,
                  [HOST_N_TILE] = defaults[row].n_tile,
                  [HOST_PACK_A] = dot ? HOST_PACK_NO : pack,
                  [HOST_PACK_B] = pack,
                  [HOST_ORDER] = HOST_ORDER_N,
                  [HOST_STORE] = HOST_STORE_CACHED,
                  [HOST_SPLIT] = wish->m >= wish->n ? HOST_SPLIT_M : HOST_SPLIT_N}};
    refit(&tiling, wish, REFIT_CUT, fitted);
}

enum { BUCKETS = 1024, MOST_TRIED = 16 };

/* What is asked of a plan beside the shape: to take operands as BLAS has them, which some wants
 * packed. */
enum { WAY_DENSE = 0, WAY_OPERANDS = 1, WAY_PACK_A = 2, WAY_PACK_B = 4 };

/* What a shape is multiplied with. Written before it is published, never after. */
struct plan {
    struct plan *next; /* of its bucket */
    int64_t m, k, n;
    int way;
    int64_t workspace_bytes;
    struct sgemm_plan *code;
    struct tiling tiling;
    int64_t entry; /* of the table; -1: a default */
    bool exact;
};

struct autotune_sgemm {
    struct table table;
    bool has_table;
    enum host_isa isa;
    int threads;
    struct workspaces workspaces;
    pthread_mutex_t adding;
    _Atomic(struct plan *) buckets[BUCKETS];
};

/* ---- plans ---------------------------------------------------------------------------------- */

static size_t bucket_of(int64_t m, int64_t k, int64_t n)
{
    uint64_t hash = (uint64_t)m * 0x9e3779b97f4a7c15U + (uint64_t)k;
    hash = hash * 0x9e3779b97f4a7c15U + (uint64_t)n;
    return (size_t)(hash * 0x9e3779b97f4a7c15U >> 54);
}

static const struct plan *find_plan(struct autotune_sgemm *sgemm, int64_t m, int64_t k, int64_t n,
                                    int way)
{
    const struct plan *plan =
        atomic_load_explicit(&sgemm->buckets[bucket_of(m, k, n)], memory_order_acquire);
    while (plan && (plan->m != m || plan->k != k || plan->n != n || plan->way != way))
        plan = plan->next;
    return plan;
}

/* Packs what the way wants packed; false: then the tiling takes no such operands. */
static bool go_that_way(int way, const struct table_wish *wish, struct tiling *tiling)
{
    if (way == WAY_DENSE)
        return refit_is_legal(tiling, wish);
    if (way & WAY_PACK_A)
        tiling->value[HOST_PACK_A] = HOST_PACK_YES;
    if (way & WAY_PACK_B)
        tiling->value[HOST_PACK_B] = HOST_PACK_YES;
    return matmul_host_kernel(tiling)->path == HOST_PATH_TILE && refit_is_legal(tiling, wish);
}

/* The tiling that a product gets, and where it is from. */
static void choose_tiling(const struct autotune_sgemm *sgemm, struct plan *plan)
{
    const struct table_wish wish = {plan->m, plan->k, plan->n, sgemm->threads, (int)sgemm->isa};
    int64_t at = -1;
    for (int tried = 0; tried < MOST_TRIED; tried++) {
        at = table_next(&sgemm->table, &wish, at);
        if (at < 0)
            break;
        const struct table_entry *entry = &sgemm->table.entries[at];
        plan->entry = at;
        plan->exact = entry->m == wish.m && entry->k == wish.k && entry->n == wish.n &&
                      (entry->threads == wish.threads || entry->threads == 0);
        plan->tiling = entry->tiling;
        if (plan->exact && go_that_way(plan->way, &wish, &plan->tiling))
            return;
        plan->exact = false;
        if (refit_is_thin(&wish))
            break;
        if (refit_legal(&entry->tiling, &wish, &plan->tiling) &&
            go_that_way(plan->way, &wish, &plan->tiling))
            return;
    }
    plan->entry = -1;
    refit_default(&wish, &plan->tiling); /* of other than thin products, packs both */
}

/* A parallel region takes as long as this many multiply-adds of a thread: with less for each, fewer
 * threads are faster. Results do not depend on how many there are. */
static int worthwhile_threads(const struct autotune_sgemm *sgemm, int64_t m, int64_t k, int64_t n)
{
    const double least = 65536;
    double most = (double)m * (double)k * (double)n / least;
    if (most >= sgemm->threads)
        return sgemm->threads;
    return most > 1 ? (int)most : 1;
}

static struct plan *make_plan(const struct autotune_sgemm *sgemm, int64_t m, int64_t k, int64_t n,
                              int way)
{
    struct plan *plan = calloc(1, sizeof *plan);
    if (!plan)
        return NULL;
    *plan = (struct plan){.m = m, .k = k, .n = n, .way = way};
    choose_tiling(sgemm, plan);
    int threads = plan->exact ? sgemm->threads : worthwhile_threads(sgemm, m, k, n);
    if (sgemm_plan_shared(sgemm->isa, m, k, n, threads, &plan->tiling, &plan->code, NULL) !=
        STATUS_OK) {
        free(plan);
        return NULL;
    }
    plan->workspace_bytes = sgemm_workspace_bytes(plan->code);
    return plan;
}

/* NULL without memory. */
static const struct plan *add_plan(struct autotune_sgemm *sgemm, int64_t m, int64_t k, int64_t n,
                                   int way)
{
    pthread_mutex_lock(&sgemm->adding);
    const struct plan *found = find_plan(sgemm, m, k, n, way); /* another was faster? */
    if (!found) {
        _Atomic(struct plan *) *bucket = &sgemm->buckets[bucket_of(m, k, n)];
        struct plan *plan = make_plan(sgemm, m, k, n, way);
        if (plan) {
            plan->next = atomic_load_explicit(bucket, memory_order_relaxed);
            atomic_store_explicit(bucket, plan, memory_order_release);
        }
        found = plan;
    }
    pthread_mutex_unlock(&sgemm->adding);
    return found;
}

static bool is_product(int64_t m, int64_t k, int64_t n)
{
    int64_t a, b, c, most = PTRDIFF_MAX / (int64_t)sizeof(float);
    return m >= 1 && k >= 1 && n >= 1 && !__builtin_mul_overflow(m, k, &a) &&
           !__builtin_mul_overflow(k, n, &b) && !__builtin_mul_overflow(m, n, &c) && a <= most &&
           b <= most && c <= most;
}

static enum autotune_sgemm_status plan_of(struct autotune_sgemm *sgemm, int64_t m, int64_t k,
                                          int64_t n, int way, const struct plan **plan)
{
    *plan = find_plan(sgemm, m, k, n, way);
    if (*plan)
        return AUTOTUNE_SGEMM_OK;
    if (!is_product(m, k, n))
        return AUTOTUNE_SGEMM_SIZE;
    *plan = add_plan(sgemm, m, k, n, way);
    return *plan ? AUTOTUNE_SGEMM_OK : AUTOTUNE_SGEMM_MEMORY;
}

/* ---- products ------------------------------------------------------------------------------- */

enum autotune_sgemm_status autotune_sgemm(struct autotune_sgemm *sgemm, int64_t m, int64_t k,
                                          int64_t n, const float *a, const float *b, float *c)
{
    const struct plan *plan;
    enum autotune_sgemm_status status = plan_of(sgemm, m, k, n, WAY_DENSE, &plan);
    if (status != AUTOTUNE_SGEMM_OK)
        return status;
    if (plan->workspace_bytes == 0) {
        sgemm_run_in(plan->code, NULL, a, b, c);
        return AUTOTUNE_SGEMM_OK;
    }
    struct workspace own;
    struct workspace *workspace = workspace_take(&sgemm->workspaces, plan->workspace_bytes, &own);
    if (!workspace)
        return AUTOTUNE_SGEMM_MEMORY;
    sgemm_run_in(plan->code, workspace->memory, a, b, c);
    workspace_give_back(workspace, &own);
    return AUTOTUNE_SGEMM_OK;
}

static enum autotune_sgemm_status run_thin(struct autotune_sgemm *sgemm,
                                           const struct autotune_sgemm_product *p,
                                           const struct sgemm_operands *operands)
{
    int64_t bytes = sgemm_thin_floats(p->m, p->k, p->n) * (int64_t)sizeof(float);
    struct workspace own;
    struct workspace *workspace = workspace_take(&sgemm->workspaces, bytes, &own);
    if (!workspace)
        return AUTOTUNE_SGEMM_MEMORY;
    sgemm_thin(sgemm->isa, worthwhile_threads(sgemm, p->m, p->k, p->n), p->m, p->k, p->n, operands,
               workspace->memory);
    workspace_give_back(workspace, &own);
    return AUTOTUNE_SGEMM_OK;
}

static enum autotune_sgemm_status run_tiles(struct autotune_sgemm *sgemm,
                                            const struct autotune_sgemm_product *p,
                                            const struct sgemm_operands *operands)
{
    int way = WAY_OPERANDS | (p->transpose_a || p->alpha != 1 ? WAY_PACK_A : 0) |
              (p->transpose_b ? WAY_PACK_B : 0);
    const struct plan *plan;
    enum autotune_sgemm_status status = plan_of(sgemm, p->m, p->k, p->n, way, &plan);
    if (status != AUTOTUNE_SGEMM_OK)
        return status;
    struct workspace own;
    struct workspace *workspace = workspace_take(&sgemm->workspaces, plan->workspace_bytes, &own);
    if (!workspace)
        return AUTOTUNE_SGEMM_MEMORY;
    sgemm_run_operands(plan->code, workspace->memory, operands);
    workspace_give_back(workspace, &own);
    return AUTOTUNE_SGEMM_OK;
}

enum autotune_sgemm_status autotune_sgemm_general(struct autotune_sgemm *sgemm,
                                                  const struct autotune_sgemm_product *product)
{
    struct sgemm_operands operands;
    if (!product_read(product, &operands))
        return AUTOTUNE_SGEMM_SIZE;
    if (product->m == 0 || product->n == 0)
        return AUTOTUNE_SGEMM_OK;
    if (product->k == 0 || product->alpha == 0) {
        product_scale(product, &operands);
        return AUTOTUNE_SGEMM_OK;
    }
    if (product_is_plain(product, &operands))
        return autotune_sgemm(sgemm, product->m, product->k, product->n, product->a, product->b,
                              product->c);
    return (product->m <= SGEMM_THIN || product->n <= SGEMM_THIN ? run_thin : run_tiles)(
        sgemm, product, &operands);
}

/* ---- what a shape gets ---------------------------------------------------------------------- */

static void put_tiling(const struct tiling *tiling, char *text, size_t size)
{
    size_t length = 0;
    for (int a = 0; a < HOST_MATMUL_AXES && length < size; a++) {
        char value[24];
        length += (size_t)snprintf(text + length, size - length, "%s%s=%s", a ? "," : "",
                                   matmul_host_axes[a].name,
                                   axis_value_text(&matmul_host_axes[a], tiling->value[a], value));
    }
}

static void put_reason(const struct autotune_sgemm *sgemm, const struct plan *plan, char *text,
                       size_t size)
{
    const struct table_wish wish = {plan->m, plan->k, plan->n, sgemm->threads, (int)sgemm->isa};
    if (plan->entry >= 0)
        snprintf(text, size, "the table has no legal entry for %lldx%lldx%lld on %d thread%s",
                 (long long)plan->m, (long long)plan->k, (long long)plan->n, sgemm->threads,
                 sgemm->threads > 1 ? "s" : "");
    else if (!sgemm->has_table)
        snprintf(text, size, "no table was opened");
    else if (refit_is_thin(&wish) && table_next(&sgemm->table, &wish, -1) >= 0)
        snprintf(text, size,
                 "the table has no entry for %lldx%lldx%lld, and others tell nothing of at most %d "
                 "rows or columns",
                 (long long)plan->m, (long long)plan->k, (long long)plan->n, REFIT_THIN);
    else if (table_next(&sgemm->table, &wish, -1) < 0)
        snprintf(text, size, "no entry of the table was tuned for %s, which this processor runs",
                 host_isa_name(sgemm->isa));
    else
        snprintf(text, size, "none of the %d nearest entries can be made to fit", MOST_TRIED);
}

enum autotune_sgemm_status autotune_sgemm_explain(struct autotune_sgemm *sgemm, int64_t m,
                                                  int64_t k, int64_t n,
                                                  struct autotune_sgemm_plan *shown)
{
    const struct plan *plan;
    enum autotune_sgemm_status status = plan_of(sgemm, m, k, n, WAY_DENSE, &plan);
    if (status != AUTOTUNE_SGEMM_OK || !shown)
        return status;
    memset(shown, 0, sizeof *shown);
    shown->source = plan->exact        ? AUTOTUNE_SGEMM_EXACT
                    : plan->entry >= 0 ? AUTOTUNE_SGEMM_NEAREST
                                       : AUTOTUNE_SGEMM_DEFAULT;
    if (plan->entry >= 0) {
        const struct table_entry *entry = &sgemm->table.entries[plan->entry];
        shown->m = entry->m;
        shown->k = entry->k;
        shown->n = entry->n;
        shown->line = entry->line;
    }
    snprintf(shown->isa, sizeof shown->isa, "%s", host_isa_name(sgemm->isa));
    put_tiling(&plan->tiling, shown->tiling, sizeof shown->tiling);
    if (!plan->exact)
        put_reason(sgemm, plan, shown->reason, sizeof shown->reason);
    return AUTOTUNE_SGEMM_OK;
}

/* ---- tables --------------------------------------------------------------------------------- */

static enum status open_table(struct autotune_sgemm *sgemm, const char *file, int threads,
                              struct error *error)
{
    if (threads < 1 || threads > HOST_MAX_THREADS)
        return error_set(error, STATUS_INVALID, "%d threads, expected 1 to %d", threads,
                         HOST_MAX_THREADS);
    sgemm->isa = host_isa_best();
    sgemm->threads = threads;
    sgemm->has_table = file != NULL;
    if (!file)
        return STATUS_OK;
    return table_read(file, matmul_host_axes, HOST_MATMUL_AXES, &sgemm->table, error);
}

static struct autotune_sgemm *new_sgemm(void)
{
    size_t bytes = (sizeof(struct autotune_sgemm) + 63) / 64 * 64;
    struct autotune_sgemm *sgemm = aligned_alloc(64, bytes);
    if (!sgemm)
        return NULL;
    memset(sgemm, 0, bytes);
    workspaces_open(&sgemm->workspaces);
    pthread_mutex_init(&sgemm->adding, NULL);
    for (int i = 0; i < BUCKETS; i++)
        atomic_init(&sgemm->buckets[i], NULL);
    return sgemm;
}

struct autotune_sgemm *autotune_sgemm_open(const char *file, int threads, char *message,
                                           size_t size)
{
    struct error error;
    struct autotune_sgemm *sgemm = new_sgemm();
    enum status status = sgemm ? open_table(sgemm, file, threads, &error) : error_memory(&error);
    if (status == STATUS_OK)
        return sgemm;
    if (message && size)
        snprintf(message, size, "%s", error.text);
    autotune_sgemm_close(sgemm);
    return NULL;
}

static void free_bucket(struct plan *plan)
{
    while (plan) {
        struct plan *next = plan->next;
        sgemm_free(plan->code);
        free(plan);
        plan = next;
    }
}

void autotune_sgemm_close(struct autotune_sgemm *sgemm)
{
    if (!sgemm)
        return;
    for (int i = 0; i < BUCKETS; i++)
        free_bucket(atomic_load_explicit(&sgemm->buckets[i], memory_order_relaxed));
    pthread_mutex_destroy(&sgemm->adding);
    workspaces_close(&sgemm->workspaces);
    table_clear(&sgemm->table);
    free(sgemm);
}
