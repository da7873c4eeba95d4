/* What a tiling of k-NN asks of a processor. Calls and steps of register tiles and packing are
 * exact; what the selection does depends on the data, and is taken as expected for training points
 * in random order: the value number i of a row is among its k least so far with probability
 * min(1, k/i) (Tang 2024, eq. 3.6 to 3.8), so k·(1 + ln(N/k)) of them enter, whatever the distances
 * are. */
#include "kernels/knn/host/knn_host.h"
#include "kernels/slices.h"

#include <math.h>

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
static const double fill = 0.75;

/* Σ 1/i for first <= i <= last, by Euler–Maclaurin beyond the first few. */
static double harmonic(double first, double last)
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
    double sum = full * width + (whole > full ? k * harmonic(full, whole - 1) : 0);
    return rest > 0 ? sum + rest * fmin(1, k / (whole * width)) : sum;
}

/* Of them those below the threshold when their turn comes. */
static double expected_entered(const struct knn_ask *ask)
{
    double n = (double)ask->knn->n, k = (double)ask->knn->k;
    return n > k ? k + k * harmonic(k + 1, n) : n;
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
    return host_level_of(ask->knn->host, bytes, ask->threads, fill);
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

void knn_host_ask(const struct space *space, const struct tiling *tiling, struct host_work *work)
{
    const struct knn_host *knn = knn_host_of(space);
    const struct knn_host_kernel *kernel = knn_host_kernel(tiling);
    const int64_t *v = tiling->value;
    struct knn_ask ask = {.knn = knn, .value = v, .width = (int64_t)kernel->vectors * knn->lanes};
    bool buffer = v[KNN_HOST_SELECT] == KNN_HOST_SELECT_BUFFER;
    ask.threads = knn_host_threads(knn, tiling, &ask.rows);
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
static double peak(const struct knn_host *knn)
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
    double moves = trainings * reads_ns[host_level_of(knn->host, trainings, threads, fill)] +
                   tests * reads_ns[host_level_of(knn->host, tests, threads, fill)] +
                   results * writes_ns[host_level_of(knn->host, results, threads, fill)];
    return fmax(rows * d * (double)knn->n / most, moves);
}

double knn_host_roofline_ns(const struct space *space)
{
    const struct knn_host *knn = knn_host_of(space);
    double most = peak(knn), ns = INFINITY;
    for (int threads = 1; threads <= knn->threads; threads++)
        ns = fmin(ns, least_part_ns(knn, threads, (double)knn->m / threads, most));
    return ns;
}
