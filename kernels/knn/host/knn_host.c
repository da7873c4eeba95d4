/* Makes the space of k-NN on processors and says what in it may run. Values of the axes are tables
 * of tiles, as far as they are smaller than the problem, and the whole. Blocks of the space pair
 * what goes together (blocks[]), so that most tilings that would do the same are never listed;
 * violations() refuses the others, and what a typed tiling has wrong, with the reason.
 *
 * What a tiling asks of a processor: calls and steps of register tiles and packing are exact; what
 * the selection does depends on the data, and is taken as expected for training points in random
 * order: the value number i of a row is among its k least so far with probability min(1, k/i) (Tang
 * 2024, eq. 3.6 to 3.8), so k·(1 + ln(N/k)) of them enter, whatever the distances are. */
#include "kernels/knn/host/knn_host.h"
#include "kernels/limits.h"
#include "kernels/matmul/host/matmul_host.h"
#include "kernels/slices.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* clang-format off */
#define KERNELS(K)                                                                                 \
    K(1, 4)                                                                                        \
    K(1, 8)                                                                                        \
    K(2, 4) K(2, 8) K(3, 4) K(3, 8) K(4, 3) K(4, 4) K(4, 6) K(6, 2) K(6, 4) K(8, 2) K(8, 3)        \
        K(9, 3) K(12, 1) K(12, 2) K(14, 2) K(24, 1) K(28, 1)
#define KERNEL(R, V) {#R "x" #V, R, V},
#define NAME(R, V)   #R "x" #V,
/* clang-format on */

/* With AVX-512's 32 registers R·V + V + 1 fit without spilling up to 28x1, 14x2, 9x3, 6x4, 4x6 and
 * 3x8; AVX2's 16 hold 12x1, 6x2, 4x3 and 3x4. */
const struct knn_host_kernel knn_host_kernels[KNN_HOST_KERNELS] = {KERNELS(KERNEL)};
/* Value 0 of an enumeration is no value: those of a tiling count from 1. */
static const char *const kernel_names[] = {"-", KERNELS(NAME)};

_Static_assert(sizeof kernel_names / sizeof *kernel_names == KNN_HOST_KERNELS + 1, "all of them");

const char *const knn_host_loops[KNN_HOST_LOOPS] = {
    [KNN_LOOP_PACK] = "pack",       [KNN_LOOP_TURN] = "turn", [KNN_LOOP_SCAN] = "scan",
    [KNN_LOOP_LIST] = "list",       [KNN_LOOP_HEAP] = "heap", [KNN_LOOP_COLLECT] = "collect",
    [KNN_LOOP_COMPACT] = "compact", [KNN_LOOP_SORT] = "sort",
};

static const char *const answers[] = {"-", "no", "yes"};
static const char *const orders[] = {"-", "panels", "rows"};
static const char *const selects[] = {"-", "list", "heap", "buffer"};

static const struct axis axes[KNN_HOST_AXES] = {
    [KNN_HOST_KERNEL] = {.name = "kernel",
                         .value_names = kernel_names,
                         .name_count = KNN_HOST_KERNELS + 1},
    [KNN_HOST_M_TILE] = {.name = "m_tile", .unit = "elements"},
    [KNN_HOST_N_TILE] = {.name = "n_tile", .unit = "elements"},
    [KNN_HOST_D_TILE] = {.name = "d_tile", .unit = "elements"},
    [KNN_HOST_PACK] = {.name = "pack", .value_names = answers, .name_count = 3},
    [KNN_HOST_ORDER] = {.name = "order", .value_names = orders, .name_count = 3},
    [KNN_HOST_SELECT] = {.name = "select", .value_names = selects, .name_count = 4},
    [KNN_HOST_BUFFER] = {.name = "buffer", .unit = "elements"},
};

/* ---- the space ------------------------------------------------------------------------------ */

/* Multiples of most kernels' rows, of all widths of panels in vectors, and of cache lines. */
static const int64_t m_tile_sizes[] = {28, 84, 168, 336, 1008, 2016, 4032, 8064, 0};
static const int64_t n_vectors[] = {24, 48, 96, 192, 384, 768, 1536, 0};
static const int64_t d_tile_sizes[] = {128, 256, 512, 1024, 0};
static const int64_t buffers[] = {1, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 0};

