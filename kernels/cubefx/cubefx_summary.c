/* What a tiling of Cube-fx does, in closed form: for lower bounds and the roofline. docs/bounds.md
 * shows for each chain why its instructions never overlap. */
#include "kernels/cubefx/cubefx_segments.h"

#include <math.h>
#include <string.h>

/* Lines of the summary. Those before TOTALS are the whole program; the rest are the instructions
 * that must run before the first, or after the last, of a pipe's. */
enum line {
    LOAD,
    LOAD_CONSTANTS,
    LN,
    LN_TO_L1,
    FEED_LN,
    FEED_CONSTANTS,
    SEQUENCES, /* products of stage 1 */
    DRAIN_POWERS,
    EXP,
    POWERS_TO_L1,
    FEED_POWERS,
    COEFFICIENTS, /* products of stage 2 */
    DRAIN_RESULTS,
    STORE,
    TOTALS,
    FIRST_LOAD = TOTALS,
    FIRST_LOAD_CONSTANTS,
    FIRST_LN,
    FIRST_LN_TO_L1,
    FIRST_FEED_LN,
    FIRST_SEQUENCES,
    FIRST_DRAIN_POWERS,
    FIRST_EXP,
    FIRST_POWERS_TO_L1,
    LAST_COEFFICIENTS,
    LAST_DRAIN_RESULTS,
    LAST_STORE,
    LINES,
};

#define LINE(line) (UINT64_C(1) << (line))

static void make_chains(struct work_layout *layout)
{
    const uint64_t to_feed = LINE(FIRST_LOAD) | LINE(FIRST_LN) | LINE(FIRST_LN_TO_L1);
    const uint64_t to_stage_1 = LINE(FIRST_FEED_LN) | LINE(FIRST_SEQUENCES);
    const uint64_t to_move = LINE(FIRST_DRAIN_POWERS) | LINE(FIRST_EXP);
    const uint64_t end = LINE(LAST_DRAIN_RESULTS) | LINE(LAST_STORE);
    uint64_t *chain = layout->chains;
    *chain++ = LINE(FIRST_LOAD) | LINE(LN) | LINE(FIRST_LN_TO_L1) | to_stage_1 |
               LINE(DRAIN_POWERS) | LINE(EXP) | LINE(DRAIN_RESULTS) | LINE(LAST_STORE);
    *chain++ = LINE(FIRST_LOAD) | LINE(FIRST_LN) | LINE(LN_TO_L1) | to_stage_1 | to_move |
               LINE(POWERS_TO_L1) | LINE(STORE);
    *chain++ = LINE(LOAD) | LINE(LOAD_CONSTANTS) | LINE(LAST_COEFFICIENTS) | end;
    *chain++ = LINE(FIRST_LOAD) | LINE(FIRST_LOAD_CONSTANTS) | LINE(FEED_CONSTANTS) |
               LINE(FEED_LN) | LINE(FEED_POWERS) | LINE(LAST_COEFFICIENTS) | end;
    *chain++ = to_feed | LINE(FIRST_FEED_LN) | LINE(SEQUENCES) | LINE(COEFFICIENTS) | end;
    /* L0A holds one group's powers: their feeds and products take turns */
    *chain++ = to_feed | to_stage_1 | to_move | LINE(FIRST_POWERS_TO_L1) | LINE(FEED_POWERS) |
               LINE(COEFFICIENTS) | end;
    layout->chain_count = (int)(chain - layout->chains);
}

/* One group in all: everything but the constants is one sequence. */
static void make_serial_chain(struct work_layout *layout)
{
    const uint64_t constants = LINE(LOAD_CONSTANTS) | LINE(FEED_CONSTANTS);
    layout->chains[layout->chain_count++] = (LINE(TOTALS) - 1) & ~constants;
}

