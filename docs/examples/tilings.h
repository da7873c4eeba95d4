/* The fastest tilings known, for including; made by
 *   autotune table --db results.db --hw ascend310 --op matmul --format c -o tilings.h
 * with autotune 0.1.0, model version 6. Not to be edited.
 *
 * Ascend 310, 2 cores, fingerprint e2c21a6eba1a37900b9399cb9aca1473; times are simulated.
 *
 * For each table NAME there are functions of a shape:
 *   NAME_find      the entry of this very shape, or a null pointer; O(log entries)
 *   NAME_lookup    the same, or else the nearest entry; O(entries) where it is not exact
 *   NAME_is_legal  1: an entry's tiling breaks no limit for this shape
 * Nearest is the entry with the least sum of |ln(asked size / its size)| over all sizes,
 * found as the least product of ratios (larger / smaller, in double, multiplied in the
 * order of the sizes); of equally near ones the first in the table. A size below 1 gives
 * a null pointer.
 *
 * NAME_lookup gives the nearest entry that NAME_is_legal says yes to, or a null pointer
 * where there is none. A yes means: on this chip every core has work, what the kernel
 * requires holds, and its tiles fit into the buffers. What cannot be said is a no.
 */
/* clang-format off */
#ifndef AUTOTUNE_TABLE_H
#define AUTOTUNE_TABLE_H

#include <stddef.h>
#include <stdint.h>

#define AUTOTUNE_TABLE_VERSION "0.1.0"
#define AUTOTUNE_TABLE_HARDWARE "Ascend 310"
#define AUTOTUNE_TABLE_FINGERPRINT "e2c21a6eba1a37900b9399cb9aca1473"
#define AUTOTUNE_TABLE_KIND "simulated"
#define AUTOTUNE_TABLE_CORES 2
#define AUTOTUNE_TABLE_MODEL_VERSION 6

