/* The vector unit (AIBench, section 4.1): how many bytes it takes at a time, and how long. */
#include "jobs/probe/probe_tables.h"

#include "jobs/probe/probe_parts.h"

#include <math.h>

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
