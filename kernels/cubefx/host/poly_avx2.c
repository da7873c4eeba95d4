/* Kernels of polynomials for AVX2 with FMA. */
#include "kernels/cubefx/host/poly.h"

#if defined __AVX2__ && defined __FMA__
#include <immintrin.h>

typedef __m256 vector;
#define LANES                 INT64_C(8)
#define LOAD(p)               _mm256_loadu_ps(p)
#define STORE(p, v)           _mm256_storeu_ps(p, v)
#define STREAM(p, v)          _mm256_stream_ps(p, v)
#define SPREAD(p)             _mm256_broadcast_ss(p)
#define MULTIPLY_ADD(a, b, c) _mm256_fmadd_ps(a, b, c)
#define FUSED                 true
#define STREAM_END()          _mm_sfence()
#define KERNELS               poly_kernels_avx2
#define ISA                   HOST_AVX2
#include "kernels/cubefx/host/poly_template.h"

#else
const struct poly_kernels poly_kernels_avx2 = {.isa = HOST_AVX2, .lanes = 0};
#endif
