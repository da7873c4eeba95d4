/* The vector unit (AIBench, section 4.1): how many bytes it takes at a time, and how long. And work
 * on vectors that come from global memory and go back (section 7.1): with one buffer and two, on
 * one core and all, with few operations a load and many.
 *
 * A round loads two tiles, applies operations to them and stores the result. Each buffer has room
 * for both and for the result. With two of them the next round's loads go on meanwhile; flags say
 * when inputs are there and free again, and results too. */
#include "jobs/probe/probe_parts.h"

#include <math.h>
#include <string.h>

/* ------------------------------------------------------------------ one operation */

/* Additions of the type, or multiplications or ReLU where there are none. */
static int writer_vector(struct probe_writer *w, enum dtype type)
{
    static const char *const names[] = {"vadd", "vmul", "relu"};
    for (int i = 0; i < PROBE_COUNT(names); i++) {
        int operation = hardware_operation(w->hw, names[i], (int)strlen(names[i]));
        if (operation < 0)
            continue;
        w->vector_pipe = w->hw->prices[hardware_operation_price(w->hw, operation, type)].pipe;
        return operation;
    }
    writer_lacks(w, "it has none of the vector operations vadd, vmul and relu");
    return -1;
}

/* One addition of x elements: what a mask leaves of a repeat, and beyond one repeat more of them.
 */
static void emit_elements(struct probe_writer *w, const struct probe_curve *curve, int64_t x)
{
    int64_t bytes = x * dtype_bytes(curve->type);
    int ub = writer_buffer(w, "ub"), operation = writer_vector(w, curve->type);
    if (writer_ends(w) || !writer_fits(w, "ub", bytes))
        return;
    emit_vector(&w->e, operation, curve->type, x);
    emit_operand(&w->e, OPERAND_SRC, ub, 0);
    emit_operand(&w->e, OPERAND_DST, ub, 0);
}

static int64_t repeat_elements(const struct hardware *hw, enum dtype type)
{
    return hw->vector_repeat_bytes / dtype_bytes(type);
}

static void emit_repeats(struct probe_writer *w, const struct probe_curve *curve, int64_t x)
{
    emit_elements(w, curve, x * repeat_elements(w->hw, curve->type));
}

/* ------------------------------------------------------------------ numbers */

static double found_width(const struct probe_answer *answer, const struct probe_quantity *q)
{
    return curve_period(answer, q->curve) * dtype_bytes(quantity_curve(answer, q)->type);
}

static double described_width(const struct probe_answer *answer, const struct probe_quantity *q)
{
    (void)q;
    return answer->hw->vector_repeat_bytes;
}

static double found_cycles(const struct probe_answer *answer, const struct probe_quantity *q)
{
    return in_cycles(answer->hw, curve_slope_ns(answer, q->curve));
}

/* NAN without an operation. */
static double described_ns(const struct probe_answer *answer, const struct probe_quantity *q)
{
    struct probe_writer w = {.hw = answer->hw};
    enum dtype type = quantity_curve(answer, q)->type;
    int operation = writer_vector(&w, type);
    return operation < 0
               ? NAN
               : price_unit_ns(
                     &answer->hw->prices[hardware_operation_price(answer->hw, operation, type)]);
}

static double described_cycles(const struct probe_answer *answer, const struct probe_quantity *q)
{
    return in_cycles(answer->hw, described_ns(answer, q));
}

static double found_rate(const struct probe_answer *answer, const struct probe_quantity *q)
{
    return answer->hw->vector_repeat_bytes / found_cycles(answer, q);
}

static double described_rate(const struct probe_answer *answer, const struct probe_quantity *q)
{
    return answer->hw->vector_repeat_bytes / described_cycles(answer, q);
}

static double found_gflops(const struct probe_answer *answer, const struct probe_quantity *q)
{
    return (double)repeat_elements(answer->hw, quantity_curve(answer, q)->type) /
           curve_slope_ns(answer, q->curve);
}

