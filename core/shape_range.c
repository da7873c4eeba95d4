/* The sizes of a shape stand between letters x; the one with two points in it is the range. */
#include "core/shape_range.h"

#include "core/number.h"

#include <stdio.h>
#include <string.h>

bool shape_has_range(const char *shape)
{
    return strstr(shape, "..") != NULL;
}

static enum status refuse(const char *shape, const char *what, struct error *error)
{
    return error_set(error, STATUS_INVALID, "--shape %.64s: expected %s", shape, what);
}

/* The digits of a bound, which end at `end`. */
static bool read_bound(const char *text, const char *end, int64_t *value)
{
    char digits[24];
    size_t length = (size_t)(end - text);
    if (length == 0 || length >= sizeof digits)
        return false;
    memcpy(digits, text, length);
    digits[length] = 0;
    return number_count("", digits, 1, INT32_MAX, value, NULL) == STATUS_OK;
}

enum status shape_range_parse(const char *shape, struct shape_range *range, struct error *error)
{
    const char *points = strstr(shape, ".."), *begin = points;
    *range = (struct shape_range){0};
    if (strlen(shape) >= SHAPE_TEXT_SIZE)
        return refuse(shape, "a shorter text", error);
    if (!points)
        return refuse(shape, "a range A..B of one size", error);
    if (strstr(points + 2, ".."))
        return refuse(shape, "a range A..B of one size only", error);
    while (begin > shape && begin[-1] != 'x')
        begin--;
    const char *end = points + 2 + strcspn(points + 2, "x");
    if (!read_bound(begin, points, &range->from) || !read_bound(points + 2, end, &range->to))
        return refuse(shape, "positive whole numbers on both sides of the range's points", error);
    if (range->from > range->to)
        return refuse(shape, "a range that ascends", error);
    for (const char *c = shape; c < begin; c++)
        range->size += *c == 'x';
    snprintf(range->first, sizeof range->first, "%.*s%s", (int)(points - shape), shape, end);
    return STATUS_OK;
}
