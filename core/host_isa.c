/* Which instruction set kernels for this processor are taken of. */
#include "core/host.h"

#include <stdlib.h>

static enum host_isa isa_of_processor(void)
{
#if defined __x86_64__
    bool fma = __builtin_cpu_supports("fma");
    if (fma && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq"))
        return HOST_AVX512;
    if (fma && __builtin_cpu_supports("avx2"))
        return HOST_AVX2;
#endif
    return HOST_PORTABLE;
}

enum host_isa host_isa_best(void)
{
    const char *wanted = getenv("AUTOTUNE_ISA");
    int asked = wanted ? host_isa_find(wanted) : -1;
    enum host_isa best = isa_of_processor();
    return asked >= 0 && asked < (int)best ? (enum host_isa)asked : best;
}
