/* A distance and its index as one number in the order of results, and ordering such numbers. */
#ifndef AUTOTUNE_KERNELS_KNN_HOST_KNN_ORDER_H
#define AUTOTUNE_KERNELS_KNN_HOST_KNN_ORDER_H

#include <stdint.h>
#include <string.h>

/* After every entry; its distance reads as NaN. */
#define ENTRY_NONE UINT64_MAX

/* The distance is in the upper half, as an integer of the same order: negative floats with all bits
 * turned, others with the sign turned, any NaN all ones. −0 does not occur: 1 − x is never −0. */
static inline uint64_t entry_of(float distance, int64_t index)
{
    uint32_t bits;
    memcpy(&bits, &distance, sizeof bits);
    bits ^= (bits >> 31 ? UINT32_MAX : 0) | 0x80000000U;
    if (distance != distance)
        bits = UINT32_MAX;
    return (uint64_t)bits << 32 | (uint64_t)index;
}

static inline float entry_distance(uint64_t entry)
{
    uint32_t bits = (uint32_t)(entry >> 32);
    float distance;
    bits ^= bits & 0x80000000U ? 0x80000000U : UINT32_MAX;
    memcpy(&distance, &bits, sizeof distance);
    return distance;
}

static inline int64_t entry_index(uint64_t entry)
{
    return (int64_t)(entry & UINT32_MAX);
}

/* Puts an entry in the place of the largest of a heap of n > 0. */
void heap_replace(uint64_t *heap, int64_t n, uint64_t entry);

/* Moves the k smallest of n entries to the front, the largest of them to entries[k − 1];
 * 0 < k <= n. */
void entries_select(uint64_t *entries, int64_t n, int64_t k);

void entries_sort(uint64_t *entries, int64_t n);

#endif
