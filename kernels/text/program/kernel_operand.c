/* Where the parts of tiles lie: in a block of the tile's grid (plan/kernel_layout.c), row by row,
 * in one piece or in pieces that lie evenly. Moves take a stride, those that feed the matrix unit
 * two, as its loads for convolutions do; vector operations take pieces of one block of a repeat or
 * of a whole repeat, as their strides between blocks and between repeats let them; products none,
 * but across columns of one row of blocks, which the unit's own order has one behind another. */
#include "kernels/slices.h"
#include "kernels/text/plan/kernel_structure.h"
#include "kernels/text/program/kernel_flags_internal.h"
#include "kernels/text/program/kernel_program_internal.h"

#include <assert.h>
#include <string.h>

/* One dimension of a part, in elements. */
struct side {
    int64_t block_at, block;       /* of the block in the tile: where, and how long */
    int64_t at, length, by;        /* of the part in that block */
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
    const struct plan_tile *tile = &writer->plan->tiles[operand->part->tile];
    int64_t zero = plan_counts_from_tile(writer->plan->kernel, tile->dims[d], dim)
                       ? writer->env->tiles[operand->part->tile].begin[d]
                       : 0;
    side->at = loops[dim->loop].begin - zero;
    side->length = loops[dim->loop].length;
    side->loop = dim->loop;
    if (tile->block[d] < 0)
        return;
    side->block_loop = plan_block_loop(writer->plan, dim->loop, tile->block[d]);
    assert(side->block_loop >= 0); /* else the tile would be one block */
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
        .block = shape->room[d], .length = shape->extent[d], .by = 1, .block_loop = -1, .loop = -1};
    if (dim->reach == REACH_ALL)
        return STATUS_OK;
    if (dim->reach == REACH_ROUND) {
        cut_by_range(operand, d, side);
        return STATUS_OK;
    }
    side->from = dim->from;
    TRY(number_of(operand, dim->from, 0, &side->at));
    TRY(number_of(operand, dim->by, 1, &side->by));
    return number_of(operand, dim->count, 1, &side->length);
}

/* ------------------------------------------------------------------ how parts move with loops */

/* By how much a range's beginning moves a round of an open loop. */
static int64_t range_stride(const struct operand *operand, int text_loop,
                            const struct rolled *rolled)
{
    int outer = operand->writer->plan->loops[rolled->loop].text_loop;
    return text_loop >= 0 && operand->writer->plan->chains[text_loop] >> outer & 1 ? rolled->length
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

/* How far apart two neighbours are: blocks along a dimension, and elements in a block. */
static int64_t block_weight(const struct operand *operand, int d)
{
    const struct tile_shape *shape = &operand->writer->env->tiles[operand->part->tile];
    int64_t weight = 1;
    for (int j = 0; j < operand->part->dim_count; j++)
        weight *= j < d ? operand->sides[j].block : j > d ? shape->room[j] : 1;
    return weight;
}

static int64_t element_weight(const struct operand *operand, int d)
{
    int64_t weight = 1;
    for (int j = d + 1; j < operand->part->dim_count; j++)
        weight *= operand->sides[j].block;
    return weight;
}

/* Adds what a dimension's block and its part in that move with loops. */
static enum status add_strides(const struct operand *operand, int d, int64_t bytes,
                               struct region *region)
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
        region->loop_stride_bytes[depth] +=
            (block * block_weight(operand, d) + stride * element_weight(operand, d)) * bytes;
    }
    return STATUS_OK;
}

/* ------------------------------------------------------------------ pieces */

enum { MOST_STRIDES = 2 };

/* Pieces of so many elements, which lie evenly: the innermost stride first. */
struct pieces {
    int64_t elements;
    int strides; /* one more than MOST_STRIDES: they do not lie evenly */
    int64_t count[MOST_STRIDES + 1], stride[MOST_STRIDES + 1]; /* in elements */
};

static void find_pieces(const struct operand *operand, const int64_t length[],
                        struct pieces *pieces)
{
    *pieces = (struct pieces){.elements = 1};
    int64_t weight = 1;
    for (int d = operand->part->dim_count - 1; d >= 0; weight *= operand->sides[d--].block) {
        int64_t stride = weight * operand->sides[d].by;
        int last = pieces->strides - 1;
        if (length[d] == 1)
            continue;
        if (last < 0 && stride == pieces->elements)
            pieces->elements *= length[d];
        else if (last >= 0 && stride == pieces->count[last] * pieces->stride[last])
            pieces->count[last] *= length[d];
        else if (pieces->strides <= MOST_STRIDES) {
            pieces->count[pieces->strides] = length[d];
            pieces->stride[pieces->strides++] = stride;
        }
    }
}