/* `list` times `unit`, as far as below `whole`, then `whole`. */
static void fill_tiles(struct knn_host *knn, int axis, const int64_t *list, int64_t unit,
                       int64_t whole)
{
    int count = 0;
    for (; list[count] && list[count] * unit < whole; count++)
        knn->values[axis][count] = list[count] * unit;
    knn->values[axis][count++] = whole;
    knn->value_count[axis] = count;
}

static void fill_names(struct knn_host *knn, int axis, int first, int last)
{
    for (int i = first; i <= last; i++)
        knn->values[axis][knn->value_count[axis]++] = i;
}

/* Of kernels those whose loops are timed. */
static void fill_values(struct knn_host *knn)
{
    int first = knn->k <= KNN_HOST_LIST_MOST ? KNN_HOST_SELECT_LIST : KNN_HOST_SELECT_HEAP;
    for (int i = 0; i < KNN_HOST_KERNELS; i++)
        if (knn->tile_loops[i] >= 0)
            fill_names(knn, KNN_HOST_KERNEL, i + 1, i + 1);
    fill_tiles(knn, KNN_HOST_M_TILE, m_tile_sizes, 1, knn->share);
    fill_tiles(knn, KNN_HOST_N_TILE, n_vectors, knn->lanes, knn->n);
    fill_tiles(knn, KNN_HOST_D_TILE, d_tile_sizes, 1, knn->d);
    fill_names(knn, KNN_HOST_PACK, KNN_HOST_PACK_NO, KNN_HOST_PACK_YES);
    fill_names(knn, KNN_HOST_ORDER, KNN_HOST_ORDER_PANELS, KNN_HOST_ORDER_ROWS);
    fill_names(knn, KNN_HOST_SELECT, first, KNN_HOST_SELECT_BUFFER);
    for (int i = 0; buffers[i] && (buffers[i] <= KNN_HOST_BUFFER_LEAST || buffers[i] < knn->n); i++)
        fill_names(knn, KNN_HOST_BUFFER, (int)buffers[i], (int)buffers[i]);
}

/* Which of an axis's values a block has. */
enum share_of_values { ALL_VALUES, FIRST_VALUE, BUT_FIRST, LAST_VALUE, BUT_LAST };

/* What goes together: tiles of n change nothing with whole dimensions and panels outside, and only
 * a buffer has a size. */
static const enum share_of_values blocks[][KNN_HOST_AXES] = {
    {[KNN_HOST_N_TILE] = LAST_VALUE,
     [KNN_HOST_D_TILE] = LAST_VALUE,
     [KNN_HOST_ORDER] = FIRST_VALUE,
     [KNN_HOST_SELECT] = BUT_LAST,
     [KNN_HOST_BUFFER] = FIRST_VALUE},
    {[KNN_HOST_N_TILE] = LAST_VALUE,
     [KNN_HOST_D_TILE] = LAST_VALUE,
     [KNN_HOST_ORDER] = FIRST_VALUE,
     [KNN_HOST_SELECT] = LAST_VALUE,
     [KNN_HOST_BUFFER] = BUT_FIRST},
    {[KNN_HOST_D_TILE] = BUT_LAST,
     [KNN_HOST_ORDER] = FIRST_VALUE,
     [KNN_HOST_SELECT] = BUT_LAST,
     [KNN_HOST_BUFFER] = FIRST_VALUE},
    {[KNN_HOST_D_TILE] = BUT_LAST,
     [KNN_HOST_ORDER] = FIRST_VALUE,
     [KNN_HOST_SELECT] = LAST_VALUE,
     [KNN_HOST_BUFFER] = BUT_FIRST},
    {[KNN_HOST_ORDER] = LAST_VALUE, [KNN_HOST_SELECT] = BUT_LAST, [KNN_HOST_BUFFER] = FIRST_VALUE},
    {[KNN_HOST_ORDER] = LAST_VALUE, [KNN_HOST_SELECT] = LAST_VALUE, [KNN_HOST_BUFFER] = BUT_FIRST},
};

