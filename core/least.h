/* The smaller of two sizes. */
#ifndef AUTOTUNE_CORE_LEAST_H
#define AUTOTUNE_CORE_LEAST_H

#include <stdint.h>

static inline int64_t least_of(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

#endif
