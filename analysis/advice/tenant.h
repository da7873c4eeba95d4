/* Who lives where in a chip's buffers: the stretches of bytes that a part of a program uses, and
 * room for more. */
#ifndef AUTOTUNE_ANALYSIS_ADVICE_TENANT_H
#define AUTOTUNE_ANALYSIS_ADVICE_TENANT_H

#include "analysis/advice/edit.h"

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

/* Does any of lines [first, last) touch the tenant's bytes? */
bool tenant_used(const struct edit *edit, int32_t first, int32_t last, const struct tenant *tenant);

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
