/* Deriving tokens. Of all that is wanted (kernel_want.c), longest first, what the rest puts in
 * order is left out (kernel_flags_order.c): a transitive reduction (Aho, Garey and Ullman 1972). A
 * token whose register could be set again before it was waited for is paced by one that goes back.
 */
#include "kernels/text/plan/kernel_structure.h"
#include "kernels/text/program/kernel_flags_internal.h"

#include <string.h>

/* ------------------------------------------------------------------ what is superfluous */

static struct flag_order order_of(const struct flag_maker *maker, int number)
{
    const struct kernel_token *token = &maker->flags->tokens[number];
    return (struct flag_order){
        .level = token->level,
        .distance = token->distance,
        .from = token->from,
        .to = token->to,
        .src = flags_src_spot(maker, token),
        .dst = flags_dst_spot(maker, token),
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
        int longest = 0;
        for (int t = 1; t < maker->flags->token_count; t++)
            if (!is_done[t] &&
                (is_done[longest] || length_of(&tokens[t]) > length_of(&tokens[longest])))
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
    order.src = flags_wait_spot(maker, token);
    order.dst = flags_set_spot(maker, token);
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
        if (token->distance == 0)
            token->count = (int)flags_copies(maker, token->tile);
        struct kernel_token *pace = &flags->tokens[flags->token_count++];
        *pace = *token;
        pace->from = token->to;
        pace->to = token->from;
        pace->src = token->dst;
        pace->dst = token->src;
        pace->set = token->wait;
        pace->wait = token->set;
        pace->distance = token->count - token->distance;
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

/* Loops beside each other hand their registers on: all of a token that goes from round to round are
 * set where its loop begins and where it ends. */
static bool may_share(const struct kernel_plan *plan, const struct kernel_token *token,
                      const struct kernel_token *other)
{
    return token->distance > 0 && other->distance > 0 && token->outer < 0 && other->outer < 0 &&
           !plan_is_within(plan, token->level, other->level) &&
           !plan_is_within(plan, other->level, token->level);
}

static bool same_registers(const struct flag_maker *maker, const struct kernel_token *a,
                           const struct kernel_token *b)
{
    return hardware_flags_shared(maker->plan->hw, a->from, a->to, b->from, b->to);
}

static bool is_free(const struct flag_maker *maker, int number, bool shares)
{
    const struct kernel_token *tokens = maker->flags->tokens, *token = &tokens[number];
    for (int t = 0; t < number; t++)
        if (same_registers(maker, &tokens[t], token) && !maker->gone[t] &&
            tokens[t].first < token->first + token->count &&
            token->first < tokens[t].first + tokens[t].count &&
            !(shares && may_share(maker->plan, &tokens[t], token)))
            return false;
    return true;
}

/* Each takes the first registers that are free, of its pair or of all that share them; whether
 * loops share them, where there are too few else: what holds one up holds up the next then. */
static void number_pair(struct flag_maker *maker, int from, int to, bool shares)
{
    const struct hardware *hw = maker->plan->hw;
    struct kernel_flags *flags = maker->flags;
    int *count = &flags->registers[from][to];
    *count = 0;
    for (int t = 0; t < flags->token_count; t++) {
        struct kernel_token *token = &flags->tokens[t];
        if (!hardware_flags_shared(hw, from, to, token->from, token->to) || maker->gone[t])
            continue;
        token->first = 0;
        while (!is_free(maker, t, shares))
            token->first++;
        if (token->first + token->count > *count)
            *count = token->first + token->count;
    }
    if (!shares && *count > hardware_flags(hw, from, to))
        number_pair(maker, from, to, true);
}

/* Of tokens of one tile's reloads those further out (`gone` here) have the registers of the
 * innermost. */
static void number_registers(struct flag_maker *maker)
{
    struct kernel_flags *flags = maker->flags;
    int pipes = maker->plan->hw->pipe_count;
    for (int t = 0; t < flags->token_count; t++)
        if (flags->tokens[t].is_optional) {
            link_optional(flags, t);
            if (flags->tokens[t].outer >= 0)
                maker->gone[flags->tokens[t].outer] = true;
        }
    for (int pair = 0; pair < pipes * pipes; pair++)
        number_pair(maker, pair / pipes, pair % pipes, false);
    for (int t = 0; t < flags->token_count; t++)
        for (int o = flags->tokens[t].outer; o >= 0 && !maker->gone[t]; o = flags->tokens[o].outer)
            flags->tokens[o].first = flags->tokens[t].first;
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
    flags_find_rounds(&maker);
    TRY(flags_want_all(&maker));
    reduce(&maker);
    TRY(add_paces(&maker));
    number_registers(&maker);
    hook(flags);
    return STATUS_OK;
}

enum status kernel_flags_check(const struct kernel_plan *plan, const struct kernel_flags *flags,
                               struct error *error)
{
    const struct hardware *hw = plan->hw;
    for (int from = 0; from < hw->pipe_count; from++)
        for (int to = 0; to < hw->pipe_count; to++)
            if (flags->registers[from][to] > hardware_flags(hw, from, to))
                return error_set(error, STATUS_INVALID,
                                 "%d flag registers from %s to %s, %s has %d",
                                 flags->registers[from][to], hw->pipes[from].name,
                                 hw->pipes[to].name, hw->name, hardware_flags(hw, from, to));
    return STATUS_OK;
}