/* Sizes in the order of the table: less than, equal to or more than 0. */
static inline int autotune_table_compare(const int64_t *a, const int64_t *b, int count)
{
    int i;
    for (i = 0; i < count; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

/* How far two shapes are apart: the product of their sizes' ratios, 1 or more. */
static inline double autotune_table_distance(const int64_t *a, const int64_t *b, int count)
{
    double product = 1;
    int i;
    for (i = 0; i < count; i++)
        product *= a[i] < b[i] ? (double)b[i] / (double)a[i] : (double)a[i] / (double)b[i];
    return product;
}

/* Whole numbers for NAME_is_legal; *ok becomes 0 beyond 2^62 and where there is no result. */
static inline int64_t autotune_table_within(int64_t a, int *ok)
{
    const int64_t most = (int64_t)1 << 62;
    *ok = *ok && a <= most && a >= -most;
    return *ok ? a : 1;
}

static inline int64_t autotune_table_add(int64_t a, int64_t b, int *ok)
{
    return autotune_table_within(a + b, ok);
}

static inline int64_t autotune_table_sub(int64_t a, int64_t b, int *ok)
{
    return autotune_table_within(a - b, ok);
}

static inline int64_t autotune_table_mul(int64_t a, int64_t b, int *ok)
{
    const int64_t most = (int64_t)1 << 62;
    const int64_t x = a < 0 ? -a : a, y = b < 0 ? -b : b;
    *ok = *ok && (x == 0 || y <= most / x);
    return *ok ? a * b : 1;
}

/* Rounded down. */
static inline int64_t autotune_table_div(int64_t a, int64_t b, int *ok)
{
    *ok = *ok && b != 0;
    return *ok ? a / b - (a % b != 0 && (a < 0) != (b < 0)) : 1;
}

static inline int64_t autotune_table_rem(int64_t a, int64_t b, int *ok)
{
    const int64_t quotient = autotune_table_div(a, b, ok);
    return *ok ? a - quotient * b : 1;
}

static inline int64_t autotune_table_cdiv(int64_t a, int64_t b, int *ok)
{
    *ok = *ok && b > 0;
    return *ok ? -autotune_table_div(-a, b, ok) : 1;
}

static inline int64_t autotune_table_up(int64_t a, int64_t b, int *ok)
{
    return autotune_table_mul(autotune_table_cdiv(a, b, ok), b, ok);
}

static inline int64_t autotune_table_log2(int64_t a, int *ok)
{
    int64_t log = 0;
    *ok = *ok && a >= 1;
    while (log < 62 && (int64_t)1 << log < a)
        log++;
    return log;
}

static inline int64_t autotune_table_pow2(int64_t a, int *ok)
{
    *ok = *ok && a >= 0 && a <= 62;
    return *ok ? (int64_t)1 << a : 1;
}

static inline int64_t autotune_table_gcd(int64_t a, int64_t b, int *ok)
{
    *ok = *ok && a >= 1 && b >= 1;
    while (*ok && b) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return *ok ? a : 1;
}

static inline int64_t autotune_table_min(int64_t a, int64_t b, int *ok)
{
    (void)ok;
    return a < b ? a : b;
}

static inline int64_t autotune_table_max(int64_t a, int64_t b, int *ok)
{
    (void)ok;
    return a > b ? a : b;
}

static inline int autotune_table_is(const char *a, const char *b)
{
    while (*a && *a == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

/* The largest share of `whole` in blocks of `pad`; so many of `left` cores get one. */
static inline int64_t autotune_table_share(int64_t whole, int64_t pad, int64_t shares, int64_t *left,
                                    int64_t *used, int *ok)
{
    const int64_t blocks = autotune_table_cdiv(whole, pad, ok);
    int64_t each;
    *ok = *ok && shares >= 1 && shares <= *left && blocks >= 1;
    each = autotune_table_cdiv(blocks, shares, ok);
    *used = autotune_table_mul(*used, autotune_table_cdiv(blocks, each, ok), ok);
    *left = autotune_table_div(*left, shares, ok);
    return autotune_table_mul(each, pad, ok);
}

static inline int64_t autotune_table_extent(int64_t count, int *ok)
{
    *ok = *ok && count >= 1;
    return *ok ? count : 1;
}

/* Of a loop: how many rounds, how long one is, and the next that can differ from the first. */
static inline int64_t autotune_table_rounds(int64_t in, int64_t by, int *ok)
{
    *ok = *ok && in >= 1 && by >= 1;
    return autotune_table_cdiv(in, by, ok);
}

static inline int64_t autotune_table_length(int64_t in, int64_t by, int64_t round)
{
    return in - round * by < by ? in - round * by : by;
}

static inline int64_t autotune_table_last(int64_t round, int64_t rounds)
{
    return round + 1 < rounds ? rounds - 1 : rounds;
}

/* The most that a tile takes in any round. */
static inline void autotune_table_keep(int64_t *most, int64_t bytes)
{
    if (*most < bytes)
        *most = bytes;
}

/* Copies of a tile, each in whole units, into what is left of a buffer. */
static inline void autotune_table_fill(int64_t *left, int64_t bytes, int64_t unit, int64_t copies,
                                int *ok)
{
    *left -= autotune_table_mul(autotune_table_up(bytes, unit, ok), copies, ok);
    *ok = *ok && *left >= 0;
    *left = *ok ? *left : 0;
}

/* matmul in the space thesis. */
struct autotune_matmul {
    int64_t size[4]; /* m, k, n, batch */
    struct {
        int64_t m_slice;
        int64_t k_slice;
        int64_t n_slice;
        int64_t buffers;
        const char *resident;
        const char *split;
        int64_t cores;
    } tiling;
    double time_ns; /* simulated */
    int optimal;    /* 1: nothing in the space is faster; 0: the search was cut off */
    int limits;     /* which of them NAME_is_legal asks */
};

/* matmul, f16: 8 shapes. */
enum { autotune_matmul_f16_count = 8 };
static const struct autotune_matmul autotune_matmul_f16[8] = {
    {{1, 4096, 4096, 1}, {16, 1024, 16, 2, "a", "n", 2}, 965096.12494, 1, 1},
    {{64, 64, 64, 1}, {32, 64, 32, 1, "both", "m", 2}, 3223.434026, 1, 2},
    {{256, 256, 256, 1}, {128, 256, 16, 1, "both", "m", 2}, 16278.880924, 1, 2},
    {{512, 64, 512, 12}, {176, 64, 256, 2, "both", "batch", 2}, 243647.351856, 1, 3},
    {{512, 1024, 512, 1}, {256, 64, 112, 2, "a", "m", 2}, 104640.044679, 1, 4},
    {{1024, 1024, 1024, 1}, {256, 64, 208, 2, "a", "m", 2}, 345675.499078, 1, 4},
    {{4096, 4096, 4096, 1}, {256, 128, 256, 1, "none", "m", 2}, 30821534.530402, 1, 5},
    {{12544, 576, 128, 1}, {160, 192, 128, 1, "both", "m", 2}, 481139.075005, 1, 2},
};

static inline const struct autotune_matmul *autotune_matmul_f16_find(int64_t m, int64_t k, int64_t n, int64_t batch)
{
    int64_t size[4];
    int first = 0, last = 8;
    size[0] = m;
    size[1] = k;
    size[2] = n;
    size[3] = batch;
    while (first < last) {
        int middle = first + (last - first) / 2;
        int order = autotune_table_compare(size, autotune_matmul_f16[middle].size, 4);
        if (order == 0)
            return &autotune_matmul_f16[middle];
        if (order < 0)
            last = middle;
        else
            first = middle + 1;
    }
    return NULL;
}

static inline int autotune_matmul_f16_limits_1(const struct autotune_matmul *entry, const int64_t *size)
{
    int ok = (double)size[0] * (double)size[1] * (double)size[2] * (double)size[3] <= 1e15;
    const int64_t whole_M = autotune_table_up(size[0], 16, &ok);
    int64_t size_M = whole_M;
    const int64_t whole_K = autotune_table_up(size[1], 16, &ok);
    int64_t size_K = whole_K;
    const int64_t whole_N = autotune_table_up(size[2], 16, &ok);
    int64_t size_N = whole_N;
    const int64_t whole_batch = autotune_table_up(size[3], 1, &ok);
    int64_t size_batch = whole_batch;
    int64_t left = entry->tiling.cores, used = 1;
    size_batch = autotune_table_share(size_batch, 1, ((autotune_table_is(entry->tiling.split, "m") || autotune_table_is(entry->tiling.split, "n")) ? 1 : ((autotune_table_is(entry->tiling.split, "batch")) ? entry->tiling.cores : ((autotune_table_rem(autotune_table_gcd(size_batch, entry->tiling.cores, &ok), entry->tiling.cores, &ok) > 1) ? autotune_table_gcd(size_batch, entry->tiling.cores, &ok) : 0))), &left, &used, &ok);
    size_N = autotune_table_share(size_N, 16, left, &left, &used, &ok);
    ok = ok && used == entry->tiling.cores; /* all have work */
    int64_t slot_acc = 0;
    int64_t slot_c = 0;
    int64_t slot_a1 = 0;
    int64_t slot_b1 = 0;
    int64_t slot_a0 = 0;
    int64_t slot_b0 = 0;
    double runs_z = 0;
    double runs_i = 0;
    double runs_j = 0;
    double runs_l = 0;
    {
        const int64_t in_z = size_batch, by_z = 1, rounds_z = autotune_table_rounds(in_z, by_z, &ok);
        int64_t round_z;
        if (runs_z < 1)
            runs_z = (double)rounds_z;
        for (round_z = 0; ok && round_z < rounds_z; round_z = autotune_table_last(round_z, rounds_z)) {
            {
                const int64_t in_i = size_M, by_i = entry->tiling.m_slice, rounds_i = autotune_table_rounds(in_i, by_i, &ok);
                int64_t round_i;
                if (runs_i < 1)
                    runs_i = runs_z * (double)rounds_i;
                for (round_i = 0; ok && round_i < rounds_i; round_i = autotune_table_last(round_i, rounds_i)) {
                    const int64_t loop_i = autotune_table_length(in_i, by_i, round_i);
                    autotune_table_keep(&slot_a1, autotune_table_mul(autotune_table_mul(2, autotune_table_extent(loop_i, &ok), &ok), autotune_table_extent(size_K, &ok), &ok));
                    {
                        const int64_t in_j = size_N, by_j = entry->tiling.n_slice, rounds_j = autotune_table_rounds(in_j, by_j, &ok);
                        int64_t round_j;
                        if (runs_j < 1)
                            runs_j = runs_i * (double)rounds_j;
                        for (round_j = 0; ok && round_j < rounds_j; round_j = autotune_table_last(round_j, rounds_j)) {
                            const int64_t loop_j = autotune_table_length(in_j, by_j, round_j);
                            autotune_table_keep(&slot_acc, autotune_table_mul(autotune_table_mul(4, autotune_table_extent(loop_i, &ok), &ok), autotune_table_extent(loop_j, &ok), &ok));
                            autotune_table_keep(&slot_c, autotune_table_mul(autotune_table_mul(2, autotune_table_extent(loop_i, &ok), &ok), autotune_table_extent(loop_j, &ok), &ok));
                            {
                                const int64_t in_l = size_K, by_l = entry->tiling.k_slice, rounds_l = autotune_table_rounds(in_l, by_l, &ok);
                                int64_t round_l;
                                if (runs_l < 1)
                                    runs_l = runs_j * (double)rounds_l;
                                for (round_l = 0; ok && round_l < rounds_l; round_l = autotune_table_last(round_l, rounds_l)) {
                                    const int64_t loop_l = autotune_table_length(in_l, by_l, round_l);
                                    autotune_table_keep(&slot_b1, autotune_table_mul(autotune_table_mul(2, autotune_table_extent(loop_l, &ok), &ok), autotune_table_extent(loop_j, &ok), &ok));
                                    autotune_table_keep(&slot_a0, autotune_table_mul(autotune_table_mul(2, autotune_table_extent(loop_i, &ok), &ok), autotune_table_extent(loop_l, &ok), &ok));
                                    autotune_table_keep(&slot_b0, autotune_table_mul(autotune_table_mul(2, autotune_table_extent(loop_l, &ok), &ok), autotune_table_extent(loop_j, &ok), &ok));
                                }
                            }
                        }
                    }
                }
            }
        }
    }
    left = 1048576; /* bytes of l1 */
    autotune_table_fill(&left, slot_a1, 32, 1, &ok);
    autotune_table_fill(&left, slot_b1, 32, 2, &ok);
    left = 65536; /* bytes of l0a */
    autotune_table_fill(&left, slot_a0, 1, 2, &ok);
    left = 65536; /* bytes of l0b */
    autotune_table_fill(&left, slot_b0, 1, 2, &ok);
    left = 262144; /* bytes of l0c */
    autotune_table_fill(&left, slot_acc, 1024, 1, &ok);
    left = 253952; /* bytes of ub */
    autotune_table_fill(&left, slot_c, 32, 1, &ok);
    ok = ok && 7 * (0 + 2.0 * runs_j + 5.0 * runs_l) <= 10000000000.0; /* instructions */
    return ok;
}

static inline int autotune_matmul_f16_limits_2(const struct autotune_matmul *entry, const int64_t *size)
{
    int ok = (double)size[0] * (double)size[1] * (double)size[2] * (double)size[3] <= 1e15;
    const int64_t whole_M = autotune_table_up(size[0], 16, &ok);
    int64_t size_M = whole_M;
    const int64_t whole_K = autotune_table_up(size[1], 16, &ok);
    int64_t size_K = whole_K;
    const int64_t whole_N = autotune_table_up(size[2], 16, &ok);
    int64_t size_N = whole_N;
    const int64_t whole_batch = autotune_table_up(size[3], 1, &ok);
    int64_t size_batch = whole_batch;
    int64_t left = entry->tiling.cores, used = 1;
    size_batch = autotune_table_share(size_batch, 1, ((autotune_table_is(entry->tiling.split, "m") || autotune_table_is(entry->tiling.split, "n")) ? 1 : ((autotune_table_is(entry->tiling.split, "batch")) ? entry->tiling.cores : ((autotune_table_rem(autotune_table_gcd(size_batch, entry->tiling.cores, &ok), entry->tiling.cores, &ok) > 1) ? autotune_table_gcd(size_batch, entry->tiling.cores, &ok) : 0))), &left, &used, &ok);
    size_M = autotune_table_share(size_M, 16, left, &left, &used, &ok);
    ok = ok && used == entry->tiling.cores; /* all have work */
    int64_t slot_acc = 0;
    int64_t slot_c = 0;
    int64_t slot_a1 = 0;
    int64_t slot_b1 = 0;
    int64_t slot_a0 = 0;
    int64_t slot_b0 = 0;
    double runs_z = 0;
    double runs_i = 0;
    double runs_j = 0;
    double runs_l = 0;
    autotune_table_keep(&slot_b1, autotune_table_mul(autotune_table_mul(2, autotune_table_extent(size_K, &ok), &ok), autotune_table_extent(size_N, &ok), &ok));
    {
        const int64_t in_z = size_batch, by_z = 1, rounds_z = autotune_table_rounds(in_z, by_z, &ok);
        int64_t round_z;
        if (runs_z < 1)
            runs_z = (double)rounds_z;
        for (round_z = 0; ok && round_z < rounds_z; round_z = autotune_table_last(round_z, rounds_z)) {
            {
                const int64_t in_i = size_M, by_i = entry->tiling.m_slice, rounds_i = autotune_table_rounds(in_i, by_i, &ok);
                int64_t round_i;
                if (runs_i < 1)
                    runs_i = runs_z * (double)rounds_i;
                for (round_i = 0; ok && round_i < rounds_i; round_i = autotune_table_last(round_i, rounds_i)) {
                    const int64_t loop_i = autotune_table_length(in_i, by_i, round_i);
                    autotune_table_keep(&slot_a1, autotune_table_mul(autotune_table_mul(2, autotune_table_extent(loop_i, &ok), &ok), autotune_table_extent(size_K, &ok), &ok));
                    {
                        const int64_t in_j = size_N, by_j = entry->tiling.n_slice, rounds_j = autotune_table_rounds(in_j, by_j, &ok);
                        int64_t round_j;
                        if (runs_j < 1)
                            runs_j = runs_i * (double)rounds_j;
                        for (round_j = 0; ok && round_j < rounds_j; round_j = autotune_table_last(round_j, rounds_j)) {
                            const int64_t loop_j = autotune_table_length(in_j, by_j, round_j);
                            autotune_table_keep(&slot_acc, autotune_table_mul(autotune_table_mul(4, autotune_table_extent(loop_i, &ok), &ok), autotune_table_extent(loop_j, &ok), &ok));
                            autotune_table_keep(&slot_c, autotune_table_mul(autotune_table_mul(2, autotune_table_extent(loop_i, &ok), &ok), autotune_table_extent(loop_j, &ok), &ok));
                            {
                                const int64_t in_l = size_K, by_l = entry->tiling.k_slice, rounds_l = autotune_table_rounds(in_l, by_l, &ok);
                                int64_t round_l;
                                if (runs_l < 1)
                                    runs_l = runs_j * (double)rounds_l;
                                for (round_l = 0; ok && round_l < rounds_l; round_l = autotune_table_last(round_l, rounds_l)) {
                                    const int64_t loop_l = autotune_table_length(in_l, by_l, round_l);
                                    autotune_table_keep(&slot_a0, autotune_table_mul(autotune_table_mul(2, autotune_table_extent(loop_i, &ok), &ok), autotune_table_extent(loop_l, &ok), &ok));
                                    autotune_table_keep(&slot_b0, autotune_table_mul(autotune_table_mul(2, autotune_table_extent(loop_l, &ok), &ok), autotune_table_extent(loop_j, &ok), &ok));
                                }
                            }
                        }
                    }
                }
            }
        }
    }
    left = 1048576; /* bytes of l1 */
    autotune_table_fill(&left, slot_a1, 32, 1, &ok);
    autotune_table_fill(&left, slot_b1, 32, 1, &ok);
    left = 65536; /* bytes of l0a */
    autotune_table_fill(&left, slot_a0, 1, 1, &ok);
    left = 65536; /* bytes of l0b */
    autotune_table_fill(&left, slot_b0, 1, 1, &ok);
    left = 262144; /* bytes of l0c */
    autotune_table_fill(&left, slot_acc, 1024, 1, &ok);
    left = 253952; /* bytes of ub */
    autotune_table_fill(&left, slot_c, 32, 1, &ok);
    ok = ok && 7 * (0 + 2.0 * runs_j + 5.0 * runs_l) <= 10000000000.0; /* instructions */
    return ok;
}

static inline int autotune_matmul_f16_limits_3(const struct autotune_matmul *entry, const int64_t *size)
{
    int ok = (double)size[0] * (double)size[1] * (double)size[2] * (double)size[3] <= 1e15;
    const int64_t whole_M = autotune_table_up(size[0], 16, &ok);
    int64_t size_M = whole_M;
    const int64_t whole_K = autotune_table_up(size[1], 16, &ok);
    int64_t size_K = whole_K;
    const int64_t whole_N = autotune_table_up(size[2], 16, &ok);
    int64_t size_N = whole_N;
    const int64_t whole_batch = autotune_table_up(size[3], 1, &ok);
    int64_t size_batch = whole_batch;
    int64_t left = entry->tiling.cores, used = 1;
    size_batch = autotune_table_share(size_batch, 1, ((autotune_table_is(entry->tiling.split, "m") || autotune_table_is(entry->tiling.split, "n")) ? 1 : ((autotune_table_is(entry->tiling.split, "batch")) ? entry->tiling.cores : ((autotune_table_rem(autotune_table_gcd(size_batch, entry->tiling.cores, &ok), entry->tiling.cores, &ok) > 1) ? autotune_table_gcd(size_batch, entry->tiling.cores, &ok) : 0))), &left, &used, &ok);
    size_N = autotune_table_share(size_N, 16, left, &left, &used, &ok);
    ok = ok && used == entry->tiling.cores; /* all have work */
    int64_t slot_acc = 0;
    int64_t slot_c = 0;
    int64_t slot_a1 = 0;
    int64_t slot_b1 = 0;
    int64_t slot_a0 = 0;
    int64_t slot_b0 = 0;
    double runs_z = 0;
    double runs_i = 0;
    double runs_j = 0;
    double runs_l = 0;
    autotune_table_keep(&slot_b1, autotune_table_mul(autotune_table_mul(2, autotune_table_extent(size_K, &ok), &ok), autotune_table_extent(size_N, &ok), &ok));
    {
        const int64_t in_z = size_batch, by_z = 1, rounds_z = autotune_table_rounds(in_z, by_z, &ok);
        int64_t round_z;
        if (runs_z < 1)
            runs_z = (double)rounds_z;
        for (round_z = 0; ok && round_z < rounds_z; round_z = autotune_table_last(round_z, rounds_z)) {
            {
                const int64_t in_i = size_M, by_i = entry->tiling.m_slice, rounds_i = autotune_table_rounds(in_i, by_i, &ok);
                int64_t round_i;
                if (runs_i < 1)
                    runs_i = runs_z * (double)rounds_i;
                for (round_i = 0; ok && round_i < rounds_i; round_i = autotune_table_last(round_i, rounds_i)) {
                    const int64_t loop_i = autotune_table_length(in_i, by_i, round_i);
                    autotune_table_keep(&slot_a1, autotune_table_mul(autotune_table_mul(2, autotune_table_extent(loop_i, &ok), &ok), autotune_table_extent(size_K, &ok), &ok));
                    {
                        const int64_t in_j = size_N, by_j = entry->tiling.n_slice, rounds_j = autotune_table_rounds(in_j, by_j, &ok);
                        int64_t round_j;
                        if (runs_j < 1)
                            runs_j = runs_i * (double)rounds_j;
                        for (round_j = 0; ok && round_j < rounds_j; round_j = autotune_table_last(round_j, rounds_j)) {
                            const int64_t loop_j = autotune_table_length(in_j, by_j, round_j);
                            autotune_table_keep(&slot_acc, autotune_table_mul(autotune_table_mul(4, autotune_table_extent(loop_i, &ok), &ok), autotune_table_extent(loop_j, &ok), &ok));
                            autotune_table_keep(&slot_c, autotune_table_mul(autotune_table_mul(2, autotune_table_extent(loop_i, &ok), &ok), autotune_table_extent(loop_j, &ok), &ok));
                            {
                                const int64_t in_l = size_K, by_l = entry->tiling.k_slice, rounds_l = autotune_table_rounds(in_l, by_l, &ok);
                                int64_t round_l;
                                if (runs_l < 1)
                                    runs_l = runs_j * (double)rounds_l;
                                for (round_l = 0; ok && round_l < rounds_l; round_l = autotune_table_last(round_l, rounds_l)) {
                                    const int64_t loop_l = autotune_table_length(in_l, by_l, round_l);
                                    autotune_table_keep(&slot_a0, autotune_table_mul(autotune_table_mul(2, autotune_table_extent(loop_i, &ok), &ok), autotune_table_extent(loop_l, &ok), &ok));
                                    autotune_table_keep(&slot_b0, autotune_table_mul(autotune_table_mul(2, autotune_table_extent(loop_l, &ok), &ok), autotune_table_extent(loop_j, &ok), &ok));
                                }
                            }
                        }
                    }
                }
            }
        }
    }
    left = 1048576; /* bytes of l1 */
    autotune_table_fill(&left, slot_a1, 32, 1, &ok);
    autotune_table_fill(&left, slot_b1, 32, 1, &ok);
    left = 65536; /* bytes of l0a */
    autotune_table_fill(&left, slot_a0, 1, 2, &ok);
    left = 65536; /* bytes of l0b */
    autotune_table_fill(&left, slot_b0, 1, 2, &ok);
    left = 262144; /* bytes of l0c */
    autotune_table_fill(&left, slot_acc, 1024, 1, &ok);
    left = 253952; /* bytes of ub */
    autotune_table_fill(&left, slot_c, 32, 1, &ok);
    ok = ok && 7 * (0 + 2.0 * runs_j + 5.0 * runs_l) <= 10000000000.0; /* instructions */
    return ok;
}

static inline int autotune_matmul_f16_limits_4(const struct autotune_matmul *entry, const int64_t *size)
{
    int ok = (double)size[0] * (double)size[1] * (double)size[2] * (double)size[3] <= 1e15;
    const int64_t whole_M = autotune_table_up(size[0], 16, &ok);
    int64_t size_M = whole_M;
    const int64_t whole_K = autotune_table_up(size[1], 16, &ok);
    int64_t size_K = whole_K;
    const int64_t whole_N = autotune_table_up(size[2], 16, &ok);
    int64_t size_N = whole_N;
    const int64_t whole_batch = autotune_table_up(size[3], 1, &ok);
    int64_t size_batch = whole_batch;
    int64_t left = entry->tiling.cores, used = 1;
    size_batch = autotune_table_share(size_batch, 1, ((autotune_table_is(entry->tiling.split, "m") || autotune_table_is(entry->tiling.split, "n")) ? 1 : ((autotune_table_is(entry->tiling.split, "batch")) ? entry->tiling.cores : ((autotune_table_rem(autotune_table_gcd(size_batch, entry->tiling.cores, &ok), entry->tiling.cores, &ok) > 1) ? autotune_table_gcd(size_batch, entry->tiling.cores, &ok) : 0))), &left, &used, &ok);
    size_M = autotune_table_share(size_M, 16, left, &left, &used, &ok);
    ok = ok && used == entry->tiling.cores; /* all have work */
    int64_t slot_acc = 0;
    int64_t slot_c = 0;
    int64_t slot_a1 = 0;
    int64_t slot_b1 = 0;
    int64_t slot_a0 = 0;
    int64_t slot_b0 = 0;
    double runs_z = 0;
    double runs_i = 0;
    double runs_j = 0;
    double runs_l = 0;
    {
        const int64_t in_z = size_batch, by_z = 1, rounds_z = autotune_table_rounds(in_z, by_z, &ok);
        int64_t round_z;
        if (runs_z < 1)
            runs_z = (double)rounds_z;
        for (round_z = 0; ok && round_z < rounds_z; round_z = autotune_table_last(round_z, rounds_z)) {
            {
                const int64_t in_i = size_M, by_i = entry->tiling.m_slice, rounds_i = autotune_table_rounds(in_i, by_i, &ok);
                int64_t round_i;
                if (runs_i < 1)
                    runs_i = runs_z * (double)rounds_i;
                for (round_i = 0; ok && round_i < rounds_i; round_i = autotune_table_last(round_i, rounds_i)) {
                    const int64_t loop_i = autotune_table_length(in_i, by_i, round_i);
                    autotune_table_keep(&slot_a1, autotune_table_mul(autotune_table_mul(2, autotune_table_extent(loop_i, &ok), &ok), autotune_table_extent(size_K, &ok), &ok));
                    {
                        const int64_t in_j = size_N, by_j = entry->tiling.n_slice, rounds_j = autotune_table_rounds(in_j, by_j, &ok);
                        int64_t round_j;
                        if (runs_j < 1)
                            runs_j = runs_i * (double)rounds_j;
                        for (round_j = 0; ok && round_j < rounds_j; round_j = autotune_table_last(round_j, rounds_j)) {
                            const int64_t loop_j = autotune_table_length(in_j, by_j, round_j);
                            autotune_table_keep(&slot_acc, autotune_table_mul(autotune_table_mul(4, autotune_table_extent(loop_i, &ok), &ok), autotune_table_extent(loop_j, &ok), &ok));
                            autotune_table_keep(&slot_c, autotune_table_mul(autotune_table_mul(2, autotune_table_extent(loop_i, &ok), &ok), autotune_table_extent(loop_j, &ok), &ok));
                            {
                                const int64_t in_l = size_K, by_l = entry->tiling.k_slice, rounds_l = autotune_table_rounds(in_l, by_l, &ok);
                                int64_t round_l;
                                if (runs_l < 1)
                                    runs_l = runs_j * (double)rounds_l;
                                for (round_l = 0; ok && round_l < rounds_l; round_l = autotune_table_last(round_l, rounds_l)) {
                                    const int64_t loop_l = autotune_table_length(in_l, by_l, round_l);
                                    autotune_table_keep(&slot_b1, autotune_table_mul(autotune_table_mul(2, autotune_table_extent(loop_l, &ok), &ok), autotune_table_extent(loop_j, &ok), &ok));
                                    autotune_table_keep(&slot_a0, autotune_table_mul(autotune_table_mul(2, autotune_table_extent(loop_i, &ok), &ok), autotune_table_extent(loop_l, &ok), &ok));
                                    autotune_table_keep(&slot_b0, autotune_table_mul(autotune_table_mul(2, autotune_table_extent(loop_l, &ok), &ok), autotune_table_extent(loop_j, &ok), &ok));
                                }
                            }
                        }
                    }
                }
            }
        }
    }
    left = 1048576; /* bytes of l1 */
    autotune_table_fill(&left, slot_a1, 32, 1, &ok);
    autotune_table_fill(&left, slot_b1, 32, 2, &ok);
    left = 65536; /* bytes of l0a */
    autotune_table_fill(&left, slot_a0, 1, 2, &ok);
    left = 65536; /* bytes of l0b */
    autotune_table_fill(&left, slot_b0, 1, 2, &ok);
    left = 262144; /* bytes of l0c */
    autotune_table_fill(&left, slot_acc, 1024, 1, &ok);
    left = 253952; /* bytes of ub */
    autotune_table_fill(&left, slot_c, 32, 1, &ok);
    ok = ok && 7 * (0 + 2.0 * runs_j + 5.0 * runs_l) <= 10000000000.0; /* instructions */
    return ok;
}

static inline int autotune_matmul_f16_limits_5(const struct autotune_matmul *entry, const int64_t *size)
{
    int ok = (double)size[0] * (double)size[1] * (double)size[2] * (double)size[3] <= 1e15;
    const int64_t whole_M = autotune_table_up(size[0], 16, &ok);
    int64_t size_M = whole_M;
    const int64_t whole_K = autotune_table_up(size[1], 16, &ok);
    int64_t size_K = whole_K;
    const int64_t whole_N = autotune_table_up(size[2], 16, &ok);
    int64_t size_N = whole_N;
    const int64_t whole_batch = autotune_table_up(size[3], 1, &ok);
    int64_t size_batch = whole_batch;
    int64_t left = entry->tiling.cores, used = 1;
    size_batch = autotune_table_share(size_batch, 1, ((autotune_table_is(entry->tiling.split, "m") || autotune_table_is(entry->tiling.split, "n")) ? 1 : ((autotune_table_is(entry->tiling.split, "batch")) ? entry->tiling.cores : ((autotune_table_rem(autotune_table_gcd(size_batch, entry->tiling.cores, &ok), entry->tiling.cores, &ok) > 1) ? autotune_table_gcd(size_batch, entry->tiling.cores, &ok) : 0))), &left, &used, &ok);
    size_M = autotune_table_share(size_M, 16, left, &left, &used, &ok);
    ok = ok && used == entry->tiling.cores; /* all have work */
    int64_t slot_acc = 0;
    int64_t slot_c = 0;
    int64_t slot_a1 = 0;
    int64_t slot_b1 = 0;
    int64_t slot_a0 = 0;
    int64_t slot_b0 = 0;
    double runs_z = 0;
    double runs_i = 0;
    double runs_j = 0;
    double runs_l = 0;
    {
        const int64_t in_z = size_batch, by_z = 1, rounds_z = autotune_table_rounds(in_z, by_z, &ok);
        int64_t round_z;
        if (runs_z < 1)
            runs_z = (double)rounds_z;
        for (round_z = 0; ok && round_z < rounds_z; round_z = autotune_table_last(round_z, rounds_z)) {
            {
                const int64_t in_i = size_M, by_i = entry->tiling.m_slice, rounds_i = autotune_table_rounds(in_i, by_i, &ok);
                int64_t round_i;
                if (runs_i < 1)
                    runs_i = runs_z * (double)rounds_i;
                for (round_i = 0; ok && round_i < rounds_i; round_i = autotune_table_last(round_i, rounds_i)) {
                    const int64_t loop_i = autotune_table_length(in_i, by_i, round_i);
                    {
                        const int64_t in_j = size_N, by_j = entry->tiling.n_slice, rounds_j = autotune_table_rounds(in_j, by_j, &ok);
                        int64_t round_j;
                        if (runs_j < 1)
                            runs_j = runs_i * (double)rounds_j;
                        for (round_j = 0; ok && round_j < rounds_j; round_j = autotune_table_last(round_j, rounds_j)) {
                            const int64_t loop_j = autotune_table_length(in_j, by_j, round_j);
                            autotune_table_keep(&slot_acc, autotune_table_mul(autotune_table_mul(4, autotune_table_extent(loop_i, &ok), &ok), autotune_table_extent(loop_j, &ok), &ok));
                            autotune_table_keep(&slot_c, autotune_table_mul(autotune_table_mul(2, autotune_table_extent(loop_i, &ok), &ok), autotune_table_extent(loop_j, &ok), &ok));
                            {
                                const int64_t in_l = size_K, by_l = entry->tiling.k_slice, rounds_l = autotune_table_rounds(in_l, by_l, &ok);
                                int64_t round_l;
                                if (runs_l < 1)
                                    runs_l = runs_j * (double)rounds_l;
                                for (round_l = 0; ok && round_l < rounds_l; round_l = autotune_table_last(round_l, rounds_l)) {
                                    const int64_t loop_l = autotune_table_length(in_l, by_l, round_l);
                                    autotune_table_keep(&slot_a1, autotune_table_mul(autotune_table_mul(2, autotune_table_extent(loop_i, &ok), &ok), autotune_table_extent(loop_l, &ok), &ok));
                                    autotune_table_keep(&slot_b1, autotune_table_mul(autotune_table_mul(2, autotune_table_extent(loop_l, &ok), &ok), autotune_table_extent(loop_j, &ok), &ok));
                                    autotune_table_keep(&slot_a0, autotune_table_mul(autotune_table_mul(2, autotune_table_extent(loop_i, &ok), &ok), autotune_table_extent(loop_l, &ok), &ok));
                                    autotune_table_keep(&slot_b0, autotune_table_mul(autotune_table_mul(2, autotune_table_extent(loop_l, &ok), &ok), autotune_table_extent(loop_j, &ok), &ok));
                                }
                            }
                        }
                    }
                }
            }
        }
    }
    left = 1048576; /* bytes of l1 */
    autotune_table_fill(&left, slot_a1, 32, 1, &ok);
    autotune_table_fill(&left, slot_b1, 32, 1, &ok);
    left = 65536; /* bytes of l0a */
    autotune_table_fill(&left, slot_a0, 1, 1, &ok);
    left = 65536; /* bytes of l0b */
    autotune_table_fill(&left, slot_b0, 1, 1, &ok);
    left = 262144; /* bytes of l0c */
    autotune_table_fill(&left, slot_acc, 1024, 1, &ok);
    left = 253952; /* bytes of ub */
    autotune_table_fill(&left, slot_c, 32, 1, &ok);
    ok = ok && 7 * (0 + 2.0 * runs_j + 5.0 * runs_l) <= 10000000000.0; /* instructions */
    return ok;
}

static inline int autotune_matmul_f16_is_legal(const struct autotune_matmul *entry, int64_t m, int64_t k, int64_t n, int64_t batch)
{
    int64_t size[4];
    int i;
    size[0] = m;
    size[1] = k;
    size[2] = n;
    size[3] = batch;
    if (!entry)
        return 0;
    if (autotune_table_compare(size, entry->size, 4) == 0)
        return 1;
    for (i = 0; i < 4; i++)
        if (size[i] < 1 || size[i] > INT32_MAX)
            return 0;
    switch (entry->limits) {
    case 1:
        return autotune_matmul_f16_limits_1(entry, size);
    case 2:
        return autotune_matmul_f16_limits_2(entry, size);
    case 3:
        return autotune_matmul_f16_limits_3(entry, size);
    case 4:
        return autotune_matmul_f16_limits_4(entry, size);
    case 5:
        return autotune_matmul_f16_limits_5(entry, size);
    default:
        return 0;
    }
}

static inline const struct autotune_matmul *autotune_matmul_f16_lookup(int64_t m, int64_t k, int64_t n, int64_t batch)
{
    int64_t size[4];
    double least = 0, distance;
    int i;
    const struct autotune_matmul *nearest = autotune_matmul_f16_find(m, k, n, batch);
    if (nearest)
        return nearest;
    size[0] = m;
    size[1] = k;
    size[2] = n;
    size[3] = batch;
    for (i = 0; i < 4; i++)
        if (size[i] < 1)
            return NULL;
    for (i = 0; i < 8; i++) {
        distance = autotune_table_distance(size, autotune_matmul_f16[i].size, 4);
        if ((!nearest || distance < least) &&
            autotune_matmul_f16_is_legal(&autotune_matmul_f16[i], m, k, n, batch)) {
            least = distance;
            nearest = &autotune_matmul_f16[i];
        }
    }
    return nearest;
}

#endif
