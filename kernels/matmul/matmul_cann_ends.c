/* What the bounds know beyond the totals: what must happen before the first instruction of a pipe
 * and after its last, and what a single buffer keeps from overlapping. */
#include "kernels/matmul/matmul_cann_parts.h"

/* ---- its ends ------------------------------------------------------------------------------- */

/* Where in a body that all scopes of a level begin in its first instructions: A or B first? Scopes
 * of outer loops begin first; what the slab needs is loaded while it is fed. */
static int load_place(const struct cann_plan *plan, const struct cann_side *o)
{
    int level = o->level_l1 < SLAB_N_L1 ? 2 * o->level_l1 : 2 * plan->scope[LIVE_B_L0].level + 1;
    return 2 * level + 1;
}

/* Which operand is loaded last among the first (or the last) parts; -1: it depends on copies that
 * are still open. */
static int loaded_last(const struct cann_plan *plan, bool copies_known)
{
    struct cann_side a = cann_side_of(plan, CANN_A), b = cann_side_of(plan, CANN_B);
    int place_a = load_place(plan, &a), place_b = load_place(plan, &b);
    if (place_a != place_b)
        return place_a > place_b ? CANN_A : CANN_B;
    if (!copies_known)
        return -1;
    return plan->scope[LIVE_A_L1].copies == 1 && plan->scope[LIVE_B_L1].copies == 2 ? CANN_A
                                                                                    : CANN_B;
}

static bool a_is_fed_first(const struct cann_plan *plan)
{
    return plan->scope[LIVE_A_L0].level <= plan->scope[LIVE_B_L0].level;
}

static void first_part(const struct cann_plan *plan, const struct cann_side *o,
                       int64_t extent[CANN_DIRECTIONS])
{
    cann_tile_of(plan, o->level_l1 < CANN_LEVELS ? o->level_l1 : plan->scope[LIVE_B_L0].level,
                 false, extent);
    if (o->level_l1 >= SLAB_N_L1)
        cann_first_within(plan, SLAB_N_L1 - 1, o->level_l1, extent);
}

static void add_first_load(const struct cann *cann, const struct cann_plan *plan,
                           const struct cann_side *o, enum cann_line line, struct work *work)
{
    int64_t extent[CANN_DIRECTIONS];
    first_part(plan, o, extent);
    struct cann_move move =
        cann_load_of(cann, plan, o->which, cann_part_bytes(cann, o, extent), extent);
    cann_add_loads(cann, work, line, 1, &move);
}

static void wait_for_first(const struct cann *cann, const struct cann_plan *plan,
                           const struct cann_side *o, enum cann_line line, struct work *work)
{
    int64_t extent[CANN_DIRECTIONS];
    first_part(plan, o, extent);
    cann_wait_for_load(plan->miss_share[o->which], work, line, cann_part_bytes(cann, o, extent));
}

static void add_first_feed(const struct cann *cann, const struct cann_plan *plan,
                           const struct cann_side *o, enum cann_line line, struct work *work)
{
    int64_t extent[CANN_DIRECTIONS];
    cann_tile_of(plan, LEVEL_STEP, false, extent);
    work->instructions[line] += 1;
    work->units[line] += (double)cann_tile_bytes(cann, o, extent);
}

void cann_put_start(const struct cann *cann, const struct cann_plan *plan, bool copies_known,
                    struct work *work)
{
    struct cann_side a = cann_side_of(plan, CANN_A), b = cann_side_of(plan, CANN_B);
    int last = loaded_last(plan, copies_known);
    bool a_first = a_is_fed_first(plan);
    const struct cann_side *fed_first = a_first ? &a : &b, *fed_last = a_first ? &b : &a;
    add_first_load(cann, plan, &a, START_LOAD, work);
    add_first_load(cann, plan, &b, START_LOAD, work);
    if (last >= 0 || plan->miss_share[CANN_A] + plan->miss_share[CANN_B] <= 0)
        wait_for_first(cann, plan, last == CANN_A ? &a : &b, START_WAIT_LOAD, work);
    add_first_feed(cann, plan, fed_last, a_first ? START_FEED_B : START_FEED_A, work);
    if (last == (int)fed_first->which)
        add_first_feed(cann, plan, fed_first, a_first ? START_FEED_A : START_FEED_B, work);
    work->instructions[a_first ? START_WAIT_B : START_WAIT_A] += 1;
    /* until the first feed */
    if (cann_row_bytes(cann))
        return;
    if (last == (int)fed_first->which)
        add_first_load(cann, plan, fed_last, FEED_LOAD, work);
    add_first_load(cann, plan, fed_first, FEED_LOAD, work);
    wait_for_first(cann, plan, fed_first, FEED_WAIT_LOAD, work);
}

