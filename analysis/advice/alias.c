/* Addresses are linear in the loops' indices, so the distance between two operands has its least
 * and greatest value at the ends of each loop's range: Banerjee's inequalities (1988). They can
 * meet only where that range comes within an operand's length of 0. A later iteration of the
 * innermost common loop is index + delta with delta of at least 1. An overflow counts as a
 * meeting. */
#include "analysis/advice/alias.h"

/* Addresses are at most this far apart where they are looked at; beyond, anything may meet. */
#define FAR (1LL << 60)

/* The iterations of the loops around a line, outermost first; how many loops. */
static int loop_counts(const struct edit *edit, int32_t at, int64_t counts[PROGRAM_MAX_DEPTH])
{
    int depth = edit_depth(edit, at);
    for (int d = depth - 1; d >= 0; d--) {
        at = edit_parent(edit, at);
        counts[d] = edit->lines[at].in.count;
    }
    return depth;
}

/* low … high, both possible. */
struct extent {
    int64_t low, high;
    bool far;
};

/* Adds factor · [first, last]. */
static void add_term(struct extent *span, int64_t factor, int64_t first, int64_t last)
{
    int64_t one, other, low, high;
    span->far |= __builtin_mul_overflow(factor, first, &one);
    span->far |= __builtin_mul_overflow(factor, last, &other);
    low = one < other ? one : other;
    high = one < other ? other : one;
    span->far |= __builtin_add_overflow(span->low, low, &span->low);
    span->far |= __builtin_add_overflow(span->high, high, &span->high);
    span->far |= span->low < -FAR || span->high > FAR;
}

/* From an operand's first byte to its last, gaps between rows included. */
static int64_t length_of(const struct region *region, bool *far)
{
    int64_t rows, length;
    *far |= __builtin_mul_overflow(region->rows - 1, region->row_stride_bytes, &rows);
    *far |= __builtin_add_overflow(rows, region->bytes / region->rows, &length);
    return length;
}

/* Where y's operand starts after x's: the difference over all iterations that are asked about. */
static bool may_meet(const struct edit *edit, int32_t x, const struct region *rx, int32_t y,
                     const struct region *ry, int depth, bool carried)
{
    int64_t x_counts[PROGRAM_MAX_DEPTH], y_counts[PROGRAM_MAX_DEPTH];
    int x_depth = loop_counts(edit, x, x_counts), y_depth = loop_counts(edit, y, y_counts);
    struct extent apart = {0, 0, false};
    int common = carried ? depth - 1 : depth;
    add_term(&apart, 1, ry->offset_bytes, ry->offset_bytes);
    add_term(&apart, -1, rx->offset_bytes, rx->offset_bytes);
    for (int d = 0; d < common; d++)
        add_term(&apart, ry->loop_stride_bytes[d] - rx->loop_stride_bytes[d], 0, x_counts[d] - 1);
    if (carried) {
        int64_t own = rx->loop_stride_bytes[common], last = x_counts[common] - 1;
        if (last < 1)
            return false;
        add_term(&apart, ry->loop_stride_bytes[common] - own, 0, last);
        add_term(&apart, ry->loop_stride_bytes[common], 1, last);
    }
    for (int d = depth; d < x_depth; d++)
        add_term(&apart, -rx->loop_stride_bytes[d], 0, x_counts[d] - 1);
    for (int d = depth; d < y_depth; d++)
        add_term(&apart, ry->loop_stride_bytes[d], 0, y_counts[d] - 1);
    int64_t x_length = length_of(rx, &apart.far), y_length = length_of(ry, &apart.far);
    if (x_length <= 0 || y_length <= 0)
        return false;
    return apart.far || (apart.low < x_length && apart.high > -y_length);
}

static bool conflict(const struct edit *edit, int32_t x, int32_t y, int depth, bool carried)
{
    const struct edit_line *one = &edit->lines[x], *other = &edit->lines[y];
    for (int a = 0; a < one->in.region_count; a++)
        for (int b = 0; b < other->in.region_count; b++) {
            const struct region *ra = &one->regions[a], *rb = &other->regions[b];
            bool writes =
                instruction_writes(&one->in, ra->role) || instruction_writes(&other->in, rb->role);
            if (ra->buffer == rb->buffer && writes && may_meet(edit, x, ra, y, rb, depth, carried))
                return true;
        }
    return false;
}

bool alias_within(const struct edit *edit, int32_t x, int32_t y, int depth)
{
    return conflict(edit, x, y, depth, false);
}

bool alias_carried(const struct edit *edit, int32_t x, int32_t y, int depth)
{
    return conflict(edit, x, y, depth, true);
}

bool alias_range(const struct edit *edit, int32_t at, const struct region *region, int64_t *low,
                 int64_t *high)
{
    int64_t counts[PROGRAM_MAX_DEPTH];
    int depth = loop_counts(edit, at, counts);
    struct extent span = {0, 0, false};
    add_term(&span, 1, region->offset_bytes, region->offset_bytes);
    for (int d = 0; d < depth; d++)
        add_term(&span, region->loop_stride_bytes[d], 0, counts[d] - 1);
    *low = span.low;
    *high = span.high + length_of(region, &span.far);
    return !span.far;
}