static int64_t all_of(const struct operand *operand, const int64_t length[])
{
    int64_t all = 1;
    for (int d = 0; d < operand->part->dim_count; d++)
        all *= length[d];
    return all;
}

/* How long a part is in each dimension, as far as the instruction carries it: with the room behind
 * what the tile holds, where it takes that too. */
static void find_lengths(const struct operand *operand, const struct instruction *in,
                         int64_t carried, int64_t length[])
{
    const struct program_writer *w = operand->writer;
    const struct tile_shape *shape = &w->env->tiles[operand->part->tile];
    int64_t room[KERNEL_MAX_DIMS];
    int last = operand->part->dim_count - 1;
    for (int d = 0; d < operand->part->dim_count; d++) {
        length[d] = operand->sides[d].length;
        room[d] = length[d] == shape->extent[d] ? shape->room[d] : length[d];
    }
    if (in->kind == INSTRUCTION_MATRIX) {
        const struct matrix_type *type = hardware_matrix_type(w->plan->hw, in->type);
        int unit = operand->part->role == OPERAND_A ? type->block_k : type->block_n;
        int64_t whole = round_up(length[last], unit);
        if (operand->sides[last].at + whole <= operand->sides[last].block)
            room[last] = whole;
    }
    if (in->kind == INSTRUCTION_MATRIX || carried == all_of(operand, room))
        memcpy(length, room, sizeof room);
}

static int copy_of(const struct program_writer *writer, int tile)
{
    int copies = (int)writer->plan->tiles[tile].copies;
    int copy = writer->turns.lives[tile] - writer->stages[writer->plan->tiles[tile].life];
    return (copy % copies + copies) % copies;
}

static enum status refuse(const struct operand *operand, int line, const struct pieces *pieces,
                          const char *expected)
{
    const struct kernel_plan *plan = operand->writer->plan;
    int64_t count = 1, bytes = dtype_bytes(plan->tiles[operand->part->tile].type);
    for (int s = 0; s < pieces->strides; s++)
        count *= pieces->count[s];
    return plan_fail(operand->writer->emit.error, plan->kernel->lines[line].at,
                     "a part of tile '%s' in %lld pieces of %lld bytes, expected %s",
                     plan->kernel->tiles[operand->part->tile].name.text, (long long)count,
                     (long long)(pieces->elements * bytes), expected);
}

/* Do all rows of the block make one row of the unit's blocks? */
static bool is_one_row(const struct operand *operand, const struct instruction *in)
{
    const struct matrix_type *type = hardware_matrix_type(operand->writer->plan->hw, in->type);
    int64_t rows = 1;
    for (int d = 0; d < operand->part->dim_count - 1; d++)
        rows *= operand->sides[d].block;
    return rows <= (operand->part->role == OPERAND_B ? type->block_k : type->block_m);
}

/* Does the path end where products take what they multiply, as far as the description says? */
static bool feeds_products(const struct hardware *hw, int path)
{
    const uint16_t *memories = hw->matrix_pipe >= 0 ? hw->pipes[hw->matrix_pipe].memories : NULL;
    if (!memories || !memories[OPERAND_A] || !memories[OPERAND_B])
        return memories;
    return (memories[OPERAND_A] | memories[OPERAND_B]) >> hw->paths[path].destination & 1;
}

/* Vector operations say in a byte how many blocks lie from one repeat to the next, and from one
 * block to the next (BinaryRepeatParams of Ascend C's documentation). */
enum { MOST_BLOCKS_APART = 255 };

static enum status check_vector(const struct operand *operand, int line,
                                const struct instruction *in, int64_t carried,
                                const struct pieces *pieces)
{
    const struct hardware *hw = operand->writer->plan->hw;
    const struct plan_tile *tile = &operand->writer->plan->tiles[operand->part->tile];
    int64_t block_bytes = hw->buffers[tile->buffer].alignment_bytes;
    int64_t bytes = pieces->elements * dtype_bytes(tile->type);
    int from = dtype_bytes(in->type), to = dtype_bytes(in->to_type);
    int64_t lanes = hw->vector_repeat_bytes / (from > to ? from : to);
    int64_t apart = pieces->stride[0] * dtype_bytes(tile->type) / block_bytes;
    char expected[96];
    if (pieces->strides != 1 || (bytes != block_bytes && pieces->elements != lanes)) {
        snprintf(expected, sizeof expected,
                 "one, or such of %lld bytes or %lld elements, evenly apart; loop over rows",
                 (long long)block_bytes, (long long)lanes);
        return refuse(operand, line, pieces, expected);
    }
    if (carried > lanes && pieces->elements < lanes)
        apart *= lanes / pieces->elements;
    if (-MOST_BLOCKS_APART <= apart && apart <= MOST_BLOCKS_APART)
        return STATUS_OK;
    snprintf(expected, sizeof expected,
             "repeats %d blocks of %lld bytes apart or less, not %lld; loop over rows",
             MOST_BLOCKS_APART, (long long)block_bytes, (long long)apart);
    return refuse(operand, line, pieces, expected);
}

