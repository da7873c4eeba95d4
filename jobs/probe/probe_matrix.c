/* The matrix unit (AIBench, section 4.2): which block it takes, in how many cycles, and how many of
 * a narrow product at once. All products are of what lies in the unit's buffers. */
#include "jobs/probe/probe_tables.h"

#include "jobs/probe/probe_parts.h"

#include <math.h>

static int64_t padded(int64_t size, int block)
{
    return (size + block - 1) / block * block;
}

/* One product, of which x is the size that the curve leaves open. */
static void emit_product(struct probe_writer *w, const struct probe_curve *curve, int64_t x)
{
    int64_t m = curve->m ? curve->m : x, k = curve->k ? curve->k : x, n = curve->n ? curve->n : x;
    const struct matrix_type *type = writer_matrix(w, curve->type);
    int l0a = writer_buffer(w, "l0a"), l0b = writer_buffer(w, "l0b");
    int l0c = writer_buffer(w, "l0c"), bytes = dtype_bytes(curve->type);
    if (writer_ends(w))
        return;
    int64_t rows = padded(m, type->block_m), depth = padded(k, type->block_k);
    int64_t columns = padded(n, type->block_n);
    if (!writer_fits(w, "l0a", rows * depth * bytes) ||
        !writer_fits(w, "l0b", depth * columns * bytes) ||
        !writer_fits(w, "l0c", rows * columns * dtype_bytes(type->accumulator)))
        return;
    emit_matrix(&w->e, curve->type, m, k, n, false);
    emit_operand(&w->e, OPERAND_A, l0a, 0);
    emit_operand(&w->e, OPERAND_B, l0b, 0);
    emit_operand(&w->e, OPERAND_DST, l0c, 0);
}

/* ------------------------------------------------------------------ numbers */

static const struct matrix_type *type_of(const struct probe_answer *answer,
                                         const struct probe_quantity *q)
{
    return hardware_matrix_type(answer->hw, quantity_curve(answer, q)->type);
}

static double found_period(const struct probe_answer *answer, const struct probe_quantity *q)
{
    return curve_period(answer, q->curve);
}

static double described_block(const struct probe_answer *answer, const struct probe_quantity *q)
{
    const struct probe_curve *curve = quantity_curve(answer, q);
    const struct matrix_type *type = type_of(answer, q);
    if (!type)
        return NAN;
    return !curve->m ? type->block_m : !curve->k ? type->block_k : type->block_n;
}

/* Multiplications that one more of N takes. */
static double multiplications(const struct probe_curve *curve)
{
    return (double)(curve->m * curve->k);
}

static double block_multiplications(const struct matrix_type *type)
{
    return (double)type->block_m * type->block_k * type->block_n;
}

/* Cycles of as many multiplications as a block of the description has. */
static double found_block_cycles(const struct probe_answer *answer, const struct probe_quantity *q)
{
    const struct matrix_type *type = type_of(answer, q);
    double ns = curve_slope_ns(answer, q->curve) / multiplications(quantity_curve(answer, q));
    return type ? in_cycles(answer->hw, ns * block_multiplications(type)) : NAN;
}

static double described_block_cycles(const struct probe_answer *answer,
                                     const struct probe_quantity *q)
{
    const struct matrix_type *type = type_of(answer, q);
    return type ? in_cycles(answer->hw, price_unit_ns(&answer->hw->prices[type->price])) : NAN;
}

/* 10^12 multiplications a second. */
static double found_peak(const struct probe_answer *answer, const struct probe_quantity *q)
{
    return multiplications(quantity_curve(answer, q)) / curve_slope_ns(answer, q->curve) / 1e3;
}

static double described_peak(const struct probe_answer *answer, const struct probe_quantity *q)
{
    double flops = hardware_matrix_peak(answer->hw, quantity_curve(answer, q)->type);
    return flops > 0 ? flops / 2e12 : NAN;
}

/* Blocks along N that take no longer than one. */
static double found_at_once(const struct probe_answer *answer, const struct probe_quantity *q)
{
    const struct matrix_type *type = type_of(answer, q);
    return type ? curve_period(answer, q->curve) / type->block_n : NAN;
}

static double described_at_once(const struct probe_answer *answer, const struct probe_quantity *q)
{
    const struct matrix_type *type = type_of(answer, q);
    return type ? fmax(1, type->row_blocks_at_once) : NAN;
}

