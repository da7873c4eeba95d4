/* The fastest tilings known, for including; made by
 *   autotune table --db results.db --hw ascend310 --op matmul --format c -o tilings.h
 * with autotune 0.1.0, model version 4. Not to be edited.
 *
 * Ascend 310, 2 cores, fingerprint aba49f6b002d1a93b5d0973f10a54151; times are simulated.
 *
 * For each table NAME there are two functions of a shape:
 *   NAME_find    the entry of this very shape, or a null pointer; O(log entries)
 *   NAME_lookup  the same, or else the nearest entry; O(entries) where it is not exact
 * Nearest is the entry with the least sum of |ln(asked size / its size)| over all sizes,
 * found as the least product of ratios (larger / smaller, in double, multiplied in the
 * order of the sizes); of equally near ones the first in the table. Its tiling may break
 * a limit for the shape asked about: `autotune explain` says whether it does. A size
 * below 1 gives a null pointer. */
/* clang-format off */
#ifndef AUTOTUNE_TABLE_H
#define AUTOTUNE_TABLE_H

#include <stddef.h>
#include <stdint.h>

#define AUTOTUNE_TABLE_VERSION "0.1.0"
#define AUTOTUNE_TABLE_HARDWARE "Ascend 310"
#define AUTOTUNE_TABLE_FINGERPRINT "aba49f6b002d1a93b5d0973f10a54151"
#define AUTOTUNE_TABLE_KIND "simulated"
#define AUTOTUNE_TABLE_CORES 2
#define AUTOTUNE_TABLE_MODEL_VERSION 4

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
};

/* matmul, f16: 8 shapes. */
enum { autotune_matmul_f16_count = 8 };
static const struct autotune_matmul autotune_matmul_f16[8] = {
    {{1, 4096, 4096, 1}, {16, 1024, 16, 2, "a", "n", 2}, 965096.12494, 1},
    {{64, 64, 64, 1}, {32, 64, 32, 1, "both", "m", 2}, 3223.434026, 1},
    {{256, 256, 256, 1}, {128, 256, 16, 1, "both", "m", 2}, 16278.880924, 1},
    {{512, 64, 512, 12}, {256, 64, 176, 2, "both", "m", 2}, 255107.085548, 1},
    {{512, 1024, 512, 1}, {256, 64, 112, 2, "a", "m", 2}, 104640.044679, 1},
    {{1024, 1024, 1024, 1}, {256, 64, 208, 2, "a", "m", 2}, 345675.499078, 1},
    {{4096, 4096, 4096, 1}, {256, 128, 256, 1, "none", "m", 2}, 30821534.530402, 1},
    {{12544, 576, 128, 1}, {160, 192, 128, 1, "both", "m", 2}, 481139.075005, 1},
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

static inline const struct autotune_matmul *autotune_matmul_f16_lookup(int64_t m, int64_t k, int64_t n, int64_t batch)
{
    int64_t size[4];
    double least, distance;
    int i, nearest = 0;
    const struct autotune_matmul *exact = autotune_matmul_f16_find(m, k, n, batch);
    if (exact)
        return exact;
    size[0] = m;
    size[1] = k;
    size[2] = n;
    size[3] = batch;
    for (i = 0; i < 4; i++)
        if (size[i] < 1)
            return NULL;
    least = autotune_table_distance(size, autotune_matmul_f16[0].size, 4);
    for (i = 1; i < 8; i++) {
        distance = autotune_table_distance(size, autotune_matmul_f16[i].size, 4);
        if (distance < least) {
            least = distance;
            nearest = i;
        }
    }
    return &autotune_matmul_f16[nearest];
}

#endif
