#include "validate/host/loops.h"

#include <stdbool.h>
#include <stdlib.h>

/* One row a family. */
const struct loop_family *const loop_families[] = {
    NULL,
};

static bool processor_has(enum host_isa isa)
{
#ifdef __x86_64__
    if (isa == HOST_AVX512)
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
               __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("fma");
    if (isa == HOST_AVX2)
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
    return isa == HOST_PORTABLE;
}

enum host_isa host_isa_best(void)
{
    const char *wanted = getenv("AUTOTUNE_ISA");
    int asked = wanted ? host_isa_find(wanted) : -1;
    enum host_isa best = asked >= 0 ? (enum host_isa)asked : HOST_AVX512;
    while (best > HOST_PORTABLE && !processor_has(best))
        best--;
    return best;
}
