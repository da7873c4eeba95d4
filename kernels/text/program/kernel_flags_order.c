/* What tokens and the order of pipes put in order: a search over tokens for a way from one pipe to
 * another. Places are counted in rounds of one loop (`level`) and in items of its body; within an
 * item by numbers of steps, and first and last rounds of the loops around them. A way
 * passes rounds between those of its ends alone, which are there whenever the ends are, and tokens
 * alone that are there whenever the ends matter. */
#include "kernels/text/plan/kernel_structure.h"
#include "kernels/text/program/kernel_flags_internal.h"

#include <limits.h>

/* Somewhere on a pipe. */
struct event {
    int pipe, round;
    struct flag_spot spot;
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

/* ------------------------------------------------------------------ spots */

static struct flag_spot spot_of(const struct flag_maker *maker, const struct kernel_token *token,
                                int step, const struct flag_place *place, int beside)
{
    struct flag_spot spot = {flags_item_in(maker->plan, maker->flags, token->level, step), beside,
                             0, 0};
    uint64_t inside = flags_loops(maker, maker->plan->steps[step].around, token->level);
    if (place->item != spot.item || spot.item == maker->flags->step_item[step])
        spot = (struct flag_spot){spot.item, RANK_OF(step), place->first & inside,
                                  place->last & inside};
    return spot;
}

/* What paces a token is set at that one's wait. */
struct flag_spot flags_set_spot(const struct flag_maker *maker, const struct kernel_token *token)
{
    struct flag_spot spot =
        spot_of(maker, token, token->src, &token->set, token->is_pace ? RANK_BEFORE : RANK_AFTER);
    spot.rank -= token->is_pace && spot.rank > RANK_BEFORE;
    return spot;
}

struct flag_spot flags_wait_spot(const struct flag_maker *maker, const struct kernel_token *token)
{
    return spot_of(maker, token, token->dst, &token->wait, RANK_BEFORE);
}

struct flag_spot flags_src_spot(const struct flag_maker *maker, const struct kernel_token *token)
{
    uint64_t inside = flags_loops(maker, maker->plan->steps[token->src].around, token->level);
    return (struct flag_spot){flags_item_in(maker->plan, maker->flags, token->level, token->src),
                              RANK_OF(token->src), inside & token->set.first,
                              inside & ~token->set.first};
}

struct flag_spot flags_dst_spot(const struct flag_maker *maker, const struct kernel_token *token)
{
    uint64_t inside = flags_loops(maker, maker->plan->steps[token->dst].around, token->level);
    return (struct flag_spot){flags_item_in(maker->plan, maker->flags, token->level, token->dst),
                              RANK_OF(token->dst), inside & ~token->wait.last,
                              inside & token->wait.last};
}

/* In the rounds of all loops around both, whose bodies may run them at different stages. */
static bool step_precedes(const struct kernel_plan *plan, int a, int b)
{
    int loop_a = plan->steps[a].around, loop_b = plan->steps[b].around;
    int stage_a = plan->steps[a].stage, stage_b = plan->steps[b].stage;
    while (loop_a != loop_b) {
        bool climbs = plan->loops[loop_a].depth >= plan->loops[loop_b].depth;
        int *loop = climbs ? &loop_a : &loop_b, *stage = climbs ? &stage_a : &stage_b;
        *stage = plan->loops[*loop].stage;
        *loop = plan->loops[*loop].around;
    }
    return stage_a != stage_b ? stage_a < stage_b : a < b;
}

static bool rank_precedes(const struct kernel_plan *plan, int rank, int other)
{
    bool whole =
        rank == RANK_BEFORE || rank == RANK_AFTER || other == RANK_BEFORE || other == RANK_AFTER;
    return whole || rank / 2 == other / 2 ? rank <= other
                                          : step_precedes(plan, rank / 2, other / 2);
}

bool flags_spot_precedes(const struct kernel_plan *plan, const struct flag_spot *spot,
                         const struct flag_spot *other)
{
    if (spot->item != other->item)
        return flags_runs_before(plan, spot->item, other->item);
    return !(spot->last & other->first) && rank_precedes(plan, spot->rank, other->rank);
}

static bool precedes(const struct kernel_plan *plan, const struct event *a, const struct event *b)
{
    if (a->round > b->round)
        return false;
    const struct flag_spot *one = &a->spot, *two = &b->spot;
    int at = a->round + plan->items[one->item].stage;
    int other = b->round + plan->items[two->item].stage;
    if (at != other)
        return at < other;
    return one->item != two->item ? one->item < two->item : flags_spot_precedes(plan, one, two);
}

/* ------------------------------------------------------------------ ways */

/* A token of a loop inside an item of the level: within its own rounds, those of `at` where that
 * is in them, or from the last of a run of its loop to the first of the next one. */
static bool link_inner(const struct flag_maker *maker, const struct flag_order *order,
                       const struct kernel_token *token, const struct event *at, struct link *link)
{
    const struct kernel_plan *plan = maker->plan;
    int item = flags_item_in(plan, maker->flags, order->level, token->src);
    if ((item != order->src.item && item != order->dst.item) || flags_has_stages(plan, item) ||
        token->first_only || token->last_only || token->is_early || token->is_late)
        return false;
    uint64_t around = flags_loops(maker, token->level, order->level);
    uint64_t first = at->spot.first & around, last = at->spot.last & around;
    struct flag_spot set = flags_src_spot(maker, token), wait = flags_dst_spot(maker, token);
    link->set =
        (struct event){token->from, 0, {item, set.rank, set.first | first, set.last | last}};
    link->wait =
        (struct event){token->to, 0, {item, wait.rank, wait.first | first, wait.last | last}};
    link->distance = 0;
    if (token->distance == 0)
        return true;
    link->set.spot.last |= around;
    link->wait.spot.last = 0;
    if (!token->by_slot || token->tile < 0)
        return false;
    const struct plan_tile *tile = &plan->tiles[token->tile];
    link->distance = order->level == tile->life ? (int)tile->copies : 1;
    return order->level >= tile->life && plan_is_within(plan, order->level, tile->life)
               ? true
               : tile->copies == 1;
}

static bool link_of(const struct flag_maker *maker, const struct flag_order *order, int number,
                    const struct event *at, struct link *link)
{
    const struct kernel_token *token = &maker->flags->tokens[number];
    if (maker->gone[number] || number == order->without ||
        (token->is_optional && (token->tile != order->reloaded || token->level != order->level)))
        return false;
    if (token->level != order->level)
        return plan_is_within(maker->plan, token->level, order->level) &&
               link_inner(maker, order, token, at, link);
    if (token->first_only & ~order->first || token->last_only & ~order->last)
        return false;
    link->set = (struct event){token->from, 0, flags_set_spot(maker, token)};
    link->wait = (struct event){token->to, 0, flags_wait_spot(maker, token)};
    link->distance = token->distance;
    return true;
}

static bool blocks(const struct flag_maker *maker, int pipe)
{
    return maker->plan->hw->pipes[pipe].blocks_dispatch;
}

/* Follows a token from an event: whether it leads to an earlier round than was known. */
static bool follow(const struct flag_maker *maker, const struct flag_order *order,
                   const struct event *at, struct link *link, struct event *wait)
{
    if (link->set.pipe != at->pipe && !blocks(maker, at->pipe))
        return false;
    for (int r = at->round; r + link->distance <= order->distance; r++) {
        link->set.round = r;
        if (!precedes(maker->plan, at, &link->set))
            continue;
        if (r + link->distance >= wait->round)
            return false;
        *wait = link->wait;
        wait->round = r + link->distance;
        return true;
    }
    return false;
}

bool flags_is_ordered(const struct flag_maker *maker, const struct flag_order *order)
{
    struct event waits[FLAGS_MAX_TOKENS]; /* the earliest that was found */
    int queue[FLAGS_MAX_TOKENS * 4], count = 0;
    const struct event end = {order->to, order->distance, order->dst};
    for (int t = 0; t < maker->flags->token_count; t++)
        waits[t].round = INT_MAX;
    for (int next = -1; next < count; next++) {
        struct event at = {order->from, 0, order->src};
        struct link link = {0};
        if (next >= 0)
            at = waits[queue[next]];
        if ((at.pipe == end.pipe || blocks(maker, at.pipe)) && precedes(maker->plan, &at, &end))
            return true;
        for (int t = 0; t < maker->flags->token_count && count < FLAGS_MAX_TOKENS * 4; t++)
            if (link_of(maker, order, t, &at, &link) && follow(maker, order, &at, &link, &waits[t]))
                queue[count++] = t;
    }
    return false;
}
