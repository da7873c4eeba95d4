/* FP16 (IEEE 754 binary16) on hosts that have none: values as bits, arithmetic by way of FP32.
 *
 * Both conversions keep subnormals, ±0, ±∞ and NaN (half_from_float makes it quiet, with its sign
 * and the upper bits of its payload); half_from_float rounds to nearest, ties to even. A sum,
 * difference or product of two FP16 values computed in FP32 and rounded once more is the correctly
 * rounded FP16 result, for FP32's 24 bits are 2·11 + 2. */
#ifndef AUTOTUNE_CORE_HALF_H
#define AUTOTUNE_CORE_HALF_H

#include <stdint.h>

typedef uint16_t half;

#define HALF_INFINITY  ((half)0x7c00)
#define HALF_MINUS_INF ((half)0xfc00)
#define HALF_LARGEST   ((half)0x7bff) /* 65504 */
#define HALF_NAN       ((half)0x7e00)

half half_from_float(float value);
float half_to_float(half value);

#endif
