#include "validate/host/sgemm_code.h"

#if defined __AVX512F__

#include <immintrin.h>

#define LANES      16
#define SGEMM_CODE sgemm_code_avx512

typedef float vec __attribute__((vector_size(64), aligned(4), may_alias));
typedef __mmask16 mask;

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

#include "validate/host/sgemm_template.h"

#endif