/* False where an axis has no such value. */
static bool fill_block(const struct knn_host *knn, const enum share_of_values *shares,
                       struct space_block *block)
{
    for (int a = 0; a < KNN_HOST_AXES; a++) {
        int first = 0, end = knn->value_count[a];
        first = shares[a] == LAST_VALUE ? end - 1 : shares[a] == BUT_FIRST ? 1 : 0;
        end = shares[a] == FIRST_VALUE ? 1 : shares[a] == BUT_LAST ? end - 1 : end;
        block->values[a] = knn->values[a] + first;
        block->count[a] = end - first;
        if (first >= end)
            return false;
    }
    return true;
}

static enum status make_blocks(struct space *space, struct knn_host *knn, struct error *error)
{
    fill_values(knn);
    for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++) {
        struct space_block filled, *block;
        if (!fill_block(knn, blocks[b], &filled))
            continue;
        block = space_add_block(space);
        if (!block)
            return error_memory(error);
        *block = filled;
    }
    return STATUS_OK;
}

static int find_loop(const struct host *host, const char *variant)
{
    char name[HOST_NAME_SIZE];
    (void)snprintf(name, sizeof name, "knn %s", variant);
    return host_loop(host, name);
}

static enum status find_loops(const struct space *space, struct knn_host *knn, struct error *error)
{
    bool any = false;
    for (int i = 0; i < KNN_HOST_KERNELS; i++) {
        knn->tile_loops[i] = find_loop(knn->host, knn_host_kernels[i].name);
        any |= knn->tile_loops[i] >= 0;
    }
    for (int i = 0; i < KNN_HOST_LOOPS; i++) {
        knn->loops[i] = find_loop(knn->host, knn_host_loops[i]);
        any &= knn->loops[i] >= 0;
    }
    if (any)
        return STATUS_OK;
    return error_set(error, STATUS_INVALID,
                     "%s lacks timed loops \"knn …\": `autotune calibrate --hw host` measures them",
                     space->hw->name);
}

static enum status create(struct space *space, const struct problem *problem, int cores,
                          struct error *error)
{
    struct knn_host *knn = calloc(1, sizeof *knn);
    if (!knn)
        return error_memory(error);
    space->detail = knn;
    space->axis_count = KNN_HOST_AXES;
    space->axes = axes;
    knn->host = space->hw->host;
    knn->m = problem->size[KNN_M];
    knn->d = problem->size[KNN_D];
    knn->n = problem->size[KNN_N];
    knn->k = problem->size[KNN_K];
    knn->threads = cores;
    knn->lanes = host_lanes(knn->host->isa);
    knn->share = divide_up(knn->m, cores);
    TRY(find_loops(space, knn, error));
    return make_blocks(space, knn, error);
}

static void destroy(struct space *space)
{
    free(space->detail);
}

/* ---- what may run --------------------------------------------------------------------------- */

/* Threads with test points, and the most that one has. */
static int threads_with_rows(const struct knn_host *knn, const struct tiling *tiling, int64_t *rows)
{
    int64_t shares = divide_up(knn->m, knn_host_kernel(tiling)->rows);
    int threads = shares < knn->threads ? (int)shares : knn->threads;
    *rows = divide_up(knn->m, threads);
    return threads;
}

/* Tests laid out, packed panels, sums, and entries with their rows' limits. */
int64_t knn_host_workspace_bytes(const struct knn_host *knn, const struct tiling *tiling)
{
    const int64_t *v = tiling->value;
    int64_t most, width = (int64_t)knn_host_kernel(tiling)->vectors * knn->lanes;
    int threads = threads_with_rows(knn, tiling, &most);
    int64_t rows = v[KNN_HOST_M_TILE] < most ? v[KNN_HOST_M_TILE] : most;
    int64_t columns = v[KNN_HOST_N_TILE] < knn->n ? v[KNN_HOST_N_TILE] : knn->n;
    int64_t dimensions = v[KNN_HOST_D_TILE] < knn->d ? v[KNN_HOST_D_TILE] : knn->d;
    bool all = v[KNN_HOST_PACK] == KNN_HOST_PACK_YES && v[KNN_HOST_ORDER] == KNN_HOST_ORDER_ROWS;
    int64_t panels = round_up(columns, width);
    int64_t floats = sum_of(product_of(rows, knn->d), product_of(all ? panels : width, dimensions));
    if (dimensions < knn->d)
        floats = sum_of(floats, product_of(rows, panels));
    int64_t buffer = v[KNN_HOST_SELECT] == KNN_HOST_SELECT_BUFFER ? v[KNN_HOST_BUFFER] : 0;
    int64_t entries = product_of(rows, sum_of(knn->k, buffer));
    int64_t bytes =
        sum_of(product_of(floats, sizeof(float)), product_of(entries, sizeof(uint64_t)));
    return product_of(bytes, threads);
}

