/* Tokens: where their flags stand, how their registers turn, and which of two of a kind does for
 * both. */
#include "kernels/text/plan/kernel_structure.h"
#include "kernels/text/program/kernel_flags_internal.h"

uint64_t flags_bit(const struct flag_maker *maker, int loop)
{
    int text_loop = maker->plan->loops[loop].text_loop;
    return text_loop < 0 ? 0 : (uint64_t)1 << text_loop;
}

uint64_t flags_loops(const struct flag_maker *maker, int loop, int end)
{
    uint64_t loops = 0;
    for (; loop != end && loop >= 0; loop = maker->plan->loops[loop].around)
        loops |= flags_bit(maker, loop);
    return loops;
}

/* ------------------------------------------------------------------ rounds */

static bool touches(const struct plan_step *step, int tile)
{
    for (int p = 0; p < step->part_count; p++)
        if (step->parts[p].tile == tile)
            return true;
    return false;
}

/* Rounds in which alone a step of this pipe touches the tile there: none in particular, where
 * another one in the same loops does so in all rounds, or where tiles lie that are not one. */
static uint64_t rounds_of(const struct flag_maker *maker, const uint64_t only[PLAN_MAX_STEPS],
                          int step, int tile)
{
    const struct plan_step *steps = maker->plan->steps;
    uint64_t rounds = tile >= 0 ? only[step] : 0;
    for (int s = 0; rounds && s < maker->plan->step_count; s++)
        if (steps[s].pipe == steps[step].pipe && touches(&steps[s], tile))
            rounds &= only[s] | ~flags_loops(maker, steps[s].around, -1);
    return rounds;
}

uint64_t flags_first(const struct flag_maker *maker, int step, int tile)
{
    return rounds_of(maker, maker->flags->first, step, tile);
}

uint64_t flags_last(const struct flag_maker *maker, int step, int tile)
{
    return rounds_of(maker, maker->flags->last, step, tile);
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
    uint64_t inside = flags_loops(maker, plan->steps[step].around, token->level);
    uint64_t first =
        is_set ? flags_first(maker, step, token->tile) : ~flags_last(maker, step, token->tile);
    place.item = maker->flags->step_item[step];
    place.first |= inside & first;
    place.last |= inside & ~first;
    return place;
}

int64_t flags_copies(const struct flag_maker *maker, int tile)
{
    int64_t copies = 1;
    const struct expression *e = tile >= 0 ? maker->plan->kernel->tiles[tile].copies : NULL;
    if (e && (kernel_number(maker->values, e, &copies, NULL) != STATUS_OK || copies < 1))
        copies = 1;
    return copies < KERNEL_MAX_COPIES ? copies : KERNEL_MAX_COPIES;
}

/* ------------------------------------------------------------------ tokens */

/* Is `a` set no earlier and waited for no later than `b`, a token of the same kind? */
static bool covers(const struct flag_maker *maker, const struct kernel_token *a,
                   const struct kernel_token *b)
{
    if (a->level != b->level)
        return false;
    struct flag_spot set = flags_set_spot(maker, a), other_set = flags_set_spot(maker, b);
    struct flag_spot wait = flags_wait_spot(maker, a), other_wait = flags_wait_spot(maker, b);
    return a->distance == b->distance && a->from == b->from && a->to == b->to &&
           a->tile == b->tile && a->is_early == b->is_early && a->is_late == b->is_late &&
           a->first_only == b->first_only && a->last_only == b->last_only &&
           a->is_optional == b->is_optional && flags_spot_precedes(maker->plan, &other_set, &set) &&
           flags_spot_precedes(maker->plan, &wait, &other_wait);
}

/* What is there in first or last rounds of its loop alone is there once a round of the loop around
 * it. */
static void hoist(const struct flag_maker *maker, struct kernel_token *token)
{
    uint64_t loop = flags_bit(maker, token->level);
    for (; (token->first_only | token->last_only) & loop; loop = flags_bit(maker, token->level)) {
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
                                  : (int)flags_copies(maker, token->tile);
}

enum status flags_add(struct flag_maker *maker, struct kernel_token *token)
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
