/* Addresses are linear in the loops' indices, so the distance between two operands has its least
 * and greatest value at the ends of each loop's range: Banerjee's inequalities (1988). They can
 * meet only where that range comes within an operand's length of 0. A later iteration of the
 * innermost common loop is index + delta with delta of at least 1. An overflow counts as a
 * meeting.
 *
 * Stretches of bytes are sorted by address and merged where they overlap, in one sweep; room is the
 * first gap between them that is large enough (first fit). What an operand touches is taken over
 * all iterations of the loops around it. */
#include "analysis/advice/alias.h"

#include <stdlib.h>

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
    int64_t rows, pieces, length;
    *far |= __builtin_mul_overflow(region->rows - 1, region->row_stride_bytes, &rows);
    *far |= __builtin_mul_overflow(region->pieces - 1, region->piece_stride_bytes, &pieces);
    *far |= __builtin_add_overflow(rows, pieces, &length);
    *far |= __builtin_add_overflow(length, region->bytes / region->rows / region->pieces, &length);
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

bool alias_conflicts(const struct edit *edit, int32_t x, int32_t y, int depth, bool carried)
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

static int by_address(const void *one, const void *other)
{
    const struct tenant *a = one, *b = other;
    if (a->buffer != b->buffer)
        return a->buffer < b->buffer ? -1 : 1;
    return a->low < b->low ? -1 : a->low > b->low;
}

/* Every operand's stretch by itself; NULL without memory. *count is how many. */
static struct tenant *list_tenants(const struct edit *edit, int32_t first, int32_t last,
                                   int32_t *count)
{
    struct tenant *all = malloc(((size_t)(last - first) * OPERAND_ROLES + 1) * sizeof *all);
    *count = 0;
    for (int32_t i = first; all && i < last; i++)
        for (int r = 0; r < edit->lines[i].in.region_count; r++) {
            const struct region *region = &edit->lines[i].regions[r];
            struct tenant *t = &all[*count];
            t->buffer = region->buffer;
            if (edit->hw->buffers[region->buffer].capacity_bytes > 0 && region->bytes > 0 &&
                alias_range(edit, i, region, &t->low, &t->high))
                ++*count;
        }
    if (all)
        qsort(all, (size_t)*count, sizeof *all, by_address);
    else
        memory_note_short();
    return all;
}

/* Joins those that overlap; how many are left. */
static int32_t join_overlapping(struct tenant *all, int32_t count)
{
    int32_t kept = 0;
    for (int32_t i = 0; i < count; i++) {
        struct tenant *before = kept ? &all[kept - 1] : NULL;
        if (before && before->buffer == all[i].buffer && all[i].low < before->high)
            before->high = all[i].high > before->high ? all[i].high : before->high;
        else
            all[kept++] = all[i];
    }
    return kept;
}

int tenants_of(const struct edit *edit, int32_t first, int32_t last,
               struct tenant tenants[TENANT_MAX])
{
    int32_t count;
    struct tenant *all = list_tenants(edit, first, last, &count);
    if (!all)
        return -1;
    count = join_overlapping(all, count);
    for (int32_t i = 0; i < count && count <= TENANT_MAX; i++)
        tenants[i] = all[i];
    free(all);
    return count <= TENANT_MAX ? (int)count : -1;
}

bool tenant_has(const struct edit *edit, int32_t at, const struct region *region,
                const struct tenant *tenant)
{
    int64_t low, high;
    return region->buffer == tenant->buffer && region->bytes > 0 &&
           alias_range(edit, at, region, &low, &high) && low < tenant->high && high > tenant->low;
}

static bool instruction_reads(const struct instruction *instruction, enum operand_role role)
{
    return role != OPERAND_DST || instruction->accumulate;
}

bool tenant_turns(const struct edit *edit, int32_t first, int32_t count,
                  const struct tenant *tenant)
{
    int depth = edit_depth(edit, first) - 1;
    bool written = false;
    for (int32_t i = first; i < first + count; i++)
        for (int r = 0; r < edit->lines[i].in.region_count; r++) {
            const struct region *region = &edit->lines[i].regions[r];
            if (!tenant_has(edit, i, region, tenant))
                continue;
            if (region->loop_stride_bytes[depth] ||
                (!written && instruction_reads(&edit->lines[i].in, region->role)))
                return false;
            written |= instruction_writes(&edit->lines[i].in, region->role);
        }
    return written;
}

static int64_t align_up(int64_t value, int64_t to)
{
    return (value + to - 1) / to * to;
}

/* The first gap between what the whole program uses. */
static int64_t first_gap(const struct tenant *all, int32_t count, int64_t capacity, int buffer,
                         int64_t bytes, int64_t align)
{
    int64_t at = 0;
    for (int32_t i = 0; i < count; i++) {
        if (all[i].buffer != buffer)
            continue;
        if (all[i].low - at >= bytes)
            break;
        at = align_up(all[i].high > at ? all[i].high : at, align);
    }
    return capacity - at >= bytes ? at : -1;
}

int64_t tenant_room(const struct edit *edit, const struct tenant *tenant, int64_t bytes)
{
    /* 32 bytes are what buffers of this family ask for where a description does not say. */
    int64_t align = edit->hw->buffers[tenant->buffer].alignment_bytes;
    int64_t capacity = edit->hw->buffers[tenant->buffer].capacity_bytes, found;
    int32_t count;
    struct tenant *all = list_tenants(edit, 0, edit->count, &count);
    if (!all)
        return -1;
    count = join_overlapping(all, count);
    found = first_gap(all, count, capacity, tenant->buffer, bytes, align > 32 ? align : 32);
    free(all);
    return found;
}

void tenant_shift(struct edit *edit, int32_t first, int32_t last, const struct tenant *tenant,
                  int64_t by_bytes)
{
    for (int32_t i = first; i < last; i++)
        for (int r = 0; r < edit->lines[i].in.region_count; r++)
            if (tenant_has(edit, i, &edit->lines[i].regions[r], tenant))
                edit->lines[i].regions[r].offset_bytes += by_bytes;
}