static double described_gflops(const struct probe_answer *answer, const struct probe_quantity *q)
{
    return (double)repeat_elements(answer->hw, quantity_curve(answer, q)->type) /
           described_ns(answer, q);
}

/* ------------------------------------------------------------------ tables */

static const struct probe_curve masks[] = {
    {.name = "f16",
     .kind = "vector_elements",
     .label = "F16",
     .unit = "element",
     .from = 8,
     .to = 512,
     .step = 8,
     .emit = emit_elements,
     .type = DTYPE_F16},
    {.name = "f32",
     .kind = "vector_elements",
     .label = "F32",
     .unit = "element",
     .from = 8,
     .to = 256,
     .step = 8,
     .emit = emit_elements,
     .type = DTYPE_F32},
};

static const struct probe_quantity mask_quantities[] = {
    {"width, f16", "B", 0, found_width, described_width, 256, 256, "A 4.1, Fig. 2"},
    {"width, f32", "B", 1, found_width, described_width, 256, 256, "A 4.1, Fig. 2"},
};

const struct probe probe_vector_mask = {
    .name = "vector-mask",
    .title = "elements that the vector unit takes at a time",
    .figure = "A Fig. 2",
    .x = "elements",
    .curve_count = PROBE_COUNT(masks),
    .curves = masks,
    .quantity_count = PROBE_COUNT(mask_quantities),
    .quantities = mask_quantities,
    .why_not_here = "its loops take whole vectors, of which no mask leaves a part out",
};

static const struct probe_curve repeats[] = {
    {.name = "f16",
     .kind = "vector",
     .label = "F16",
     .unit = "repeat",
     .from = 4,
     .to = 128,
     .step = 4,
     .emit = emit_repeats,
     .type = DTYPE_F16},
    {.name = "f32",
     .kind = "vector",
     .label = "F32",
     .unit = "repeat",
     .from = 4,
     .to = 128,
     .step = 4,
     .emit = emit_repeats,
     .type = DTYPE_F32},
};

static const struct probe_quantity repeat_quantities[] = {
    {"a repeat, f16", "cycles", 0, found_cycles, described_cycles, 1, 1, "A 4.1, Fig. 3a"},
    {"a repeat, f32", "cycles", 1, found_cycles, described_cycles, 0, 0, ""},
    {"throughput", "B/cycle", 0, found_rate, described_rate, 256, 256, "A 4.1, Fig. 3b"},
    {"one core, f16", "GFLOP/s", 0, found_gflops, described_gflops, 113, 113, "A 4.1"},
};

const struct probe probe_vector_repeats = {
    .name = "vector-repeats",
    .title = "cycles of a vector operation's repeats",
    .figure = "A Fig. 3",
    .x = "repeats",
    .curve_count = PROBE_COUNT(repeats),
    .curves = repeats,
    .quantity_count = PROBE_COUNT(repeat_quantities),
    .quantities = repeat_quantities,
    .here = &probe_here_vector_repeats,
};

/* ------------------------------------------------------------------ rounds of loads, operations
 * and stores */

enum { TILES = 3, ROUNDS = 32 };
#define TILE_BYTES INT64_C(16384)

/* Where inputs and results lie in global memory: apart, as far as the longest curve goes. */
#define AREA_BYTES (INT64_C(1) << 30)

struct vector_load {
    int load, store;                        /* paths */
    int load_pipe, vector_pipe, store_pipe; /* MTE2, V and MTE3 */
    int operation, gm, ub;
    int slots; /* buffers */
};

static void find_load(struct probe_writer *w, const struct probe_curve *curve,
                      struct vector_load *v)
{
    *v = (struct vector_load){.slots = curve->buffers};
    v->load = writer_path(w, "gm", "ub");
    v->store = writer_path(w, "ub", "gm");
    v->operation = writer_vector(w, DTYPE_F16);
    v->gm = writer_buffer(w, "gm");
    v->ub = writer_buffer(w, "ub");
    writer_cores(w, curve, "ub");
    if (writer_ends(w) || !writer_fits(w, "ub", (int64_t)v->slots * TILES * TILE_BYTES))
        return;
    w->load_pipe = v->load_pipe = w->hw->paths[v->load].pipe;
    v->vector_pipe = w->vector_pipe;
    v->store_pipe = w->hw->paths[v->store].pipe;
}

