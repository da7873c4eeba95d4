/* One of the tilings that mean the same kernel: words that make the same structure, and of sizes
 * and copies the least that do. A loop whose rounds are as long as all that it cuts has one round,
 * whatever more its axis says; and a tile that lives g times is in its first g copies only. */
#include "kernels/text/nest/kernel_nest.h"

/* The choice of a tiling; NULL: its structure cannot be. */
static const struct nest_choice *choice_of(const struct kernel_space *ks,
                                           const struct nest_block *block,
                                           const struct tiling *tiling)
{
    for (int c = 0; c < block->choice_count; c++)
        if (kernel_nest_agrees(ks, &block->choices[c], tiling, ks->kernel->axis_count))
            return &block->choices[c];
    return NULL;
}

/* The first of an axis's values that is not less; values that are on no axis stay. */
static int64_t first_from(const struct nest_block *block, int axis, int64_t value, int64_t most)
{
    const int64_t *values = block->block->values[axis];
    for (int i = 0; i < block->block->count[axis]; i++)
        if (values[i] >= value)
            return values[i] < most ? values[i] : most;
    return most;
}

/* Steps of loops in the order of the loops, outermost first, then copies: what loops cut and how
 * often tiles live is known then. It is the same before and after. */
static void shrink(const struct kernel_space *ks, const struct nest_block *block,
                   const struct nest_choice *choice, struct tiling *tiling)
{
    struct kernel_box box;
    for (int a = 0; a < ks->kernel->axis_count; a++) {
        if (!(choice->agreed_axes >> a & 1))
            continue;
        kernel_nest_box(ks, block, tiling, ks->kernel->axis_count, &box);
        struct span use = kernel_nest_use(choice, a, &box);
        tiling->value[a] = first_from(block, a, use.most, tiling->value[a]);
    }
}

void kernel_nest_agree(const struct space *space, struct tiling *tiling)
{
    const struct kernel_space *ks = kernel_space_of(space);
    const struct nest_block *block = kernel_nest_block(ks, tiling);
    const struct nest_choice *choice = block ? choice_of(ks, block, tiling) : NULL;
    if (!choice)
        return;
    choice = &block->choices[choice->agreed];
    for (int a = 0; a < ks->kernel->axis_count; a++)
        if (ks->word_axes >> a & 1)
            tiling->value[a] = choice->words[a];
    shrink(ks, block, choice, tiling);
}
