/* Global memory (AIBench, section 6): what one core gets by the size of its bursts, what all get by
 * how much they read, and how many cores there are. */
#include "jobs/probe/probe_tables.h"

#include "jobs/probe/probe_parts.h"

#include <math.h>

enum {
    BURSTS = 100,
    LOADS = 64, /* of each core */
    BLOCK_BYTES = 131072,
    ONE_BURST = 16384,
};

/* So many moves of `bytes` after each other, each of its own bytes of global memory. */
static void emit_moves(struct probe_writer *w, int path, int64_t count, int64_t bytes)
{
    const struct path *p = &w->hw->paths[path];
    bool is_load = w->hw->buffers[p->source].capacity_bytes == 0;
    emit_loop(&w->e, "i", count);
    emit_move(&w->e, path, bytes, DTYPE_F16, DTYPE_F16);
    emit_operand_in_loop(&w->e, OPERAND_SRC, p->source, 0, is_load ? bytes : 0);
    emit_operand_in_loop(&w->e, OPERAND_DST, p->destination, 0, is_load ? 0 : bytes);
    emit_end(&w->e);
}

static void emit_bursts(struct probe_writer *w, const struct probe_curve *curve, int64_t x)
{
    int path = writer_path(w, curve->source, curve->destination);
    if (!writer_ends(w) && writer_fits(w, curve->source, x) &&
        writer_fits(w, curve->destination, x))
        emit_moves(w, path, BURSTS, x);
}

/* Loads of curve->n bytes from a working set of x blocks that is read again and again: what of it
 * the cache does not keep comes from behind it. */
static void emit_working_set(struct probe_writer *w, const struct probe_curve *curve, int64_t x)
{
    const struct cache *cache = &w->hw->cache;
    double share = hardware_miss_share(w->hw, (double)x * BLOCK_BYTES);
    int64_t missed = llround(share * LOADS);
    int path = writer_path(w, "gm", "l1");
    int behind = missed ? writer_path(w, w->hw->buffers[cache->behind].name, "l1") : path;
    writer_cores(w, curve, "l1");
    if (writer_ends(w) || !writer_fits(w, "l1", curve->n))
        return;
    if (missed)
        emit_moves(w, behind, missed, curve->n);
    if (missed < LOADS)
        emit_moves(w, path, LOADS - missed, curve->n);
}

/* x blocks are dealt to the cores, as many to each as to others or one more: the time is that of
 * those that have most. Returns how many these have. */
static int64_t deal_blocks(struct probe_writer *w, const struct probe_curve *curve, int64_t x,
                           const char *buffer)
{
    writer_cores(w, curve, buffer);
    int64_t most = (x + w->cores - 1) / w->cores;
    w->cores = x < w->cores ? (int)x : w->cores;
    return most;
}

static void emit_blocks(struct probe_writer *w, const struct probe_curve *curve, int64_t x)
{
    int path = writer_path(w, "gm", "l1");
    if (!writer_ends(w) && writer_fits(w, "l1", BLOCK_BYTES))
        emit_moves(w, path, BURSTS * deal_blocks(w, curve, x, "l1"), BLOCK_BYTES);
}

static void emit_products(struct probe_writer *w, const struct probe_curve *curve, int64_t x)
{
    int l0a = writer_buffer(w, "l0a"), l0b = writer_buffer(w, "l0b"), l0c = writer_buffer(w, "l0c");
    writer_matrix(w, curve->type);
    if (writer_ends(w))
        return;
    emit_loop(&w->e, "i", BURSTS * deal_blocks(w, curve, x, "l0a"));
    emit_matrix(&w->e, curve->type, curve->m, curve->k, curve->n, false);
    emit_operand(&w->e, OPERAND_A, l0a, 0);
    emit_operand(&w->e, OPERAND_B, l0b, 0);
    emit_operand(&w->e, OPERAND_DST, l0c, 0);
    emit_end(&w->e);
}

/* ------------------------------------------------------------------ numbers */

