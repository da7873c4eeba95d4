/* How many legal tilings begin so, without listing them. Rules that hold for all that is open are
 * left out; what is open falls into groups of axes that no rule binds together, whose counts
 * multiply; a group is split by the values of the axis that most rules ask (AND/OR search, Dechter
 * and Mateescu 2007). */
#include "core/stop.h"
#include "kernels/text/nest/kernel_nest.h"

#include <assert.h>

struct counter {
    const struct space *space;
    const struct kernel_space *ks;
    const struct nest_block *block;
    const struct nest_choice *choice;
    struct kernel_box box;
};

static int64_t count_group(struct counter *c, uint64_t rules, unsigned axes);

/* Those of the rules that hold sometimes; false: one never does. */
static bool ask_all(const struct counter *c, uint64_t *rules)
{
    uint64_t left = 0;
    for (uint64_t r = *rules; r; r &= r - 1) {
        int rule = __builtin_ctzll(r);
        enum verdict verdict =
            kernel_nest_ask(c->ks, c->block, c->choice, &c->choice->rules[rule], &c->box);
        if (verdict == HOLDS_NEVER)
            return false;
        left |= verdict == HOLDS_SOMETIMES ? UINT64_C(1) << rule : 0;
    }
    *rules = left;
    return true;
}

/* All that rules bind to an axis, step by step; *rules: those that do. */
static unsigned group_of(const struct counter *c, unsigned axis, unsigned open, uint64_t all,
                         uint64_t *rules)
{
    unsigned group = axis, before = 0;
    *rules = 0;
    while (group != before) {
        before = group;
        for (uint64_t r = all & ~*rules; r; r &= r - 1) {
            int rule = __builtin_ctzll(r);
            if (!(c->choice->rules[rule].axes & group))
                continue;
            group |= c->choice->rules[rule].axes & open;
            *rules |= UINT64_C(1) << rule;
        }
    }
    return group;
}

/* All open axes, with the rules that are left. */
static int64_t count_open(struct counter *c, uint64_t rules, unsigned open)
{
    int64_t count = 1;
    if (!ask_all(c, &rules))
        return 0;
    while (open && count) {
        uint64_t bound;
        unsigned group = group_of(c, open & -open, open, rules, &bound);
        count *= bound ? count_group(c, bound, group) : c->block->block->count[__builtin_ctz(open)];
        open &= ~group;
        rules &= ~bound;
    }
    return count;
}

static int busiest(const struct counter *c, uint64_t rules, unsigned axes)
{
    int best = -1, most = 0;
    for (; axes; axes &= axes - 1) {
        int axis = __builtin_ctz(axes);
        int asking = __builtin_popcountll(c->choice->asking[axis] & rules);
        if (asking > most) {
            most = asking;
            best = axis;
        }
    }
    return best;
}

static int64_t count_group(struct counter *c, uint64_t rules, unsigned axes)
{
    int axis = busiest(c, rules, axes);
    assert(axis >= 0);
    const struct span all = c->box.axes[axis];
    const int64_t *values = c->block->block->values[axis];
    int64_t count = 0;
    for (int i = 0; i < c->block->block->count[axis] && !stop_due(c->space->stop); i++) {
        c->box.axes[axis] = (struct span){values[i], values[i]};
        count += count_open(c, rules, axes & ~(1U << axis));
    }
    c->box.axes[axis] = all;
    return count;
}

int64_t kernel_nest_leaf_count(const struct space *space, const struct tiling *tiling, int fixed)
{
    const struct kernel_space *ks = kernel_space_of(space);
    struct counter c = {.space = space, .ks = ks, .block = kernel_nest_block(ks, tiling)};
    int64_t count = 0;
    if (!c.block)
        return 0;
    unsigned open = ks->nest->open_axes & ~ks->word_axes & ~((1U << fixed) - 1);
    kernel_nest_box(ks, c.block, tiling, fixed, &c.box);
    for (int i = 0; i < c.block->choice_count; i++) {
        c.choice = &c.block->choices[i];
        if (c.choice->agreed != i || !kernel_nest_agrees(ks, c.choice, tiling, fixed))
            continue;
        kernel_nest_choose(ks, c.choice, &c.box);
        uint64_t rules = c.choice->rule_count ? ~UINT64_C(0) >> (64 - c.choice->rule_count) : 0;
        count += count_open(&c, rules, open);
    }
    return count;
}

bool kernel_nest_alike(const struct space *space, const struct tiling *a, const struct tiling *b)
{
    (void)space;
    (void)a;
    (void)b;
    return false;
}
