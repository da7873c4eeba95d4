#include "analysis/check/region.h"

bool region_rows(const struct region *region, struct rows *rows)
{
    int64_t stride = region->row_stride_bytes, span;
    rows->start = region->offset_bytes;
    rows->count = region->rows;
    rows->bytes = region->bytes;
    rows->stride = stride;
    if (rows->count == 1)
        return true;
    rows->bytes /= rows->count;
    if (__builtin_mul_overflow(stride, rows->count - 1, &span) || span == INT64_MIN)
        return false;
    if (span < 0 && __builtin_add_overflow(rows->start, span, &rows->start))
        return false;
    rows->stride = stride < 0 ? -stride : stride;
    if (rows->stride > rows->bytes)
        return true;
    rows->count = 1;
    return !__builtin_add_overflow(span < 0 ? -span : span, rows->bytes, &rows->bytes);
}

bool region_range(const struct program *program, const struct nest *nest, int32_t item,
                  const struct region *region, struct range *range)
{
    int64_t counts[PROGRAM_MAX_DEPTH], length, reach;
    struct rows rows;
    if (!region_rows(region, &rows) ||
        __builtin_mul_overflow(rows.stride, rows.count - 1, &length) ||
        __builtin_add_overflow(length, rows.bytes, &length) ||
        __builtin_add_overflow(rows.start, length, &range->high))
        return false;
    range->low = rows.start;
    int depth = nest_counts(nest, program, item, counts);
    for (int level = 0; level < depth; level++) {
        if (__builtin_mul_overflow(region->loop_stride_bytes[level], counts[level] - 1, &reach))
            return false;
        int64_t *end = reach < 0 ? &range->low : &range->high;
        if (__builtin_add_overflow(*end, reach, end))
            return false;
    }
    return true;
}

int64_t region_start(const struct region *region, const struct rows *rows,
                     const int64_t index[PROGRAM_MAX_DEPTH])
{
    int64_t start = rows->start;
    for (int level = 0; level < PROGRAM_MAX_DEPTH; level++)
        start += region->loop_stride_bytes[level] * index[level];
    return start;
}
