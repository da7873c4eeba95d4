/* Latencies in chains. Where two instructions follow each other in a chain that are on different
 * pipes, the second one waits for the result of the first. A gap is told by its second step where
 * all that may stand before that are on other pipes, else by its first one where all that may stand
 * behind are, and none of these tells it. What may stand there is found by going through the nest,
 * onwards or backwards, round the loops and out of them. */
#include "kernels/text/bounds/kernel_work_parts.h"

#include <string.h>

struct search {
    const struct kernel_plan *plan;
    const struct work_chains *chains;
    int chain, direction; /* 1: onwards, -1: backwards */
    bool met[PLAN_MAX_STEPS];
};

/* Is there always a round: is a size cut, or a range? */
static bool has_rounds(const struct search *s, int loop)
{
    enum expression_op op = s->plan->kernel->loops[s->plan->loops[loop].text_loop].in->op;
    return op == EXPRESSION_SIZE || op == EXPRESSION_LOOP;
}

static int end_item(const struct search *s, int loop)
{
    const struct plan_loop *body = &s->plan->loops[loop];
    return s->direction > 0 ? body->first_item : body->first_item + body->item_count - 1;
}

/* Goes through a body from an item on. Does a step of the chain run there in every round? */
static bool go(struct search *s, int loop, int i)
{
    const struct plan_loop *body = &s->plan->loops[loop];
    for (; i >= body->first_item && i < body->first_item + body->item_count; i += s->direction) {
        int number = s->plan->items[i].number;
        if (s->plan->items[i].is_loop) {
            if (go(s, number, end_item(s, number)) && has_rounds(s, number))
                return true;
        } else if (s->chains->chains_of[number] >> s->chain & 1) {
            s->met[number] = true;
            if (!s->plan->steps[number].condition && !s->plan->steps[number].once &&
                !s->plan->steps[number].share)
                return true;
        }
    }
    return false;
}

static int item_of(const struct kernel_plan *plan, int loop, bool is_loop, int number)
{
    int i = plan->loops[loop].first_item;
    while (plan->items[i].is_loop != is_loop || plan->items[i].number != number)
        i++;
    return i;
}

/* What may be next to a step: further in its body, in the next round, or outside. */
static void find_next(struct search *s, int step)
{
    int loop = s->plan->steps[step].around, i = item_of(s->plan, loop, false, step);
    memset(s->met, 0, sizeof s->met);
    while (!go(s, loop, i + s->direction) && loop > 0) {
        go(s, loop, end_item(s, loop));
        i = item_of(s->plan, s->plan->loops[loop].around, true, loop);
        loop = s->plan->loops[loop].around;
    }
}

static double latency_fs(const struct search *s, int step)
{
    return (double)s->plan->hw->prices[s->plan->steps[step].price].latency_fs;
}

/* The least latency of what stands before a step; 0: of its own pipe, or nothing does. */
static double gap_before(struct search *s, int step)
{
    double least_fs = 0;
    bool any = false, others = true;
    s->direction = -1;
    find_next(s, step);
    for (int m = 0; m < s->plan->step_count; m++) {
        if (!s->met[m])
            continue;
        others &= s->plan->steps[m].pipe != s->plan->steps[step].pipe;
        least_fs = !any || latency_fs(s, m) < least_fs ? latency_fs(s, m) : least_fs;
        any = true;
    }
    return others ? least_fs : 0;
}

static double gap_behind(struct search *s, int step, const bool tells[PLAN_MAX_STEPS])
{
    bool any = false, others = true;
    s->direction = 1;
    find_next(s, step);
    for (int m = 0; m < s->plan->step_count; m++) {
        any |= s->met[m];
        others &= !s->met[m] || (!tells[m] && s->plan->steps[m].pipe != s->plan->steps[step].pipe);
    }
    return any && others ? latency_fs(s, step) : 0;
}

static void find_in_chain(struct search *s, struct work_chains *chains)
{
    bool tells[PLAN_MAX_STEPS] = {false};
    for (int step = 0; step < s->plan->step_count; step++)
        if (chains->chains_of[step] >> s->chain & 1) {
            chains->gap_fs[s->chain][step] = gap_before(s, step);
            tells[step] = chains->gap_fs[s->chain][step] > 0;
        }
    for (int step = 0; step < s->plan->step_count; step++)
        if (chains->chains_of[step] >> s->chain & 1)
            chains->gap_fs[s->chain][step] += gap_behind(s, step, tells);
    for (int step = 0; step < s->plan->step_count; step++)
        chains->has_gaps |= chains->gap_fs[s->chain][step] > 0;
}

void work_find_gaps(struct kernel_work *work, enum work_variant variant)
{
    struct work_chains *chains = &work->chains[variant];
    struct search search = {.plan = work->plan, .chains = chains};
    for (search.chain = 0; !work->has_stages && search.chain < chains->layout.chain_count - 1;
         search.chain++)
        find_in_chain(&search, chains);
}
