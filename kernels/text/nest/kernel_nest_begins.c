/* Which prefixes of tilings there are. A value is asked of those rules only that name its axis, for
 * the others were asked of the values before; with a word all of them are, since it decides which
 * there are. So every rule is asked once all that it names is known, and the last answer is exact.
 */
#include "kernels/text/nest/kernel_nest.h"

#include <assert.h>

/* ------------------------------------------------------------------ boxes */

const struct nest_block *kernel_nest_block(const struct kernel_space *ks,
                                           const struct tiling *tiling)
{
    for (int b = 0; b < ks->nest->block_count; b++) {
        const struct nest_block *block = &ks->nest->blocks[b];
        unsigned axes = ks->block_axes;
        while (axes &&
               block->block->values[__builtin_ctz(axes)][0] == tiling->value[__builtin_ctz(axes)])
            axes &= axes - 1;
        if (!axes)
            return block;
    }
    return NULL;
}

void kernel_nest_box(const struct kernel_space *ks, const struct nest_block *block,
                     const struct tiling *tiling, int fixed, struct kernel_box *box)
{
    const struct space_block *values = block->block;
    box->values = &block->values;
    for (int a = 0; a < ks->kernel->axis_count; a++)
        box->axes[a] = a < fixed ? (struct span){tiling->value[a], tiling->value[a]}
                                 : (struct span){values->values[a][0],
                                                 values->values[a][values->count[a] - 1]};
}

void kernel_nest_choose(const struct kernel_space *ks, const struct nest_choice *choice,
                        struct kernel_box *box)
{
    for (unsigned axes = ks->word_axes; axes; axes &= axes - 1) {
        int a = __builtin_ctz(axes);
        box->axes[a] = (struct span){choice->words[a], choice->words[a]};
    }
}

bool kernel_nest_agrees(const struct kernel_space *ks, const struct nest_choice *choice,
                        const struct tiling *tiling, int fixed)
{
    assert(fixed >= 0);
    for (unsigned axes = ks->word_axes & ((1U << fixed) - 1); axes; axes &= axes - 1)
        if (choice->words[__builtin_ctz(axes)] != tiling->value[__builtin_ctz(axes)])
            return false;
    return true;
}

/* ------------------------------------------------------------------ prefixes */

static bool may_hold(const struct kernel_space *ks, const struct nest_block *block,
                     const struct nest_choice *choice, uint64_t rules, const struct kernel_box *box)
{
    for (; rules; rules &= rules - 1)
        if (kernel_nest_ask(ks, block, choice, &choice->rules[__builtin_ctzll(rules)], box) ==
            HOLDS_NEVER)
            return false;
    return true;
}

/* Is there a choice of which the rules that ask an axis may hold? */
static bool any_may(const struct kernel_space *ks, const struct nest_block *block,
                    const struct tiling *tiling, int axis, struct kernel_box *box)
{
    bool is_word = ks->word_axes >> axis & 1;
    for (int c = 0; c < block->choice_count; c++) {
        const struct nest_choice *choice = &block->choices[c];
        if (choice->agreed != c || !kernel_nest_agrees(ks, choice, tiling, axis + 1))
            continue;
        kernel_nest_choose(ks, choice, box);
        uint64_t all = choice->rule_count ? ~UINT64_C(0) >> (64 - choice->rule_count) : 0;
        if (may_hold(ks, block, choice, is_word ? all : choice->asking[axis], box))
            return true;
    }
    return false;
}

enum prefix_verdict kernel_nest_begins(const struct space *space, const struct tiling *tiling,
                                       int fixed)
{
    const struct kernel_space *ks = kernel_space_of(space);
    const struct nest_block *block = kernel_nest_block(ks, tiling);
    int axis = fixed - 1;
    struct kernel_box box;
    if (!block || !block->choice_count)
        return BEGINS_NOT;
    if (axis < 0 || !(ks->nest->open_axes >> axis & 1))
        return BEGINS_SOME;
    kernel_nest_box(ks, block, tiling, fixed, &box);
    if (any_may(ks, block, tiling, axis, &box))
        return BEGINS_SOME;
    if (ks->word_axes >> axis & 1)
        return BEGINS_NOT;
    box.axes[axis].most = block->block->values[axis][block->block->count[axis] - 1];
    return any_may(ks, block, tiling, axis, &box) ? BEGINS_NOT : BEGINS_NONE;
}
