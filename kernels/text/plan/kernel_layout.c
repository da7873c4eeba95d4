/* How tiles lie. A tile is a grid of blocks, one row of blocks after the other, and a block lies
 * row by row. Blocks are as small as every part of the tile lies in one of them: cut by the
 * coarsest of all loops that cut parts, where these are cut from each other or are cut alike, else
 * the whole. What of a block is no piece is read and written with strides, by instructions that
 * take them (kernel_operand.c). */
#include "kernels/text/plan/kernel_structure.h"

/* The loop among those that `loop` is cut from, and itself, that has the rounds of `block`; -1. */
int plan_block_loop(const struct kernel_plan *plan, int loop, int block)
{
    uint64_t same = plan->chains[loop] & plan->alike[block];
    return same ? __builtin_ctzll(same) : -1;
}

static bool is_alike(const struct kernel_values *values, const struct kernel_plan *plan, int a,
                     int b)
{
    const struct kernel_loop *loops = plan->kernel->loops;
    const struct expression *in_a, *in_b;
    if (a == b)
        return true;
    if (plan_chosen(values, loops[a].in, &in_a, NULL) != STATUS_OK ||
        plan_chosen(values, loops[b].in, &in_b, NULL) != STATUS_OK ||
        !kernel_is_same(loops[a].by, loops[b].by))
        return false;
    if (in_a->op == EXPRESSION_LOOP && in_b->op == EXPRESSION_LOOP)
        return plan->alike[in_a->number] >> in_b->number & 1;
    return kernel_is_same(in_a, in_b);
}

enum { BLOCK_UNKNOWN = -2, BLOCK_ALL = -1 };

static void coarsen(const struct kernel_plan *plan, const struct plan_dim *dim, int *block)
{
    bool is_round = dim->reach == REACH_ROUND && *block != BLOCK_ALL;
    if (is_round && (*block == BLOCK_UNKNOWN || plan_block_loop(plan, *block, dim->loop) >= 0))
        *block = dim->loop;
    else if (!is_round || plan_block_loop(plan, dim->loop, *block) < 0)
        *block = BLOCK_ALL;
}

static void find_blocks(struct kernel_plan *plan, int number)
{
    for (int d = 0; d < plan->tiles[number].dim_count; d++) {
        int *block = &plan->tiles[number].block[d];
        *block = BLOCK_UNKNOWN;
        for (int s = 0; s < plan->step_count; s++)
            for (int p = 0; p < plan->steps[s].part_count; p++)
                if (plan->steps[s].parts[p].tile == number)
                    coarsen(plan, &plan->steps[s].parts[p].dims[d], block);
        if (*block == BLOCK_UNKNOWN)
            *block = BLOCK_ALL;
    }
}

enum status plan_find_layout(const struct kernel_values *values, struct kernel_plan *plan,
                             struct error *error)
{
    int loops = plan->kernel->loop_count;
    for (int loop = 0; loop < loops; loop++) {
        TRY(plan_chain(values, loop, &plan->chains[loop], error));
        for (int other = 0; other <= loop; other++)
            if (is_alike(values, plan, loop, other)) {
                plan->alike[loop] |= (uint64_t)1 << other;
                plan->alike[other] |= (uint64_t)1 << loop;
            }
    }
    for (int tile = 0; tile < plan->kernel->tile_count; tile++)
        find_blocks(plan, tile);
    return STATUS_OK;
}

/* ------------------------------------------------------------------ strides */

/* How a part lies in a dimension of its block. */
static bool is_one(const struct kernel_plan *plan, const struct plan_dim *dim)
{
    const struct expression *by =
        dim->reach == REACH_ROUND ? plan->kernel->loops[dim->loop].by : dim->count;
    return dim->reach == REACH_ONE ||
           (by && by->op == EXPRESSION_NUMBER && by->number == 1 && dim->reach != REACH_ALL);
}

static bool is_whole(const struct kernel_plan *plan, const struct plan_tile *tile,
                     const struct plan_dim *dim, int d, bool has_room)
{
    if (dim->reach == REACH_ALL)
        return has_room || tile->dims[d]->op != EXPRESSION_UP;
    return dim->reach == REACH_ROUND && tile->block[d] >= 0 &&
           plan->alike[tile->block[d]] >> dim->loop & 1;
}

int plan_strides(const struct kernel_plan *plan, int step, int number)
{
    const struct plan_part *part = &plan->steps[step].parts[number];
    const struct plan_tile *tile = &plan->tiles[part->tile];
    bool has_room = plan->steps[step].kind == INSTRUCTION_MATRIX, is_apart = false;
    int strides = 0;
    for (int d = part->dim_count - 1; d >= 0; d--) {
        const struct plan_dim *dim = &part->dims[d];
        bool whole = is_whole(plan, tile, dim, d, has_room);
        if (is_one(plan, dim)) {
            is_apart |= !whole;
            continue;
        }
        strides += is_apart || dim->by;
        is_apart = !whole;
    }
    return strides;
}