/* A smaller register tile of the same width that holds as many rows, or NULL. */
static const struct knn_host_kernel *
smaller_kernel(const struct knn_host *knn, const struct knn_host_kernel *kernel, int64_t rows)
{
    for (int i = 0; i < KNN_HOST_KERNELS; i++)
        if (knn->tile_loops[i] >= 0 && knn_host_kernels[i].vectors == kernel->vectors &&
            knn_host_kernels[i].rows < kernel->rows && knn_host_kernels[i].rows >= rows)
            return &knn_host_kernels[i];
    return NULL;
}

static void check_kernel(const struct knn_host *knn, const struct tiling *tiling,
                         struct violation list[MAX_VIOLATIONS], int *count)
{
    const struct knn_host_kernel *kernel = knn_host_kernel(tiling), *smaller;
    int64_t rows;
    (void)threads_with_rows(knn, tiling, &rows);
    rows = rows < tiling->value[KNN_HOST_M_TILE] ? rows : tiling->value[KNN_HOST_M_TILE];
    smaller = smaller_kernel(knn, kernel, rows);
    if (smaller)
        add_text(list, count, axes[KNN_HOST_KERNEL].name,
                 "kernel=%s: with %lld rows it is the same as %s", kernel->name, (long long)rows,
                 smaller->name);
}

static void check_tiles(const struct knn_host *knn, const struct tiling *tiling,
                        struct violation list[MAX_VIOLATIONS], int *count)
{
    const int64_t *v = tiling->value;
    const int64_t most[KNN_HOST_AXES] = {
        [KNN_HOST_M_TILE] = knn->share, [KNN_HOST_N_TILE] = knn->n, [KNN_HOST_D_TILE] = knn->d};
    int64_t width = (int64_t)knn_host_kernel(tiling)->vectors * knn->lanes;
    bool whole = v[KNN_HOST_D_TILE] == knn->d && v[KNN_HOST_ORDER] == KNN_HOST_ORDER_PANELS;
    for (int a = KNN_HOST_M_TILE; a <= KNN_HOST_D_TILE; a++)
        if (v[a] > most[a])
            add_text(list, count, axes[a].name, "%s=%lld: there are %lld", axes[a].name,
                     (long long)v[a], (long long)most[a]);
    if (v[KNN_HOST_N_TILE] < knn->n && v[KNN_HOST_N_TILE] % width)
        add_text(list, count, axes[KNN_HOST_N_TILE].name,
                 "n_tile=%lld: panels are %lld wide, expected whole ones",
                 (long long)v[KNN_HOST_N_TILE], (long long)width);
    if (whole && v[KNN_HOST_N_TILE] < knn->n)
        add_text(
            list, count, axes[KNN_HOST_N_TILE].name,
            "n_tile=%lld: with order=panels and all dimensions in one tile it changes nothing, "
            "expected %lld",
            (long long)v[KNN_HOST_N_TILE], (long long)knn->n);
}

static void check_order(const struct knn_host *knn, const struct tiling *tiling,
                        struct violation list[MAX_VIOLATIONS], int *count)
{
    const int64_t *v = tiling->value;
    int64_t rows, width = (int64_t)knn_host_kernel(tiling)->vectors * knn->lanes;
    (void)threads_with_rows(knn, tiling, &rows);
    rows = rows < v[KNN_HOST_M_TILE] ? rows : v[KNN_HOST_M_TILE];
    if (v[KNN_HOST_ORDER] == KNN_HOST_ORDER_ROWS &&
        (rows <= knn_host_kernel(tiling)->rows || v[KNN_HOST_N_TILE] <= width))
        add_text(list, count, axes[KNN_HOST_ORDER].name,
                 "order=rows: with one panel or one block of rows it is the same as order=panels");
}

