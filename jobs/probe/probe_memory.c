/* Memory. Buffers on the chip (AIBench, section 5): how wide they are, from moves of growing size,
 * and whether the distance between the pieces of a move matters. Global memory (section 6): what
 * one core gets by the size of its bursts, what all get by how much they read, and how many cores
 * there are. */
#include "jobs/probe/probe_parts.h"

#include <math.h>

/* ------------------------------------------------------------------ buffers on the chip */

enum { ROWS = 16 };
#define ROW_BYTES INT64_C(512)

/* One move of x bytes. */
static void emit_bytes(struct probe_writer *w, const struct probe_curve *curve, int64_t x)
{
    int path = writer_path(w, curve->source, curve->destination);
    int64_t twice = curve->source == curve->destination ? 2 * x : x; /* beside each other */
    if (writer_ends(w) || !writer_fits(w, curve->source, twice) ||
        !writer_fits(w, curve->destination, twice))
        return;
    emit_move(&w->e, path, x, DTYPE_F16, DTYPE_F16);
    emit_operand(&w->e, OPERAND_SRC, w->hw->paths[path].source, 0);
    emit_operand(&w->e, OPERAND_DST, w->hw->paths[path].destination, twice - x);
}

/* What piece starts are multiples of, a power of two. */
static int64_t alignment_of(int64_t stride)
{
    return stride & -stride;
}

/* One move of ROWS rows, x bytes from the end of one to the start of the next; at the destination
 * they follow each other. */
static void emit_rows(struct probe_writer *w, const struct probe_curve *curve, int64_t x)
{
    int path = writer_path(w, curve->source, curve->destination);
    int64_t bytes = ROWS * ROW_BYTES, stride = ROW_BYTES + x;
    if (writer_ends(w) || !writer_fits(w, curve->source, (ROWS - 1) * stride + ROW_BYTES) ||
        !writer_fits(w, curve->destination, bytes))
        return;
    const struct path *p = &w->hw->paths[path];
    bool is_outside = w->hw->buffers[p->source].capacity_bytes == 0;
    emit(&w->e, &(struct instruction){.kind = INSTRUCTION_MOVE,
                                      .what = (int16_t)path,
                                      .bytes = bytes,
                                      .type = DTYPE_F16,
                                      .to_type = DTYPE_F16,
                                      .bursts = is_outside && x ? ROWS : 1,
                                      .align_bytes = is_outside && x ? alignment_of(stride) : 0});
    emit_region(&w->e, &(struct region){.role = OPERAND_SRC,
                                        .buffer = p->source,
                                        .rows = ROWS,
                                        .row_stride_bytes = stride});
    emit_operand(&w->e, OPERAND_DST, p->destination, 0);
}

/* ------------------------------------------------------------------ numbers */

/* Of the curve's path, gm->l1 where it names none; NULL without it. */
static const struct price *price_of(const struct probe_answer *answer,
                                    const struct probe_quantity *q)
{
    const struct probe_curve *curve = quantity_curve(answer, q);
    struct probe_writer w = {.hw = answer->hw};
    int path = writer_path(&w, curve->source ? curve->source : "gm",
                           curve->destination ? curve->destination : "l1");
    return path < 0 ? NULL : &answer->hw->prices[answer->hw->paths[path].price];
}

/* Over whole stairs, where there are some. */
static double found_gbps(const struct probe_answer *answer, const struct probe_quantity *q)
{
    struct stairs stairs;
    return curve_stairs(answer, q->curve, &stairs) ? stairs.period / stairs.height : NAN;
}

static double found_width(const struct probe_answer *answer, const struct probe_quantity *q)
{
    return 1 / in_cycles(answer->hw, 1 / found_gbps(answer, q));
}

static double described_width(const struct probe_answer *answer, const struct probe_quantity *q)
{
    return 1 / in_cycles(answer->hw, 1 / price_gbps(answer->hw, price_of(answer, q), 1));
}

/* So many bytes take no longer than one of them; NAN where each step takes longer. */
static double found_grain(const struct probe_answer *answer, const struct probe_quantity *q)
{
    double period = curve_period(answer, q->curve);
    return period > (double)quantity_curve(answer, q)->step ? period : NAN;
}

/* What the path moves in multiples of; NAN where the curve's steps would not show it. */
static double described_grain(const struct probe_answer *answer, const struct probe_quantity *q)
{
    const struct price *price = price_of(answer, q);
    return price && price->lot > quantity_curve(answer, q)->step ? (double)price->lot : NAN;
}

static double described_gbps(const struct probe_answer *answer, const struct probe_quantity *q)
{
    return price_gbps(answer->hw, price_of(answer, q), 1);
}

/* The slowest over the one without gaps. */
static double found_spread(const struct probe_answer *answer, const struct probe_quantity *q)
{
    const struct probe_series *series = &answer->series[q->curve];
    double most = 0, first = series->count ? point_ns(&series->points[0]) : NAN;
    for (int i = 0; i < series->count; i++)
        most = fmax(most, point_ns(&series->points[i]));
    return most / first;
}

static double described_spread(const struct probe_answer *answer, const struct probe_quantity *q)
{
    const struct price *price = price_of(answer, q);
    const struct probe_curve *curve = quantity_curve(answer, q);
    double most_fs = 0;
    if (!price)
        return NAN;
    double alone_fs = (double)(price->base_fs + price->latency_fs) +
                      FS_PER_NS * ROWS * ROW_BYTES / price_gbps(answer->hw, price, 1);
    for (int64_t x = curve->step; x <= curve->to && price->burst_table >= 0; x += curve->step)
        most_fs = fmax(most_fs, (double)hardware_burst_fs(answer->hw, price, ROW_BYTES,
                                                          alignment_of(ROW_BYTES + x)));
    return (alone_fs + ROWS * most_fs) / alone_fs;
}

