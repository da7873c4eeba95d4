/* The inner loops of k-NN, written once. No include guard: each instruction set's file defines,
 * then includes this once: LANES               floats a vector vec                 a vector type of
 * GNU C, aligned as float near_mask(d, t)     bit i: not (d[i] >= t), so that a NaN on either side
 * is near KNN_CODE            the name of the table Numbers of rows and vectors are constants after
 * inlining, so that the sums are registers. */

INLINE vec load(const float *from)
{
    return *(const vec *)from;
}

INLINE vec all(float x)
{
    return x - (vec){0};
}

INLINE void multiply(const int R, const int V, const float *tests, const float *trainings,
                     vec sum[KNN_MAX_ROWS][KNN_MAX_VECTORS])
{
    vec q[KNN_MAX_VECTORS];
    UNROLLED
    for (int v = 0; v < V; v++)
        q[v] = load(trainings + (ptrdiff_t)v * LANES);
    UNROLLED
    for (int r = 0; r < R; r++) {
        vec p = all(tests[r]);
        UNROLLED
        for (int v = 0; v < V; v++)
            sum[r][v] += p * q[v];
    }
}

INLINE void multiply_all(const int R, const int V, const struct knn_step *step,
                         vec sum[KNN_MAX_ROWS][KNN_MAX_VECTORS])
{
    enum { UNROLL = 4 };
    const float *p = step->tests, *q = step->trainings;
    int64_t stride = step->stride, left = step->dimensions;
    for (; left >= UNROLL; left -= UNROLL) {
        UNROLLED
        for (int u = 0; u < UNROLL; u++, q += stride)
            multiply(R, V, p + (ptrdiff_t)u * R, q, sum);
        p += (ptrdiff_t)UNROLL * R;
    }
    for (; left > 0; left--, p += R, q += stride)
        multiply(R, V, p, q, sum);
}

/* Distances, compared while they are in registers; they go to memory only if one is near. */
INLINE bool compare(const int R, const int V, const struct knn_step *step,
                    vec sum[KNN_MAX_ROWS][KNN_MAX_VECTORS])
{
    enum { BITS = KNN_WORD_BITS };
    const int words = (V * LANES + BITS - 1) / BITS;
    uint64_t any = 0;
    UNROLLED
    for (int r = 0; r < R; r++) {
        vec threshold = all(step->thresholds[r]);
        uint64_t near[KNN_MAX_WORDS] = {0};
        UNROLLED
        for (int v = 0; v < V; v++) {
            sum[r][v] = 1 - sum[r][v];
            near[v * LANES / BITS] |= (uint64_t)near_mask(sum[r][v], threshold)
                                      << (v * LANES % BITS);
        }
        UNROLLED
        for (int w = 0; w < words; w++) {
            step->near[r * words + w] = near[w];
            any |= near[w];
        }
    }
    if (!any)
        return false;
    UNROLLED
    for (int r = 0; r < R; r++)
        UNROLLED
    for (int v = 0; v < V; v++)
        *(vec *)(step->distances + (ptrdiff_t)(r * V + v) * LANES) = sum[r][v];
    return true;
}

INLINE bool tile(const int R, const int V, const struct knn_step *step)
{
    vec sum[KNN_MAX_ROWS][KNN_MAX_VECTORS];
    const float *sums = step->sums;
    UNROLLED
    for (int r = 0; r < R; r++)
        UNROLLED
    for (int v = 0; v < V; v++)
        sum[r][v] = (vec){0};
    if (sums)
        UNROLLED
    for (int r = 0; r < R; r++)
        UNROLLED
    for (int v = 0; v < V; v++)
        sum[r][v] = load(sums + (ptrdiff_t)(r * V + v) * LANES);
    multiply_all(R, V, step, sum);
    if (!step->carry)
        return compare(R, V, step, sum);
    UNROLLED
    for (int r = 0; r < R; r++)
        UNROLLED
    for (int v = 0; v < V; v++)
        *(vec *)(step->carry + (ptrdiff_t)(r * V + v) * LANES) = sum[r][v];
    return false;
}

static void pack(const float *trainings, int64_t stride, int64_t dimensions, int columns, int width,
                 float *packed)
{
    int whole = columns - columns % LANES;
    for (int64_t l = 0; l < dimensions; l++, trainings += stride, packed += width) {
        int c = 0;
        for (; c < whole; c += LANES)
            *(vec *)(packed + c) = load(trainings + c);
        for (; c < columns; c++)
            packed[c] = trainings[c];
        for (; c < width; c++)
            packed[c] = 0;
    }
}

/* For each number of vectors as many rows as fit the registers of AVX-512. */
#define EACH_TILE(F)                                                                               \
    EACH_ROW_28(1, F)                                                                              \
    EACH_ROW_14(2, F) EACH_ROW_9(3, F) EACH_ROW_6(4, F) EACH_ROW_4(6, F) EACH_ROW_3(8, F)

#define TILE(R, V)                                                                                 \
    static bool tile_##R##x##V(const struct knn_step *step)                                        \
    {                                                                                              \
        return tile(R, V, step);                                                                   \
    }
#define TILE_ROW(R, V) [(V)-1][(R)-1] = tile_##R##x##V,

EACH_TILE(TILE)

const struct knn_code KNN_CODE = {
    .lanes = LANES,
    .tile = {EACH_TILE(TILE_ROW)},
    .pack = pack,
};