static void check_select(const struct knn_host *knn, const struct tiling *tiling,
                         struct violation list[MAX_VIOLATIONS], int *count)
{
    const int64_t *v = tiling->value;
    bool buffer = v[KNN_HOST_SELECT] == KNN_HOST_SELECT_BUFFER;
    if (v[KNN_HOST_SELECT] == KNN_HOST_SELECT_LIST && knn->k > KNN_HOST_LIST_MOST)
        add_text(list, count, axes[KNN_HOST_SELECT].name,
                 "select=list: k = %lld, expected at most %d", (long long)knn->k,
                 KNN_HOST_LIST_MOST);
    if (!buffer && v[KNN_HOST_BUFFER] != 1)
        add_text(list, count, axes[KNN_HOST_BUFFER].name,
                 "buffer=%lld: expected 1 where select is not buffer",
                 (long long)v[KNN_HOST_BUFFER]);
    if (buffer &&
        (v[KNN_HOST_BUFFER] < KNN_HOST_BUFFER_LEAST || v[KNN_HOST_BUFFER] > KNN_HOST_BUFFER_MOST))
        add_text(list, count, axes[KNN_HOST_BUFFER].name, "buffer=%lld: expected %d to %d",
                 (long long)v[KNN_HOST_BUFFER], KNN_HOST_BUFFER_LEAST, KNN_HOST_BUFFER_MOST);
}

static bool has_names(const struct knn_host *knn, const struct tiling *tiling,
                      struct violation list[MAX_VIOLATIONS], int *count)
{
    const int64_t *v = tiling->value;
    if (v[KNN_HOST_KERNEL] > KNN_HOST_KERNELS || knn->tile_loops[v[KNN_HOST_KERNEL] - 1] < 0)
        add_text(list, count, axes[KNN_HOST_KERNEL].name, "kernel: there is no timed loop of it");
    for (int a = KNN_HOST_PACK; a <= KNN_HOST_SELECT; a++)
        if (v[a] >= axes[a].name_count)
            add_text(list, count, axes[a].name, "%s=%lld: not in this space", axes[a].name,
                     (long long)v[a]);
    return *count == 0;
}

static int violations(const struct space *space, const struct tiling *tiling,
                      struct violation list[MAX_VIOLATIONS])
{
    const struct knn_host *knn = knn_host_of(space);
    int count = 0;
    if (!has_names(knn, tiling, list, &count))
        return count;
    check_kernel(knn, tiling, list, &count);
    check_tiles(knn, tiling, list, &count);
    check_order(knn, tiling, list, &count);
    check_select(knn, tiling, list, &count);
    add_excess(list, &count, "workspace", "tiles and entries of all threads take",
               knn_host_workspace_bytes(knn, tiling), KNN_HOST_WORKSPACE_BYTES);
    return count;
}

static bool legal(const struct space *space, const struct tiling *tiling)
{
    struct violation list[MAX_VIOLATIONS];
    return violations(space, tiling, list) == 0;
}

static bool possible(const struct space *space, const struct tiling *tiling, int fixed)
{
    return fixed < KNN_HOST_AXES || legal(space, tiling);
}

static int cores_used(const struct space *space, const struct tiling *tiling, int part)
{
    (void)part;
    int64_t rows;
    return threads_with_rows(knn_host_of(space), tiling, &rows);
}

/* ---- what a tiling asks of the processor ----------------------------------------------------- */

/* A tiling in numbers: of the thread with most rows. */
struct knn_ask {
    const struct knn_host *knn;
    const int64_t *value;
    int threads;
    int64_t rows;   /* of the thread */
    int64_t blocks; /* of rows, all m-tiles */
    int64_t m_tiles, d_tiles;
    int64_t width, panels, partial; /* panels along n, n-tiles apart; those not as wide */
    double entry_bytes;             /* bytes of a row's entries */
};

/* Share of a cache that holds what is used again; the rest is for what streams through. */
static const double cache_share = 0.75;