/* ------------------------------------------------------------------ tables */

#define MOVE(FROM, TO, LABEL)                                                                      \
    .kind = "mov", .label = (LABEL), .unit = "KiB", .emit = emit_bytes, .source = (FROM),          \
    .destination = (TO)

static const struct probe_curve ub_moves[] = {
    {.name = "ub->ub", MOVE("ub", "ub", "UB_TO_UB"), .from = 32, .to = 4096, .step = 32},
};

static const struct probe_quantity ub_quantities[] = {
    {"width of UB", "B/cycle", 0, found_width, described_width, 512, 512, "A 5.1, Fig. 7"},
    {"step", "B", 0, found_grain, described_grain, 512, 512, "A 5.1, Fig. 7"},
};

const struct probe probe_ub_width = {
    .name = "ub-width",
    .title = "width of the unified buffer, from moves within it",
    .figure = "A Fig. 7",
    .x = "bytes",
    .curve_count = PROBE_COUNT(ub_moves),
    .curves = ub_moves,
    .quantity_count = PROBE_COUNT(ub_quantities),
    .quantities = ub_quantities,
    .why_not_here =
        "it has no buffer of the vector unit beside the caches, which l1-width is about",
};

static const struct probe_curve l1_moves[] = {
    {.name = "l1->ub", MOVE("l1", "ub", "L1_TO_UB"), .from = 32, .to = 4096, .step = 32},
    {.name = "ub->l1", MOVE("ub", "l1", "UB_TO_L1"), .from = 32, .to = 4096, .step = 32},
    {.name = "l1->l0a", MOVE("l1", "l0a", "L1_TO_L0A"), .from = 512, .to = 32768, .step = 512},
    {.name = "l1->l0b", MOVE("l1", "l0b", "L1_TO_L0B"), .from = 512, .to = 32768, .step = 512},
};

static const struct probe_quantity l1_quantities[] = {
    {"width of L1, to UB", "B/cycle", 0, found_width, described_width, 128, 128, "A 5.2, Fig. 8a"},
    {"step, to UB", "B", 0, found_grain, described_grain, 128, 128, "A 5.2, Fig. 8a"},
    {"L1 to UB", "GB/s", 0, found_gbps, described_gbps, 115, 115, "A 5.4"},
    {"UB to L1", "B/cycle", 1, found_width, described_width, 128, 128, "A 5.2, Fig. 8a"},
    {"L1 to L0A", "B/cycle", 2, found_width, described_width, 0, 0, ""},
    {"L1 to L0B", "B/cycle", 3, found_width, described_width, 0, 0, ""},
};

const struct probe probe_l1_width = {
    .name = "l1-width",
    .title = "width of the L1 buffer, from moves out of it and into it",
    .figure = "A Fig. 8a",
    .x = "bytes",
    .curve_count = PROBE_COUNT(l1_moves),
    .curves = l1_moves,
    .quantity_count = PROBE_COUNT(l1_quantities),
    .quantities = l1_quantities,
    .here = &probe_here_l1_width,
};

static const struct probe_curve l0c_moves[] = {
    {.name = "l0c->ub", MOVE("l0c", "ub", "L0C_TO_UB"), .from = 256, .to = 16384, .step = 256},
};

static const struct probe_quantity l0c_quantities[] = {
    {"width of L0C", "B/cycle", 0, found_width, described_width, 256, 256, "A 5.3, Fig. 8b"},
    {"step", "B", 0, found_grain, described_grain, 1024, 1024, "A 5.3, Fig. 8b"},
    {"L0C to UB", "GB/s", 0, found_gbps, described_gbps, 230, 230, "A 5.4"},
};

const struct probe probe_l0c_width = {
    .name = "l0c-width",
    .title = "width of the L0C buffer, from moves out of it",
    .figure = "A Fig. 8b",
    .x = "bytes",
    .curve_count = PROBE_COUNT(l0c_moves),
    .curves = l0c_moves,
    .quantity_count = PROBE_COUNT(l0c_quantities),
    .quantities = l0c_quantities,
    .why_not_here = "it adds up in registers, and has no buffer for sums",
};

#define STRIDE(FROM, TO, LABEL)                                                                    \
    .kind = "stride", .label = (LABEL), .unit = "B", .from = 0, .to = 2048, .step = 32,            \
    .emit = emit_rows, .source = (FROM), .destination = (TO)

static const struct probe_curve strides[] = {
    {.name = "l1->ub", STRIDE("l1", "ub", "L1_TO_UB")},
    {.name = "gm->ub", STRIDE("gm", "ub", "GM_TO_UB")},
    {.name = "gm->l1", STRIDE("gm", "l1", "GM_TO_L1")},
};

static const struct probe_quantity stride_quantities[] = {
    {"slowest, l1->ub", "x", 0, found_spread, described_spread, 1, 1, "A 5.4"},
    {"slowest, gm->ub", "x", 1, found_spread, described_spread, 0, 0, ""},
    {"slowest, gm->l1", "x", 2, found_spread, described_spread, 0, 0, ""},
};

const struct probe probe_strides = {
    .name = "strides",
    .title = "16 pieces of 512 bytes at growing distances",
    .figure = "A 5.4",
    .x = "bytes between",
    .curve_count = PROBE_COUNT(strides),
    .curves = strides,
    .quantity_count = PROBE_COUNT(stride_quantities),
    .quantities = stride_quantities,
    .here = &probe_here_strides,
};

/* ------------------------------------------------------------------ global memory */

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
    .kind = "mov_100", .label = (LABEL), .unit = "KiB", .from = 1024, .to = 65536, .step = 1024,   \
    .emit = emit_bursts, .source = (FROM), .destination = (TO)

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
