/* Rounding to a type and its bytes. BF16 is the upper half of FP32. A double is rounded to FP16 by
 * way of FP32 only where that changes nothing: what FP32 rounds is rounded to odd first (Boldo and
 * Melquiond 2008), so that the second rounding sees on which side of a tie it was. */
#include "core/element.h"

#include "core/half.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

static uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static float float_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Towards 0, with the last bit set where something was cut off. */
static float round_to_odd(double x)
{
    float nearest = (float)x;
    if (isnan(x) || isinf(x) || (double)nearest == x)
        return nearest;
    float towards = fabs((double)nearest) > fabs(x) ? nextafterf(nearest, 0) : nearest;
    return float_of(bits_of(towards) | 1);
}

static float bf16_round(float x)
{
    if (isnan(x))
        return x;
    uint32_t bits = bits_of(x);
    return float_of((bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000);
}

static const struct {
    double least, most;
} ranges[DTYPE_COUNT] = {
    [DTYPE_I8] = {INT8_MIN, INT8_MAX},    [DTYPE_U8] = {0, UINT8_MAX},
    [DTYPE_I16] = {INT16_MIN, INT16_MAX}, [DTYPE_U16] = {0, UINT16_MAX},
    [DTYPE_I32] = {INT32_MIN, INT32_MAX}, [DTYPE_U32] = {0, UINT32_MAX},
};

int element_is_floating(enum dtype type)
{
    return ranges[type].most == 0;
}

double element_round(enum dtype type, double x)
{
    if (type == DTYPE_F32)
        return (float)x;
    if (type == DTYPE_F16)
        return half_to_float(half_from_float(round_to_odd(x)));
    if (type == DTYPE_BF16)
        return bf16_round(round_to_odd(x));
    if (isnan(x))
        return 0;
    x = x < ranges[type].least ? ranges[type].least : x;
    return nearbyint(x > ranges[type].most ? ranges[type].most : x);
}

double element_get(enum dtype type, const void *bytes)
{
    union {
        half f16;
        float f32;
        int8_t i8;
        uint8_t u8;
        int16_t i16;
        uint16_t u16;
        int32_t i32;
        uint32_t u32;
    } x;
    memcpy(&x, bytes, (size_t)dtype_bytes(type));
    switch (type) {
    case DTYPE_F16:
        return half_to_float(x.f16);
    case DTYPE_F32:
        return x.f32;
    case DTYPE_BF16:
        return float_of((uint32_t)x.u16 << 16);
    case DTYPE_I8:
        return x.i8;
    case DTYPE_U8:
        return x.u8;
    case DTYPE_I16:
        return x.i16;
    case DTYPE_U16:
        return x.u16;
    case DTYPE_I32:
        return x.i32;
    default:
        return x.u32;
    }
}

void element_put(enum dtype type, double number, void *bytes)
{
    half f16 = 0;
    uint32_t whole = 0;
    if (type == DTYPE_F16)
        f16 = half_from_float((float)number);
    else if (type == DTYPE_F32)
        whole = bits_of((float)number);
    else if (type == DTYPE_BF16)
        f16 = (half)(bits_of((float)number) >> 16);
    else
        whole = (uint32_t)(int64_t)number;
    uint8_t u8 = (uint8_t)whole;
    uint16_t u16 = element_is_floating(type) ? f16 : (uint16_t)whole;
    int size = dtype_bytes(type);
    memcpy(bytes,
           size == 1   ? (void *)&u8
           : size == 2 ? (void *)&u16
                       : (void *)&whole,
           (size_t)size);
}
