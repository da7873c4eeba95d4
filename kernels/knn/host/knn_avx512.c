#include "kernels/knn/host/knn_code.h"

#if defined __AVX512F__ && defined __AVX512DQ__

#include <immintrin.h>

#define LANES    16
#define KNN_CODE knn_code_avx512

typedef float vec __attribute__((vector_size(64), aligned(4), may_alias));

static inline unsigned near_mask(vec distances, vec threshold)
{
    return _cvtmask16_u32(_mm512_cmp_ps_mask((__m512)distances, (__m512)threshold, _CMP_NGE_UQ));
}

#include "kernels/knn/host/knn_template.h"

#endif
