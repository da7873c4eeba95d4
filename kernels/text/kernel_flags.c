/* Deriving tokens. For every two accesses of one tile by different pipes, one of which writes, a
 * token is wanted from the one that a round runs first to the other, in the innermost loop around
 * both, and back from that to the first of a later round, in each loop from there to the tile's
 * life in which the same bytes come again. Tiles that lie in the same place because their loops
 * stand side by side are taken for one. Of all that is wanted, longest first, what the rest puts in
 * order is left out (kernel_flags_order.c): a transitive reduction (Aho, Garey and Ullman 1972). */
#include "kernels/text/kernel_flags_internal.h"
#include "kernels/text/kernel_structure.h"

#include <string.h>

static uint64_t bit_of(const struct flag_maker *maker, int loop)
{
    int text_loop = maker->plan->loops[loop].text_loop;
    return text_loop < 0 ? 0 : (uint64_t)1 << text_loop;
}

/* The text loops from a plan loop outwards up to `end`, which is not among them. */
static uint64_t loops_from(const struct flag_maker *maker, int loop, int end)
{
    uint64_t loops = 0;
    for (; loop != end && loop >= 0; loop = maker->plan->loops[loop].around)
        loops |= bit_of(maker, loop);
    return loops;
}

/* ------------------------------------------------------------------ places */

/* Around a whole item of the level's body; inside it, in its first or last rounds, where the pipe
 * has other work there that the flag would hold up. */
static struct flag_place place_at(const struct flag_maker *maker, const struct kernel_token *token,
                                  int step, int pipe, bool is_set)
{
    const struct kernel_plan *plan = maker->plan;
    struct flag_place place = {.item = flags_item_in(plan, maker->flags, token->level, step),
                               .first = token->first_only,
                               .last = token->last_only};
    if (!plan->items[place.item].is_loop || flags_has_stages(plan, place.item))
        return place;
    const struct plan_loop *loop = &plan->loops[plan->items[place.item].number];
    int begin = is_set ? step + 1 : loop->first_step, end = is_set ? loop->end_step : step;
    bool any = false;
    for (int s = begin; s < end; s++)
        any |= plan->steps[s].pipe == pipe;
    if (!any)
        return place;
    uint64_t inside = loops_from(maker, plan->steps[step].around, token->level);
    uint64_t first = is_set ? maker->flags->first[step] : ~maker->flags->last[step];
    place.item = maker->flags->step_item[step];
    place.first |= inside & first;
    place.last |= inside & ~first;
    return place;
}

/* ------------------------------------------------------------------ what is wanted */

