/* Which tokens are wanted. For every two accesses of one tile by different pipes, one of which
 * writes, from the one that a round runs first to the other, in the innermost loop around both, and
 * back from that to the first of a later round, in each loop from there to the tile's life in which
 * the same bytes come again. Tiles that lie in the same place because their loops stand side by
 * side are taken for one. */
#include "kernels/text/plan/kernel_structure.h"
#include "kernels/text/program/kernel_flags_internal.h"

/* Do parts of a tile differ from round to round of a loop inside its life? */
static bool is_apart(const struct flag_maker *maker, const struct plan_part *a,
                     const struct plan_part *b, uint64_t loop)
{
    for (int d = 0; d < a->dim_count; d++)
        if (a->dims[d].reach == REACH_ROUND && b->dims[d].reach == REACH_ROUND &&
            maker->plan->chains[a->dims[d].loop] & loop &&
            maker->plan->chains[b->dims[d].loop] & loop)
            return true;
    return false;
}

static const struct plan_part *part_of(const struct plan_step *step, int tile, bool writes)
{
    for (int p = 0; p < step->part_count; p++)
        if (step->parts[p].tile == tile && (writes ? step->parts[p].writes : step->parts[p].reads))
            return &step->parts[p];
    return NULL;
}

/* Do two steps touch a tile so that it matters which is first? With `loop`, in different rounds of
 * that. */
static bool conflicts(const struct flag_maker *maker, int step, int tile, int other, int other_tile,
                      uint64_t loop)
{
    const struct plan_step *a = &maker->plan->steps[step], *b = &maker->plan->steps[other];
    for (int writes = 1; writes <= 3; writes++) { /* the first one, the second one, both */
        const struct plan_part *pa = part_of(a, tile, writes & 1);
        const struct plan_part *pb = part_of(b, other_tile, writes & 2);
        if (pa && pb && !(loop && tile == other_tile && is_apart(maker, pa, pb, loop)))
            return true;
    }
    return false;
}

static bool is_unit(const struct flag_maker *maker, int step)
{
    const struct expression *e = maker->plan->steps[step].text->keys[STEP_UNIT];
    int64_t number = 0;
    return e && !e->asks && kernel_number(maker->values, e, &number, NULL) == STATUS_OK && number;
}

/* The chip orders them block by block. */
static bool is_interlocked(const struct flag_maker *maker, int step, int other, int tile)
{
    return maker->plan->hw->buffers[maker->plan->tiles[tile].buffer].unit_flag &&
           is_unit(maker, step) && is_unit(maker, other);
}

/* ------------------------------------------------------------------ one tile */

static enum status want_in_round(struct flag_maker *maker, int tile, int src, int dst, int level)
{
    uint64_t around = flags_loops(maker, level, -1);
    uint64_t first = (flags_first(maker, src, tile) | flags_first(maker, dst, tile)) & around;
    uint64_t last = (flags_last(maker, src, tile) | flags_last(maker, dst, tile)) & around;
    struct kernel_token token = {.tile = tile,
                                 .src = src,
                                 .dst = dst,
                                 .level = level,
                                 .first_only = first & ~last,
                                 .last_only = last & ~first};
    return flags_add(maker, &token);
}

/* From a round of `level` to a later one. Beyond the tile's life only where it is loaded in some
 * rounds alone. */
static enum status want_later(struct flag_maker *maker, int tile, int src, int dst, int level)
{
    const struct kernel_plan *plan = maker->plan;
    bool is_tile = tile >= 0;
    int life = is_tile ? plan->tiles[tile].life : level;
    int copies = is_tile ? (int)plan->tiles[tile].copies : 1;
    bool is_beyond = is_tile && !plan_is_within(plan, level, life);
    uint64_t inside = flags_loops(maker, plan->steps[dst].around, level);
    uint64_t between = level > life && plan_is_within(plan, level, life)
                           ? flags_loops(maker, plan->loops[level].around, life)
                           : 0;
    struct kernel_token token = {.tile = tile,
                                 .src = src,
                                 .dst = dst,
                                 .level = level,
                                 .distance = level == life ? copies : 1,
                                 .count = is_beyond ? 1 : copies,
                                 .by_slot = tile >= 0 && !is_beyond,
                                 .is_optional = is_tile && copies == 1 &&
                                                (flags_first(maker, dst, tile) & inside) != 0,
                                 .first_only = flags_first(maker, dst, tile) & between,
                                 .last_only = flags_last(maker, src, tile) & between};
    if (token.first_only || token.last_only) {
        token.last_only &= ~token.first_only;
        token.by_slot = false;
        token.count = 1;
    }
    return flags_add(maker, &token);
}

/* Loops from `level` outwards in whose next rounds the first of two steps meets the second's bytes
 * of this one; beyond the tile's life where none did so far. */
