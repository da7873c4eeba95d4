/* What a tiling does, in closed form, for lower bounds. docs/bounds.md shows for each chain why its
 * instructions never overlap. */
#include "kernels/matmul/matmul_cann_parts.h"

#include <stdlib.h>
#include <string.h>

/* ---- layouts ------------------------------------------------------------------------------- */

#define LINE(line)            (UINT64_C(1) << (line))
#define LINES_OF(first, last) ((LINE(last) << 1) - LINE(first))

static const uint64_t wait_lines =
    LINE(START_WAIT_LOAD) | LINE(START_WAIT_MISS) | LINE(START_WAIT_A) | LINE(START_WAIT_B) |
    LINE(FEED_WAIT_LOAD) | LINE(FEED_WAIT_MISS) | LINE(END_WAIT_MULTIPLY) | LINE(END_WAIT_STORE) |
    LINE(AFTER_FEED_WAIT_A) | LINE(AFTER_FEED_WAIT_B) | LINE(AFTER_LOAD_WAIT_LOAD) |
    LINE(AFTER_LOAD_WAIT_MISS) | LINE(TURN_C_WAIT_MULTIPLY) | LINE(TURN_C_WAIT_STORE) |
    LINE(TURN_A0_WAIT_A) | LINE(TURN_A0_WAIT_B) | LINE(TURN_A0_WAIT_MULTIPLY) |
    LINE(TURN_B0_WAIT_B) | LINE(TURN_B0_WAIT_MULTIPLY) | LINE(TURN_A1_WAIT_LOAD) |
    LINE(TURN_A1_WAIT_MISS) | LINE(TURN_B1_WAIT_LOAD) | LINE(TURN_B1_WAIT_MISS) |
    LINE(TURN_SET_WAIT_A) | LINE(TURN_SET_WAIT_B);

/* The price of every line; a line of a price that the chip lacks is never used. */
static void fill_prices(const struct cann *cann, bool split, int price[])
{
    static const enum cann_line loads[] = {LOAD_A,          LOAD_B,
                                           LOAD_BIAS,       START_LOAD,
                                           START_WAIT_LOAD, FEED_LOAD,
                                           FEED_WAIT_LOAD,  AFTER_LOAD_WAIT_LOAD,
                                           TURN_A1_LOAD,    TURN_A1_WAIT_LOAD,
                                           TURN_B1_LOAD,    TURN_B1_WAIT_LOAD};
    static const enum cann_line misses[] = {LOAD_ELSEWHERE,  MISS_A,
                                            MISS_B,          START_MISS,
                                            START_WAIT_MISS, FEED_MISS,
                                            FEED_WAIT_MISS,  AFTER_LOAD_WAIT_MISS,
                                            TURN_A1_MISS,    TURN_A1_WAIT_MISS,
                                            TURN_B1_MISS,    TURN_B1_WAIT_MISS};
    static const enum cann_line feeds_a[] = {
        FEED_A,         START_FEED_A,   START_WAIT_A, AFTER_FEED_WAIT_A, AFTER_LOAD_FEED_A,
        TURN_A0_FEED_A, TURN_A0_WAIT_A, TURN_A1_FEED, TURN_SET_WAIT_A};
    static const enum cann_line feeds_b[] = {
        FEED_B,         START_FEED_B,   START_WAIT_B,   AFTER_FEED_WAIT_B, AFTER_LOAD_FEED_B,
        TURN_A0_FEED_B, TURN_A0_WAIT_B, TURN_B0_FEED_B, TURN_B0_WAIT_B,    TURN_B1_FEED,
        TURN_SET_WAIT_B};
    static const enum cann_line stores[] = {STORE, END_STORE, END_WAIT_STORE, TURN_C_WAIT_STORE};
    const struct cann_machine *m = &cann->machine;
    const struct cann_adder *adder = &m->adder;
    const int miss_price = m->miss < 0 ? m->load_price : m->miss_price;
    for (int l = 0; l < CANN_LINES; l++)
        price[l] = m->matrix_price;
    for (size_t i = 0; i < sizeof loads / sizeof *loads; i++)
        price[loads[i]] = m->load_price;
    for (size_t i = 0; i < sizeof misses / sizeof *misses; i++)
        price[misses[i]] = miss_price;
    for (size_t i = 0; i < sizeof feeds_a / sizeof *feeds_a; i++)
        price[feeds_a[i]] = m->feed_a_price;
    for (size_t i = 0; i < sizeof feeds_b / sizeof *feeds_b; i++)
        price[feeds_b[i]] = m->feed_b_price;
    for (size_t i = 0; i < sizeof stores / sizeof *stores; i++)
        price[stores[i]] = cann_store_price(cann, split ? 2 : 1);
    price[FEED_BIAS] = m->feed_bias < 0 ? m->feed_a_price : m->feed_bias_price;
    if (!split)
        return;
    price[ADD_LOAD] = adder->load_price;
    price[ADD_UP] = price[ADD_CAST] = adder->add_price;
    price[ADD_STORE] = adder->store_price;
    if (adder->cast >= 0)
        price[ADD_CAST] = adder->cast_price;
}