/* Σ 1/i for first <= i <= last, by Euler–Maclaurin beyond the first few. */
static double harmonic_between(double first, double last)
{
    double sum = 0;
    while (first <= last && first < 16) {
        sum += 1 / first;
        first += 1;
    }
    if (first > last)
        return sum;
    return sum + log(last / first) + (1 / first + 1 / last) / 2 +
           (1 / (first * first) - 1 / (last * last)) / 12;
}

/* Entries below a row's threshold when it is as of the beginning of their panel: all, while there
 * are fewer than k; then k/i of those behind the i-th. */
static double expected_survivors(const struct knn_ask *ask)
{
    double n = (double)ask->knn->n, k = (double)ask->knn->k, width = (double)ask->width;
    double full = ceil(k / width), panels = (double)ask->panels;
    double whole = floor(n / width), rest = n - whole * width;
    if (full >= panels)
        return n;
    double sum = full * width + (whole > full ? k * harmonic_between(full, whole - 1) : 0);
    return rest > 0 ? sum + rest * fmin(1, k / (whole * width)) : sum;
}

/* Of them those below the threshold when their turn comes. */
static double expected_entered(const struct knn_ask *ask)
{
    double n = (double)ask->knn->n, k = (double)ask->knn->k;
    return n > k ? k + k * harmonic_between(k + 1, n) : n;
}

/* A buffer's threshold moves when it is cut: after the i-th value k/i of the next ones survive, so
 * that it is full again after i·buffer/k more, and the places of cuts are a geometric series. */
static void expect_buffer(const struct knn_ask *ask, double *survivors, double *cuts)
{
    double n = (double)ask->knn->n, k = (double)ask->knn->k;
    double buffer = (double)ask->value[KNN_HOST_BUFFER], width = (double)ask->width;
    double first = ceil((k + buffer) / width) * width, growth = 1 + buffer / k;
    if (first >= n) {
        *survivors = n;
        *cuts = 0;
        return;
    }
    double more = floor(log(n / first) / log(growth)), last = first * pow(growth, more);
    *cuts = 1 + more;
    *survivors = first + more * buffer + (n - last) * k / last;
}

/* Σ over panels of the probability that any of `values` values a panel, each below its row's
 * threshold with k/i, is: panels p after the first have 1 − exp(−values·k/(p·width)). On a grid of
 * powers of two, as the sum runs over p smoothly. */
static double expected_panels(const struct knn_ask *ask, double rows)
{
    double a = rows * (double)ask->knn->k, panels = (double)ask->panels, sum = 0;
    double p = 1;
    while (p < panels) {
        double next = fmin(2 * p, panels), middle = (p + next) / 2;
        double chances = (1 - exp(-a / p)) + 4 * (1 - exp(-a / middle)) + (1 - exp(-a / next));
        sum += (next - p) * chances / 6;
        p = next;
    }
    return fmin(1 + sum, panels);
}

static struct host_phase *add_phase(struct host_work *work, int loop, double calls, double steps)
{
    struct host_phase *phase = &work->phases[work->phase_count++];
    *phase = (struct host_phase){.loop = loop, .calls = calls, .steps = steps};
    return phase;
}

static int level_of(const struct knn_ask *ask, double bytes)
{
    return host_level_of(ask->knn->host, bytes, ask->threads, cache_share);
}

/* Every register tile reads its panel and its block of tests; what is the same for the next one is
 * in the L1 if it fits there. */
static void ask_tiles(const struct knn_ask *ask, struct host_work *work)
{
    const struct knn_host *knn = ask->knn;
    const int64_t *v = ask->value;
    double d = (double)knn->d, rows = (double)ask->rows, panels = (double)ask->panels;
    double calls = (double)ask->blocks * panels * (double)ask->d_tiles;
    struct host_phase *phase =
        add_phase(work, knn->tile_loops[v[KNN_HOST_KERNEL] - 1], calls, rows * d * panels);
    double d_tile = (double)v[KNN_HOST_D_TILE], panel = sizeof(float) * d_tile * (double)ask->width;
    double m_tile = fmin((double)v[KNN_HOST_M_TILE], rows);
    bool by_rows = v[KNN_HOST_ORDER] == KNN_HOST_ORDER_ROWS;
    double tests = sizeof(float) * m_tile * d_tile;
    double columns = sizeof(float) * fmin((double)v[KNN_HOST_N_TILE], (double)knn->n) * d_tile;
    double block = sizeof(float) * rows / (double)ask->blocks * d_tile;
    phase->read_bytes[level_of(ask, by_rows ? columns : panel)] += calls * panel;
    phase->read_bytes[level_of(ask, by_rows ? block : tests)] += calls * block;
    if (ask->d_tiles > 1) {
        double sums = sizeof(float) * rows * panels * (double)ask->width;
        int level = level_of(ask, sums / rows * m_tile / panels * fmin(panels, columns / panel));
        phase->read_bytes[level] += sums * (double)(ask->d_tiles - 1);
        phase->write_bytes[level] += sums * (double)(ask->d_tiles - 1);
    }
}

