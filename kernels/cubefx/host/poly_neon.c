/* Kernels of polynomials for aarch64. Right, but tuned nowhere. */
#include "kernels/cubefx/host/poly.h"

#ifdef __aarch64__
#include "core/neon.h"

typedef float32x4_t vector;
#define LANES                 INT64_C(4)
#define LOAD(p)               vld1q_f32(p)
#define STORE(p, v)           vst1q_f32(p, v)
#define STREAM(p, v)          neon_store_past(p, vreinterpretq_u64_f32(v))
#define SPREAD(p)             vld1q_dup_f32(p)
#define MULTIPLY_ADD(a, b, c) vfmaq_f32(c, a, b)
#define FUSED                 true
#define STREAM_END()          neon_stores_end()
#define KERNELS               poly_kernels_neon
#define ISA                   HOST_NEON
#include "kernels/cubefx/host/poly_template.h"

#else
const struct poly_kernels poly_kernels_neon = {.isa = HOST_NEON, .lanes = 0};
#endif
