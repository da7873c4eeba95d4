/* The matrix unit (AIBench, section 4.2): which block it takes, in how many cycles, and how many of
 * a narrow product at once, of what lies in the unit's buffers. And products whose operands come
 * from global memory and whose results go back (section 7.2): 160×k times k×16, one a core, two a
 * core, one on each core.
 *
 * There k goes through L0A and L0B in chunks, of which two are there at a time: while one is
 * multiplied the next one comes. Results leave L0C by way of UB, or straight where cube and vector
 * cores are apart. */
#include "jobs/probe/probe_parts.h"

#include <math.h>

/* ------------------------------------------------------------------ one product */

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

/* ------------------------------------------------------------------ products, loaded and stored */

enum { SLOTS = 2 };
#define ROWS          INT64_C(160)
#define COLUMNS       INT64_C(16)
#define CHUNK         INT64_C(64)
#define SUM_BYTES     INT64_C(4)
#define OPERAND_BYTES INT64_C(2)

struct matrix_load {
    int gm, l1, l0a, l0b, l0c, ub;        /* buffers; ub = -1: results do not pass it */
    int to_l1, to_l0a, to_l0b, out, last; /* paths; last = -1 as ub */
};

static int pipe_of(const struct probe_writer *w, int path)
{
    return w->hw->paths[path].pipe;
}

static int pipe_of_results(const struct probe_writer *w, const struct matrix_load *l)
{
    return pipe_of(w, l->last < 0 ? l->out : l->last);
}

static void find_paths(struct probe_writer *w, struct matrix_load *l)
{
    *l = (struct matrix_load){.ub = -1, .last = -1};
    l->gm = writer_buffer(w, "gm");
    l->l1 = writer_buffer(w, "l1");
    l->l0a = writer_buffer(w, "l0a");
    l->l0b = writer_buffer(w, "l0b");
    l->l0c = writer_buffer(w, "l0c");
    l->to_l1 = writer_path(w, "gm", "l1");
    l->to_l0a = writer_path(w, "l1", "l0a");
    l->to_l0b = writer_path(w, "l1", "l0b");
    writer_matrix(w, DTYPE_F16);
    if (writer_ends(w))
        return;
    l->out = hardware_path(w->hw, l->l0c, l->gm);
    if (l->out >= 0)
        return;
    l->ub = writer_buffer(w, "ub");
    l->out = writer_path(w, "l0c", "ub");
    l->last = writer_path(w, "ub", "gm");
}

static void emit_copy(struct probe_writer *w, int path, int64_t bytes, int64_t from, int64_t to)
{
    emit_move(&w->e, path, bytes, DTYPE_F16, DTYPE_F16);
    emit_operand(&w->e, OPERAND_SRC, w->hw->paths[path].source, from);
    emit_operand(&w->e, OPERAND_DST, w->hw->paths[path].destination, to);
}

/* What follows on pipe `to` begins when what was done on pipe `from` is there. */
static void emit_after(struct probe_writer *w, int from, int to, int reg)
{
    writer_set(w, from, to, reg);
    writer_wait(w, from, to, reg);
}

/* One product's k from L1, whose operands begin at `a` and `b`. */
static void emit_chunks(struct probe_writer *w, const struct matrix_load *l, int64_t k, int64_t a,
                        int64_t b)
{
    int mte1 = pipe_of(w, l->to_l0a), m = w->hw->matrix_pipe;
    for (int64_t done = 0, c = 0; done < k; done += CHUNK, c++) {
        int64_t depth = k - done < CHUNK ? k - done : CHUNK, slot = c % SLOTS;
        int64_t a_bytes = ROWS * depth * OPERAND_BYTES, b_bytes = depth * COLUMNS * OPERAND_BYTES;
        int64_t a0 = slot * ROWS * CHUNK * OPERAND_BYTES;
        int64_t b0 = slot * CHUNK * COLUMNS * OPERAND_BYTES;
        writer_wait(w, m, mte1, (int)slot);
        emit_copy(w, l->to_l0a, a_bytes, a + done * ROWS * OPERAND_BYTES, a0);
        emit_copy(w, l->to_l0b, b_bytes, b + done * COLUMNS * OPERAND_BYTES, b0);
        emit_after(w, pipe_of(w, l->to_l0b), m, (int)slot);
        emit_matrix(&w->e, DTYPE_F16, ROWS, depth, COLUMNS, done > 0);
        emit_operand(&w->e, OPERAND_A, l->l0a, a0);
        emit_operand(&w->e, OPERAND_B, l->l0b, b0);
        emit_operand(&w->e, OPERAND_DST, l->l0c, 0);
        writer_set(w, m, mte1, (int)slot);
    }
}