/* Training points come from where all of them are, once an m-tile, by copying or by being used. */
static void ask_pack(const struct knn_ask *ask, struct host_work *work)
{
    const struct knn_host *knn = ask->knn;
    const int64_t *v = ask->value;
    bool all = v[KNN_HOST_PACK] == KNN_HOST_PACK_YES;
    double d = (double)knn->d, m_tiles = (double)ask->m_tiles;
    double panels = m_tiles * (double)(all ? ask->panels : ask->partial);
    double vectors = (double)ask->width / knn->lanes;
    double bytes = sizeof(float) * (double)knn->n * d;
    struct host_phase *phase = add_phase(work, knn->loops[KNN_LOOP_PACK],
                                         panels * (double)ask->d_tiles, panels * d * vectors);
    phase->read_bytes[level_of(ask, bytes)] += m_tiles * bytes;
    if (all && v[KNN_HOST_ORDER] == KNN_HOST_ORDER_ROWS) {
        double tile = sizeof(float) * (double)v[KNN_HOST_N_TILE] * (double)v[KNN_HOST_D_TILE];
        phase->write_bytes[level_of(ask, tile)] += m_tiles * bytes;
    }
}

static void ask_turn(const struct knn_ask *ask, struct host_work *work)
{
    double numbers = (double)ask->rows * (double)ask->knn->d;
    struct host_phase *phase =
        add_phase(work, ask->knn->loops[KNN_LOOP_TURN], (double)ask->m_tiles, numbers);
    phase->read_bytes[level_of(ask, sizeof(float) * numbers)] += sizeof(float) * numbers;
}

/* Rows with near points, their entries, and where entries are. */
static void ask_selection(const struct knn_ask *ask, struct host_work *work)
{
    const struct knn_host *knn = ask->knn;
    const int64_t *v = ask->value;
    double rows = (double)ask->rows, k = (double)knn->k, block = rows / (double)ask->blocks;
    double scans = (double)ask->blocks * expected_panels(ask, block);
    double survivors = expected_survivors(ask), cuts = 0, entered = expected_entered(ask);
    struct host_phase *phase;
    add_phase(work, knn->loops[KNN_LOOP_SCAN], scans, scans * block);
    if (v[KNN_HOST_SELECT] == KNN_HOST_SELECT_BUFFER)
        expect_buffer(ask, &survivors, &cuts);
    phase = add_phase(work, knn->loops[KNN_LOOP_COLLECT], rows * expected_panels(ask, 1),
                      rows * survivors);
    double entries = fmin((double)v[KNN_HOST_M_TILE], rows) * ask->entry_bytes;
    phase->read_bytes[level_of(ask, entries)] += rows * survivors * sizeof(uint64_t);
    if (v[KNN_HOST_SELECT] == KNN_HOST_SELECT_LIST)
        add_phase(work, knn->loops[KNN_LOOP_LIST], rows * entered, rows * entered * k / 2);
    else if (v[KNN_HOST_SELECT] == KNN_HOST_SELECT_HEAP)
        add_phase(work, knn->loops[KNN_LOOP_HEAP], rows * entered, rows * entered * log2(k + 1));
    else
        add_phase(work, knn->loops[KNN_LOOP_COMPACT], rows * (cuts + 1),
                  rows * (cuts + 1) * (k + (double)v[KNN_HOST_BUFFER]));
    bool sorted = v[KNN_HOST_SELECT] == KNN_HOST_SELECT_LIST;
    phase =
        add_phase(work, knn->loops[KNN_LOOP_SORT], rows, sorted ? rows : rows * k * log2(k + 1));
    phase->write_bytes[level_of(ask, rows * k * sizeof(int64_t))] += rows * k * sizeof(int64_t);
}

