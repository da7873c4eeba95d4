/* The bytes of one operand: rows, and the range over all iterations of the loops around it. */
#ifndef AUTOTUNE_ANALYSIS_CHECK_REGION_H
#define AUTOTUNE_ANALYSIS_CHECK_REGION_H

#include "analysis/check/nest.h"

/* `count` rows of `bytes` each, `stride` > bytes apart where there is more than one; the first
 * starts at `start`, at loop indices of 0. */
struct rows {
    int64_t start, bytes, count, stride;
};

/* [low, high) contains every byte touched at any index value. */
struct range {
    int64_t low, high;
};

/* Rows that touch each other become one. False when an address does not fit in 64 bits. */
bool region_rows(const struct region *region, struct rows *rows);

/* Over all iterations of the loops around the instruction `item`, none of which is empty. False
 * when an address does not fit in 64 bits. */
bool region_range(const struct program *program, const struct nest *nest, int32_t item,
                  const struct region *region, struct range *range);

/* Where the first of `rows` starts at the given loop indices (0 beyond the loops there are); cannot
 * overflow where region_range is true. */
int64_t region_start(const struct region *region, const struct rows *rows,
                     const int64_t index[PROGRAM_MAX_DEPTH]);

#endif