static void emit_results(struct probe_writer *w, const struct matrix_load *l, int64_t to)
{
    int64_t bytes = ROWS * COLUMNS * SUM_BYTES;
    emit_after(w, w->hw->matrix_pipe, pipe_of(w, l->out), 0);
    emit_copy(w, l->out, bytes, 0, l->last < 0 ? to : 0);
    if (l->last < 0)
        return;
    emit_after(w, pipe_of(w, l->out), pipe_of(w, l->last), 0);
    emit_copy(w, l->last, bytes, 0, to);
}

static void emit_loaded_product(struct probe_writer *w, const struct matrix_load *l, int64_t k,
                                int product)
{
    int64_t a_bytes = ROWS * k * OPERAND_BYTES, b_bytes = k * COLUMNS * OPERAND_BYTES;
    int64_t at = product * (a_bytes + b_bytes);
    int mte2 = pipe_of(w, l->to_l1), results = pipe_of_results(w, l);
    emit_copy(w, l->to_l1, a_bytes, at, at);
    emit_copy(w, l->to_l1, b_bytes, at + a_bytes, at + a_bytes);
    emit_after(w, mte2, pipe_of(w, l->to_l0a), product);
    writer_wait(w, results, w->hw->matrix_pipe, 0);
    emit_chunks(w, l, k, at, at + a_bytes);
    emit_results(w, l, (INT64_C(1) << 30) + product * ROWS * COLUMNS * SUM_BYTES);
    writer_set(w, results, w->hw->matrix_pipe, 0);
}

/* x is k. L0C and the two halves of L0A and L0B are free at first. */
static void emit_loaded_products(struct probe_writer *w, const struct probe_curve *curve, int64_t x)
{
    struct matrix_load l;
    int64_t bytes = curve->products * (ROWS + COLUMNS) * x * OPERAND_BYTES;
    find_paths(w, &l);
    writer_cores(w, curve, "l1");
    if (writer_ends(w) || !writer_fits(w, "l1", bytes) ||
        !writer_fits(w, "l0a", SLOTS * ROWS * CHUNK * OPERAND_BYTES))
        return;
    w->load_pipe = pipe_of(w, l.to_l1);
    int mte1 = pipe_of(w, l.to_l0a), m = w->hw->matrix_pipe, results = pipe_of_results(w, &l);
    for (int slot = 0; slot < SLOTS; slot++)
        writer_set(w, m, mte1, slot);
    writer_set(w, results, m, 0);
    for (int product = 0; product < curve->products; product++)
        emit_loaded_product(w, &l, x, product);
    for (int slot = 0; slot < SLOTS; slot++)
        writer_wait(w, m, mte1, slot);
    writer_wait(w, results, m, 0);
}

/* ------------------------------------------------------------------ numbers */

/* Bytes of operands that all cores load in a ns of the longest program. */
static double found_throughput(const struct probe_answer *answer, const struct probe_quantity *q)
{
    const struct probe_series *series = &answer->series[q->curve];
    if (!series->count)
        return NAN;
    const struct probe_point *last = series->points + series->count - 1;
    return (double)(last->cores * (ROWS + COLUMNS) * last->x * OPERAND_BYTES) / point_ns(last);
}

/* How much longer the longest program takes in the next curve. */
static double found_ratio(const struct probe_answer *answer, const struct probe_quantity *q)
{
    return curve_slope_ns(answer, q->curve) / curve_slope_ns(answer, 0);
}

/* ------------------------------------------------------------------ tables */

#define PRODUCTS(NAME, KIND, COUNT, ALL)                                                           \
    .name = (NAME), .kind = (KIND), .label = "F16", .unit = "k", .from = 16, .to = 1024,           \
    .step = 16, .emit = emit_loaded_products, .products = (COUNT), .all_cores = (ALL)

static const struct probe_curve products[] = {
    {PRODUCTS("one product", "matrix_load_1", 1, false)},
    {PRODUCTS("two products", "matrix_load_2", 2, false)},
    {PRODUCTS("all cores", "matrix_load_all", 1, true)},
    {.name = "loads of one",
     .from = 16,
     .to = 1024,
     .step = 16,
     .emit = emit_loaded_products,
     .products = 1,
     .time = PROBE_LOADS},
};

static const struct probe_quantity product_quantities[] = {
    {"two products over one", "x", 1, found_ratio, NULL, 2, 2, "A 7.2, Fig. 15b"},
    {"loads over one product", "x", 3, found_ratio, NULL, 0, 0, ""},
    {"all cores over one", "x", 2, found_ratio, NULL, 0, 0, ""},
    {"all cores, loaded", "GB/s", 2, found_throughput, NULL, 608, 608, "A 7.2, Fig. 15c"},
};

const struct probe probe_matrix_load = {
    .name = "matrix-load",
    .title = "products of 160 x k and k x 16, operands loaded and results stored",
    .figure = "A Fig. 15",
    .x = "k",
    .curve_count = PROBE_COUNT(products),
    .curves = products,
    .quantity_count = PROBE_COUNT(product_quantities),
    .quantities = product_quantities,
    .why_not_here =
        "`autotune --op matmul --hw host` measures whole products, with loads and stores",
};
