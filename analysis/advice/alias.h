/* Which lines of a program being edited touch the same bytes, in one iteration of the loops around
 * them or in different ones. Safe side: operands in rows count as all bytes from their first to
 * their last row, and where loops advance two operands differently they may meet anywhere. */
#ifndef AUTOTUNE_ANALYSIS_ADVICE_ALIAS_H
#define AUTOTUNE_ANALYSIS_ADVICE_ALIAS_H

#include "analysis/advice/edit.h"

/* Do lines `x` and `y` touch the same bytes, one of them writing, when the `depth` loops around
 * both of them are in the same iteration? */
bool alias_within(const struct edit *edit, int32_t x, int32_t y, int depth);

/* The same when the innermost of these loops is `x` at some iteration and `y` at a later one. */
bool alias_carried(const struct edit *edit, int32_t x, int32_t y, int depth);

/* The bytes [low, high) that an operand of line `at` touches over all iterations. False when they
 * do not fit in 64 bits. */
bool alias_range(const struct edit *edit, int32_t at, const struct region *region, int64_t *low,
                 int64_t *high);

#endif