/* Where the inputs 0 and 1 and the result of a slot lie. */
static int64_t place_of(int slot, int tile)
{
    return (TILES * slot + tile) * TILE_BYTES;
}

/* One of the inputs, `area` being 0 or 1, of the loop's round. */
static void emit_load(struct probe_writer *w, const struct vector_load *v, int slot, int area)
{
    emit_move(&w->e, v->load, TILE_BYTES, DTYPE_F16, DTYPE_F16);
    emit_operand_in_loop(&w->e, OPERAND_SRC, v->gm, area * AREA_BYTES + slot * TILE_BYTES,
                         (int64_t)v->slots * TILE_BYTES);
    emit_operand(&w->e, OPERAND_DST, v->ub, place_of(slot, area));
}

static void emit_operations(struct probe_writer *w, const struct vector_load *v, int slot,
                            int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        emit_vector(&w->e, v->operation, DTYPE_F16, TILE_BYTES / 2);
        emit_operand(&w->e, OPERAND_SRC, v->ub, place_of(slot, i ? 2 : 0));
        emit_operand(&w->e, OPERAND_SRC2, v->ub, place_of(slot, 1));
        emit_operand(&w->e, OPERAND_DST, v->ub, place_of(slot, 2));
    }
}

static void emit_round(struct probe_writer *w, const struct vector_load *v, int slot, int64_t count)
{
    writer_wait(w, v->vector_pipe, v->load_pipe, slot);
    emit_load(w, v, slot, 0);
    emit_load(w, v, slot, 1);
    writer_set(w, v->load_pipe, v->vector_pipe, slot);
    writer_wait(w, v->load_pipe, v->vector_pipe, slot);
    writer_wait(w, v->store_pipe, v->vector_pipe, slot);
    emit_operations(w, v, slot, count);
    writer_set(w, v->vector_pipe, v->load_pipe, slot);
    writer_set(w, v->vector_pipe, v->store_pipe, slot);
    writer_wait(w, v->vector_pipe, v->store_pipe, slot);
    emit_move(&w->e, v->store, TILE_BYTES, DTYPE_F16, DTYPE_F16);
    emit_operand(&w->e, OPERAND_SRC, v->ub, place_of(slot, 2));
    emit_operand_in_loop(&w->e, OPERAND_DST, v->gm, 2 * AREA_BYTES + slot * TILE_BYTES,
                         (int64_t)v->slots * TILE_BYTES);
    writer_set(w, v->store_pipe, v->vector_pipe, slot);
}

/* Every buffer is free at first, and the flags that say so are taken back at the end. */
static void each_buffer_free(struct probe_writer *w, const struct vector_load *v,
                             void (*flag)(struct probe_writer *w, int from, int to, int reg))
{
    for (int slot = 0; slot < v->slots; slot++) {
        flag(w, v->vector_pipe, v->load_pipe, slot);
        flag(w, v->store_pipe, v->vector_pipe, slot);
    }
}

/* `rounds` is a multiple of the buffers. */
static void emit_rounds(struct probe_writer *w, const struct probe_curve *curve, int64_t rounds,
                        int64_t operations)
{
    struct vector_load v;
    find_load(w, curve, &v);
    if (writer_ends(w))
        return;
    each_buffer_free(w, &v, writer_set);
    emit_loop(&w->e, "i", rounds / v.slots);
    for (int slot = 0; slot < v.slots; slot++)
        emit_round(w, &v, slot, operations);
    emit_end(&w->e);
    each_buffer_free(w, &v, writer_wait);
}