static enum status want_all_later(struct flag_maker *maker, int tile, int src, int dst, int level)
{
    const struct kernel_plan *plan = maker->plan;
    int life = plan->tiles[tile].life;
    bool is_beyond = false, is_done = false;
    for (; level > 0 && !is_done; level = plan->loops[level].around) {
        uint64_t loop = flags_bit(maker, level);
        uint64_t inside = flags_loops(maker, plan->steps[dst].around, level);
        bool is_loaded_once =
            plan->tiles[tile].copies == 1 && flags_first(maker, dst, tile) & inside;
        if (!(flags_last(maker, src, tile) & loop) && !(flags_first(maker, dst, tile) & loop) &&
            (level == life || is_beyond || conflicts(maker, src, tile, dst, tile, loop))) {
            TRY(want_later(maker, tile, src, dst, level));
            is_done = (level == life || is_beyond) && !is_loaded_once;
        }
        is_beyond |= level == life;
    }
    return STATUS_OK;
}

static int loop_around(const struct kernel_plan *plan, int a, int b)
{
    while (!plan_is_within(plan, b, a))
        a = plan->loops[a].around;
    return a;
}

static enum status want_pair(struct flag_maker *maker, int tile, int step, int other)
{
    const struct kernel_plan *plan = maker->plan;
    if (plan->steps[step].pipe == plan->steps[other].pipe ||
        is_interlocked(maker, step, other, tile) || !conflicts(maker, step, tile, other, tile, 0))
        return STATUS_OK;
    int level = loop_around(plan, plan->steps[step].around, plan->steps[other].around);
    bool in_order = flags_runs_before(plan, flags_item_in(plan, maker->flags, level, step),
                                      flags_item_in(plan, maker->flags, level, other));
    int first = in_order ? step : other, second = in_order ? other : step;
    TRY(want_in_round(maker, tile, first, second, level));
    return want_all_later(maker, tile, second, first, level);
}

static bool touches(const struct plan_step *step, int tile)
{
    return part_of(step, tile, true) || part_of(step, tile, false);
}

static enum status want_tile(struct flag_maker *maker, int tile)
{
    const struct kernel_plan *plan = maker->plan;
    for (int a = 0; a < plan->step_count; a++)
        for (int b = a + 1; touches(&plan->steps[a], tile) && b < plan->step_count; b++)
            if (touches(&plan->steps[b], tile))
                TRY(want_pair(maker, tile, a, b));
    return STATUS_OK;
}

/* ------------------------------------------------------------------ room that is shared */

static enum status want_shared_pair(struct flag_maker *maker, int tile, int other, int level, int a,
                                    int b)
{
    const struct kernel_plan *plan = maker->plan;
    if (!touches(&plan->steps[b], other) || plan->steps[a].pipe == plan->steps[b].pipe ||
        !conflicts(maker, a, tile, b, other, 0))
        return STATUS_OK;
    bool in_order = flags_runs_before(plan, flags_item_in(plan, maker->flags, level, a),
                                      flags_item_in(plan, maker->flags, level, b));
    TRY(want_in_round(maker, -1, in_order ? a : b, in_order ? b : a, level));
    return level > 0 ? want_later(maker, -1, in_order ? b : a, in_order ? a : b, level) : STATUS_OK;
}

/* Their loops are of different stages of the one around both: then they have room of their own. */
static bool has_own_room(const struct kernel_plan *plan, int life, int other, int level)
{
    const struct plan_loop *body = &plan->loops[level];
    int stage[2] = {0};
    for (int i = body->first_item; i < body->first_item + body->item_count; i++)
        for (int n = 0; n < 2 && plan->items[i].is_loop; n++)
            if (plan_is_within(plan, n ? other : life, plan->items[i].number))
                stage[n] = plan->items[i].stage;
    return stage[0] != stage[1];
}

static enum status want_shared(struct flag_maker *maker, int one, int two)
{
    const struct kernel_plan *plan = maker->plan;
    const struct plan_tile *x = &plan->tiles[one], *y = &plan->tiles[two];
    if (!x->is_there || !y->is_there || x->buffer != y->buffer ||
        plan_is_within(plan, x->life, y->life) || plan_is_within(plan, y->life, x->life))
        return STATUS_OK;
    int level = loop_around(plan, x->life, y->life);
    if (has_own_room(plan, x->life, y->life, level))
        return STATUS_OK;
    for (int a = 0; a < plan->step_count; a++)
        for (int b = 0; touches(&plan->steps[a], one) && b < plan->step_count; b++)
            TRY(want_shared_pair(maker, one, two, level, a, b));
    return STATUS_OK;
}

enum status flags_want_all(struct flag_maker *maker)
{
    const struct kernel_plan *plan = maker->plan;
    for (int tile = 0; tile < plan->kernel->tile_count; tile++) {
        if (plan->tiles[tile].is_there)
            TRY(want_tile(maker, tile));
        for (int before = 0; before < tile; before++)
            TRY(want_shared(maker, before, tile));
    }
    return STATUS_OK;
}
