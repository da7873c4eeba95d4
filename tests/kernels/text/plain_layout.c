/* Where the elements of a part lie, one address after the other, and whether the instruction can
 * take them so: a second reading of the rules (docs/kernel-language.md, "layout"), on addresses
 * that are written down. */
#include "kernels/text/plan/kernel_structure.h"
#include "tests/kernels/text/plain_kernel.h"

#include <stdlib.h>

/* ------------------------------------------------------------------ blocks */

static bool is_alike(struct plain *plain, int a, int b)
{
    const struct kernel_loop *loops = plain->text->loops;
    if (a == b)
        return true;
    const struct expression *in_a = plain_choose(plain, loops[a].in);
    const struct expression *in_b = plain_choose(plain, loops[b].in);
    if (!kernel_is_same(loops[a].by, loops[b].by))
        return false;
    if (in_a->op == EXPRESSION_LOOP && in_b->op == EXPRESSION_LOOP)
        return is_alike(plain, (int)in_a->number, (int)in_b->number);
    return kernel_is_same(in_a, in_b);
}

/* The loop with the rounds of `block` that this one is or is cut from; -1. */
static int outer_like(struct plain *plain, int loop, int block)
{
    for (;;) {
        if (is_alike(plain, loop, block))
            return loop;
        const struct expression *in = plain_choose(plain, plain->text->loops[loop].in);
        if (in->op != EXPRESSION_LOOP)
            return -1;
        loop = (int)in->number;
    }
}

/* The loop inside the tile's life whose round a part takes in a dimension; -1: it takes anything
 * else. */
static int loop_of(struct plain *plain, int line, const struct kernel_part *part, int d)
{
    const struct plain_tile *tile = &plain->tiles[part->tile];
    const struct kernel_pick *pick = part->picks;
    int loop = -1;
    for (int i = 0; pick && i < d; i++)
        pick = pick->next;
    if (!pick)
        loop = plain_innermost(plain, line, tile->dims[d]);
    else if (pick->kind == PICK_RANGE)
        loop = (int)plain_choose(plain, pick->count)->number;
    if (loop < 0)
        return -1;
    bool is_own = tile->dims[d]->op == EXPRESSION_LOOP && tile->dims[d]->number == loop;
    int stands = plain->text->loops[plain->place[loop]].line;
    bool is_inside = loop != tile->loop && plain_inside(plain, stands, tile->loop);
    return is_own && !is_inside ? -1 : loop;
}

/* Calls for every part of the tile there is. */
static bool all_in_blocks(struct plain *plain, int tile, int d, int block)
{
    for (int line = 0; line < plain->text->line_count; line++) {
        const struct kernel_step *step = plain->text->lines[line].step;
        if (!step || !plain->is_there[line])
            continue;
        for (int p = 0; p <= step->source_count; p++) {
            const struct kernel_part *part = p ? &step->from[p - 1] : &step->to;
            if (!step->source_count || part->value || part->tile != tile)
                continue;
            int loop = loop_of(plain, line, part, d);
            if (loop < 0 || outer_like(plain, loop, block) < 0)
                return false;
        }
    }
    return true;
}

/* The loop around the part whose rounds are the tile's blocks; -1: the tile is one. */
static int block_of(struct plain *plain, int line, const struct kernel_part *part, int d)
{
    int loop = loop_of(plain, line, part, d);
    while (loop >= 0 && !all_in_blocks(plain, part->tile, d, loop)) {
        const struct expression *in = plain_choose(plain, plain->text->loops[loop].in);
        loop = in->op == EXPRESSION_LOOP ? (int)in->number : -1;
    }
    return loop;
}

/* ------------------------------------------------------------------ addresses */

struct laid {
    int64_t begin[KERNEL_MAX_DIMS], length[KERNEL_MAX_DIMS]; /* of the block */
    int64_t *at;                                             /* of the elements, in elements */
    int64_t count;
};

static int64_t address_of(const struct plain_life *life, const struct laid *laid, int dims,
                          const int64_t x[])
{
    int64_t before = 0, inside = 0;
    for (int d = 0; d < dims; d++) {
        int64_t rows = 1, behind = 1;
        for (int j = 0; j < d; j++)
            rows *= laid->length[j];
        for (int j = d + 1; j < dims; j++)
            behind *= life->room[j];
        before += laid->begin[d] * rows * behind;
        inside = inside * laid->length[d] + x[d] - laid->begin[d];
    }
    return before + inside;
}

