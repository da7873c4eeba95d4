/* What arm_neon.h has no names for: stores past the caches, as pairs that say "not again soon".
 * Only for aarch64. `to` is aligned as floats are; what was written is seen by others after
 * neon_stores_end. */
#ifndef AUTOTUNE_CORE_NEON_H
#define AUTOTUNE_CORE_NEON_H

#include <arm_neon.h>

static inline void neon_store_past(void *to, uint64x2_t x)
{
    __asm__("stnp %d[low], %d[high], [%[to]]"
            : "=m"(*(uint8_t(*)[16])to)
            : [to] "r"(to), [low] "w"(vget_low_u64(x)), [high] "w"(vget_high_u64(x)));
}

static inline void neon_stores_end(void)
{
    __asm__ volatile("dmb ishst" : : : "memory");
}

#endif
