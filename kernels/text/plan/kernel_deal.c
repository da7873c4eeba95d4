/* Which rounds the vector cores beside a cube core deal out among themselves. A program of both
 * kinds of core is one text; what is on the vector cores all of them play, in step. The outermost
 * loops with nothing but such steps are dealt: each core plays as many consecutive rounds as the
 * first, the last ones fewer or none, and the program is that of the first. Of what is not dealt
 * all play all but the stores, which are the first one's; where nothing is dealt it is alone. That
 * needs rounds of their own: what one of them writes to a tile that outlives it, steps on these
 * cores use in rounds that are dealt alike only, since the others' buffers do not have it. */
#include "kernels/text/plan/kernel_structure.h"

#include <limits.h>

struct dealer {
    struct kernel_plan *plan;
    int least, most;             /* cores of the kinds that there are fewest and most of */
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
    return !is_scalar(d, step) && kind_of(d, step) == d->most;
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
        uint64_t asked = kernel_asked(plan->kernel, text->in->loops);
        if (plan_is_within(plan, inner, loop) &&
            (asks_round(text->in, text_loop) || asks_round(text->by, text_loop) ||
             (text->each && asked >> text_loop & 1))) /* what is in it may ask where it begins */
            return false;
    }
    return true;
}

/* Dimensions, bits, of which each round has another part, as ranges cut from the loop's do. */
static unsigned moving_dims(const struct plan_part *part, int text_loop)
{
    unsigned dims = 0;
    for (int d = 0; d < part->dim_count; d++)
        if (part->dims[d].reach == REACH_ROUND && part->dims[d].loops >> text_loop & 1)
            dims |= 1U << d;
    return dims;
}

static bool are_alike(const struct kernel_plan *plan, int a, int b)
{
    const struct kernel_loop *one = &plan->kernel->loops[plan->loops[a].text_loop],
                             *other = &plan->kernel->loops[plan->loops[b].text_loop];
    return kernel_is_same(one->in, other->in) && kernel_is_same(one->by, other->by);
}

/* Is the loop dealt alike whenever it runs in a life? So it is where nothing in the life changes
 * it, or only what its range is cut from: no later round of that is longer than the first. */
static bool is_steady(const struct kernel_plan *plan, int loop, int life)
{
    const struct kernel_text *kernel = plan->kernel;
    int text_loop = plan->loops[loop].text_loop;
    uint64_t around = 0;
    for (; life > 0; life = plan->loops[life].around)
        around |= (uint64_t)1 << plan->loops[life].text_loop;
    for (;; text_loop = (int)kernel->loops[text_loop].in->number) {
        const struct kernel_loop *text = &kernel->loops[text_loop];
        if (kernel_asked(kernel, text->by->loops) & ~around)
            return false;
        if (text->in->op != EXPRESSION_LOOP)
            return !(kernel_asked(kernel, text->in->loops) & ~around);
    }
}

/* The loop of a step that writes the tile, which outlives its rounds; 0: none. `is_anew`: does one
 * write in other rounds than the first? */
static int find_writers(const struct dealer *d, int tile, bool *is_anew)
{
    const struct kernel_plan *plan = d->plan;
    int found = 0;
    *is_anew = false;
    for (int s = 0; s < plan->step_count; s++) {
        int loop = d->loop_of[s];
        if (!loop || !plan->steps[s].part_count || plan->steps[s].parts[0].tile != tile ||
            plan_is_within(plan, plan->tiles[tile].life, loop))
            continue;
        *is_anew |= !(plan->steps[s].once >> plan->loops[loop].text_loop & 1);
        found = found ? found : loop;
    }
    return found;
}

/* Does each of these cores use what it wrote itself, in rounds dealt as those of loop `like`: the
 * same part whichever core it is or, where all write the same, all of it? */
static bool is_apart(const struct dealer *d, int tile, int like, bool is_anew)
{
    const struct kernel_plan *plan = d->plan;
    unsigned dims = UINT_MAX;
    for (int s = 0; s < plan->step_count; s++)
        for (int p = 0; p < plan->steps[s].part_count; p++) {
            const struct plan_part *part = &plan->steps[s].parts[p];
            int loop = d->loop_of[s];
            if (part->tile != tile || (!is_scalar(d, s) && kind_of(d, s) == d->least))
                continue;
            if (!loop || !are_alike(plan, loop, like))
                return false;
            dims &= moving_dims(part, plan->loops[loop].text_loop);
        }
    return (dims || !is_anew) && is_steady(plan, like, plan->tiles[tile].life);
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
        bool is_anew;
        int loop = d->plan->tiles[tile].is_there ? find_writers(d, tile, &is_anew) : 0;
        if (!loop || is_apart(d, tile, loop, is_anew))
            continue;
        set_loop(d, loop, false);
        tile = -1;
    }
}

static bool is_scratch(const struct kernel_plan *plan, int tile)
{
    return tile >= 0 && plan->hw->buffers[plan->tiles[tile].buffer].capacity_bytes == 0;
}

/* Does a step that is not dealt store scratch that such cores load? The first core alone stores
 * then, and nothing would order the others' loads. */
static bool is_passed_on(const struct dealer *d)
{
    const struct kernel_plan *plan = d->plan;
    for (int s = 0; s < plan->step_count; s++) {
        int tile = plan->steps[s].part_count ? plan->steps[s].parts[0].tile : -1;
        if (!is_of_several(d, s) || d->loop_of[s] || !is_scratch(plan, tile))
            continue;
        for (int o = 0; o < plan->step_count; o++)
            for (int p = 1; p < plan->steps[o].part_count && is_of_several(d, o); p++)
                if (plan->steps[o].parts[p].tile == tile)
                    return true;
    }
    return false;
}

void plan_deal(struct kernel_plan *plan)
{
    struct dealer d = {.plan = plan, .least = UINT8_MAX};
    for (int s = 0; s < plan->step_count; s++)
        if (!is_scalar(&d, s)) {
            d.least = kind_of(&d, s) < d.least ? kind_of(&d, s) : d.least;
            d.most = kind_of(&d, s) > d.most ? kind_of(&d, s) : d.most;
        }
    if (d.most <= d.least)
        return;
    for (int loop = 1; loop < plan->loop_count; loop++)
        if (!d.is_dealt[plan->loops[loop].around] && may_deal(&d, loop))
            set_loop(&d, loop, true);
        else
            d.is_dealt[loop] = d.is_dealt[plan->loops[loop].around];
    keep_apart(&d);
    if (is_passed_on(&d))
        return;
    plan->dealers = d.most / d.least;
    for (int s = 0; s < plan->step_count; s++)
        if (d.loop_of[s])
            plan->dealt |= (uint64_t)1 << plan->loops[d.loop_of[s]].text_loop;
}
