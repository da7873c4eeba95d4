/* Alg. 5 and 6 of Tang 2024, lane by lane, on FP16 bits.
 *
 * half_less_mask, the sign of a − b, is < for all finite values: gradual underflow leaves no
 * difference zero, and an overflow to ±∞ keeps the sign. It differs from < exactly for
 *   (−0, +0)               −0 − +0 = −0 has the sign of "less"
 *   (+∞, +∞), (−∞, −∞)     the difference is NaN
 *   every pair with a NaN  likewise
 * A NaN's sign is the machine's affair (x86 sets it, ARM clears it); here it is set, so all these
 * pairs are "less" and a use that relies on them fails in tests. half_differ_mask says "differ"
 * for the same pairs and for (+0, −0).
 * (A−B)|(B−A) has its sign where A ≠ B; the thesis prints it as the mask of A = B (eq. 3.5).
 *
 * half_before_mask and half_same_mask keep away from those pairs: see split(). */
#include "kernels/knn/host/knn_select.h"

#include <math.h>

/* a − b rounded to FP16, subnormals kept. */
static half subtract(half a, half b)
{
    float difference = half_to_float(a) - half_to_float(b);
    return isnan(difference) ? (half)(HALF_NAN | 0x8000) : half_from_float(difference);
}

static half relu(half value)
{
    return value & 0x8000 ? 0 : value;
}

/* All ones where the sign is set: ReLU of the smallest subnormal with that sign, less one. */
static uint16_t sign_mask(half value)
{
    half unit = (half)((value & 0x8000) | 0x0001);
    return (uint16_t)(relu(unit) - 1);
}

uint16_t half_less_mask(half a, half b)
{
    return sign_mask(subtract(a, b));
}

uint16_t half_differ_mask(half a, half b)
{
    return sign_mask(subtract(a, b) | subtract(b, a));
}

uint16_t mask_select(uint16_t mask, uint16_t x, uint16_t y)
{
    return (uint16_t)((x & mask) | (y & ~mask));
}

/* A value as two finite ones without −0, in the order of (head, rank). FP16 has no room for the
 * infinities, NaN and the mark beyond its finite values: they share the heads ±65504 with
 * real distances, and the rank tells them apart. */
struct ranked {
    half head, rank;
};

enum { MINUS_ONE = 0xbc00, ONE = 0x3c00, TWO = 0x4000, THREE = 0x4200 };

static struct ranked split(half value)
{
    half magnitude = value & 0x7fff;
    if (magnitude == 0)
        return (struct ranked){0, 0};
    if (magnitude < HALF_INFINITY)
        return (struct ranked){value, 0};
    if (value == HALF_MINUS_INF)
        return (struct ranked){HALF_LARGEST | 0x8000, MINUS_ONE};
    if (value == HALF_INFINITY)
        return (struct ranked){HALF_LARGEST, ONE};
    return (struct ranked){HALF_LARGEST, value == HALF_REMOVED ? THREE : TWO};
}

uint16_t half_before_mask(half a, half b)
{
    struct ranked x = split(a), y = split(b);
    uint16_t differ = half_differ_mask(x.head, y.head);
    return mask_select(differ, half_less_mask(x.head, y.head), half_less_mask(x.rank, y.rank));
}

uint16_t half_same_mask(half a, half b)
{
    struct ranked x = split(a), y = split(b);
    return (uint16_t) ~(half_differ_mask(x.head, y.head) | half_differ_mask(x.rank, y.rank));
}

/* The index bits 0 … 31743 read as FP16 ascend from +0 through the subnormals to 65504, so an FP16
 * maximum is theirs; −∞ is below all of them (−1024 as an integer; the thesis prints −1023). */
int16_t half_index_of(half value, const half *values, int64_t n)
{
    half largest = HALF_MINUS_INF;
    for (int64_t i = 0; i < n; i++) {
        half index = mask_select(half_same_mask(value, values[i]), (half)i, HALF_MINUS_INF);
        if (half_to_float(index) > half_to_float(largest))
            largest = index;
    }
    if (largest == HALF_MINUS_INF)
        return -1024;
    return (int16_t)largest;
}
