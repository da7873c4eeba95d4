/* For processors of any kind: vectors of four floats, which the compiler writes with what there
 * is. */
#include "kernels/matmul/host/sgemm_code.h"

#include <string.h>

#define LANES      4
#define SGEMM_CODE sgemm_code_portable

typedef float vec __attribute__((vector_size(16), aligned(4), may_alias));
typedef int mask;

static inline quad fold(vec x)
{
    return x;
}

static inline mask mask_of(int count)
{
    return count;
}

static inline vec load_some(const float *from, mask some)
{
    float x[LANES] = {0};
    memcpy(x, from, (size_t)some * sizeof *x);
    return *(const vec *)x;
}

static inline void store_some(float *to, mask some, vec x)
{
    memcpy(to, &x, (size_t)some * sizeof *to);
}

/* There is no portable way past the caches. */
static inline void store_past(float *to, vec x)
{
    *(vec *)to = x;
}

static inline void finish_stores(void)
{
}

#include "kernels/matmul/host/sgemm_template.h"
