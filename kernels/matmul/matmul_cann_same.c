/* Which sizes mean the same kernels (docs/ranges.md).
 *
 * A whole problem sees a size padded to blocks, and as the pitch of the operands whose rows lie
 * along it: of a pitch the power of two that divides it counts, and whether it is 64 bytes. What
 * begins with given blocks sees even less of it: how many blocks there are. */
#include "core/least.h"
#include "kernels/limits.h"
#include "kernels/matmul/matmul_cann_nesting.h"

#include <string.h>

/* ---- of whole problems ---------------------------------------------------------------------- */

static bool is_power_of_two(int64_t value)
{
    return value > 0 && (value & (value - 1)) == 0;
}

/* Rows of this many elements in place of those that *layout says. */
static struct cann with_rows(const struct cann *cann, enum cann_direction direction, int64_t length)
{
    struct cann other = *cann;
    for (int o = 0; o < CANN_OPERANDS; o++) {
        struct cann_layout *layout = &other.layout[o];
        int64_t bytes[] = {cann->machine.type_bytes, cann->machine.type_bytes,
                           cann->machine.out_bytes, cann->machine.accumulator_bytes};
        if (layout->unit == 1 && layout->inner == direction)
            layout->pitch_bytes = product_of(length, bytes[o]);
    }
    other.size[direction] =
        round_up(length, direction == CANN_K ? cann->machine.block_k : cann->machine.block_mn);
    return other;
}

/* All that is asked of pitches (matmul_cann_plan.c). */
static bool same_pitches(const struct cann *a, const struct cann *b)
{
    for (int o = 0; o < CANN_OPERANDS; o++) {
        int64_t pitch = a->layout[o].pitch_bytes, other = b->layout[o].pitch_bytes;
        if (cann_alignment(a, (enum cann_operand)o) != cann_alignment(b, (enum cann_operand)o) ||
            (pitch % 64 == 0) != (other % 64 == 0) || (pitch < 64) != (other < 64))
            return false;
    }
    return true;
}

static bool has_rows(const struct cann *cann, enum cann_direction direction)
{
    for (int o = 0; o < CANN_OPERANDS; o++)
        if (cann->layout[o].unit == 1 && cann->layout[o].inner == direction)
            return true;
    return false;
}

/* The padded size, and where rows lie along it the largest one in the same block that the same
 * power of two divides. */
int64_t cann_size_class(const struct space *space, const struct problem *problem, int size,
                        int64_t value)
{
    static const enum cann_direction directions[] = {
        [MATMUL_M] = CANN_M, [MATMUL_K] = CANN_K, [MATMUL_N] = CANN_N, [MATMUL_BATCH] = CANN_BATCH};
    const struct cann *cann = cann_of(space);
    enum cann_direction direction = directions[size];
    int64_t block = direction == CANN_K ? cann->machine.block_k : cann->machine.block_mn;
    (void)problem;
    if (direction == CANN_BATCH)
        return value;
    int64_t padded = round_up(value, block), bit = value & -value;
    if (!has_rows(cann, direction) || value == padded)
        return padded;
    if (!is_power_of_two(block))
        return value;
    struct cann here = with_rows(cann, direction, value);
    struct cann there = with_rows(cann, direction, padded - bit);
    return same_pitches(&here, &there) ? padded - bit : value;
}

/* ---- of what begins with given blocks ------------------------------------------------------- */

/* All but m and n. */
static bool same_beside(const struct cann *a, const struct cann *b)
{
    return a->size[CANN_BATCH] == b->size[CANN_BATCH] && a->size[CANN_K] == b->size[CANN_K] &&
           a->cores == b->cores && a->most_parts == b->most_parts && a->tcube == b->tcube &&
           memcmp(a->parts_tile, b->parts_tile, sizeof a->parts_tile) == 0 &&
           a->few_batch_steps == b->few_batch_steps && a->share_b == b->share_b &&
           a->bias_bytes == b->bias_bytes && a->scale_bytes == b->scale_bytes &&
           a->machine.store == b->machine.store && a->machine.hw == b->machine.hw &&
           a->miss_share == b->miss_share;
}

/* As many blocks, none of which is all of the one and a part of the other. */
static bool same_blocks(const struct cann *a, const struct cann *b, enum cann_direction direction,
                        int64_t block)
{
    int64_t size = a->size[direction], other = b->size[direction];
    return size == other ||
           (block < size && block < other && divide_up(size, block) == divide_up(other, block));
}

/* The vector cores that add up parts of k share all of C. */
bool cann_same(const struct space *a, const struct space *b, const struct tiling *tiling)
{
    const struct cann *left = cann_of(a), *right = cann_of(b);
    const int64_t *v = tiling->value;
    bool same_c =
        left->size[CANN_M] == right->size[CANN_M] && left->size[CANN_N] == right->size[CANN_N];
    return same_beside(left, right) && same_blocks(left, right, CANN_M, v[CANN_SINGLE_M]) &&
           same_blocks(left, right, CANN_N, v[CANN_SINGLE_N]) && same_pitches(left, right) &&
           (v[CANN_SPLIT_K] == 1 || same_c);
}
