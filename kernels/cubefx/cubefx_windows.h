/* Sums over sliding windows of FP16 results: what a feature of several inputs adds to Cube-fx (Tang
 * 2024, 4.4.4). */
#ifndef AUTOTUNE_KERNELS_CUBEFX_CUBEFX_WINDOWS_H
#define AUTOTUNE_KERNELS_CUBEFX_CUBEFX_WINDOWS_H

#include "core/half.h"

#include <stdint.h>

/* sums[i] = values[i·stride] + … + values[(i + size − 1)·stride], i < values_count; what is beyond
 * the last value does not count. Exact until it is rounded to FP16, once; NaN where the window has
 * NaN or both infinities, ±∞ where it has one of these. size >= 1; sums may be no part of values.
 */
void cubefx_windows(const half *values, int64_t values_count, int64_t stride, int64_t size,
                    half *sums);

#endif