/* How many elements a part has in each dimension, as far as they are carried. */
static void carry(const struct plain *plain, const struct instruction *in, int role,
                  const struct plain_use *use, const struct laid *laid, int64_t carried,
                  int64_t count[])
{
    int last = use->dim_count - 1;
    for (int d = 0; d <= last; d++)
        count[d] = use->extent[d];
    if (in->kind == INSTRUCTION_MATRIX) {
        const struct matrix_type *type = hardware_matrix_type(plain->hw, in->type);
        int unit = role == OPERAND_A ? type->block_k : type->block_n;
        int64_t whole = (count[last] + unit - 1) / unit * unit;
        if (use->begin[last] - laid->begin[last] + whole <= laid->length[last])
            count[last] = whole;
        for (int d = 0; d < last; d++)
            count[d] = use->room[d];
    } else if (carried == use->room_count) {
        for (int d = 0; d <= last; d++)
            count[d] = use->room[d];
    }
}

static void write_down(const struct plain_life *life, const struct plain_use *use,
                       const int64_t count[], struct laid *laid)
{
    int64_t index[KERNEL_MAX_DIMS] = {0}, all = 1;
    int d;
    for (d = 0; d < use->dim_count; d++)
        all *= count[d];
    laid->at = malloc((size_t)all * sizeof *laid->at);
    laid->count = 0;
    do {
        int64_t x[KERNEL_MAX_DIMS];
        for (d = 0; d < use->dim_count; d++)
            x[d] = use->begin[d] + index[d] * use->by[d];
        laid->at[laid->count++] = address_of(life, laid, use->dim_count, x);
        for (d = use->dim_count - 1; d >= 0 && ++index[d] == count[d]; d--)
            index[d] = 0;
    } while (d >= 0);
}

/* ------------------------------------------------------------------ pieces */

/* How many of the first numbers, `each` apart in the list, are evenly spaced. */
static int64_t even(const int64_t at[], int64_t count, int64_t each)
{
    int64_t n = 1;
    while (n < count && at[n * each] - at[(n - 1) * each] == at[each] - at[0])
        n++;
    return n;
}

/* Elements of a piece; *strides: how many more numbers say where all of them lie, 9: many. */
static int64_t pieces_of(const struct laid *laid, int *strides, int64_t stride[])
{
    int64_t piece = 1, each;
    while (piece < laid->count && laid->at[piece] == laid->at[piece - 1] + 1)
        piece++;
    *strides = 0;
    for (each = piece; each < laid->count && *strides < 9;) {
        if (laid->count % each)
            *strides = 8;
        stride[*strides] = laid->at[each] - laid->at[0];
        each *= even(laid->at, laid->count / each, each);
        ++*strides;
    }
    return piece;
}

static bool may_take(const struct plain *plain, const struct instruction *in, int role,
                     const struct plain_use *use, const struct laid *laid, int64_t carried,
                     int64_t piece, int strides, const int64_t stride[])
{
    const struct plain_tile *tile = &plain->tiles[use->tile];
    const struct buffer *buffer = &plain->hw->buffers[tile->buffer];
    int64_t rows = 1, bytes = dtype_bytes(tile->type);
    bool is_row = (in->kind == INSTRUCTION_MOVE && role == OPERAND_SRC2) ||
                  (in->kind == INSTRUCTION_MATRIX && role == OPERAND_SRC);
    if (strides > 2 || is_row)
        return false;
    if (in->kind == INSTRUCTION_MATRIX) {
        const struct matrix_type *type = hardware_matrix_type(plain->hw, in->type);
        for (int d = 0; d < use->dim_count - 1; d++)
            rows *= laid->length[d];
        return strides == 1 && role != OPERAND_DST &&
               rows <= (role == OPERAND_B ? type->block_k : type->block_m);
    }
    for (int s = 0; s < strides; s++)
        if (buffer->alignment_bytes > 1 && stride[s] * bytes % buffer->alignment_bytes)
            return false;
    if (in->kind == INSTRUCTION_MOVE) {
        const struct pipe *matrix = &plain->hw->pipes[plain->hw->matrix_pipe];
        unsigned fed = matrix->memories[OPERAND_A] | matrix->memories[OPERAND_B];
        bool feeds = !matrix->memories[OPERAND_A] || !matrix->memories[OPERAND_B] ||
                     fed >> plain->hw->paths[in->what].destination & 1;
        return strides == 1 || feeds || !buffer->capacity_bytes;
    }
    int from = dtype_bytes(in->type), to = dtype_bytes(in->to_type);
    int64_t lanes = plain->hw->vector_repeat_bytes / (from > to ? from : to);
    bool is_repeat = piece == lanes;
    if (strides != 1 || (piece * bytes != buffer->alignment_bytes && !is_repeat))
        return false;
    int64_t bytes_apart = stride[0] * bytes; /* of what a byte has to say, in blocks */
    if (!is_repeat && piece < lanes && carried > lanes)
        bytes_apart = bytes_apart / piece * lanes;
    return llabs(bytes_apart) <= 255 * buffer->alignment_bytes;
}