static int64_t blocks_of(const struct knn_ask *ask, int64_t kernel_rows)
{
    int64_t tile = ask->value[KNN_HOST_M_TILE], last = ask->rows % tile;
    return ask->rows / tile * divide_up(tile, kernel_rows) + divide_up(last, kernel_rows);
}

static void ask_processor(const struct space *space, const struct tiling *tiling,
                          struct host_work *work)
{
    const struct knn_host *knn = knn_host_of(space);
    const struct knn_host_kernel *kernel = knn_host_kernel(tiling);
    const int64_t *v = tiling->value;
    struct knn_ask ask = {.knn = knn, .value = v, .width = (int64_t)kernel->vectors * knn->lanes};
    bool buffer = v[KNN_HOST_SELECT] == KNN_HOST_SELECT_BUFFER;
    ask.threads = threads_with_rows(knn, tiling, &ask.rows);
    ask.blocks = blocks_of(&ask, kernel->rows);
    ask.m_tiles = divide_up(ask.rows, v[KNN_HOST_M_TILE]);
    ask.d_tiles = divide_up(knn->d, v[KNN_HOST_D_TILE]);
    ask.panels = divide_up(knn->n, ask.width);
    ask.partial = knn->n % ask.width > 0;
    ask.entry_bytes = sizeof(uint64_t) * (double)(knn->k + (buffer ? v[KNN_HOST_BUFFER] : 0));
    *work = (struct host_work){.threads = ask.threads, .parallel_regions = ask.threads > 1};
    ask_tiles(&ask, work);
    ask_pack(&ask, work);
    ask_turn(&ask, work);
    ask_selection(&ask, work);
}

/* Products a ns of the fastest register tile. */
static double fastest_products(const struct knn_host *knn)
{
    double most = 0;
    for (int i = 0; i < KNN_HOST_KERNELS; i++) {
        if (knn->tile_loops[i] < 0)
            continue;
        double step_ns = knn->host->loops[knn->tile_loops[i]].step_ns;
        double products = (double)knn_host_kernels[i].vectors * knn->lanes;
        most = fmax(most, step_ns > 0 ? products / step_ns : INFINITY);
    }
    return most;
}

/* One of `threads` threads, which has at least so many test points. */
static double least_part_ns(const struct knn_host *knn, int threads, double rows, double most)
{
    double reads_ns[HOST_MAX_LEVELS], writes_ns[HOST_MAX_LEVELS], d = (double)knn->d;
    double tests = sizeof(float) * rows * d, trainings = sizeof(float) * (double)knn->n * d;
    double results = sizeof(int64_t) * rows * (double)knn->k;
    host_least_read_ns(knn->host, threads, reads_ns);
    host_least_write_ns(knn->host, threads, writes_ns);
    double moves = trainings * reads_ns[host_level_of(knn->host, trainings, threads, cache_share)] +
                   tests * reads_ns[host_level_of(knn->host, tests, threads, cache_share)] +
                   results * writes_ns[host_level_of(knn->host, results, threads, cache_share)];
    return fmax(rows * d * (double)knn->n / most, moves);
}

/* Products at the rate of the fastest register tile, or all points and neighbours moved once,
 * whichever takes longer: no tiling is faster by `ask`. */
static double roofline_ns(const struct space *space)
{
    const struct knn_host *knn = knn_host_of(space);
    double most = fastest_products(knn), ns = INFINITY;
    for (int threads = 1; threads <= knn->threads; threads++)
        ns = fmin(ns, least_part_ns(knn, threads, (double)knn->m / threads, most));
    return ns;
}

const struct operator_space knn_host_space = {
    .name = "host",
    .title = "FP32 on this processor: register tile, cache tiles, packing, loop order, selection",
    .create = create,
    .destroy = destroy,
    .possible = possible,
    .legal = legal,
    .violations = violations,
    .cores_used = cores_used,
    .ask = ask_processor,
    .roofline_ns = roofline_ns,
};
