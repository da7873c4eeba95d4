/* Internal to knn_tiled.c: the inner loops of k-NN, compiled once for every instruction set.
 *
 * knn_portable.c, knn_neon.c, knn_avx2.c and knn_avx512.c define a vector and a few operations on
 * it and include knn_template.h, which fills one struct knn_code. Nothing here checks its
 * arguments. */
#ifndef AUTOTUNE_KERNELS_KNN_HOST_KNN_CODE_H
#define AUTOTUNE_KERNELS_KNN_HOST_KNN_CODE_H

#include "core/host.h"
#include "kernels/each_row.h"
#include "kernels/unrolled.h"

#include <stddef.h>

enum {
    KNN_MAX_ROWS = 28, /* of a register tile of one vector */
    KNN_MAX_VECTORS = 8,
    KNN_MAX_LANES = 16,
    KNN_MAX_WIDTH = KNN_MAX_VECTORS * KNN_MAX_LANES, /* training points of a register tile */
    KNN_WORD_BITS = 64,
    KNN_MAX_WORDS = KNN_MAX_WIDTH / KNN_WORD_BITS,
};

/* One register tile: `rows` test points by `vectors` of training points, some or all dimensions. */
struct knn_step {
    const float *tests;     /* [dimensions][rows] */
    const float *trainings; /* [dimensions][stride] */
    int64_t stride, dimensions;
    float *sums;             /* [rows][width]: what earlier dimensions summed up to, or NULL */
    float *carry;            /* [rows][width]: where to leave the sums; NULL: the last dimensions */
    const float *thresholds; /* [rows] */
    float *distances;        /* [rows][width]: written only where any training point is near */
    uint64_t *near;          /* [rows][words]: bit c: not (distance of training c >= threshold) */
};

/* Words of near points a row. */
static inline int knn_words(int width)
{
    return (width + KNN_WORD_BITS - 1) / KNN_WORD_BITS;
}

struct knn_code {
    int lanes;
    /* [vectors - 1][rows - 1]; NULL where there is none. Whether any point is near. */
    bool (*tile[KNN_MAX_VECTORS][KNN_MAX_ROWS])(const struct knn_step *step);
    /* packed[l][0 … width) = the first `columns` of row l, then zeros; width in whole vectors. */
    void (*pack)(const float *trainings, int64_t stride, int64_t dimensions, int columns, int width,
                 float *packed);
};

extern const struct knn_code knn_code_portable;
#if defined __aarch64__
extern const struct knn_code knn_code_neon;
#elif defined __x86_64__
extern const struct knn_code knn_code_avx2, knn_code_avx512;
#endif

/* NULL where this processor cannot run it. */
const struct knn_code *knn_code_of(enum host_isa isa);

/* turned[l][r] = tests[r][l]: rows of a block together for each dimension, as a tile reads them. */
void knn_turn(const float *tests, int64_t rows, int64_t dimensions, float *turned);

#endif
