#include "kernels/matmul/host/sgemm_code.h"

#if defined __AVX2__ && defined __FMA__

#include <immintrin.h>

#define LANES      8
#define SGEMM_CODE sgemm_code_avx2

typedef float vec __attribute__((vector_size(32), aligned(4), may_alias));
typedef __m256i mask;

static inline quad fold(vec x)
{
    return __builtin_shufflevector(x, x, 0, 1, 2, 3) + __builtin_shufflevector(x, x, 4, 5, 6, 7);
}

static inline mask mask_of(int count)
{
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(count), lane);
}

static inline vec load_some(const float *from, mask some)
{
    return (vec)_mm256_maskload_ps(from, some);
}

static inline void store_some(float *to, mask some, vec x)
{
    _mm256_maskstore_ps(to, some, (__m256)x);
}

static inline void store_past(float *to, vec x)
{
    _mm256_stream_ps(to, (__m256)x);
}

static inline void finish_stores(void)
{
    _mm_sfence();
}

#include "kernels/matmul/host/sgemm_template.h"

#endif
