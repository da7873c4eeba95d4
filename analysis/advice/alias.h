/* Which lines of a program being edited touch the same bytes, in one iteration of the loops around
 * them or in different ones; who lives where in a chip's buffers, and where there is room for more.
 * Safe side: operands in rows count as all bytes from their first to
 * their last row, and where loops advance two operands differently they may meet anywhere. */
#ifndef AUTOTUNE_ANALYSIS_ADVICE_ALIAS_H
#define AUTOTUNE_ANALYSIS_ADVICE_ALIAS_H

#include "analysis/advice/edit.h"

/* Do lines `x` and `y` touch the same bytes, one of them writing, when the `depth` loops around
 * both of them are in the same iteration; or, carried, when the innermost of these loops is `x` at
 * some iteration and `y` at a later one? */
bool alias_conflicts(const struct edit *edit, int32_t x, int32_t y, int depth, bool carried);

/* The bytes [low, high) that an operand of line `at` touches over all iterations. False when they
 * do not fit in 64 bits. */
bool alias_range(const struct edit *edit, int32_t at, const struct region *region, int64_t *low,
                 int64_t *high);

enum { TENANT_MAX = 32 };

/* Bytes [low, high) of a buffer: operands that overlap belong together. */
struct tenant {
    int buffer;
    int64_t low, high;
};

/* The stretches of the chip's own buffers that lines [first, last) touch, by buffer and address;
 * how many, at most TENANT_MAX: -1 when there are more. */
int tenants_of(const struct edit *edit, int32_t first, int32_t last,
               struct tenant tenants[TENANT_MAX]);

/* Does the operand lie in the tenant's bytes at `edit`'s line `at`? */
bool tenant_has(const struct edit *edit, int32_t at, const struct region *region,
                const struct tenant *tenant);

/* Does an iteration of the loop around lines [first, first + count), its body, write the tenant's
 * bytes before it reads them, always at the same place? Then no iteration needs them of another. */
bool tenant_turns(const struct edit *edit, int32_t first, int32_t count,
                  const struct tenant *tenant);

/* An address in the tenant's buffer with `bytes` free bytes, aligned as the chip or, at least, the
 * tenant is; -1 when there is none. */
int64_t tenant_room(const struct edit *edit, const struct tenant *tenant, int64_t bytes);

/* Moves the operands of lines [first, last) that lie in the tenant's bytes by so many bytes. */
void tenant_shift(struct edit *edit, int32_t first, int32_t last, const struct tenant *tenant,
                  int64_t by_bytes);

#endif
