#include "core/half.h"

#include <string.h>

static uint32_t float_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* `bits` shifted right, rounded to nearest, ties to even; 1 <= shift <= 31. */
static uint32_t shift_rounding(uint32_t bits, int shift)
{
    uint32_t kept = bits >> shift, rest = bits & ((UINT32_C(1) << shift) - 1);
    uint32_t tie = UINT32_C(1) << (shift - 1);
    return kept + (rest > tie || (rest == tie && (kept & 1)));
}

half half_from_float(float value)
{
    uint32_t bits = float_bits(value), sign = bits >> 16 & 0x8000;
    uint32_t fraction = bits & 0x7fffff;
    int exponent = (int)(bits >> 23 & 0xff) - 127;
    if (exponent == 128)
        return (half)(sign | 0x7c00 | (fraction ? 0x200 | fraction >> 13 : 0));
    if (exponent > 15)
        return (half)(sign | 0x7c00);
    if (exponent >= -14) /* a carry out of the fraction is the next exponent, up to infinity */
        return (half)(sign | (shift_rounding(fraction, 13) + ((uint32_t)(exponent + 15) << 10)));
    if (exponent < -25)
        return (half)sign;
    return (half)(sign | shift_rounding(fraction | 0x800000, -exponent - 1));
}

float half_to_float(half value)
{
    uint32_t sign = (uint32_t)(value & 0x8000) << 16, fraction = value & 0x3ff, bits;
    int exponent = value >> 10 & 0x1f;
    float result;
    if (exponent == 0) { /* zero and subnormals: fraction · 2^-24, exact */
        result = (float)fraction * 0x1p-24F;
        bits = float_bits(result) | sign;
    } else {
        uint32_t biased = exponent == 31 ? 255 : (uint32_t)exponent - 15 + 127;
        bits = sign | biased << 23 | fraction << 13;
    }
    memcpy(&result, &bits, sizeof result);
    return result;
}
