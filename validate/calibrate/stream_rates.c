/* Passes over memory, and products and sums in registers: streams_template.h once for each
 * instruction set, and a table that finds them. A pass reads, writes, or writes past the caches, as
 * the bandwidths of McCalpin's STREAM (1995) are told apart. */
#include "validate/calibrate/stream_rates.h"

#include <stddef.h>

/* Narrow vectors that every compiler has; on x86-64 that is SSE2. */
#ifdef __x86_64__
#include <immintrin.h>
#define STREAM_PAST_STORE(to, x) _mm_stream_si128((__m128i *)(to), (__m128i)(x))
#define STREAM_PAST_END()        _mm_sfence()
#endif
#define STREAM_NAME(what) portable_##what
#define STREAM_TARGET
#define STREAM_BYTES 16
#include "validate/calibrate/streams_template.h"

#ifdef __aarch64__
#include "core/neon.h"
#define STREAM_NAME(what) neon_##what
#define STREAM_TARGET
#define STREAM_BYTES             16
#define STREAM_PAST_STORE(to, x) neon_store_past(to, (uint64x2_t)(x))
#define STREAM_PAST_END()        neon_stores_end()
#include "validate/calibrate/streams_template.h"
#endif

#ifdef __x86_64__
#define STREAM_NAME(what)        avx2_##what
#define STREAM_TARGET            __attribute__((target("avx2,fma")))
#define STREAM_BYTES             32
#define STREAM_PAST_STORE(to, x) _mm256_stream_si256((__m256i *)(to), (__m256i)(x))
#include "validate/calibrate/streams_template.h"

#define STREAM_NAME(what)        avx512_##what
#define STREAM_TARGET            __attribute__((target("avx512f,fma")))
#define STREAM_BYTES             64
#define STREAM_PAST_STORE(to, x) _mm512_stream_si512((__m512i *)(to), (__m512i)(x))
#include "validate/calibrate/streams_template.h"
#endif

static const struct {
    stream_pass *pass[STREAM_KINDS];
    peak_loop *peak;
    int lanes;
} sets[HOST_ISA_COUNT] = {
#ifdef __x86_64__
    [HOST_PORTABLE] = {{portable_read, portable_write, portable_past},
                       portable_peak,
                       portable_lanes},
    [HOST_AVX2] = {{avx2_read, avx2_write, avx2_past}, avx2_peak, avx2_lanes},
    [HOST_AVX512] = {{avx512_read, avx512_write, avx512_past}, avx512_peak, avx512_lanes},
#else
    [HOST_PORTABLE] = {{portable_read, portable_write, NULL}, portable_peak, portable_lanes},
#ifdef __aarch64__
    [HOST_NEON] = {{neon_read, neon_write, neon_past}, neon_peak, neon_lanes},
#endif
#endif
};

stream_pass *stream_find(enum host_isa isa, enum stream_kind kind)
{
    /* cppcheck-suppress CastIntegerToAddressAtReturn ; the member is a pointer to a function */
    return sets[isa].pass[kind];
}

peak_loop *peak_find(enum host_isa isa)
{
    return sets[isa].peak;
}

int peak_lanes(enum host_isa isa)
{
    return sets[isa].lanes;
}