static void emit_length(struct probe_writer *w, const struct probe_curve *curve, int64_t x)
{
    emit_rounds(w, curve, x, curve->operations);
}

static void emit_density(struct probe_writer *w, const struct probe_curve *curve, int64_t x)
{
    emit_rounds(w, curve, ROUNDS, x);
}

/* ------------------------------------------------------------------ numbers */

/* How much longer a further round takes in curve `over` than in the quantity's. */
static double ratio_to(const struct probe_answer *answer, const struct probe_quantity *q, int over)
{
    return curve_slope_ns(answer, q->curve) / curve_slope_ns(answer, over);
}

static double found_gain(const struct probe_answer *answer, const struct probe_quantity *q)
{
    return ratio_to(answer, q, q->curve + 1);
}

static double found_over_loads(const struct probe_answer *answer, const struct probe_quantity *q)
{
    return ratio_to(answer, q, 3);
}

static double found_break_even(const struct probe_answer *answer, const struct probe_quantity *q)
{
    return curve_knee(answer, q->curve);
}

/* Where the line of the vector unit's busy time meets that of the loads', which follows it. */
static double found_as_long(const struct probe_answer *answer, const struct probe_quantity *q)
{
    struct line vector, load;
    if (!curve_line(answer, q->curve, &vector) || !curve_line(answer, q->curve + 1, &load))
        return NAN;
    double meet = (load.at_0 - vector.at_0) / (vector.slope - load.slope);
    return meet > 0 ? meet : NAN;
}

static double busy_ns(const struct price *price, double unit_ns, double units)
{
    return (double)price->base_fs / FS_PER_NS + unit_ns * units;
}

/* What a round's loads keep their pipe busy for, and one operation. NAN where they share a pipe, or
 * a load and a store that share a bus slow each other down. */
static double described_as_long(const struct probe_answer *answer, const struct probe_quantity *q)
{
    const struct hardware *hw = answer->hw;
    struct probe_writer w = {.hw = hw};
    struct vector_load v;
    find_load(&w, quantity_curve(answer, q), &v);
    if (writer_ends(&w) || v.load_pipe == v.vector_pipe || v.load_pipe == v.store_pipe ||
        v.vector_pipe == v.store_pipe)
        return NAN;
    const struct price *load = &hw->prices[hw->paths[v.load].price];
    const struct price *vector = &hw->prices[hardware_operation_price(hw, v.operation, DTYPE_F16)];
    int store_bus = hw->paths[v.store].bus;
    if (load->bus >= 0 && store_bus == load->bus &&
        hardware_bus_share(hw, load, 2) < hardware_bus_share(hw, load, 1))
        return NAN;
    return 2 * busy_ns(load, 1 / price_gbps(hw, load, 1), TILE_BYTES) /
           busy_ns(vector, price_unit_ns(vector), (double)TILE_BYTES / hw->vector_repeat_bytes - 1);
}

/* ------------------------------------------------------------------ tables */

#define LENGTH(NAME, COUNT, BUFFERS)                                                               \
    .name = (NAME), .unit = "round", .from = 2, .to = 64, .step = 2, .emit = emit_length,          \
    .operations = (COUNT), .buffers = (BUFFERS)

static const struct probe_curve loads[] = {
    {LENGTH("one buffer", 1, 1), .kind = "vector_load_1", .label = "F16"},
    {LENGTH("two buffers", 1, 2), .kind = "vector_load_2", .label = "F16"},
    {LENGTH("all cores", 1, 2), .kind = "vector_load_all", .label = "F16", .all_cores = true},
    {LENGTH("loads of one", 1, 2), .time = PROBE_LOADS},
    {LENGTH("operations of one", 1, 2), .time = PROBE_VECTORS},
    {LENGTH("loads of all", 1, 2), .time = PROBE_LOADS, .all_cores = true},
};

