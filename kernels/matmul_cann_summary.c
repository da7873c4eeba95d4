/* What a tiling does, in closed form, for lower bounds. docs/bounds.md shows for each chain why its
 * instructions never overlap. */
#include "kernels/matmul_cann_summary.h"

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
    LINE(TURN_A1_WAIT_MISS) | LINE(TURN_B1_WAIT_LOAD) | LINE(TURN_B1_WAIT_MISS);

/* The price of every line; a line of a price that the chip lacks is never used. */
static void fill_prices(const struct cann_machine *m, int price[])
{
    static const enum cann_line loads[] = {LOAD_A,
                                           LOAD_B,
                                           LOAD_BIAS,
                                           LOAD_ELSEWHERE,
                                           START_LOAD,
                                           START_WAIT_LOAD,
                                           FEED_LOAD,
                                           FEED_WAIT_LOAD,
                                           AFTER_LOAD_WAIT_LOAD,
                                           TURN_A1_LOAD,
                                           TURN_A1_WAIT_LOAD,
                                           TURN_B1_LOAD,
                                           TURN_B1_WAIT_LOAD};
    static const enum cann_line misses[] = {MISS_A,          MISS_B,
                                            MISS_BIAS,       START_MISS,
                                            START_WAIT_MISS, FEED_MISS,
                                            FEED_WAIT_MISS,  AFTER_LOAD_WAIT_MISS,
                                            TURN_A1_MISS,    TURN_A1_WAIT_MISS,
                                            TURN_B1_MISS,    TURN_B1_WAIT_MISS};
    static const enum cann_line feeds_a[] = {
        FEED_A,         START_FEED_A,   START_WAIT_A, AFTER_FEED_WAIT_A, AFTER_LOAD_FEED_A,
        TURN_A0_FEED_A, TURN_A0_WAIT_A, TURN_A1_FEED};
    static const enum cann_line feeds_b[] = {
        FEED_B,         START_FEED_B,   START_WAIT_B,   AFTER_FEED_WAIT_B, AFTER_LOAD_FEED_B,
        TURN_A0_FEED_B, TURN_A0_WAIT_B, TURN_B0_FEED_B, TURN_B0_WAIT_B,    TURN_B1_FEED};
    static const enum cann_line stores[] = {STORE, END_STORE, END_WAIT_STORE, TURN_C_WAIT_STORE};
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
        price[stores[i]] = m->store_price;
    price[FEED_BIAS] = m->feed_bias < 0 ? m->feed_a_price : m->feed_bias_price;
}

static void make_chains(const struct cann_machine *m, bool bias, unsigned single,
                        struct work_layout *layout)
{
    const uint64_t start = LINES_OF(START_LOAD, START_WAIT_B);
    const uint64_t end = LINES_OF(END_WAIT_MULTIPLY, END_WAIT_STORE);
    const uint64_t loads =
        LINE(LOAD_A) | LINE(MISS_A) | LINE(LOAD_B) | LINE(MISS_B) | LINE(LOAD_ELSEWHERE);
    const uint64_t bias_loads = LINE(LOAD_BIAS) | LINE(MISS_BIAS);
    const uint64_t feeds = LINE(FEED_A) | LINE(FEED_B) | (m->feed_bias < 0 ? 0 : LINE(FEED_BIAS));
    uint64_t *chain = layout->chains;
    /* a bias that no pipe waits for may come last of all */
    *chain++ = loads | LINES_OF(AFTER_LOAD_WAIT_LOAD, AFTER_LOAD_MULTIPLY) | end |
               (bias && m->feed_bias < 0 ? 0 : bias_loads);
    if (bias && m->feed_bias < 0)
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
    layout->chain_count = (int)(chain - layout->chains);
}

