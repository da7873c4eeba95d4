/* Which rounds the vector cores beside a cube core deal out among themselves. A program of both
 * kinds of core is one text; what is on the vector cores all of them play, in step. The outermost
 * loops with nothing but such steps are dealt: each core plays an equal part of consecutive rounds,
 * and the program has the first and longest. That needs rounds of their own: what one of them
 * writes to a tile that outlives it, steps of the same kind read in rounds that are dealt alike
 * only, since the others' buffers do not have it. */
#include "kernels/text/plan/kernel_structure.h"

struct dealer {
    struct kernel_plan *plan;
    int least;                   /* cores of the kind that there are fewest of */
    int loop_of[PLAN_MAX_STEPS]; /* plan loop that is dealt around a step, 0: none */
    bool is_dealt[KERNEL_MAX_LOOPS + 1];
};

static int kind_of(const struct dealer *d, int step)
{
    return d->plan->hw->pipes[d->plan->steps[step].pipe].per_core;
}

static bool is_scalar(const struct dealer *d, int step)
{
    return d->plan->hw->pipes[d->plan->steps[step].pipe].blocks_dispatch;
}

static bool is_of_several(const struct dealer *d, int step)
{
    return !is_scalar(d, step) && kind_of(d, step) > d->least;
}

static bool asks_round(const struct expression *e, int text_loop)
{
    return e && e->loops >> text_loop & 1 && e->asks & (ASKS_ROUND | ASKS_BEGIN);
}

/* Could a core play some of the rounds, as if there were no others? */
static bool may_deal(const struct dealer *d, int loop)
{
    const struct kernel_plan *plan = d->plan;
    int text_loop = plan->loops[loop].text_loop;
    if (plan->kernel->loops[text_loop].each)
        return false;
    for (int s = plan->loops[loop].first_step; s < plan->loops[loop].end_step; s++) {
        const struct kernel_step *text = plan->steps[s].text;
        bool asks = asks_round(text->condition, text_loop);
        for (int k = 0; k < STEP_KEYS; k++)
            asks = asks || asks_round(text->keys[k], text_loop);
        if (asks || !is_of_several(d, s))
            return false;
    }
    for (int inner = loop + 1; inner < plan->loop_count; inner++) {
        const struct kernel_loop *text = &plan->kernel->loops[plan->loops[inner].text_loop];
        if (plan_is_within(plan, inner, loop) &&
            (asks_round(text->in, text_loop) || asks_round(text->by, text_loop)))
            return false;
    }
    return true;
}

/* Does the part differ from round to round, as ranges cut from the loop's do? */
static bool moves_with(const struct plan_part *part, int text_loop)
{
    for (int d = 0; d < part->dim_count; d++)
        if (part->dims[d].reach == REACH_ROUND && part->dims[d].loops >> text_loop & 1)
            return true;
    return false;
}

static bool are_alike(const struct kernel_plan *plan, int a, int b)
{
    const struct kernel_loop *one = &plan->kernel->loops[plan->loops[a].text_loop],
                             *other = &plan->kernel->loops[plan->loops[b].text_loop];
    return kernel_is_same(one->in, other->in) && kernel_is_same(one->by, other->by);
}

static bool outlives(const struct kernel_plan *plan, int tile, int loop)
{
    return !plan_is_within(plan, plan->tiles[tile].life, loop);
}

/* A step that writes its own rounds' part of a tile that outlives them; -1: none. */
static int dealt_writer(const struct dealer *d, int tile)
{
    const struct kernel_plan *plan = d->plan;
    for (int s = 0; s < plan->step_count; s++) {
        int loop = d->loop_of[s];
        if (loop && plan->steps[s].part_count && plan->steps[s].parts[0].tile == tile &&
            outlives(plan, tile, loop) && !(plan->steps[s].once >> plan->loops[loop].text_loop & 1))
            return s;
    }
    return -1;
}

/* Do all steps on these cores that use the tile use the same part of it, whichever core it is? */
static bool is_apart(const struct dealer *d, int tile, int like)
{
    const struct kernel_plan *plan = d->plan;
    for (int s = 0; s < plan->step_count; s++)
        for (int p = 0; p < plan->steps[s].part_count && is_of_several(d, s); p++)
            if (plan->steps[s].parts[p].tile == tile &&
                (!d->loop_of[s] || !are_alike(plan, d->loop_of[s], like) ||
                 !moves_with(&plan->steps[s].parts[p], plan->loops[d->loop_of[s]].text_loop)))
                return false;
    return true;
}

static void set_loop(struct dealer *d, int loop, bool is_dealt)
{
    d->is_dealt[loop] = is_dealt;
    for (int s = d->plan->loops[loop].first_step; s < d->plan->loops[loop].end_step; s++)
        d->loop_of[s] = is_dealt ? loop : 0;
}

/* One that may not be dealt may make others of those that use its tiles: until none does. */
static void keep_apart(struct dealer *d)
{
    for (int tile = 0; tile < d->plan->kernel->tile_count; tile++) {
        int writer = d->plan->tiles[tile].is_there ? dealt_writer(d, tile) : -1;
        if (writer < 0 || is_apart(d, tile, d->loop_of[writer]))
            continue;
        set_loop(d, d->loop_of[writer], false);
        tile = -1;
    }
}

void plan_deal(struct kernel_plan *plan)
{
    struct dealer d = {.plan = plan, .least = UINT8_MAX};
    int most = 0;
    for (int s = 0; s < plan->step_count; s++)
        if (!is_scalar(&d, s)) {
            d.least = kind_of(&d, s) < d.least ? kind_of(&d, s) : d.least;
            most = kind_of(&d, s) > most ? kind_of(&d, s) : most;
        }
    if (most <= d.least)
        return;
    for (int loop = 1; loop < plan->loop_count; loop++)
        if (!d.is_dealt[plan->loops[loop].around] && may_deal(&d, loop))
            set_loop(&d, loop, true);
        else
            d.is_dealt[loop] = d.is_dealt[plan->loops[loop].around];
    keep_apart(&d);
    plan->dealers = most / d.least;
    for (int s = 0; s < plan->step_count; s++)
        if (d.loop_of[s])
            plan->dealt |= (uint64_t)1 << plan->loops[d.loop_of[s]].text_loop;
}