void cann_put_first_tile(const struct cann *cann, const struct cann_plan *plan, struct work *work)
{
    int64_t extent[CANN_DIRECTIONS];
    cann_tile_of(plan, LEVEL_TILE, false, extent);
    cann_add_products(cann, plan, work, FIRST_TILE, LEVEL_TILE, extent);
}

void cann_put_end(const struct cann *cann, const struct cann_plan *plan, struct work *work)
{
    const struct cann_machine *m = &cann->machine;
    int64_t extent[CANN_DIRECTIONS];
    cann_tile_of(plan, LEVEL_TILE, true, extent);
    work->instructions[END_WAIT_MULTIPLY] = 1;
    struct cann_move move =
        cann_move_of(cann, cann_stored(plan->parts),
                     extent[CANN_M] * extent[CANN_N] * m->accumulator_bytes, extent);
    cann_add_moves(cann, work, END_STORE, cann_store_price(cann, plan->parts), 1, &move);
    work->instructions[END_WAIT_STORE] = 1;
    /* a bias may be fed after both operands */
    cann_tile_of(plan, LEVEL_STEP, true, extent);
    cann_add_products(cann, plan, work, AFTER_FEED_MULTIPLY, LEVEL_STEP, extent);
    if (!cann_row_bytes(cann))
        work->instructions[a_is_fed_first(plan) ? AFTER_FEED_WAIT_B : AFTER_FEED_WAIT_A] = 1;
}