static int role_of(const struct instruction *in, int use)
{
    static const int others[] = {OPERAND_DST, OPERAND_SRC, OPERAND_SRC2, OPERAND_SRC3};
    static const int products[] = {OPERAND_DST, OPERAND_A, OPERAND_B, OPERAND_SRC};
    return (in->kind == INSTRUCTION_MATRIX ? products : others)[use];
}

static bool lies(struct plain *plain, int line, const struct instruction *in, int number,
                 const struct kernel_part *part, const struct plain_use *use)
{
    const struct plain_life *life = &plain->lives[use->life];
    struct laid laid;
    int64_t count[KERNEL_MAX_DIMS], stride[10];
    int strides, role = role_of(in, number), size = dtype_bytes(plain->tiles[use->tile].type);
    int64_t carried = instruction_extent_bytes(plain->hw, in, (enum operand_role)role) / size;
    for (int d = 0; d < use->dim_count; d++) {
        int block = block_of(plain, line, part, d);
        laid.begin[d] = 0;
        laid.length[d] = life->room[d];
        if (block < 0)
            continue;
        int64_t zero =
            plain_is_cut_from(plain, block, plain->tiles[use->tile].dims[d]) ? life->begin[d] : 0;
        laid.begin[d] = plain->values.loops[block].begin - zero;
        laid.length[d] = plain->values.loops[block].length;
    }
    carry(plain, in, role, use, &laid, carried, count);
    write_down(life, use, count, &laid);
    bool is_move = in->kind == INSTRUCTION_MOVE, is_product = in->kind == INSTRUCTION_MATRIX;
    int64_t piece = pieces_of(&laid, &strides, stride), all = laid.count;
    bool fine = strides == 0 || (carried <= piece && !is_product);
    if (!fine && carried < all && !is_move && !is_product && strides == 1)
        fine = carried % piece == 0 &&
               may_take(plain, in, role, use, &laid, carried, piece, 1, stride);
    else if (!fine)
        fine = carried == all &&
               may_take(plain, in, role, use, &laid, carried, piece, strides, stride);
    free(laid.at);
    return fine || plain_fail(plain, PLAIN_WRONG, line, "a part in pieces");
}

static int64_t carried_place(const struct plain_use *use, int64_t carried, int64_t n)
{
    int64_t rest = use->count, place = 0;
    for (int d = 0; d < use->dim_count; d++) {
        rest /= use->extent[d];
        place = place * (carried == use->room_count ? use->room[d] : use->extent[d]) + n / rest;
        n %= rest;
    }
    return place;
}

/* Elements of a move come in the same order on both sides, with room behind rows or without. */
static bool moves_alike(struct plain *plain, const struct plain_event *event)
{
    const struct plain_use *to = &event->uses[0], *from = &event->uses[1];
    int64_t carried = event->in.bytes / dtype_bytes(plain->tiles[from->tile].type);
    int64_t columns = from->extent[from->dim_count - 1], width = columns;
    if (carried == from->room_count)
        width = from->room[from->dim_count - 1];
    for (int64_t n = 0; n < from->count; n++) {
        int64_t place = carried_place(from, carried, n), other = n;
        if (event->in.transpose) {
            other = n % columns * (from->count / columns) + n / columns;
            place = place % width * (carried / width) + place / width;
        }
        if (place != carried_place(to, carried, other))
            return plain_fail(plain, PLAIN_WRONG, event->line, "rows with other room");
    }
    return true;
}

bool plain_lay(struct plain *plain, const struct plain_event *event)
{
    const struct kernel_step *step = plain->text->lines[event->line].step;
    const struct instruction *in = &event->in;
    if (in->kind == INSTRUCTION_SCALAR)
        return true;
    bool is_inside =
        in->kind == INSTRUCTION_MOVE && event->uses[0].tile >= 0 && event->uses[1].tile >= 0;
    if (is_inside && !moves_alike(plain, event))
        return false;
    for (int u = 0; u < event->use_count; u++)
        if (event->uses[u].tile >= 0 &&
            !lies(plain, event->line, in, u, u ? &step->from[u - 1] : &step->to, &event->uses[u]))
            return false;
    return true;
}