static const struct probe_quantity load_quantities[] = {
    {"gain of two buffers", "x", 0, found_gain, NULL, 0, 0, ""},
    {"one buffer over loads", "x", 0, found_over_loads, NULL, 0, 0, ""},
    {"two buffers over loads", "x", 1, found_over_loads, NULL, 1, 1, "A 7.1, Fig. 12b"},
    {"loads, all cores over one", "x", 5, found_over_loads, NULL, 2, INFINITY, "A 7.1, Fig. 13"},
};

const struct probe probe_vector_load = {
    .name = "vector-load",
    .title = "rounds of two loads of 16 KiB, one operation and a store",
    .figure = "A Fig. 12, 13",
    .x = "rounds",
    .curve_count = PROBE_COUNT(loads),
    .curves = loads,
    .quantity_count = PROBE_COUNT(load_quantities),
    .quantities = load_quantities,
    .why_not_here = "its caches and the order of its instructions load ahead by themselves: there "
                    "is no buffer to take away",
};

static const struct probe_curve densities[] = {
    {LENGTH("3 operations", 3, 2), .kind = "vector_load_3", .label = "F16"},
    {LENGTH("their time", 3, 2), .time = PROBE_VECTORS},
    {LENGTH("6 operations", 6, 2), .kind = "vector_load_6", .label = "F16"},
    {LENGTH("their time", 6, 2), .time = PROBE_VECTORS},
    {LENGTH("9 operations", 9, 2), .kind = "vector_load_9", .label = "F16"},
    {LENGTH("their time", 9, 2), .time = PROBE_VECTORS},
    {LENGTH("loads", 3, 2), .time = PROBE_LOADS},
};

static double found_share_3(const struct probe_answer *answer, const struct probe_quantity *q)
{
    return curve_slope_ns(answer, q->curve) / curve_slope_ns(answer, 6);
}

static const struct probe_quantity density_quantities[] = {
    {"3 operations over loads", "x", 1, found_share_3, NULL, 0, 1, "A 7.1, Fig. 14a"},
    {"6 operations over loads", "x", 3, found_share_3, NULL, 0, 1, "A 7.1, Fig. 14b"},
    {"9 operations over loads", "x", 5, found_share_3, NULL, 1, INFINITY, "A 7.1, Fig. 14c"},
};

const struct probe probe_vector_density = {
    .name = "vector-density",
    .title = "the same with 3, 6 and 9 operations a round",
    .figure = "A Fig. 14",
    .x = "rounds",
    .curve_count = PROBE_COUNT(densities),
    .curves = densities,
    .quantity_count = PROBE_COUNT(density_quantities),
    .quantities = density_quantities,
    .why_not_here = "there is no pipe of loads to time beside another of operations; break-even "
                    "has the time of both",
};

#define DENSITY(NAME)                                                                              \
    .name = (NAME), .unit = "operation", .from = 0, .to = 40, .step = 1, .emit = emit_density,     \
    .buffers = 2

static const struct probe_curve operations[] = {
    {DENSITY("one core"), .kind = "vector_operations", .label = "F16"},
    {DENSITY("all cores"), .kind = "vector_operations_all", .label = "F16", .all_cores = true},
    {DENSITY("operations of one"), .time = PROBE_VECTORS},
    {DENSITY("loads of one"), .time = PROBE_LOADS},
};

static const struct probe_quantity operation_quantities[] = {
    {"as long as the loads", "operations", 2, found_as_long, described_as_long, 6, 9,
     "A 7.1, Fig. 14"},
    {"break-even, one core", "operations", 0, found_break_even, NULL, 6, 9, "A 7.1, Fig. 14"},
    {"break-even, all cores", "operations", 1, found_break_even, NULL, 0, 0, ""},
};

const struct probe probe_break_even = {
    .name = "break-even",
    .title = "operations a round that take as long as its transfers",
    .figure = "A Fig. 14",
    .x = "operations",
    .curve_count = PROBE_COUNT(operations),
    .curves = operations,
    .quantity_count = PROBE_COUNT(operation_quantities),
    .quantities = operation_quantities,
    .here = &probe_here_break_even,
};
