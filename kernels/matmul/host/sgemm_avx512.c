#include "kernels/matmul/host/sgemm_code.h"

#if defined __AVX512F__

#include <immintrin.h>

#define LANES      16
#define SGEMM_CODE sgemm_code_avx512

typedef float vec __attribute__((vector_size(64), aligned(4), may_alias));
typedef __mmask16 mask;

static inline quad fold(vec x)
{
    quad low =
        __builtin_shufflevector(x, x, 0, 1, 2, 3) + __builtin_shufflevector(x, x, 4, 5, 6, 7);
    quad high =
        __builtin_shufflevector(x, x, 8, 9, 10, 11) + __builtin_shufflevector(x, x, 12, 13, 14, 15);
    return low + high;
}

static inline mask mask_of(int count)
{
    return (mask)((1U << count) - 1U);
}

static inline vec load_some(const float *from, mask some)
{
    return (vec)_mm512_maskz_loadu_ps(some, from);
}

static inline void store_some(float *to, mask some, vec x)
{
    _mm512_mask_storeu_ps(to, some, (__m512)x);
}

static inline void store_past(float *to, vec x)
{
    _mm512_stream_ps(to, (__m512)x);
}

static inline void finish_stores(void)
{
    _mm_sfence();
}

#include "kernels/matmul/host/sgemm_template.h"

#endif
