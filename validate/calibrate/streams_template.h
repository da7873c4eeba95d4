/* One instruction set's passes. The includer defines STREAM_NAME(what), STREAM_TARGET (an attribute
 * or nothing) and STREAM_BYTES, the width of a vector; and where there are stores past the caches,
 * STREAM_PAST_STORE(to, vector) and STREAM_PAST_END(), after which others see what they wrote. */

typedef int64_t STREAM_NAME(words)
    __attribute__((vector_size(STREAM_BYTES), aligned(STREAM_BYTES), may_alias));
typedef float STREAM_NAME(floats) __attribute__((vector_size(STREAM_BYTES)));

enum { STREAM_NAME(block) = 8, STREAM_NAME(lanes) = STREAM_BYTES / 4 };

/* Eight accumulators: nothing waits for anything but the loads. */
STREAM_TARGET static void STREAM_NAME(read)(void *data, int64_t bytes)
{
    const STREAM_NAME(words) *v = data;
    STREAM_NAME(words) a = {0}, b = a, c = a, d = a, e = a, f = a, g = a, h = a;
    for (int64_t left = bytes / STREAM_BYTES; left > 0; left -= STREAM_NAME(block), v += 8) {
        a ^= v[0], b ^= v[1], c ^= v[2], d ^= v[3];
        e ^= v[4], f ^= v[5], g ^= v[6], h ^= v[7];
    }
    a = a ^ b ^ c ^ d ^ e ^ f ^ g ^ h;
    __asm__ volatile("" : : "r"(&a) : "memory"); /* the sum is wanted */
}

STREAM_TARGET static void STREAM_NAME(write)(void *data, int64_t bytes)
{
    STREAM_NAME(words) *v = data;
    const STREAM_NAME(words) x = {1};
    for (int64_t left = bytes / STREAM_BYTES; left > 0; left -= STREAM_NAME(block), v += 8) {
        v[0] = x, v[1] = x, v[2] = x, v[3] = x;
        v[4] = x, v[5] = x, v[6] = x, v[7] = x;
        __asm__ volatile("" : : "r"(v) : "memory"); /* no memset instead */
    }
}

#ifdef STREAM_PAST_STORE
STREAM_TARGET static void STREAM_NAME(past)(void *data, int64_t bytes)
{
    STREAM_NAME(words) *v = data;
    const STREAM_NAME(words) x = {1};
    for (int64_t left = bytes / STREAM_BYTES; left > 0; left -= STREAM_NAME(block), v += 8) {
        STREAM_PAST_STORE(v, x), STREAM_PAST_STORE(v + 1, x);
        STREAM_PAST_STORE(v + 2, x), STREAM_PAST_STORE(v + 3, x);
        STREAM_PAST_STORE(v + 4, x), STREAM_PAST_STORE(v + 5, x);
        STREAM_PAST_STORE(v + 6, x), STREAM_PAST_STORE(v + 7, x);
    }
    STREAM_PAST_END();
}
#endif

/* Chains as long as the latency times the units of any processor yet. They tend to b / (1 - a). */
STREAM_TARGET static void STREAM_NAME(peak)(float *sink, int64_t steps)
{
    const STREAM_NAME(floats) zero = {0}, a = zero + 0.5F, b = zero + 1.0F;
    STREAM_NAME(floats) c0 = zero, c1 = b, c2 = b + b, c3 = c2 + b, c4 = c3 + b, c5 = c4 + b;
    STREAM_NAME(floats) c6 = c5 + b, c7 = c6 + b, c8 = c7 + b, c9 = c8 + b, c10 = c9 + b;
    STREAM_NAME(floats) c11 = c10 + b;
    for (int64_t i = 0; i < steps; i++) {
        c0 = c0 * a + b, c1 = c1 * a + b, c2 = c2 * a + b, c3 = c3 * a + b;
        c4 = c4 * a + b, c5 = c5 * a + b, c6 = c6 * a + b, c7 = c7 * a + b;
        c8 = c8 * a + b, c9 = c9 * a + b, c10 = c10 * a + b, c11 = c11 * a + b;
    }
    c0 = c0 + c1 + c2 + c3 + c4 + c5 + c6 + c7 + c8 + c9 + c10 + c11;
    for (int lane = 0; lane < STREAM_NAME(lanes); lane++)
        sink[lane] = c0[lane];
}

#undef STREAM_NAME
#undef STREAM_TARGET
#undef STREAM_BYTES
#undef STREAM_PAST_STORE