void cubefx_make_layouts(struct cubefx_space *cubefx)
{
    const struct cubefx_machine *m = &cubefx->machine;
    const int ln = hardware_operation_price(m->hw, m->ln, m->type);
    const int exp = hardware_operation_price(m->hw, m->exp, m->type);
    const int prices[LINES] = {
        [LOAD] = m->price[CUBEFX_LOAD],
        [LOAD_CONSTANTS] = m->price[CUBEFX_LOAD_B],
        [LN] = ln,
        [LN_TO_L1] = m->price[CUBEFX_TO_L1],
        [FEED_LN] = m->price[CUBEFX_FEED_A],
        [FEED_CONSTANTS] = m->price[CUBEFX_FEED_B],
        [SEQUENCES] = m->matrix_price,
        [DRAIN_POWERS] = m->price[CUBEFX_DRAIN],
        [EXP] = exp,
        [POWERS_TO_L1] = m->price[CUBEFX_TO_L1],
        [FEED_POWERS] = m->price[CUBEFX_FEED_A],
        [COEFFICIENTS] = m->matrix_price,
        [DRAIN_RESULTS] = m->price[CUBEFX_DRAIN],
        [STORE] = m->price[CUBEFX_STORE],
        [FIRST_LOAD] = m->price[CUBEFX_LOAD],
        [FIRST_LOAD_CONSTANTS] = m->price[CUBEFX_LOAD_B],
        [FIRST_LN] = ln,
        [FIRST_LN_TO_L1] = m->price[CUBEFX_TO_L1],
        [FIRST_FEED_LN] = m->price[CUBEFX_FEED_A],
        [FIRST_SEQUENCES] = m->matrix_price,
        [FIRST_DRAIN_POWERS] = m->price[CUBEFX_DRAIN],
        [FIRST_EXP] = exp,
        [FIRST_POWERS_TO_L1] = m->price[CUBEFX_TO_L1],
        [LAST_COEFFICIENTS] = m->matrix_price,
        [LAST_DRAIN_RESULTS] = m->price[CUBEFX_DRAIN],
        [LAST_STORE] = m->price[CUBEFX_STORE],
    };
    for (int l = 0; l < CUBEFX_LAYOUTS; l++) {
        struct work_layout *layout = &cubefx->layouts[l];
        layout->total_count = TOTALS;
        layout->line_count = LINES;
        memcpy(layout->price, prices, sizeof prices);
        make_chains(layout);
        if (l == CUBEFX_SERIAL)
            make_serial_chain(layout);
    }
}

static void put(struct work *work, enum line line, double instructions, double units)
{
    work->instructions[line] = instructions;
    work->units[line] = units;
    work->burst_fs[line] = 0; /* whole pieces */
}

/* Repeats after the first of a vector instruction. */
static double repeats(const struct cubefx_machine *m, int64_t elements)
{
    int64_t in_one = m->hw->vector_repeat_bytes / m->type_bytes;
    int64_t count = (elements + in_one - 1) / in_one - 1;
    return (double)count;
}

/* Of all exp instructions: full groups and last ones, of full tiles and of the last. */
static double exp_repeats(const struct cubefx_machine *m, const struct cubefx_plan *plan)
{
    double sum = 0;
    for (int last = 0; last < 2; last++) {
        int64_t width = (last ? plan->last_rows : plan->rows) * plan->powers;
        double tiles = last ? 1 : (double)(plan->tiles.count - 1);
        sum += tiles * ((double)(plan->groups.count - 1) * repeats(m, width * plan->groups.slice) +
                        repeats(m, width * plan->groups.last));
    }
    return sum;
}

/* What a row and a step take together in each unit. */
struct place {
    double powers, outputs; /* elements */
    double sequence_blocks, coefficient_blocks;
    double type, accumulator; /* bytes */
};

static void put_totals(const struct cubefx_machine *m, const struct cubefx_share *share,
                       const struct cubefx_plan *plan, const struct place *p, struct work *work)
{
    double tiles = (double)plan->tiles.count, groups = tiles * (double)plan->groups.count;
    double inputs = (double)share->inputs, steps = (double)plan->steps;
    double products = tiles * steps, places = inputs / m->block * steps;
    double sequences = steps * (double)plan->sequence_bytes;
    double coefficients = (double)plan->coefficient_bytes;
    put(work, LOAD, tiles, inputs * p->type);
    put(work, LOAD_CONSTANTS, 2, sequences + coefficients);
    put(work, LN, tiles,
        (tiles - 1) * repeats(m, plan->tiles.slice) + repeats(m, plan->tiles.last));
    put(work, LN_TO_L1, tiles, inputs * p->type);
    put(work, FEED_LN, tiles, inputs * p->type);
    if (plan->sequences_stay)
        put(work, FEED_CONSTANTS, 2, sequences + coefficients);
    else
        put(work, FEED_CONSTANTS, groups + 1, tiles * sequences + coefficients);
    put(work, SEQUENCES, products, places * p->sequence_blocks);
    put(work, DRAIN_POWERS, groups, places * p->powers * p->accumulator);
    put(work, EXP, groups, exp_repeats(m, plan));
    put(work, POWERS_TO_L1, groups, places * p->powers * p->type);
    put(work, FEED_POWERS, groups, places * p->powers * p->type);
    put(work, COEFFICIENTS, products, places * p->coefficient_blocks);
    put(work, DRAIN_RESULTS, groups, places * p->outputs * p->accumulator);
    put(work, STORE, groups, places * p->outputs * p->type);
}

