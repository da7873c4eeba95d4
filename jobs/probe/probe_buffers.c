/* Buffers on the chip (AIBench, section 5): how wide they are, from moves of growing size, and
 * whether the distance between the pieces of a move matters. */
#include "jobs/probe/probe_tables.h"

#include "jobs/probe/probe_parts.h"

#include <math.h>

enum { ROWS = 16, ROW_BYTES = 512 };

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

static const struct price *price_of(const struct probe_answer *answer,
                                    const struct probe_quantity *q)
{
    const struct probe_curve *curve = quantity_curve(answer, q);
    return path_price(answer->hw, curve->source, curve->destination);
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
    return price && price->lot > quantity_curve(answer, q)->step ? price->lot : NAN;
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
    .kind = "mov", .label = LABEL, .unit = "KiB", .emit = emit_bytes, .source = FROM,              \
    .destination = TO

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
    .kind = "stride", .label = LABEL, .unit = "B", .from = 0, .to = 2048, .step = 32,              \
    .emit = emit_rows, .source = FROM, .destination = TO

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