static const struct price *price_of(const struct probe_answer *answer,
                                    const struct probe_quantity *q)
{
    const struct probe_curve *curve = quantity_curve(answer, q);
    return path_price(answer->hw, curve->source ? curve->source : "gm",
                      curve->destination ? curve->destination : "l1");
}

static double found_sustained(const struct probe_answer *answer, const struct probe_quantity *q)
{
    return BURSTS / curve_slope_ns(answer, q->curve);
}

static double described_sustained(const struct probe_answer *answer, const struct probe_quantity *q)
{
    return price_gbps(answer->hw, price_of(answer, q), 1);
}

static double found_one_burst(const struct probe_answer *answer, const struct probe_quantity *q)
{
    const struct probe_point *point = curve_at(answer, q->curve, ONE_BURST);
    return point ? BURSTS * ONE_BURST / point_ns(point) : NAN;
}

static double described_one_burst(const struct probe_answer *answer, const struct probe_quantity *q)
{
    const struct price *price = price_of(answer, q);
    double gbps = price_gbps(answer->hw, price, 1);
    return price ? BURSTS * ONE_BURST /
                       (BURSTS * ((double)price->base_fs / FS_PER_NS + ONE_BURST / gbps) +
                        (double)price->latency_fs / FS_PER_NS)
                 : NAN;
}

/* GB/s of all cores at the smallest working set, with all that loads cost beside their bytes. */
static double found_all(const struct probe_answer *answer, const struct probe_quantity *q)
{
    const struct probe_series *series = &answer->series[q->curve];
    const struct probe_point *point = series->points;
    return series->count ? (double)point->cores * LOADS * (double)series->curve->n / point_ns(point)
                         : NAN;
}

/* … without: what more bytes in as many loads take. */
static double found_all_sustained(const struct probe_answer *answer, const struct probe_quantity *q)
{
    const struct probe_series *more = &answer->series[q->curve], *less = more + 1;
    if (!more->count || !less->count)
        return NAN;
    return (double)more->points->cores * LOADS * (double)(more->curve->n - less->curve->n) /
           (point_ns(more->points) - point_ns(less->points));
}

static int cores_of(const struct probe_answer *answer, const struct probe_quantity *q)
{
    const struct probe_series *series = &answer->series[q->curve];
    return series->count ? series->points->cores : 1;
}

static double described_all_sustained(const struct probe_answer *answer,
                                      const struct probe_quantity *q)
{
    int cores = cores_of(answer, q);
    return cores * price_gbps(answer->hw, price_of(answer, q), cores);
}

/* The largest working set that is read as fast as the smallest, where a larger one is not. */
static double found_kept(const struct probe_answer *answer, const struct probe_quantity *q)
{
    const struct probe_series *series = &answer->series[q->curve];
    for (int i = 1; i < series->count; i++)
        if (point_ns(&series->points[i]) > 1.01 * point_ns(series->points))
            return (double)series->points[i - 1].x * BLOCK_BYTES / 1048576;
    return NAN;
}

static double described_kept(const struct probe_answer *answer, const struct probe_quantity *q)
{
    (void)q;
    const struct cache *cache = &answer->hw->cache;
    return cache->behind < 0 ? NAN : (double)cache->all_hit_bytes / 1048576;
}

static double found_cores(const struct probe_answer *answer, const struct probe_quantity *q)
{
    return curve_period(answer, q->curve);
}

static double described_cores(const struct probe_answer *answer, const struct probe_quantity *q)
{
    (void)q;
    return answer->hw->cores;
}

/* ------------------------------------------------------------------ tables */

#define BURST(FROM, TO, LABEL)                                                                     \
    .kind = "mov_100", .label = LABEL, .unit = "KiB", .from = 1024, .to = 65536, .step = 1024,     \
    .emit = emit_bursts, .source = FROM, .destination = TO

static const struct probe_curve bursts[] = {
    {.name = "gm->l1", BURST("gm", "l1", "GM_TO_L1")},
    {.name = "gm->ub", BURST("gm", "ub", "GM_TO_UB")},
    {.name = "ub->gm", BURST("ub", "gm", "UB_TO_GM")},
};