/* Do parts of a tile differ from round to round of a loop inside its life? */
static bool is_apart(const struct flag_maker *maker, const struct plan_part *a,
                     const struct plan_part *b, uint64_t loop)
{
    for (int d = 0; d < a->dim_count; d++)
        if (a->dims[d].reach == REACH_ROUND && b->dims[d].reach == REACH_ROUND &&
            maker->flags->chains[a->dims[d].loop] & loop &&
            maker->flags->chains[b->dims[d].loop] & loop)
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

static int64_t copies_in_text(const struct flag_maker *maker, int tile)
{
    int64_t copies = 1;
    const struct expression *e = tile >= 0 ? maker->plan->kernel->tiles[tile].copies : NULL;
    if (e && (kernel_number(maker->values, e, &copies, NULL) != STATUS_OK || copies < 1))
        copies = 1;
    return copies < KERNEL_MAX_COPIES ? copies : KERNEL_MAX_COPIES;
}

/* ------------------------------------------------------------------ tokens */

static int compare_place(const struct flag_maker *maker, int item, int rank, int other_item,
                         int other_rank)
{
    if (item == other_item)
        return rank < other_rank ? -1 : rank > other_rank;
    return flags_runs_before(maker->plan, item, other_item) ? -1 : 1;
}

/* Is `a` set no earlier and waited for no later than `b`, a token of the same kind? */
static bool covers(const struct flag_maker *maker, const struct kernel_token *a,
                   const struct kernel_token *b)
{
    const struct kernel_plan *plan = maker->plan;
    return a->level == b->level && a->distance == b->distance && a->from == b->from &&
           a->to == b->to && a->tile == b->tile && a->is_early == b->is_early &&
           a->is_late == b->is_late && a->first_only == b->first_only &&
           a->last_only == b->last_only && a->is_optional == b->is_optional &&
           compare_place(maker, flags_item_in(plan, maker->flags, a->level, a->src),
                         flags_set_rank(maker, a),
                         flags_item_in(plan, maker->flags, b->level, b->src),
                         flags_set_rank(maker, b)) >= 0 &&
           compare_place(maker, flags_item_in(plan, maker->flags, a->level, a->dst),
                         flags_wait_rank(maker, a),
                         flags_item_in(plan, maker->flags, b->level, b->dst),
                         flags_wait_rank(maker, b)) <= 0;
}

/* What is there in first or last rounds of its loop alone is there once a round of the loop around
 * it. */
static void hoist(const struct flag_maker *maker, struct kernel_token *token)
{
    uint64_t loop = bit_of(maker, token->level);
    for (; (token->first_only | token->last_only) & loop; loop = bit_of(maker, token->level)) {
        token->is_early |= (token->first_only & loop) != 0;
        token->is_late |= (token->last_only & loop) != 0;
        token->first_only &= ~loop;
        token->last_only &= ~loop;
        token->level = maker->plan->loops[token->level].around;
    }
}

static void turn_in_round(const struct flag_maker *maker, struct kernel_token *token)
{
    const struct kernel_plan *plan = maker->plan;
    token->by_slot = token->tile >= 0 && !token->first_only && !token->last_only &&
                     plan_is_within(plan, token->level, plan->tiles[token->tile].life);
    token->count = token->by_slot ? (int)plan->tiles[token->tile].copies
                                  : (int)copies_in_text(maker, token->tile);
}

static enum status add_token(struct flag_maker *maker, struct kernel_token *token)
{
    struct kernel_flags *flags = maker->flags;
    token->from = maker->plan->steps[token->src].pipe;
    token->to = maker->plan->steps[token->dst].pipe;
    token->outer = -1;
    token->set = place_at(maker, token, token->src, token->from, true);
    token->wait = place_at(maker, token, token->dst, token->to, false);
    if (token->distance == 0) {
        hoist(maker, token);
        turn_in_round(maker, token);
    }
    for (int t = 0; t < flags->token_count; t++) {
        if (covers(maker, &flags->tokens[t], token))
            return STATUS_OK;
        if (covers(maker, token, &flags->tokens[t])) {
            flags->tokens[t] = *token;
            return STATUS_OK;
        }
    }
    if (flags->token_count == FLAGS_MAX_TOKENS)
        return error_set(maker->error, STATUS_TOO_LARGE, "more than %d flags between its pipes",
                         FLAGS_MAX_TOKENS);
    flags->tokens[flags->token_count++] = *token;
    return STATUS_OK;
}

static enum status want_in_round(struct flag_maker *maker, int tile, int src, int dst, int level)
{
    const struct kernel_flags *flags = maker->flags;
    uint64_t around = loops_from(maker, level, -1);
    uint64_t first = (flags->first[src] | flags->first[dst]) & around;
    uint64_t last = (flags->last[src] | flags->last[dst]) & around;
    struct kernel_token token = {.tile = tile,
                                 .src = src,
                                 .dst = dst,
                                 .level = level,
                                 .first_only = first & ~last,
                                 .last_only = last & ~first};
    return add_token(maker, &token);
}

/* From a round of `level` to a later one. Beyond the tile's life only where it is loaded in some
 * rounds alone. */
static enum status want_later(struct flag_maker *maker, int tile, int src, int dst, int level)
{
    const struct kernel_flags *flags = maker->flags;
    const struct plan_tile *there = tile >= 0 ? &maker->plan->tiles[tile] : NULL;
    int life = there ? there->life : level, copies = there ? (int)there->copies : 1;
    bool is_beyond = there && !plan_is_within(maker->plan, level, life);
    uint64_t inside = loops_from(maker, maker->plan->steps[dst].around, level);
    uint64_t between = level > life && plan_is_within(maker->plan, level, life)
                           ? loops_from(maker, maker->plan->loops[level].around, life)
                           : 0;
    struct kernel_token token = {.tile = tile,
                                 .src = src,
                                 .dst = dst,
                                 .level = level,
                                 .distance = level == life ? copies : 1,
                                 .count = is_beyond ? 1 : copies,
                                 .by_slot = tile >= 0 && !is_beyond,
                                 .is_optional = copies == 1 && (flags->first[dst] & inside) != 0,
                                 .first_only = flags->first[dst] & between,
                                 .last_only = flags->last[src] & between};
    if (token.first_only || token.last_only) {
        token.last_only &= ~token.first_only;
        token.by_slot = false;
        token.count = 1;
    }
    return add_token(maker, &token);
}

/* Loops from `level` outwards in whose next rounds the first of two steps meets the second's bytes
 * of this one; beyond the tile's life where none did so far. */
static enum status want_all_later(struct flag_maker *maker, int tile, int src, int dst, int level)
{
    const struct kernel_plan *plan = maker->plan;
    const struct kernel_flags *flags = maker->flags;
    int life = plan->tiles[tile].life;
    bool is_beyond = false, is_done = false;
    for (; level > 0 && !is_done; level = plan->loops[level].around) {
        uint64_t loop = bit_of(maker, level);
        uint64_t inside = loops_from(maker, plan->steps[dst].around, level);
        bool is_loaded_once = plan->tiles[tile].copies == 1 && flags->first[dst] & inside;
        if (!(flags->last[src] & loop) && !(flags->first[dst] & loop) &&
            (level == life || is_beyond || conflicts(maker, src, tile, dst, tile, loop))) {
            TRY(want_later(maker, tile, src, dst, level));
            is_done = (level == life || is_beyond) && !is_loaded_once;
        }
        is_beyond |= level == life;
    }
    return STATUS_OK;
}

static int loop_around(const struct kernel_plan *plan, int loop, int other)
{
    while (!plan_is_within(plan, other, loop))
        loop = plan->loops[loop].around;
    return loop;
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

static enum status want_shared(struct flag_maker *maker, int tile, int other)
{
    const struct kernel_plan *plan = maker->plan;
    const struct plan_tile *x = &plan->tiles[tile], *y = &plan->tiles[other];
    if (!x->is_there || !y->is_there || x->buffer != y->buffer ||
        plan_is_within(plan, x->life, y->life) || plan_is_within(plan, y->life, x->life))
        return STATUS_OK;
    int level = loop_around(plan, x->life, y->life);
    for (int a = 0; a < plan->step_count; a++)
        for (int b = 0; touches(&plan->steps[a], tile) && b < plan->step_count; b++)
            TRY(want_shared_pair(maker, tile, other, level, a, b));
    return STATUS_OK;
}

/* ------------------------------------------------------------------ what is superfluous */

static struct flag_order order_of(const struct flag_maker *maker, int number)
{
    const struct kernel_token *token = &maker->flags->tokens[number];
    return (struct flag_order){
        .level = token->level,
        .distance = token->distance,
        .from = token->from,
        .to = token->to,
        .src_item = flags_item_in(maker->plan, maker->flags, token->level, token->src),
        .dst_item = flags_item_in(maker->plan, maker->flags, token->level, token->dst),
        .src_rank = token->src,
        .dst_rank = token->dst,
        .first = token->first_only,
        .last = token->last_only,
        .without = number,
        .reloaded = -1,
    };
}

/* How long a token is, in rounds and steps. */
static int length_of(const struct kernel_token *token)
{
    return token->distance * PLAN_MAX_STEPS + token->dst - token->src;
}

static void reduce(struct flag_maker *maker)
{
    bool is_done[FLAGS_MAX_TOKENS] = {false};
    const struct kernel_token *tokens = maker->flags->tokens;
    for (int n = 0; n < maker->flags->token_count; n++) {
        int longest = -1;
        for (int t = 0; t < maker->flags->token_count; t++)
            if (!is_done[t] && (longest < 0 || length_of(&tokens[t]) > length_of(&tokens[longest])))
                longest = t;
        is_done[longest] = true;
        struct flag_order order = order_of(maker, longest);
        maker->gone[longest] = flags_is_ordered(maker, &order);
    }
    int kept = 0;
    for (int t = 0; t < maker->flags->token_count; t++)
        if (!maker->gone[t])
            maker->flags->tokens[kept++] = tokens[t];
    maker->flags->token_count = kept;
    memset(maker->gone, 0, sizeof maker->gone);
}

/* ------------------------------------------------------------------ pace */

/* Is a register always waited for before it is set again? */
static bool is_paced(const struct flag_maker *maker, int number)
{
    const struct kernel_token *token = &maker->flags->tokens[number];
    int life = token->tile >= 0 ? maker->plan->tiles[token->tile].life : -1;
    struct flag_order order = order_of(maker, number);
    int turn = !token->by_slot || token->level == life ? token->count : 1;
    if (token->is_optional)
        return true;
    order.distance = turn - token->distance;
    order.from = token->to;
    order.to = token->from;
    order.src_item = flags_item_in(maker->plan, maker->flags, token->level, token->dst);
    order.dst_item = flags_item_in(maker->plan, maker->flags, token->level, token->src);
    order.src_rank = flags_wait_rank(maker, token);
    order.dst_rank = flags_set_rank(maker, token);
    order.without = -1;
    order.reloaded = token->tile;
    return order.distance >= 0 && flags_is_ordered(maker, &order);
}

static enum status add_paces(struct flag_maker *maker)
{
    struct kernel_flags *flags = maker->flags;
    int count = flags->token_count;
    for (int t = 0; t < count; t++) {
        struct kernel_token *token = &flags->tokens[t];
        if (is_paced(maker, t))
            continue;
        if (flags->token_count == FLAGS_MAX_TOKENS)
            return error_set(maker->error, STATUS_TOO_LARGE, "more than %d flags between its pipes",
                             FLAGS_MAX_TOKENS);
        token->by_slot = false;
        token->count = (int)copies_in_text(maker, token->tile);
        struct kernel_token *pace = &flags->tokens[flags->token_count++];
        *pace = *token;
        pace->from = token->to;
        pace->to = token->from;
        pace->src = token->dst;
        pace->dst = token->src;
        pace->set = token->wait;
        pace->wait = token->set;
        pace->distance = token->count;
        pace->is_pace = true;
    }
    return STATUS_OK;
}

/* ------------------------------------------------------------------ registers */

/* Tokens of one tile's reloads, from the inside out: one of them at most is needed. */
static void link_optional(struct kernel_flags *flags, int number)
{
    struct kernel_token *token = &flags->tokens[number];
    for (int t = 0; t < flags->token_count; t++) {
        const struct kernel_token *other = &flags->tokens[t];
        if (t != number && other->is_optional && other->tile == token->tile &&
            other->from == token->from && other->to == token->to && other->level < token->level &&
            (token->outer < 0 || other->level > flags->tokens[token->outer].level))
            token->outer = t;
    }
}

static void number_registers(struct kernel_flags *flags)
{
    bool has_inner[FLAGS_MAX_TOKENS] = {false};
    for (int t = 0; t < flags->token_count; t++)
        if (flags->tokens[t].is_optional) {
            link_optional(flags, t);
            if (flags->tokens[t].outer >= 0)
                has_inner[flags->tokens[t].outer] = true;
        }
    for (int t = 0; t < flags->token_count; t++) {
        struct kernel_token *token = &flags->tokens[t];
        if (has_inner[t])
            continue;
        token->first = flags->registers[token->from][token->to];
        flags->registers[token->from][token->to] += token->count;
        for (int o = token->outer; o >= 0; o = flags->tokens[o].outer)
            flags->tokens[o].first = token->first;
    }
}

static void hook(struct kernel_flags *flags)
{
    memset(flags->sets, -1, sizeof flags->sets);
    memset(flags->waits, -1, sizeof flags->waits);
    for (int t = flags->token_count - 1; t >= 0; t--) {
        struct kernel_token *token = &flags->tokens[t];
        token->next_set = flags->sets[token->set.item];
        flags->sets[token->set.item] = t;
        token->next_wait = flags->waits[token->wait.item];
        flags->waits[token->wait.item] = t;
    }
}

/* ------------------------------------------------------------------ all of it */

static void number_items(struct kernel_flags *flags, const struct kernel_plan *plan)
{
    for (int i = 0; i < plan->item_count; i++)
        (plan->items[i].is_loop ? flags->loop_item : flags->step_item)[plan->items[i].number] = i;
}

enum status kernel_flags_find(const struct kernel_plan *plan, const struct kernel_values *values,
                              struct kernel_flags *flags, struct error *error)
{
    struct flag_maker maker = {.plan = plan, .values = values, .flags = flags, .error = error};
    memset(flags, 0, sizeof *flags);
    if (plan->step_count > PLAN_MAX_STEPS)
        return error_set(error, STATUS_TOO_LARGE, "more than %d steps", PLAN_MAX_STEPS);
    number_items(flags, plan);
    TRY(flags_find_rounds(&maker));
    for (int tile = 0; tile < plan->kernel->tile_count; tile++) {
        if (plan->tiles[tile].is_there)
            TRY(want_tile(&maker, tile));
        for (int other = 0; other < tile; other++)
            TRY(want_shared(&maker, other, tile));
    }
    reduce(&maker);
    TRY(add_paces(&maker));
    number_registers(flags);
    hook(flags);
    return STATUS_OK;
}

enum status kernel_flags_check(const struct kernel_plan *plan, const struct kernel_flags *flags,
                               struct error *error)
{
    const struct hardware *hw = plan->hw;
    for (int from = 0; from < hw->pipe_count; from++)
        for (int to = 0; to < hw->pipe_count; to++)
            if (flags->registers[from][to] > hw->flag_registers)
                return error_set(error, STATUS_INVALID,
                                 "%d flag registers from %s to %s, %s has %d",
                                 flags->registers[from][to], hw->pipes[from].name,
                                 hw->pipes[to].name, hw->name, hw->flag_registers);
    return STATUS_OK;
}
