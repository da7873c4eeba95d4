/* Where the parts of tiles lie. A tile is a grid of its coarsest parts, one row of
 * blocks after the other, each block in one piece; a part that is cut finer is a block of the grid
 * that it makes inside a block, and one that is picked by numbers begins there in rows. */
#include "kernels/text/plan/kernel_structure.h"
#include "kernels/text/program/kernel_flags_internal.h"
#include "kernels/text/program/kernel_program_internal.h"

#include <string.h>

/* One dimension of a part, in elements. */
struct side {
    int64_t block_at, block;       /* of the writer's block in the tile: where, and how long */
    int64_t at, length;            /* of the part in that block */
    int block_loop, loop;          /* text loops that move the block, and the part; -1: none */
    const struct expression *from; /* or what moves the part */
};

struct operand {
    const struct program_writer *writer;
    const struct plan_part *part;
    struct side sides[KERNEL_MAX_DIMS];
};

/* Is the loop around what is being written, inside the tile's life? */
static bool is_inside(const struct operand *operand, int text_loop)
{
    const struct kernel_plan *plan = operand->writer->plan;
    int loop = plan->plan_loop_of[text_loop], life = plan->tiles[operand->part->tile].life;
    return loop >= 0 && loop != life && plan_is_within(plan, loop, life);
}

static enum status number_of(const struct operand *operand, const struct expression *e,
                             int64_t otherwise, int64_t *number)
{
    *number = otherwise;
    return e ? kernel_number(&operand->writer->env->values, e, number, operand->writer->emit.error)
             : STATUS_OK;
}

static void cut_by_range(const struct operand *operand, int d, struct side *side)
{
    const struct program_writer *writer = operand->writer;
    const struct kernel_range *loops = writer->env->values.loops;
    const struct plan_dim *dim = &operand->part->dims[d];
    int tile = operand->part->tile, cut = writer->flags->blocks[tile][d];
    const struct expression *name = writer->plan->tiles[tile].dims[d];
    int64_t zero = plan_counts_from_tile(writer->plan->kernel, name, dim)
                       ? writer->env->tiles[tile].begin[d]
                       : 0;
    side->at = loops[dim->loop].begin - zero;
    side->length = loops[dim->loop].length;
    side->loop = dim->loop;
    if (cut < 0)
        return;
    bool is_in_block = writer->flags->chains[dim->loop] >> cut & 1;
    side->block_loop = is_in_block ? cut : dim->loop;
    side->block_at = loops[side->block_loop].begin - zero;
    side->block = loops[side->block_loop].length;
    side->at -= side->block_at;
}

static enum status measure(struct operand *operand, int d)
{
    const struct plan_dim *dim = &operand->part->dims[d];
    const struct tile_shape *shape = &operand->writer->env->tiles[operand->part->tile];
    struct side *side = &operand->sides[d];
    *side = (struct side){
        .block = shape->room[d], .length = shape->room[d], .block_loop = -1, .loop = -1};
    if (dim->reach == REACH_ALL)
        return STATUS_OK;
    if (dim->reach == REACH_ROUND) {
        cut_by_range(operand, d, side);
        return STATUS_OK;
    }
    side->from = dim->from;
    side->length = 1;
    TRY(number_of(operand, dim->from, 0, &side->at));
    return number_of(operand, dim->count, 1, &side->length);
}

/* ------------------------------------------------------------------ how parts move with loops */

/* By how much a range's beginning moves a round of an open loop. */
static int64_t range_stride(const struct operand *operand, int text_loop,
                            const struct rolled *rolled)
{
    int outer = operand->writer->plan->loops[rolled->loop].text_loop;
    return text_loop >= 0 && operand->writer->flags->chains[text_loop] >> outer & 1 ? rolled->length
                                                                                    : 0;
}

static enum status expression_stride(const struct operand *operand, const struct expression *e,
                                     const struct rolled *rolled, int64_t *stride)
{
    const struct kernel_text *kernel = operand->writer->plan->kernel;
    int64_t a = 0, b = 0, factor;
    *stride = 0;
    if (!e || !flags_asks_begin(kernel, e))
        return STATUS_OK;
    const struct expression *left = e->args, *right = left ? left->next : NULL;
    if (e->op == EXPRESSION_LET)
        return expression_stride(operand, kernel->lets[e->number].value, rolled, stride);
    if (e->op == EXPRESSION_BEGIN) {
        *stride = range_stride(operand, (int)e->number, rolled);
        return STATUS_OK;
    }
    TRY(expression_stride(operand, left, rolled, &a));
    if (right)
        TRY(expression_stride(operand, right, rolled, &b));
    if (e->op == EXPRESSION_MULTIPLY) {
        TRY(number_of(operand, flags_asks_begin(kernel, left) ? right : left, 0, &factor));
        *stride = (a + b) * factor;
        return STATUS_OK;
    }
    *stride = e->op == EXPRESSION_ADD ? a + b : e->op == EXPRESSION_SUBTRACT ? a - b : -a;
    return STATUS_OK;
}

