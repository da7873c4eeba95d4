/* Passes over memory, and multiply-adds in registers: what a processor does at most, each written
 * for every instruction set that kernels are built for. */
#ifndef AUTOTUNE_VALIDATE_CALIBRATE_STREAM_RATES_H
#define AUTOTUNE_VALIDATE_CALIBRATE_STREAM_RATES_H

#include "core/host.h"

#include <stdint.h>

enum stream_kind {
    STREAM_READ,
    STREAM_WRITE,
    STREAM_PAST, /* writes past the caches */
    STREAM_KINDS
};

enum { STREAM_BLOCK_BYTES = 512 }; /* a pass is over a multiple of them, aligned to 64 */

typedef void stream_pass(void *data, int64_t bytes);

/* NULL where the instruction set has no such instructions, or was not built. */
stream_pass *stream_find(enum host_isa isa, enum stream_kind kind);

/* FP32 multiply-adds in registers only, 2 · lanes · PEAK_CHAINS operations a step; without fused
 * ones a multiplication and an addition. NULL as above. */
enum { PEAK_CHAINS = 12 };
typedef void peak_loop(float *sink, int64_t steps);
peak_loop *peak_find(enum host_isa isa);
int peak_lanes(enum host_isa isa);

#endif
