/* Two lines fit when they are alike but for addresses and every operand of one starts exactly where
 * that of the other would go on. Then only the amounts add up: bytes or elements, bursts, and each
 * operand's rows. A loop is the same with a product, the stride taking the place of the next line's
 * address. */
#include "analysis/advice/coalesce.h"

#include <string.h>

static int64_t *amount_of(struct instruction *in)
{
    return in->kind == INSTRUCTION_MOVE ? &in->bytes : &in->elements;
}

static bool can_grow(const struct instruction *in)
{
    return (in->kind == INSTRUCTION_MOVE && !in->transpose && !in->row_bytes) ||
           in->kind == INSTRUCTION_VECTOR;
}

/* How far an operand's next piece is from it: its length, or the way from its first row to the row
 * behind its last. */
static int64_t advance_of(const struct region *region)
{
    return region->rows > 1 ? region->rows * region->row_stride_bytes : region->bytes;
}

/* Adds the second line's amount; only rows of one length can be more rows. */
static bool add_amount(struct edit_line *line, const struct edit_line *next)
{
    bool fits = !__builtin_add_overflow(*amount_of(&line->in),
                                        next->in.kind == INSTRUCTION_MOVE ? next->in.bytes
                                                                          : next->in.elements,
                                        amount_of(&line->in));
    if (line->in.bursts > 1)
        fits &= !__builtin_add_overflow(line->in.bursts, next->in.bursts, &line->in.bursts);
    for (int r = 0; r < line->in.region_count; r++) {
        struct region *region = &line->regions[r];
        fits &= !__builtin_add_overflow(region->bytes, next->regions[r].bytes, &region->bytes);
        if (region->rows > 1)
            fits &= !__builtin_add_overflow(region->rows, next->regions[r].rows, &region->rows);
    }
    return fits;
}

/* Makes the line `count` times as much; regions' bytes follow when the program is built. */
static bool multiply(struct edit_line *line, int64_t count, bool rows)
{
    bool fits = !__builtin_mul_overflow(*amount_of(&line->in), count, amount_of(&line->in));
    if (line->in.kind == INSTRUCTION_MOVE && (rows || line->in.bursts > 1)) {
        int64_t bursts = line->in.bursts > 1 ? line->in.bursts : 1;
        fits &= !__builtin_mul_overflow(bursts, count, &line->in.bursts);
    }
    for (int r = 0; r < line->in.region_count; r++) {
        struct region *region = &line->regions[r];
        fits &= !__builtin_mul_overflow(region->bytes, count, &region->bytes);
        if (region->rows > 1 || rows)
            fits &= !__builtin_mul_overflow(region->rows, count, &region->rows);
    }
    return fits;
}

static void drop_stride(struct region *region, int depth)
{
    for (int d = depth; d + 1 < PROGRAM_MAX_DEPTH; d++)
        region->loop_stride_bytes[d] = region->loop_stride_bytes[d + 1];
    region->loop_stride_bytes[PROGRAM_MAX_DEPTH - 1] = 0;
}

static bool regions_follow(const struct region *one, const struct region *next)
{
    return one->buffer == next->buffer && one->role == next->role &&
           (one->rows > 1) == (next->rows > 1) &&
           (one->rows <= 1 || one->bytes / one->rows == next->bytes / next->rows) &&
           one->row_stride_bytes == next->row_stride_bytes &&
           next->offset_bytes - one->offset_bytes == advance_of(one) &&
           memcmp(one->loop_stride_bytes, next->loop_stride_bytes, sizeof one->loop_stride_bytes) ==
               0;
}

/* Is `next` the same instruction on what lies behind? */
static bool follows(const struct edit_line *line, const struct edit_line *next)
{
    const struct instruction *a = &line->in, *b = &next->in;
    if (!can_grow(a) || a->kind != b->kind || a->what != b->what || a->type != b->type ||
        a->to_type != b->to_type || a->unit != b->unit || b->transpose ||
        (a->bursts > 1) != (b->bursts > 1) || a->align_bytes != b->align_bytes ||
        a->region_count != b->region_count || a->region_count == 0)
        return false;
    for (int r = 0; r < a->region_count; r++)
        if (!regions_follow(&line->regions[r], &next->regions[r]))
            return false;
    return true;
}

bool coalesce_fits(const struct edit_line *one, const struct edit_line *other)
{
    return follows(one, other) || follows(other, one);
}

bool coalesce_lines(struct edit_line *line, const struct edit_line *next)
{
    if (!coalesce_fits(line, next))
        return false;
    for (int r = 0; r < line->in.region_count; r++)
        if (next->regions[r].offset_bytes < line->regions[r].offset_bytes)
            line->regions[r].offset_bytes = next->regions[r].offset_bytes;
    return add_amount(line, next);
}

/* Do all operands advance by `stride` and have the same length, as rows of one line must? */
static bool are_rows(const struct edit_line *line, int depth, int64_t stride)
{
    for (int r = 0; r < line->in.region_count; r++) {
        const struct region *region = &line->regions[r];
        if (region->loop_stride_bytes[depth] != stride || region->rows != 1 ||
            region->bytes != line->regions[0].bytes || stride <= region->bytes)
            return false;
    }
    return true;
}

bool coalesce_iterations(struct edit_line *line, int depth, int64_t count)
{
    if (!can_grow(&line->in) || line->in.region_count == 0 || count < 1)
        return false;
    int64_t stride = line->regions[0].loop_stride_bytes[depth];
    bool rows = are_rows(line, depth, stride);
    for (int r = 0; r < line->in.region_count && !rows; r++)
        if (line->regions[r].loop_stride_bytes[depth] != advance_of(&line->regions[r]))
            return false;
    for (int r = 0; r < line->in.region_count; r++) {
        drop_stride(&line->regions[r], depth);
        if (rows)
            line->regions[r].row_stride_bytes = stride;
    }
    return multiply(line, count, rows);
}

bool coalesce_invariant(struct edit_line *line, int depth)
{
    for (int r = 0; r < line->in.region_count; r++)
        if (line->regions[r].loop_stride_bytes[depth])
            return false;
    for (int r = 0; r < line->in.region_count; r++)
        drop_stride(&line->regions[r], depth);
    return true;
}
