/* For aarch64, whose processors all have NEON. Right, but tuned nowhere: micro-kernels and their
 * sizes are those of other instruction sets, and calibration chooses among them. */
#include "kernels/matmul/host/sgemm_code.h"

#if defined __aarch64__

#include "core/neon.h"

#define LANES      4
#define SGEMM_CODE sgemm_code_neon

typedef float vec __attribute__((vector_size(16), aligned(4), may_alias));
typedef int mask; /* how many */

static inline quad fold(vec x)
{
    return x;
}

static inline mask mask_of(int count)
{
    return count;
}

static inline vec load_some(const float *from, mask some)
{
    float32x4_t x = vdupq_n_f32(0);
    if (some == LANES)
        return (vec)vld1q_f32(from);
    if (some & 2)
        x = vcombine_f32(vld1_f32(from), vdup_n_f32(0));
    if (some & 1)
        x = some & 2 ? vld1q_lane_f32(from + 2, x, 2) : vld1q_lane_f32(from, x, 0);
    return (vec)x;
}

static inline void store_some(float *to, mask some, vec x)
{
    float32x4_t all = (float32x4_t)x;
    if (some == LANES)
        vst1q_f32(to, all);
    if (some & 2)
        vst1_f32(to, vget_low_f32(all));
    if (some == 3)
        vst1q_lane_f32(to + 2, all, 2);
    else if (some == 1)
        vst1q_lane_f32(to, all, 0);
}

static inline void store_past(float *to, vec x)
{
    neon_store_past(to, (uint64x2_t)x);
}

static inline void finish_stores(void)
{
    neon_stores_end();
}

#include "kernels/matmul/host/sgemm_template.h"

#endif