void cann_put_after_loads(const struct cann *cann, const struct cann_plan *plan, bool copies_known,
                          struct work *work)
{
    struct cann_side a = cann_side_of(plan, CANN_A), b = cann_side_of(plan, CANN_B);
    int last = loaded_last(plan, copies_known);
    const struct cann_side *o = last == CANN_A ? &a : &b;
    int64_t extent[CANN_DIRECTIONS];
    int level = o->level_l1;
    if (level >= CANN_LEVELS || (cann_row_bytes(cann) && level <= LEVEL_TILE)) {
        /* the least that follows any load */
        cann_tile_of(plan, LEVEL_STEP, true, extent);
        cann_add_products(cann, plan, work, AFTER_LOAD_MULTIPLY, LEVEL_STEP, extent);
        return;
    }
    cann_tile_of(plan, level, true, extent);
    cann_add_products(cann, plan, work, AFTER_LOAD_MULTIPLY, level, extent);
    if (last < 0)
        return;
    cann_wait_for_load(plan->miss_share[o->which], work, AFTER_LOAD_WAIT_LOAD,
                       cann_part_bytes(cann, o, extent));
    if (o->which == CANN_B && plan->slab)
        return;
    cann_first_within(plan, level, LEVEL_STEP, extent);
    enum cann_line line = o->which == CANN_A ? AFTER_LOAD_FEED_A : AFTER_LOAD_FEED_B;
    work->instructions[line] = 1;
    work->units[line] = (double)cann_tile_bytes(cann, o, extent);
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

void cann_put_turns_of_c(const struct cann *cann, const struct cann_plan *plan, struct work *work)
{
    int64_t extent[CANN_DIRECTIONS];
    cann_tile_of(plan, LEVEL_TILE, false, extent);
    double steps = (double)cann_bodies(plan, CANN_K, LEVEL_TILE, LEVEL_STEP, extent[CANN_K]);
    cann_tile_of(plan, LEVEL_STEP, false, extent);
    cann_put_turns_c(cann, steps, cann_blocks_of(cann, extent), work);
}

void cann_put_turns_a0(const struct cann *cann, const struct cann_plan *plan, struct work *work)
{
    struct cann_side a = cann_side_of(plan, CANN_A), b = cann_side_of(plan, CANN_B);
    int64_t extent[CANN_DIRECTIONS];
    double more = work->instructions[FEED_A] - 1;
    bool both = a.level_l0 == b.level_l0 && !plan->slab;
    cann_tile_of(plan, LEVEL_STEP, false, extent);
    work->instructions[TURN_A0_FEED_A] = more;
    work->units[TURN_A0_FEED_A] = work->units[FEED_A] - (double)cann_tile_bytes(cann, &a, extent);
    work->instructions[TURN_A0_WAIT_MULTIPLY] = more;
    work->instructions[both ? TURN_A0_WAIT_B : TURN_A0_WAIT_A] = more;
    if (!both)
        return;
    work->instructions[TURN_A0_FEED_B] = work->instructions[FEED_B] - 1;
    work->units[TURN_A0_FEED_B] = work->units[FEED_B] - (double)cann_tile_bytes(cann, &b, extent);
}

void cann_put_turns_b0(const struct cann *cann, const struct cann_plan *plan, struct work *work)
{
    struct cann_side b = cann_side_of(plan, CANN_B);
    int64_t extent[CANN_DIRECTIONS];
    double more = work->instructions[FEED_B] - 1;
    if (plan->slab)
        return;
    cann_tile_of(plan, LEVEL_STEP, false, extent);
    work->instructions[TURN_B0_FEED_B] = more;
    work->units[TURN_B0_FEED_B] = work->units[FEED_B] - (double)cann_tile_bytes(cann, &b, extent);
    work->instructions[TURN_B0_WAIT_B] = more;
    work->instructions[TURN_B0_WAIT_MULTIPLY] = more;
}

void cann_put_turns_l1(const struct cann *cann, const struct cann_plan *plan,
                       enum cann_operand which, bool copies_known, struct work *work)
{
    bool of_a = which == CANN_A;
    struct cann_side o = cann_side_of(plan, which),
                     other = cann_side_of(plan, of_a ? CANN_B : CANN_A);
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
    bool with_other = first_multiplies || (known && loaded_last(plan, copies_known) == (int)which);
    if (with_other)
        add_first_load(cann, plan, &other, load, work);
    /* behind the other, whose wait may be that for a hit */
    double miss_share = plan->miss_share[which];
    bool waits_longer = !with_other || plan->miss_share[other.which] >= 1;
    if (miss_share <= 0 || miss_share >= 1)
        work->instructions[wait + (miss_share >= 1 && waits_longer)] = parts;
    work->instructions[feed] = parts;
    /* the products of a scope in L0 are at most those of the first */
    cann_tile_of(plan, o.level_l0, false, extent);
    double held = (parts - 1) * copies, count = 1;
    for (int d = 0; d < CANN_DIRECTIONS; d++)
        count *=
            (double)cann_bodies(plan, (enum cann_direction)d, o.level_l0, LEVEL_STEP, extent[d]);
    double instructions = work->instructions[MULTIPLY] - held * count;
    double units = work->units[MULTIPLY] - held * cann_blocks_of(cann, extent);
    work->instructions[multiply] = instructions > 1 ? instructions : 0;
    work->units[multiply] = instructions > 1 && units > 0 ? units : 0;
}

void cann_put_turns_of_sets(const struct cann_plan *plan, struct work *work)
{
    double sets = (double)cann_openings(plan, LIVE_B_L1, SCOPE_PROGRAM, plan->extent);
    work->instructions[a_is_fed_first(plan) ? TURN_SET_WAIT_B : TURN_SET_WAIT_A] = sets - 1;
}