/* Can the instruction take a part of one stride or more? */
static enum status check_strides(const struct operand *operand, int line,
                                 const struct instruction *in, int64_t carried,
                                 const struct pieces *pieces)
{
    const struct hardware *hw = operand->writer->plan->hw;
    const struct plan_tile *tile = &operand->writer->plan->tiles[operand->part->tile];
    const struct buffer *buffer = &hw->buffers[tile->buffer];
    if ((in->kind == INSTRUCTION_MOVE && operand->part->role == OPERAND_SRC2) ||
        (in->kind == INSTRUCTION_MATRIX && operand->part->role == OPERAND_SRC))
        return refuse(operand, line, pieces, "one: it is a row of factors or of first sums");
    if (in->kind == INSTRUCTION_MATRIX)
        return pieces->strides == 1 && operand->part->role != OPERAND_DST && is_one_row(operand, in)
                   ? STATUS_OK
                   : refuse(operand, line, pieces,
                            "one: a product takes no strides; "
                            "move or load it part by part");
    for (int s = 0; s < pieces->strides && buffer->alignment_bytes > 1; s++)
        if (pieces->stride[s] * dtype_bytes(tile->type) % buffer->alignment_bytes)
            return refuse(operand, line, pieces, "such as begin where the buffer lets them");
    if (in->kind == INSTRUCTION_MOVE) {
        int most = buffer->capacity_bytes == 0 || feeds_products(hw, in->what) ? 2 : 1;
        return pieces->strides <= most
                   ? STATUS_OK
                   : refuse(operand, line, pieces,
                            most == 1 ? "such as one stride reaches" : "such as two strides reach");
    }
    return check_vector(operand, line, in, carried, pieces);
}

/* The rows of a part of which the instruction takes so many elements. */
static enum status put_rows(const struct operand *operand, int line, const struct instruction *in,
                            int64_t carried, struct region *region)
{
    int64_t length[KERNEL_MAX_DIMS] = {0}, all;
    int bytes = dtype_bytes(operand->writer->plan->tiles[operand->part->tile].type);
    struct pieces pieces;
    find_lengths(operand, in, carried, length);
    find_pieces(operand, length, &pieces);
    if (pieces.strides == 0 || (carried <= pieces.elements && in->kind != INSTRUCTION_MATRIX))
        return STATUS_OK;
    TRY(check_strides(operand, line, in, carried, &pieces));
    all = all_of(operand, length);
    if (pieces.strides == 1 && carried < all && carried % pieces.elements == 0)
        pieces.count[0] = carried / pieces.elements;
    else if (carried != all)
        return refuse(operand, line, &pieces, "all of it to be taken");
    int outer = pieces.strides - 1;
    region->rows = pieces.count[outer];
    region->row_stride_bytes = pieces.stride[outer] * bytes;
    region->pieces = outer ? pieces.count[0] : 1;
    region->piece_stride_bytes = outer ? pieces.stride[0] * bytes : 0;
    return STATUS_OK;
}

enum status writer_region(const struct program_writer *writer, int step, int part,
                          const struct instruction *in, struct region *region)
{
    const struct plan_step *s = &writer->plan->steps[step];
    struct operand operand; /* sides are filled below: clearing them was a tenth of large proofs */
    operand.writer = writer;
    operand.part = &s->parts[part];
    assert(operand.part->dim_count > 0);
    int tile = operand.part->tile, size = dtype_bytes(writer->plan->tiles[tile].type);
    *region = (struct region){.role = (uint8_t)operand.part->role,
                              .buffer = (int8_t)writer->plan->tiles[tile].buffer,
                              .rows = 1,
                              .pieces = 1};
    for (int d = 0; d < operand.part->dim_count; d++)
        TRY(measure(&operand, d));
    for (int d = 0; d < operand.part->dim_count; d++) {
        const struct side *side = &operand.sides[d];
        region->offset_bytes +=
            (side->block_at * block_weight(&operand, d) + side->at * element_weight(&operand, d)) *
            size;
        TRY(add_strides(&operand, d, size, region));
    }
    region->offset_bytes +=
        writer->room->offset[tile] + copy_of(writer, tile) * writer->room->slot_bytes[tile];
    int64_t bytes = instruction_extent_bytes(writer->plan->hw, in, operand.part->role);
    if (s->share == SHARE_HITS) {
        struct part_numbers all;
        TRY(plan_part(writer->plan, writer->env, step, part, &all, writer->emit.error));
        region->offset_bytes += all.elements * size - bytes; /* what missed is before it */
    }
    return put_rows(&operand, s->line, in, bytes / size, region);
}
