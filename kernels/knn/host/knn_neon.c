/* For aarch64. Right, but tuned nowhere. */
#include "kernels/knn/host/knn_code.h"

#if defined __aarch64__

#include <arm_neon.h>

#define LANES    4
#define KNN_CODE knn_code_neon

typedef float vec __attribute__((vector_size(16), aligned(4), may_alias));

static inline unsigned near_mask(vec distances, vec threshold)
{
    const uint32x4_t bits = {1, 2, 4, 8};
    uint32x4_t far = vcgeq_f32((float32x4_t)distances, (float32x4_t)threshold);
    return vaddvq_u32(vbicq_u32(bits, far));
}

#include "kernels/knn/host/knn_template.h"

#endif