static void make_chains(const struct cann *cann, unsigned single, struct work_layout *layout)
{
    const struct cann_machine *m = &cann->machine;
    /* a row that no pipe waits for may come last of all */
    bool unread = cann->scale_bytes || (cann->bias_bytes && m->feed_bias < 0);
    const uint64_t start = LINES_OF(START_LOAD, START_WAIT_B);
    const uint64_t end = LINES_OF(END_WAIT_MULTIPLY, END_WAIT_STORE);
    const uint64_t loads =
        LINE(LOAD_A) | LINE(MISS_A) | LINE(LOAD_B) | LINE(MISS_B) | LINE(LOAD_ELSEWHERE);
    const uint64_t bias_loads = LINE(LOAD_BIAS);
    const uint64_t feeds = LINE(FEED_A) | LINE(FEED_B) | (m->feed_bias < 0 ? 0 : LINE(FEED_BIAS));
    uint64_t *chain = layout->chains;
    *chain++ = loads | LINES_OF(AFTER_LOAD_WAIT_LOAD, AFTER_LOAD_MULTIPLY) | end |
               (unread ? 0 : bias_loads);
    if (unread)
        *chain++ = loads | bias_loads;
    *chain++ = LINES_OF(FEED_LOAD, FEED_WAIT_MISS) | feeds |
               LINES_OF(AFTER_FEED_WAIT_A, AFTER_FEED_MULTIPLY) | end;
    *chain++ = start | LINE(MULTIPLY) | end;
    *chain++ =
        start | LINE(FIRST_TILE) | LINE(END_WAIT_MULTIPLY) | LINE(STORE) | LINE(END_WAIT_STORE);
    if (single & SINGLE_C)
        *chain++ = start | LINE(STORE) | LINES_OF(TURN_C_MULTIPLY, TURN_C_WAIT_STORE);
    if (single & SINGLE_A_L0)
        *chain++ = start | LINE(MULTIPLY) | LINES_OF(TURN_A0_FEED_A, TURN_A0_WAIT_MULTIPLY) | end;
    if (single & SINGLE_B_L0)
        *chain++ = start | LINE(MULTIPLY) | LINES_OF(TURN_B0_FEED_B, TURN_B0_WAIT_MULTIPLY) | end;
    if (single & SINGLE_A_L1)
        *chain++ = LINES_OF(TURN_A1_LOAD, TURN_A1_MULTIPLY) | end;
    if (single & SINGLE_B_L1)
        *chain++ = LINES_OF(TURN_B1_LOAD, TURN_B1_MULTIPLY) | end;
    if (single & SINGLE_SET)
        *chain++ = loads | LINE(TURN_B1_WAIT_LOAD) | LINE(TURN_B1_WAIT_MISS) | LINE(FEED_A) |
                   LINE(FEED_B) | LINE(TURN_SET_WAIT_A) | LINE(TURN_SET_WAIT_B) |
                   LINES_OF(AFTER_FEED_WAIT_A, AFTER_FEED_MULTIPLY) | end;
    layout->chain_count = (int)(chain - layout->chains);
    for (int c = 0; single & SPLIT_PARTS && c < layout->chain_count; c++)
        if (layout->chains[c] != (loads | bias_loads)) /* a bias that no pipe waits for */
            layout->chains[c] |= LINES_OF(ADD_LOAD, ADD_STORE);
}

enum status cann_make_work_layouts(struct space *space, struct cann *cann, struct error *error)
{
    space->layout_count = cann->count[CANN_SPLIT_K] > 1 ? LAYOUTS : SPLIT_PARTS;
    cann->work_layouts = calloc((size_t)space->layout_count, sizeof *cann->work_layouts);
    if (!cann->work_layouts)
        return error_memory(error);
    for (unsigned single = 0; single < (unsigned)space->layout_count; single++) {
        struct work_layout *layout = &cann->work_layouts[single];
        layout->total_count = CANN_TOTALS;
        layout->line_count = CANN_LINES;
        layout->wait_lines = wait_lines;
        layout->late_lines = LINE(ADD_LOAD) | LINE(ADD_STORE);
        fill_prices(cann, single & SPLIT_PARTS, layout->price);
        make_chains(cann, single, layout);
    }
    space->layouts = cann->work_layouts;
    return STATUS_OK;
}

