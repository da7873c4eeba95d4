/* Kernels of polynomials for any processor: vectors of four floats, which compilers lower to what
 * there is. Products and sums are fused where every processor of the kind does that, and there are
 * no stores past the caches. */
#include "kernels/cubefx/host/poly.h"

#include <string.h>

typedef float vector __attribute__((vector_size(16)));

static inline __attribute__((always_inline)) vector load(const float *p)
{
    vector v;
    memcpy(&v, p, sizeof v);
    return v;
}

#define LANES        INT64_C(4)
#define LOAD(p)      load(p)
#define STORE(p, v)  memcpy(p, &(v), sizeof(vector))
#define STREAM(p, v) STORE(p, v)
#define SPREAD(p)    ((vector){*(p), *(p), *(p), *(p)})
#ifdef __FP_FAST_FMAF
static inline __attribute__((always_inline)) vector multiply_add(vector a, vector b, vector c)
{
    for (int i = 0; i < 4; i++)
        c[i] = __builtin_fmaf(a[i], b[i], c[i]);
    return c;
}
#define FUSED                 true
#define MULTIPLY_ADD(a, b, c) multiply_add(a, b, c)
#else
#define FUSED                 false
#define MULTIPLY_ADD(a, b, c) ((a) * (b) + (c))
#endif
#define STREAM_END() ((void)0)
#define KERNELS      poly_kernels_portable
#define ISA          HOST_PORTABLE
#include "kernels/cubefx/host/poly_template.h"
