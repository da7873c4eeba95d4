#include "kernels/knn/host/knn_code.h"

#if defined __AVX2__

#include <immintrin.h>

#define LANES    8
#define KNN_CODE knn_code_avx2

typedef float vec __attribute__((vector_size(32), aligned(4), may_alias));

static inline unsigned near_mask(vec distances, vec threshold)
{
    return (unsigned)_mm256_movemask_ps(
        _mm256_cmp_ps((__m256)distances, (__m256)threshold, _CMP_NGE_UQ));
}

#include "kernels/knn/host/knn_template.h"

#endif