/* ------------------------------------------------------------------ tables */

#define PRODUCT        .kind = "mmad", .unit = "MxKxN", .emit = emit_product
#define F16            PRODUCT, .label = "MMAD_FP16_FP16_FP32_1_core", .type = DTYPE_F16
#define I8             PRODUCT, .label = "MMAD_INT8_INT8_INT32_1_core", .type = DTYPE_I8
#define TO(last, each) .from = (each), .to = (last), .step = (each)

static const struct probe_curve blocks[] = {
    {.name = "M, f16", F16, TO(96, 4), .k = 112, .n = 112},
    {.name = "K, f16", F16, TO(96, 4), .m = 112, .n = 112},
    {.name = "N, f16", F16, TO(96, 4), .m = 112, .k = 112},
    {.name = "K, i8", I8, TO(96, 4), .m = 112, .n = 112},
};

static const struct probe_quantity block_quantities[] = {
    {"block along M, f16", "elements", 0, found_period, described_block, 16, 16, "A 4.2"},
    {"block along K, f16", "elements", 1, found_period, described_block, 16, 16, "A 4.2, Fig. 5"},
    {"block along N, f16", "elements", 2, found_period, described_block, 16, 16, "A 4.2, Fig. 4"},
    {"block along K, i8", "elements", 3, found_period, described_block, 32, 32, "A 4.2"},
};

const struct probe probe_matrix_block = {
    .name = "matrix-block",
    .title = "the block that the matrix unit takes at a time",
    .figure = "A Fig. 4, 5",
    .x = "elements",
    .curve_count = PROBE_COUNT(blocks),
    .curves = blocks,
    .quantity_count = PROBE_COUNT(block_quantities),
    .quantities = block_quantities,
    .why_not_here = "it has no matrix unit: its products are loops, whose tiles are chosen",
};

static const struct probe_curve cycles[] = {
    {.name = "K = 16, f16", F16, TO(384, 16), .m = 160, .k = 16},
    {.name = "K = 48, f16", F16, TO(384, 16), .m = 160, .k = 48},
    {.name = "K = 144, f16", F16, TO(384, 16), .m = 160, .k = 144},
    {.name = "K = 32, i8", I8, TO(384, 16), .m = 160, .k = 32},
};

static const struct probe_quantity cycle_quantities[] = {
    {"a block, K = 16, f16", "cycles", 0, found_block_cycles, described_block_cycles, 1, 1,
     "A 4.2, Fig. 5"},
    {"a block, K = 144, f16", "cycles", 2, found_block_cycles, described_block_cycles, 1, 1,
     "A 4.2, Fig. 4"},
    {"a block, i8", "cycles", 3, found_block_cycles, described_block_cycles, 1, 1, "A 4.2"},
    {"one core, f16", "TMAC/s", 2, found_peak, described_peak, 3.6, 3.6, "A 4.2"},
    {"one core, i8", "TMAC/s", 3, found_peak, described_peak, 7.2, 7.2, "A 4.2"},
};

const struct probe probe_matrix_cycles = {
    .name = "matrix-cycles",
    .title = "cycles of a product with M = 160",
    .figure = "A Fig. 4, 5",
    .x = "N",
    .curve_count = PROBE_COUNT(cycles),
    .curves = cycles,
    .quantity_count = PROBE_COUNT(cycle_quantities),
    .quantities = cycle_quantities,
    .here = &probe_here_matrix_cycles,
};

static const struct probe_curve narrow[] = {
    {.name = "K = 16", F16, TO(512, 16), .m = 16, .k = 16},
    {.name = "K = 64", F16, TO(512, 16), .m = 16, .k = 64},
};

static const struct probe_quantity narrow_quantities[] = {
    {"blocks at once", "blocks", 1, found_at_once, described_at_once, 2, 2, "A 4.2, Fig. 6"},
};

const struct probe probe_matrix_narrow = {
    .name = "matrix-narrow",
    .title = "blocks along N, odd and even many, of a product with M = 16",
    .figure = "A Fig. 6",
    .x = "N",
    .curve_count = PROBE_COUNT(narrow),
    .curves = narrow,
    .quantity_count = PROBE_COUNT(narrow_quantities),
    .quantities = narrow_quantities,
    .why_not_here = "it has no matrix unit that could take blocks in pairs",
};