static const struct probe_quantity burst_quantities[] = {
    {"gm->l1, sustained", "GB/s", 0, found_sustained, described_sustained, 108.7, 108.7,
     "A 6.1, Fig. 9a"},
    {"gm->l1, 16 KiB a move", "GB/s", 0, found_one_burst, described_one_burst, 93.6, 93.6,
     "A 6.1, Fig. 9b"},
    {"gm->ub, sustained", "GB/s", 1, found_sustained, described_sustained, 103.7, 103.7, "A 6.1"},
    {"gm->ub, 16 KiB a move", "GB/s", 1, found_one_burst, described_one_burst, 60.3, 60.3, "A 6.1"},
    {"ub->gm, sustained", "GB/s", 2, found_sustained, described_sustained, 0, 0, ""},
};

const struct probe probe_gm_bursts = {
    .name = "gm-bursts",
    .title = "100 moves of one core from and to global memory, by their size",
    .figure = "A Fig. 9",
    .x = "bytes",
    .curve_count = PROBE_COUNT(bursts),
    .curves = bursts,
    .quantity_count = PROBE_COUNT(burst_quantities),
    .quantities = burst_quantities,
    .here = &probe_here_gm_bursts,
};

static const struct probe_curve sets[] = {
    {.name = "128 KiB a load",
     .kind = "set_128k",
     .label = "GM_TO_L1",
     .unit = "block",
     .from = 1,
     .to = 16384,
     .emit = emit_working_set,
     .n = BLOCK_BYTES,
     .all_cores = true},
    {.name = "64 KiB a load",
     .kind = "set_64k",
     .label = "GM_TO_L1",
     .unit = "block",
     .from = 1,
     .to = 16384,
     .emit = emit_working_set,
     .n = BLOCK_BYTES / 2,
     .all_cores = true},
};

static const struct probe_quantity set_quantities[] = {
    {"all cores, 128 KiB a load", "GB/s", 0, found_all, NULL, 2850, 2850, "A 6.2, Fig. 10"},
    {"all cores, sustained", "GB/s", 0, found_all_sustained, described_all_sustained, 0, 0, ""},
    {"read as fast up to", "MiB", 0, found_kept, described_kept, 0, 0, ""},
};

const struct probe probe_working_set = {
    .name = "working-set",
    .title = "all cores read a working set of 128 KiB blocks again and again",
    .figure = "A Fig. 10",
    .x = "blocks",
    .curve_count = PROBE_COUNT(sets),
    .curves = sets,
    .quantity_count = PROBE_COUNT(set_quantities),
    .quantities = set_quantities,
    .here = &probe_here_working_set,
};

static const struct probe_curve dealt[] = {
    {.name = "loads",
     .kind = "dealt_loads",
     .label = "GM_TO_L1",
     .unit = "block",
     .from = 1,
     .to = 128,
     .step = 1,
     .emit = emit_blocks,
     .all_cores = true},
    {.name = "products",
     .kind = "dealt_products",
     .label = "MMAD",
     .unit = "block",
     .from = 1,
     .to = 128,
     .step = 1,
     .emit = emit_products,
     .type = DTYPE_F16,
     .m = 64,
     .k = 64,
     .n = 64,
     .all_cores = true},
};

static const struct probe_quantity dealt_quantities[] = {
    {"cores, by loads", "cores", 0, found_cores, described_cores, 30, 30, "A 6.2, Fig. 11"},
    {"cores, by products", "cores", 1, found_cores, described_cores, 0, 0, ""},
};

const struct probe probe_cores = {
    .name = "cores",
    .title = "blocks of work, 100 loads of 128 KiB or 100 products each, dealt to the cores",
    .figure = "A Fig. 11",
    .x = "blocks",
    .curve_count = PROBE_COUNT(dealt),
    .curves = dealt,
    .quantity_count = PROBE_COUNT(dealt_quantities),
    .quantities = dealt_quantities,
    .here = &probe_here_cores,
};
