/* Kernels of polynomials for AVX-512. */
#include "kernels/cubefx/host/poly.h"

#ifdef __AVX512F__
#include <immintrin.h>

typedef __m512 vector;
#define LANES                 INT64_C(16)
#define LOAD(p)               _mm512_loadu_ps(p)
#define STORE(p, v)           _mm512_storeu_ps(p, v)
#define STREAM(p, v)          _mm512_stream_ps(p, v)
#define SPREAD(p)             _mm512_set1_ps(*(p))
#define MULTIPLY_ADD(a, b, c) _mm512_fmadd_ps(a, b, c)
#define FUSED                 true
#define STREAM_END()          _mm_sfence()
#define KERNELS               poly_kernels_avx512
#define ISA                   HOST_AVX512
#include "kernels/cubefx/host/poly_template.h"

#else
const struct poly_kernels poly_kernels_avx512 = {.isa = HOST_AVX512, .lanes = 0};
#endif