/* ------------------------------------------------------------------ bytes */

/* How far apart two neighbours are: blocks along a dimension, and parts in a block. */
static int64_t block_weight(const struct operand *operand, int d)
{
    const struct tile_shape *shape = &operand->writer->env->tiles[operand->part->tile];
    int64_t weight = 1;
    for (int j = 0; j < operand->part->dim_count; j++)
        weight *= j < d ? operand->sides[j].block : j > d ? shape->room[j] : 1;
    return weight;
}

static int64_t part_weight(const struct operand *operand, int d)
{
    bool is_grid = operand->part->dims[d].reach == REACH_ROUND;
    int64_t weight = 1;
    for (int j = 0; j < operand->part->dim_count; j++)
        weight *= j > d ? operand->sides[j].block : j < d && is_grid ? operand->sides[j].length : 1;
    return weight;
}

/* Adds what a dimension's part moves with loops to `in_block`, and its block to the other. */
static enum status add_strides(const struct operand *operand, int d, int64_t bytes,
                               struct region *region, struct region *in_block)
{
    const struct side *side = &operand->sides[d];
    for (int depth = 0; depth < operand->writer->emit.depth; depth++) {
        const struct rolled *rolled = &operand->writer->rolled[depth];
        int64_t stride = 0;
        if (!is_inside(operand, operand->writer->plan->loops[rolled->loop].text_loop))
            continue;
        int64_t block = range_stride(operand, side->block_loop, rolled);
        if (side->from)
            TRY(expression_stride(operand, side->from, rolled, &stride));
        else
            stride = range_stride(operand, side->loop, rolled) - block;
        region->loop_stride_bytes[depth] += block * block_weight(operand, d) * bytes;
        in_block->loop_stride_bytes[depth] += stride * part_weight(operand, d) * bytes;
    }
    return STATUS_OK;
}

/* What an instruction carries may be more than the part holds (`up`). Where that reaches beyond the
 * block, the part counts as the block. */
static void keep_inside(const struct operand *operand, int64_t bytes, int64_t block,
                        struct region *in_block)
{
    const struct program_writer *writer = operand->writer;
    int64_t end = in_block->offset_bytes + bytes;
    for (int depth = 0; depth < writer->emit.depth; depth++)
        if (in_block->loop_stride_bytes[depth] > 0)
            end += in_block->loop_stride_bytes[depth] * (writer->rolled[depth].rounds - 1);
    if (end > block)
        *in_block = (struct region){.offset_bytes = 0};
}

static int copy_of(const struct program_writer *writer, int tile)
{
    int copies = (int)writer->plan->tiles[tile].copies;
    int copy = writer->turns.lives[tile] - writer->stages[writer->plan->tiles[tile].life];
    return (copy % copies + copies) % copies;
}

static int64_t block_of(const struct operand *operand)
{
    int64_t bytes = dtype_bytes(operand->writer->plan->tiles[operand->part->tile].type);
    for (int d = 0; d < operand->part->dim_count; d++)
        bytes *= operand->sides[d].block;
    return bytes;
}

enum status writer_block(const struct program_writer *writer, const struct plan_part *part,
                         int64_t *bytes)
{
    struct operand operand = {.writer = writer, .part = part};
    for (int d = 0; d < part->dim_count; d++)
        TRY(measure(&operand, d));
    *bytes = block_of(&operand);
    return STATUS_OK;
}

enum status writer_region(const struct program_writer *writer, const struct plan_part *part,
                          int64_t bytes, struct region *region)
{
    struct operand operand; /* sides are filled below: clearing them was a tenth of large proofs */
    struct region in_block;
    operand.writer = writer;
    operand.part = part;
    in_block.offset_bytes = 0;
    memset(in_block.loop_stride_bytes, 0,
           (size_t)writer->emit.depth * sizeof *in_block.loop_stride_bytes);
    int size = dtype_bytes(writer->plan->tiles[part->tile].type);
    *region = (struct region){.role = (uint8_t)part->role,
                              .buffer = (int8_t)writer->plan->tiles[part->tile].buffer};
    for (int d = 0; d < part->dim_count; d++)
        TRY(measure(&operand, d));
    for (int d = 0; d < part->dim_count; d++) {
        const struct side *side = &operand.sides[d];
        region->offset_bytes += side->block_at * block_weight(&operand, d) * size;
        in_block.offset_bytes += side->at * part_weight(&operand, d) * size;
        TRY(add_strides(&operand, d, size, region, &in_block));
    }
    keep_inside(&operand, bytes, block_of(&operand), &in_block);
    region->offset_bytes += in_block.offset_bytes + writer->room->offset[part->tile] +
                            copy_of(writer, part->tile) * writer->room->slot_bytes[part->tile];
    for (int depth = 0; depth < writer->emit.depth; depth++)
        region->loop_stride_bytes[depth] += in_block.loop_stride_bytes[depth];
    return STATUS_OK;
}