enum status cann_make_work_layouts(struct space *space, struct cann *cann, struct error *error)
{
    cann->work_layouts = calloc(SINGLE_ALL + 1, sizeof *cann->work_layouts);
    if (!cann->work_layouts)
        return error_memory(error);
    for (unsigned single = 0; single <= SINGLE_ALL; single++) {
        struct work_layout *layout = &cann->work_layouts[single];
        layout->total_count = CANN_TOTALS;
        layout->line_count = CANN_LINES;
        layout->wait_lines = wait_lines;
        fill_prices(&cann->machine, layout->price);
        make_chains(&cann->machine, cann->bias, single, layout);
    }
    space->layout_count = SINGLE_ALL + 1;
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

static struct cann_move load_of(const struct cann *cann, const struct cann_plan *plan,
                                enum cann_operand operand, int64_t bytes,
                                const int64_t extent[CANN_DIRECTIONS])
{
    struct cann_move move = cann_move_of(cann, operand, bytes, extent);
    move.miss_share = plan->miss_share[operand];
    return move;
}

/* What a load of so many bytes ends with: the wait for its last move. */
static void wait_for_load(double miss_share, struct work *work, enum cann_line line, int64_t bytes)
{
    bool misses = miss_share > 0 && cann_load_split(miss_share, bytes, 1).miss_bytes > 0;
    work->instructions[line + misses] += 1;
}

/* ---- tiles ---------------------------------------------------------------------------------- */

/* The sizes that one direction's tiles have in the bodies of a level, and how often in all. */
enum { MAX_SIZES = 8 };
struct cuts {
    int count;
    int64_t size[MAX_SIZES];
    double times[MAX_SIZES];
};

static void cuts_add(struct cuts *cuts, int64_t size, double times)
{
    int i = 0;
    if (size == 0 || times == 0)
        return;
    while (i < cuts->count && cuts->size[i] != size)
        i++;
    if (i == cuts->count) {
        cuts->size[cuts->count++] = size;
        cuts->times[i] = 0;
    }
    cuts->times[i] += times;
}

/* Cuts what is there by the levels first … last. */
static void cuts_cut(const struct cann_plan *plan, enum cann_direction direction, int first,
                     int last, struct cuts *cuts)
{
    for (int l = first; l <= last; l++) {
        struct cuts whole = *cuts;
        int64_t slice = plan->level[l].slice;
        if (plan->level[l].direction != direction || slice >= plan->level[l].parent)
            continue;
        cuts->count = 0;
        for (int i = 0; i < whole.count; i++) {
            int64_t full = whole.size[i] / slice;
            cuts_add(cuts, slice, whole.times[i] * (double)full);
            cuts_add(cuts, whole.size[i] - full * slice, whole.times[i]);
        }
    }
}

static struct cuts cuts_of(const struct cann_plan *plan, enum cann_direction direction, int level)
{
    struct cuts cuts = {1, {plan->extent[direction]}, {1}};
    cuts_cut(plan, direction, 0, level < CANN_LEVELS ? level : LEVEL_BLOCK, &cuts);
    if (level >= SLAB_N_L1)
        cuts_cut(plan, direction, SLAB_N_L1, level, &cuts);
    return cuts;
}

static double cuts_times(const struct cuts *cuts)
{
    double times = 0;
    for (int i = 0; i < cuts->count; i++)
        times += cuts->times[i];
    return times;
}

/* The tile of the first body of a level, or of the last. */
static void tile_of(const struct cann_plan *plan, int level, bool last,
                    int64_t extent[CANN_DIRECTIONS])
{
    memcpy(extent, plan->extent, sizeof plan->extent);
    for (int l = 0; l <= level; l++) {
        enum cann_direction d = plan->level[l].direction;
        int64_t slice = plan->level[l].slice, rest = extent[d] % slice;
        extent[d] = extent[d] < slice ? extent[d] : last && rest ? rest : slice;
    }
}

/* From a tile of level `level` on to the first of a deeper one. */
static void first_within(const struct cann_plan *plan, int level, int deeper,
                         int64_t extent[CANN_DIRECTIONS])
{
    for (int l = level + 1; l <= deeper; l++) {
        enum cann_direction d = plan->level[l].direction;
        if (plan->level[l].slice < extent[d])
            extent[d] = plan->level[l].slice;
    }
}

static double blocks_of(const struct cann *cann, const int64_t extent[CANN_DIRECTIONS])
{
    const struct cann_machine *m = &cann->machine;
    int64_t rows = extent[CANN_M] / m->block_mn, columns = extent[CANN_N] / m->block_mn;
    int64_t deep = extent[CANN_K] / m->block_k;
    return (double)extent[CANN_BATCH] * (double)rows * (double)columns * (double)deep;
}

static void add_products(const struct cann *cann, const struct cann_plan *plan, struct work *work,
                         enum cann_line line, int level, const int64_t extent[CANN_DIRECTIONS])
{
    double count = 1;
    for (int d = 0; d < CANN_DIRECTIONS; d++)
        count *= (double)cann_bodies(plan, (enum cann_direction)d, level, LEVEL_STEP, extent[d]);
    work->instructions[line] += count;
    work->units[line] += blocks_of(cann, extent);
}

/* ---- one operand ---------------------------------------------------------------------------- */

/* A or B. */
struct operand {
    enum cann_operand which;
    enum cann_direction across;
    enum cann_hold l1, l0;
    enum cann_line load, feed;
    int level_l1, level_l0;
    bool one; /* of all batches */
};

static struct operand operand_of(const struct cann_plan *plan, enum cann_operand which)
{
    bool a = which == CANN_A;
    struct operand o = {
        .which = which,
        .across = a ? CANN_M : CANN_N,
        .l1 = a ? HOLD_A_L1 : HOLD_B_L1,
        .l0 = a ? HOLD_A_L0 : HOLD_B_L0,
        .load = a ? LOAD_A : LOAD_B,
        .feed = a ? FEED_A : FEED_B,
        .one = !a && plan->one_b,
    };
    o.level_l1 = plan->scope[o.l1].level;
    o.level_l0 = plan->scope[o.l0].level;
    return o;
}

static int64_t part_bytes(const struct cann *cann, const struct operand *o,
                          const int64_t extent[CANN_DIRECTIONS])
{
    return (o->one ? 1 : extent[CANN_BATCH]) * extent[o->across] * extent[CANN_K] *
           cann->machine.type_bytes;
}

static int64_t tile_bytes(const struct cann *cann, const struct operand *o,
                          const int64_t extent[CANN_DIRECTIONS])
{
    return extent[o->across] * extent[CANN_K] * cann->machine.type_bytes;
}

/* How often the scopes of a hold begin because of directions that the operand does not have. */
static double repeats(const struct cann_plan *plan, const struct operand *o, int level)
{
    enum cann_direction other = o->which == CANN_A ? CANN_N : CANN_M;
    struct cuts cuts = cuts_of(plan, other, level < CANN_LEVELS ? level : SCOPE_PROGRAM);
    double times = cuts_times(&cuts);
    if (o->one) {
        cuts = cuts_of(plan, CANN_BATCH, level < CANN_LEVELS ? level : SCOPE_PROGRAM);
        times *= cuts_times(&cuts);
    }
    return times;
}

/* B's parts for a slab are loaded as often as the slab is. */
static double slab_repeats(const struct cann_plan *plan)
{
    int level = plan->scope[HOLD_B_L0].level;
    struct cuts cuts = cuts_of(plan, CANN_BATCH, level);
    return cuts_times(&cuts);
}

static void sum_loads(const struct cann *cann, const struct cann_plan *plan,
                      const struct operand *o, struct work *work)
{
    bool in_slab = o->level_l1 >= SLAB_N_L1;
    struct cuts across = cuts_of(plan, o->across, o->level_l1);
    struct cuts k = cuts_of(plan, CANN_K, o->level_l1);
    struct cuts batch =
        cuts_of(plan, CANN_BATCH, in_slab ? plan->scope[HOLD_B_L0].level : o->level_l1);
    double times = in_slab ? 1 : repeats(plan, o, o->level_l1);
    if (o->one) /* `times` knows how often */
        batch = (struct cuts){1, {1}, {in_slab ? cuts_times(&batch) : 1}};
    for (int b = 0; b < batch.count; b++)
        for (int x = 0; x < across.count; x++)
            for (int i = 0; i < k.count; i++) {
                int64_t extent[CANN_DIRECTIONS];
                memcpy(extent, plan->extent, sizeof extent);
                extent[CANN_BATCH] = batch.size[b];
                extent[o->across] = across.size[x];
                extent[CANN_K] = k.size[i];
                struct cann_move move =
                    load_of(cann, plan, o->which, part_bytes(cann, o, extent), extent);
                cann_add_loads(cann, work, o->load,
                               times * batch.times[b] * across.times[x] * k.times[i], &move);
            }
}

static void sum_feeds(const struct cann *cann, const struct cann_plan *plan,
                      const struct operand *o, struct work *work)
{
    double times;
    if (o->l0 == HOLD_B_L0 && plan->slab) {
        struct cuts n = cuts_of(plan, CANN_N, SLAB_TILE);
        struct cuts k = cuts_of(plan, CANN_K, SLAB_TILE);
        times = slab_repeats(plan);
        work->instructions[o->feed] = times * cuts_times(&n) * cuts_times(&k);
    } else {
        work->instructions[o->feed] =
            (double)cann_openings(plan, o->l0, SCOPE_PROGRAM, plan->extent);
        times = repeats(plan, o, o->level_l0) * (o->one ? 1 : (double)plan->extent[CANN_BATCH]);
    }
    work->units[o->feed] =
        times * (double)(plan->extent[o->across] * plan->extent[CANN_K] * cann->machine.type_bytes);
}

/* ---- the whole program ---------------------------------------------------------------------- */

static void sum_tiles(const struct cann *cann, const struct cann_plan *plan, struct work *work)
{
    const struct cann_machine *machine = &cann->machine;
    struct cuts m = cuts_of(plan, CANN_M, LEVEL_TILE), n = cuts_of(plan, CANN_N, LEVEL_TILE);
    double blocks = (double)plan->extent[CANN_BATCH];
    for (int i = 0; i < m.count; i++)
        for (int j = 0; j < n.count; j++) {
            int64_t extent[CANN_DIRECTIONS] = {1, m.size[i], n.size[j], plan->extent[CANN_K]};
            struct cann_move move = cann_move_of(
                cann, CANN_C, m.size[i] * n.size[j] * machine->accumulator_bytes, extent);
            cann_add_moves(cann, work, STORE, machine->store_price,
                           blocks * m.times[i] * n.times[j], &move);
        }
    if (!cann->bias)
        return;
    double rows = blocks * cuts_times(&m);
    for (int j = 0; j < n.count; j++)
        cann_add_loads(cann, work, LOAD_BIAS, rows * n.times[j],
                       &(struct cann_move){n.size[j] * cann->bias_bytes, 1, 1, 0});
    if (machine->feed_bias < 0)
        return;
    work->instructions[FEED_BIAS] = rows * cuts_times(&n);
    work->units[FEED_BIAS] = rows * (double)plan->extent[CANN_N] * cann->bias_bytes;
}

static void sum_totals(const struct cann *cann, const struct cann_plan *plan, struct work *work)
{
    struct operand a = operand_of(plan, CANN_A), b = operand_of(plan, CANN_B);
    sum_loads(cann, plan, &a, work);
    sum_loads(cann, plan, &b, work);
    sum_feeds(cann, plan, &a, work);
    sum_feeds(cann, plan, &b, work);
    sum_tiles(cann, plan, work);
    add_products(cann, plan, work, MULTIPLY, SCOPE_PROGRAM, plan->extent);
}

/* ---- its ends ------------------------------------------------------------------------------- */

/* Where in a body that all scopes of a level begin in its first instructions: A or B first? Scopes
 * of outer loops begin first; what the slab needs is loaded while it is fed. */
static int load_place(const struct cann_plan *plan, const struct operand *o)
{
    int level = o->level_l1 < SLAB_N_L1 ? 2 * o->level_l1 : 2 * plan->scope[HOLD_B_L0].level + 1;
    return 2 * level + 1;
}

/* Which operand is loaded last among the first (or the last) parts; -1: it depends on copies that
 * are still open. */
static int loaded_last(const struct cann_plan *plan, bool copies_known)
{
    struct operand a = operand_of(plan, CANN_A), b = operand_of(plan, CANN_B);
    int place_a = load_place(plan, &a), place_b = load_place(plan, &b);
    if (place_a != place_b)
        return place_a > place_b ? CANN_A : CANN_B;
    if (!copies_known)
        return -1;
    return plan->scope[HOLD_A_L1].copies == 1 && plan->scope[HOLD_B_L1].copies == 2 ? CANN_A
                                                                                    : CANN_B;
}

static bool a_is_fed_first(const struct cann_plan *plan)
{
    return plan->scope[HOLD_A_L0].level <= plan->scope[HOLD_B_L0].level;
}

static void first_part(const struct cann_plan *plan, const struct operand *o,
                       int64_t extent[CANN_DIRECTIONS])
{
    tile_of(plan, o->level_l1 < CANN_LEVELS ? o->level_l1 : plan->scope[HOLD_B_L0].level, false,
            extent);
    if (o->level_l1 >= SLAB_N_L1)
        first_within(plan, SLAB_N_L1 - 1, o->level_l1, extent);
}

static void add_first_load(const struct cann *cann, const struct cann_plan *plan,
                           const struct operand *o, enum cann_line line, struct work *work)
{
    int64_t extent[CANN_DIRECTIONS];
    first_part(plan, o, extent);
    struct cann_move move = load_of(cann, plan, o->which, part_bytes(cann, o, extent), extent);
    cann_add_loads(cann, work, line, 1, &move);
}

static void wait_for_first(const struct cann *cann, const struct cann_plan *plan,
                           const struct operand *o, enum cann_line line, struct work *work)
{
    int64_t extent[CANN_DIRECTIONS];
    first_part(plan, o, extent);
    wait_for_load(plan->miss_share[o->which], work, line, part_bytes(cann, o, extent));
}

static void add_first_feed(const struct cann *cann, const struct cann_plan *plan,
                           const struct operand *o, enum cann_line line, struct work *work)
{
    int64_t extent[CANN_DIRECTIONS];
    tile_of(plan, LEVEL_STEP, false, extent);
    work->instructions[line] += 1;
    work->units[line] += (double)tile_bytes(cann, o, extent);
}

/* Until the first product: both first parts, the wait for the later one, its feed (and the other
 * one where that comes after it), the wait for the last feed. */
static void put_start(const struct cann *cann, const struct cann_plan *plan, bool copies_known,
                      struct work *work)
{
    struct operand a = operand_of(plan, CANN_A), b = operand_of(plan, CANN_B);
    int last = loaded_last(plan, copies_known);
    bool a_first = a_is_fed_first(plan);
    const struct operand *fed_first = a_first ? &a : &b, *fed_last = a_first ? &b : &a;
    add_first_load(cann, plan, &a, START_LOAD, work);
    add_first_load(cann, plan, &b, START_LOAD, work);
    if (last >= 0 || plan->miss_share[CANN_A] + plan->miss_share[CANN_B] <= 0)
        wait_for_first(cann, plan, last == CANN_A ? &a : &b, START_WAIT_LOAD, work);
    add_first_feed(cann, plan, fed_last, a_first ? START_FEED_B : START_FEED_A, work);
    if (last == (int)fed_first->which)
        add_first_feed(cann, plan, fed_first, a_first ? START_FEED_A : START_FEED_B, work);
    work->instructions[a_first ? START_WAIT_B : START_WAIT_A] += 1;
    /* until the first feed */
    if (cann->bias)
        return;
    if (last == (int)fed_first->which)
        add_first_load(cann, plan, fed_last, FEED_LOAD, work);
    add_first_load(cann, plan, fed_first, FEED_LOAD, work);
    wait_for_first(cann, plan, fed_first, FEED_WAIT_LOAD, work);
}

static void put_first_tile(const struct cann *cann, const struct cann_plan *plan, struct work *work)
{
    int64_t extent[CANN_DIRECTIONS];
    tile_of(plan, LEVEL_TILE, false, extent);
    add_products(cann, plan, work, FIRST_TILE, LEVEL_TILE, extent);
}

/* After the last product, and after the last feed. */
static void put_end(const struct cann *cann, const struct cann_plan *plan, struct work *work)
{
    const struct cann_machine *m = &cann->machine;
    int64_t extent[CANN_DIRECTIONS];
    tile_of(plan, LEVEL_TILE, true, extent);
    work->instructions[END_WAIT_MULTIPLY] = 1;
    struct cann_move move =
        cann_move_of(cann, CANN_C, extent[CANN_M] * extent[CANN_N] * m->accumulator_bytes, extent);
    cann_add_moves(cann, work, END_STORE, m->store_price, 1, &move);
    work->instructions[END_WAIT_STORE] = 1;
    /* a bias may be fed after both operands */
    tile_of(plan, LEVEL_STEP, true, extent);
    add_products(cann, plan, work, AFTER_FEED_MULTIPLY, LEVEL_STEP, extent);
    if (!cann->bias)
        work->instructions[a_is_fed_first(plan) ? AFTER_FEED_WAIT_B : AFTER_FEED_WAIT_A] = 1;
}

/* After the last load: the feed of what it brought, and all products with it. */
static void put_after_loads(const struct cann *cann, const struct cann_plan *plan,
                            bool copies_known, struct work *work)
{
    struct operand a = operand_of(plan, CANN_A), b = operand_of(plan, CANN_B);
    int last = loaded_last(plan, copies_known);
    const struct operand *o = last == CANN_A ? &a : &b;
    int64_t extent[CANN_DIRECTIONS];
    int level = o->level_l1;
    if (level >= CANN_LEVELS || (cann->bias && level <= LEVEL_TILE)) {
        /* the least that follows any load */
        tile_of(plan, LEVEL_STEP, true, extent);
        add_products(cann, plan, work, AFTER_LOAD_MULTIPLY, LEVEL_STEP, extent);
        return;
    }
    tile_of(plan, level, true, extent);
    add_products(cann, plan, work, AFTER_LOAD_MULTIPLY, level, extent);
    if (last < 0)
        return;
    wait_for_load(plan->miss_share[o->which], work, AFTER_LOAD_WAIT_LOAD,
                  part_bytes(cann, o, extent));
    if (o->which == CANN_B && plan->slab)
        return;
    first_within(plan, level, LEVEL_STEP, extent);
    enum cann_line line = o->which == CANN_A ? AFTER_LOAD_FEED_A : AFTER_LOAD_FEED_B;
    work->instructions[line] = 1;
    work->units[line] = (double)tile_bytes(cann, o, extent);
}

/* ---- taking turns: what a single buffer forbids to overlap ---------------------------------- */

/* One tile of C in L0C: each is stored before the next begins; with a unit flag before the second
 * step of the next. */
void cann_put_turns_c(const struct cann *cann, double tile_steps, double first_step_blocks,
                      struct work *work)
{
    double tiles = work->instructions[STORE], beside = 0;
    if (cann->machine.unit_flag)
        beside = tiles - 1;
    double blocks = work->units[MULTIPLY] - beside * first_step_blocks;
    work->instructions[TURN_C_MULTIPLY] = work->instructions[MULTIPLY] - beside;
    work->units[TURN_C_MULTIPLY] = blocks > 0 ? blocks : 0;
    work->instructions[TURN_C_WAIT_MULTIPLY] = beside > 0 && tile_steps < 2 ? 1 : tiles;
    work->instructions[TURN_C_WAIT_STORE] = tiles;
}

static void put_turns_c(const struct cann *cann, const struct cann_plan *plan, struct work *work)
{
    int64_t extent[CANN_DIRECTIONS];
    tile_of(plan, LEVEL_TILE, false, extent);
    double steps = (double)cann_bodies(plan, CANN_K, LEVEL_TILE, LEVEL_STEP, extent[CANN_K]);
    tile_of(plan, LEVEL_STEP, false, extent);
    cann_put_turns_c(cann, steps, blocks_of(cann, extent), work);
}

/* One tile of A in L0A: after its last product the next one is fed, and, where B's scope is the
 * same, B's after it. */
static void put_turns_a0(const struct cann *cann, const struct cann_plan *plan, struct work *work)
{
    struct operand a = operand_of(plan, CANN_A), b = operand_of(plan, CANN_B);
    int64_t extent[CANN_DIRECTIONS];
    double more = work->instructions[FEED_A] - 1;
    bool both = a.level_l0 == b.level_l0 && !plan->slab;
    tile_of(plan, LEVEL_STEP, false, extent);
    work->instructions[TURN_A0_FEED_A] = more;
    work->units[TURN_A0_FEED_A] = work->units[FEED_A] - (double)tile_bytes(cann, &a, extent);
    work->instructions[TURN_A0_WAIT_MULTIPLY] = more;
    work->instructions[both ? TURN_A0_WAIT_B : TURN_A0_WAIT_A] = more;
    if (!both)
        return;
    work->instructions[TURN_A0_FEED_B] = work->instructions[FEED_B] - 1;
    work->units[TURN_A0_FEED_B] = work->units[FEED_B] - (double)tile_bytes(cann, &b, extent);
}

static void put_turns_b0(const struct cann *cann, const struct cann_plan *plan, struct work *work)
{
    struct operand b = operand_of(plan, CANN_B);
    int64_t extent[CANN_DIRECTIONS];
    double more = work->instructions[FEED_B] - 1;
    if (plan->slab)
        return;
    tile_of(plan, LEVEL_STEP, false, extent);
    work->instructions[TURN_B0_FEED_B] = more;
    work->units[TURN_B0_FEED_B] = work->units[FEED_B] - (double)tile_bytes(cann, &b, extent);
    work->instructions[TURN_B0_WAIT_B] = more;
    work->instructions[TURN_B0_WAIT_MULTIPLY] = more;
}

/* One part in L1: the next is loaded once the last tile of this one has been fed, and that waits
 * for all products of the part but those of the tiles that L0 holds. */
static void put_turns_l1(const struct cann *cann, const struct cann_plan *plan,
                         enum cann_operand which, bool copies_known, struct work *work)
{
    bool of_a = which == CANN_A;
    struct operand o = operand_of(plan, which), other = operand_of(plan, of_a ? CANN_B : CANN_A);
    const enum cann_line load = of_a ? TURN_A1_LOAD : TURN_B1_LOAD;
    const enum cann_line wait = of_a ? TURN_A1_WAIT_LOAD : TURN_B1_WAIT_LOAD;
    const enum cann_line feed = of_a ? TURN_A1_FEED : TURN_B1_FEED;
    const enum cann_line multiply = of_a ? TURN_A1_MULTIPLY : TURN_B1_MULTIPLY;
    int64_t extent[CANN_DIRECTIONS];
    if (plan->slab && !of_a)
        return;
    double parts = (double)cann_openings(plan, o.l1, SCOPE_PROGRAM, plan->extent);
    for (int miss = 0; miss < 2; miss++) {
        work->instructions[load + miss] = work->instructions[o.load + miss];
        work->units[load + miss] = work->units[o.load + miss];
        work->burst_fs[load + miss] = work->burst_fs[o.load + miss];
    }
    first_part(plan, &o, extent);
    int copies = plan->scope[o.l0].copies;
    bool known = copies_known || loaded_last(plan, false) >= 0;
    bool first_multiplies = cann_openings(plan, o.l0, o.level_l1, extent) > copies;
    if (first_multiplies || (known && loaded_last(plan, copies_known) == (int)which))
        add_first_load(cann, plan, &other, load, work);
    double miss_share = plan->miss_share[which];
    if (miss_share <= 0 || miss_share >= 1)
        work->instructions[wait + (miss_share >= 1)] = parts;
    work->instructions[feed] = parts;
    /* the products of a scope in L0 are at most those of the first */
    tile_of(plan, o.level_l0, false, extent);
    double held = (parts - 1) * copies, count = 1;
    for (int d = 0; d < CANN_DIRECTIONS; d++)
        count *=
            (double)cann_bodies(plan, (enum cann_direction)d, o.level_l0, LEVEL_STEP, extent[d]);
    double instructions = work->instructions[MULTIPLY] - held * count;
    double units = work->units[MULTIPLY] - held * blocks_of(cann, extent);
    work->instructions[multiply] = instructions > 1 ? instructions : 0;
    work->units[multiply] = instructions > 1 && units > 0 ? units : 0;
}

/* ---- all together --------------------------------------------------------------------------- */

void cann_summarise_plan(const struct cann *cann, const struct cann_plan *plan, unsigned single,
                         bool copies_known, struct work *work)
{
    memset(work->instructions, 0, CANN_LINES * sizeof *work->instructions);
    memset(work->units, 0, CANN_LINES * sizeof *work->units);
    memset(work->burst_fs, 0, CANN_LINES * sizeof *work->burst_fs);
    work->cores = plan->cores;
    work->layout = (int)single;
    sum_totals(cann, plan, work);
    put_start(cann, plan, copies_known, work);
    put_first_tile(cann, plan, work);
    put_end(cann, plan, work);
    put_after_loads(cann, plan, copies_known, work);
    if (single & SINGLE_C)
        put_turns_c(cann, plan, work);
    if (single & SINGLE_A_L0)
        put_turns_a0(cann, plan, work);
    if (single & SINGLE_B_L0)
        put_turns_b0(cann, plan, work);
    if (single & SINGLE_A_L1)
        put_turns_l1(cann, plan, CANN_A, copies_known, work);
    if (single & SINGLE_B_L1)
        put_turns_l1(cann, plan, CANN_B, copies_known, work);
}

void cann_summarise(const struct space *space, const struct tiling *tiling, struct work *work)
{
    static const unsigned flags[] = {SINGLE_A_L1, SINGLE_B_L1, SINGLE_A_L0, SINGLE_B_L0, SINGLE_C};
    struct cann_plan plan;
    unsigned single = 0;
    cann_plan_make(cann_of(space), tiling, &plan);
    for (int i = 0; i < 5; i++)
        single |= tiling->value[CANN_L1A_BUFFERS + i] == 1 ? flags[i] : 0;
    cann_summarise_plan(cann_of(space), &plan, single, true, work);
}
