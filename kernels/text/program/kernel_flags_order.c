/* What tokens and the order of pipes put in order: a search over tokens for a way from one pipe to
 * another. Places are counted in rounds of one loop (`level`) and in items of its body; within an
 * item by numbers of steps, of a set as it stands in last rounds and of a wait in first ones. A way
 * passes rounds between those of its ends alone, which are there whenever the ends are, and tokens
 * alone that are there whenever the ends matter. */
#include "kernels/text/plan/kernel_structure.h"
#include "kernels/text/program/kernel_flags_internal.h"

#include <limits.h>

/* Somewhere on a pipe. */
struct event {
    int pipe, round, item, rank;
};

/* A token as the level sees it. */
struct link {
    int distance;
    struct event set, wait; /* of round 0 */
};

int flags_item_in(const struct kernel_plan *plan, const struct kernel_flags *flags, int loop,
                  int step)
{
    int inner = plan->steps[step].around;
    if (inner == loop)
        return flags->step_item[step];
    while (plan->loops[inner].around != loop)
        inner = plan->loops[inner].around;
    return flags->loop_item[inner];
}

bool flags_has_stages(const struct kernel_plan *plan, int item)
{
    if (!plan->items[item].is_loop)
        return false;
    int loop = plan->items[item].number;
    for (int inner = loop; inner < plan->loop_count; inner++)
        if (plan->loops[inner].last_stage > 0 && plan_is_within(plan, inner, loop))
            return true;
    return false;
}

bool flags_runs_before(const struct kernel_plan *plan, int item, int other)
{
    int stage = plan->items[item].stage, other_stage = plan->items[other].stage;
    return stage != other_stage ? stage < other_stage : item < other;
}

int flags_set_rank(const struct flag_maker *maker, const struct kernel_token *token)
{
    return token->set.item == maker->flags->step_item[token->src] ? token->src : RANK_AFTER;
}

int flags_wait_rank(const struct flag_maker *maker, const struct kernel_token *token)
{
    return token->wait.item == maker->flags->step_item[token->dst] ? token->dst : RANK_BEFORE;
}

static bool precedes(const struct kernel_plan *plan, const struct event *a, const struct event *b)
{
    if (a->round > b->round)
        return false;
    int at = a->round + plan->items[a->item].stage, other = b->round + plan->items[b->item].stage;
    if (at != other)
        return at < other;
    return a->item != b->item ? a->item < b->item : a->rank <= b->rank;
}

/* A token of a loop inside an item of the level: within its own rounds, or from the last of a run
 * of its loop to the first of the next one. */
static bool link_inner(const struct flag_maker *maker, const struct flag_order *order,
                       const struct kernel_token *token, struct link *link)
{
    const struct kernel_plan *plan = maker->plan;
    int item = flags_item_in(plan, maker->flags, order->level, token->src);
    if ((item != order->src_item && item != order->dst_item) || flags_has_stages(plan, item) ||
        token->first_only || token->last_only || token->is_early || token->is_late)
        return false;
    link->set = (struct event){token->from, 0, item, token->src};
    link->wait = (struct event){token->to, 0, item, token->dst};
    link->distance = 0;
    if (token->distance == 0)
        return true;
    if (!token->by_slot || token->tile < 0)
        return false;
    const struct plan_tile *tile = &plan->tiles[token->tile];
    link->distance = order->level == tile->life ? (int)tile->copies : 1;
    return order->level >= tile->life && plan_is_within(plan, order->level, tile->life)
               ? true
               : tile->copies == 1;
}

static bool link_of(const struct flag_maker *maker, const struct flag_order *order, int number,
                    struct link *link)
{
    const struct kernel_token *token = &maker->flags->tokens[number];
    if (maker->gone[number] || number == order->without ||
        (token->is_optional && (token->tile != order->reloaded || token->level != order->level)))
        return false;
    if (token->level != order->level)
        return plan_is_within(maker->plan, token->level, order->level) &&
               link_inner(maker, order, token, link);
    if (token->first_only & ~order->first || token->last_only & ~order->last)
        return false;
    int set = flags_item_in(maker->plan, maker->flags, order->level, token->src);
    int wait = flags_item_in(maker->plan, maker->flags, order->level, token->dst);
    link->set = (struct event){token->from, 0, set, flags_set_rank(maker, token)};
    link->wait = (struct event){token->to, 0, wait, flags_wait_rank(maker, token)};
    if (token->is_pace) /* its set stands at the wait of what it paces */
        link->set.rank = link->set.rank == RANK_AFTER ? RANK_BEFORE : link->set.rank - 1;
    if (token->is_early)
        link->set.rank = RANK_BEFORE;
    if (token->is_late)
        link->wait.rank = RANK_AFTER;
    link->distance = token->distance;
    return true;
}

static bool blocks(const struct flag_maker *maker, int pipe)
{
    return maker->plan->hw->pipes[pipe].blocks_dispatch;
}

/* Follows a token from an event: whether it leads to an earlier round than was known. */
static bool follow(const struct flag_maker *maker, const struct flag_order *order,
                   const struct event *at, struct link *link, int *round)
{
    if (link->set.pipe != at->pipe && !blocks(maker, at->pipe))
        return false;
    for (int r = at->round; r + link->distance <= order->distance; r++) {
        link->set.round = r;
        if (!precedes(maker->plan, at, &link->set))
            continue;
        if (r + link->distance >= *round)
            return false;
        *round = r + link->distance;
        return true;
    }
    return false;
}

bool flags_is_ordered(const struct flag_maker *maker, const struct flag_order *order)
{
    int rounds[FLAGS_MAX_TOKENS], queue[FLAGS_MAX_TOKENS * 4], count = 0;
    const struct event end = {order->to, order->distance, order->dst_item, order->dst_rank};
    struct event at = {order->from, 0, order->src_item, order->src_rank};
    for (int t = 0; t < maker->flags->token_count; t++)
        rounds[t] = INT_MAX;
    for (int next = -1; next < count; next++) {
        struct link link = {0};
        if (next >= 0) {
            link_of(maker, order, queue[next], &link);
            at = link.wait;
            at.round = rounds[queue[next]];
        }
        if ((at.pipe == end.pipe || blocks(maker, at.pipe)) && precedes(maker->plan, &at, &end))
            return true;
        for (int t = 0; t < maker->flags->token_count && count < FLAGS_MAX_TOKENS * 4; t++)
            if (link_of(maker, order, t, &link) && follow(maker, order, &at, &link, &rounds[t]))
                queue[count++] = t;
    }
    return false;
}
