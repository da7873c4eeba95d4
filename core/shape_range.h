/* A shape with a range of one size: "1..8192x4096x11008". */
#ifndef AUTOTUNE_CORE_SHAPE_RANGE_H
#define AUTOTUNE_CORE_SHAPE_RANGE_H

#include "core/status.h"

#include <stdbool.h>
#include <stdint.h>

enum { SHAPE_TEXT_SIZE = 384 };

struct shape_range {
    int size;                    /* its place in the shape, from 0 */
    int64_t from, to;            /* 1 <= from <= to */
    char first[SHAPE_TEXT_SIZE]; /* the shape with `from` in place of the range */
};

/* Does a shape ask for one, well written or not? */
bool shape_has_range(const char *shape);

/* Reads the range; whether the rest is a shape is problem_parse's to say. STATUS_INVALID: "--shape
 * TEXT: expected …". */
enum status shape_range_parse(const char *shape, struct shape_range *range, struct error *error);

#endif