static void put_ends(const struct cubefx_machine *m, const struct cubefx_plan *plan,
                     const struct place *p, struct work *work)
{
    double inputs = (double)plan->tiles.slice * p->type, steps = (double)plan->groups.slice;
    double first = (double)plan->rows * steps;
    double last = (double)(plan->last_rows * plan->groups.last);
    put(work, FIRST_LOAD, 1, inputs);
    put(work, FIRST_LOAD_CONSTANTS, 1, (double)(plan->steps * plan->sequence_bytes));
    put(work, FIRST_LN, 1, repeats(m, plan->tiles.slice));
    put(work, FIRST_LN_TO_L1, 1, inputs);
    put(work, FIRST_FEED_LN, 1, inputs);
    put(work, FIRST_SEQUENCES, steps, first * p->sequence_blocks);
    put(work, FIRST_DRAIN_POWERS, 1, first * p->powers * p->accumulator);
    put(work, FIRST_EXP, 1, repeats(m, plan->rows * plan->groups.slice * plan->powers));
    put(work, FIRST_POWERS_TO_L1, 1, first * p->powers * p->type);
    put(work, LAST_COEFFICIENTS, (double)plan->groups.last, last * p->coefficient_blocks);
    put(work, LAST_DRAIN_RESULTS, 1, last * p->outputs * p->accumulator);
    put(work, LAST_STORE, 1, last * p->outputs * p->type);
}

static struct place place_of(const struct cubefx_machine *m, const struct cubefx_plan *plan)
{
    double s = m->block;
    return (struct place){
        .powers = (double)plan->powers,
        .outputs = (double)plan->outputs,
        .sequence_blocks = (double)plan->powers / (s * s),
        .coefficient_blocks = (double)plan->powers * (double)plan->outputs / (s * s * s),
        .type = m->type_bytes,
        .accumulator = m->accumulator_bytes,
    };
}

void cubefx_summarise(const struct space *space, const struct tiling *tiling, struct work *work)
{
    const struct cubefx_machine *m = &cubefx_of(space)->machine;
    const struct cubefx_part *part = cubefx_part_of(space, tiling);
    struct cubefx_plan plan;
    cubefx_plan(m, &part->share, tiling, &plan);
    const struct place place = place_of(m, &plan);
    work->cores = part->cores_used;
    work->layout = plan.copies == 1 ? CUBEFX_SERIAL : CUBEFX_PIPELINED;
    put_totals(m, &part->share, &plan, &place, work);
    put_ends(m, &plan, &place, work);
}

/* Inputs in and results out, once, at the `merge` with least of each;
 * on one bus loads and stores share it. */
double cubefx_roofline_ns(const struct space *space)
{
    const struct cubefx_space *cubefx = cubefx_of(space);
    const struct cubefx_machine *m = &cubefx->machine;
    const struct price *prices = m->hw->prices, *matrix = &prices[m->matrix_price];
    const struct price *load = &prices[m->price[CUBEFX_LOAD]];
    const struct price *store = &prices[m->price[CUBEFX_STORE]];
    double s = m->block, rows = (double)cubefx->padded_inputs / s;
    double blocks = INFINITY, stored = INFINITY;
    for (int merge = 1; merge <= m->block; merge++) {
        struct cubefx_plan plan;
        const struct tiling tiling = {{merge, cubefx->padded_inputs, 1, 1}};
        cubefx_plan(m, &cubefx->parts[0].share, &tiling, &plan);
        double powers = (double)(plan.steps * plan.powers) / s, outputs = (double)plan.outputs;
        blocks = fmin(blocks, rows / s * powers * (1 + outputs / s)); /* eq. 4.9 */
        stored = fmin(stored, rows * (double)plan.steps * outputs);
    }
    double load_fs = price_least_fs(m->hw, load, cubefx->cores, rows * s * m->type_bytes);
    double store_fs = price_least_fs(m->hw, store, cubefx->cores, stored * m->type_bytes);
    double memory_fs =
        load->bus >= 0 && load->bus == store->bus ? load_fs + store_fs : fmax(load_fs, store_fs);
    double compute_fs =
        blocks / cubefx->cores * (double)matrix->rate.fs / (double)matrix->rate.units;
    return fmax(compute_fs, memory_fs) / 1e6;
}