/* ---- moves ---------------------------------------------------------------------------------- */

/* Some equal moves in one line. A load is split between its line and the next one: misses. */
void cann_add_moves(const struct cann *cann, struct work *work, enum cann_line line, int price,
                    double times, const struct cann_move *move)
{
    const struct hardware *hw = cann->machine.hw;
    work->instructions[line] += times;
    work->units[line] += times * (double)move->bytes;
    if (move->pieces > 1)
        work->burst_fs[line] +=
            times * (double)move->pieces *
            (double)hardware_burst_fs(hw, &hw->prices[price], divide_up(move->bytes, move->pieces),
                                      move->align_bytes);
}

void cann_add_loads(const struct cann *cann, struct work *work, enum cann_line line, double times,
                    const struct cann_move *move)
{
    const struct cann_machine *m = &cann->machine;
    struct cann_load load = {.hit_bytes = move->bytes, .hit_pieces = move->pieces};
    if (move->miss_share > 0)
        load = cann_load_split(move->miss_share, move->bytes, move->pieces);
    struct cann_move hit = {load.hit_bytes, load.hit_pieces, move->align_bytes, 0};
    struct cann_move miss = {load.miss_bytes, load.miss_pieces, move->align_bytes, 1};
    if (hit.bytes)
        cann_add_moves(cann, work, line, m->load_price, times, &hit);
    if (miss.bytes)
        cann_add_moves(cann, work, line + 1, m->miss_price, times, &miss);
}

struct cann_move cann_move_of(const struct cann *cann, enum cann_operand operand, int64_t bytes,
                              const int64_t extent[CANN_DIRECTIONS])
{
    return (struct cann_move){bytes, cann_pieces(cann, operand, extent),
                              cann_alignment(cann, operand), 0};
}

struct cann_move cann_load_of(const struct cann *cann, const struct cann_plan *plan,
                              enum cann_operand operand, int64_t bytes,
                              const int64_t extent[CANN_DIRECTIONS])
{
    struct cann_move move = cann_move_of(cann, operand, bytes, extent);
    move.miss_share = plan->miss_share[operand];
    move.align_bytes = cann_load_alignment(cann, plan, operand);
    return move;
}

void cann_wait_for_load(double miss_share, struct work *work, enum cann_line line, int64_t bytes)
{
    bool misses = miss_share > 0 && cann_load_split(miss_share, bytes, 1).miss_bytes > 0;
    work->instructions[line + misses] += 1;
}

/* ---- all together --------------------------------------------------------------------------- */

void cann_summarise_plan(const struct cann *cann, const struct cann_plan *plan, unsigned single,
                         bool copies_known, struct work *work)
{
    memset(work->instructions, 0, CANN_LINES * sizeof *work->instructions);
    memset(work->units, 0, CANN_LINES * sizeof *work->units);
    memset(work->burst_fs, 0, CANN_LINES * sizeof *work->burst_fs);
    work->cores = plan->cores;
    cann_sum_totals(cann, plan, work);
    cann_put_start(cann, plan, copies_known, work);
    cann_put_first_tile(cann, plan, work);
    cann_put_end(cann, plan, work);
    cann_put_after_loads(cann, plan, copies_known, work);
    if (single & SINGLE_C)
        cann_put_turns_of_c(cann, plan, work);
    if (single & SINGLE_A_L0)
        cann_put_turns_a0(cann, plan, work);
    if (single & SINGLE_B_L0)
        cann_put_turns_b0(cann, plan, work);
    if (single & SINGLE_A_L1)
        cann_put_turns_l1(cann, plan, CANN_A, copies_known, work);
    if (single & SINGLE_B_L1)
        cann_put_turns_l1(cann, plan, CANN_B, copies_known, work);
    if (single & SINGLE_SET)
        cann_put_turns_of_sets(plan, work);
    work->layout = (int)(single | cann_put_reduction(cann, plan->parts, plan->cores, work));
}

void cann_summarise(const struct space *space, const struct tiling *tiling, struct work *work)
{
    static const unsigned flags[] = {SINGLE_A_L1, SINGLE_B_L1, SINGLE_A_L0, SINGLE_B_L0, SINGLE_C};
    struct cann_plan plan;
    unsigned single = 0;
    cann_plan_make(cann_of(space), tiling, &plan);
    for (int i = 0; i < 5; i++)
        single |= tiling->value[CANN_L1A_BUFFERS + i] == 1 ? flags[i] : 0;
    single |= plan.one_set ? SINGLE_SET : 0;
    cann_summarise_plan(cann_of(space), &plan, single, true, work);
}
