/* k-NN in FP32 as fast as the processor allows: what a tiling of space `host`
 * (kernels/knn/host/knn_host.h) means.
 *
 * Distances are computed register tile by register tile, all dimensions of a tile in one go, and
 * compared with their rows' thresholds while still in registers: the product is never stored. What
 * is below enters its row's k nearest (struct knn_keep). Loops:
 *   each thread its share of the test points: for m-tile: for n-tile: for d-tile:
 *     order panels: for panel of training points: for block of rows: register tile
 *     order rows:   for block of rows: for panel of training points: register tile
 * With several d-tiles sums wait in memory between them.
 *
 * Same data, layout and order of results as knn.h: `tests` M×d, `trainings` d×N, row-major. The
 * answer depends on the instruction set, whose FMA rounds once, but not on the tiling: every
 * distance is 1 − a sum in ascending order of the dimensions.
 *
 *   knn_tiled_open(&problem, &tiling, HOST_AVX512, 1, &tiled, &error)
 *   knn_tiled_run(tiled, tests, trainings, indices, NULL)     any number of times
 *   knn_tiled_close(tiled) */
#ifndef AUTOTUNE_KERNELS_KNN_HOST_KNN_TILED_H
#define AUTOTUNE_KERNELS_KNN_HOST_KNN_TILED_H

#include "core/host.h"
#include "kernels/knn/host/knn_selb_host.h"

#include <string.h>

/* ---- a distance and its index as one number in the order of results ---- */

/* After every entry; its distance reads as NaN. */
#define ENTRY_NONE UINT64_MAX

/* The distance is in the upper half, as an integer of the same order: negative floats with all bits
 * turned, others with the sign turned, any NaN all ones. −0 does not occur: 1 − x is never −0. */
static inline uint64_t entry_of(float distance, int64_t index)
{
    uint32_t bits;
    memcpy(&bits, &distance, sizeof bits);
    bits ^= (bits >> 31 ? UINT32_MAX : 0) | 0x80000000U;
    if (distance != distance)
        bits = UINT32_MAX;
    return (uint64_t)bits << 32 | (uint64_t)index;
}

static inline float entry_distance(uint64_t entry)
{
    uint32_t bits = (uint32_t)(entry >> 32);
    float distance;
    bits ^= bits & 0x80000000U ? 0x80000000U : UINT32_MAX;
    memcpy(&distance, &bits, sizeof distance);
    return distance;
}

static inline int64_t entry_index(uint64_t entry)
{
    return (int64_t)(entry & UINT32_MAX);
}

/* Puts an entry in the place of the largest of a heap of n > 0. */
void heap_replace(uint64_t *heap, int64_t n, uint64_t entry);

/* Moves the k smallest of n entries to the front, the largest of them to entries[k − 1];
 * 0 < k <= n. */
void entries_select(uint64_t *entries, int64_t n, int64_t k);

void entries_sort(uint64_t *entries, int64_t n);

/* ---- the k nearest of each row, kept while distances stream past ---- */

/* They come in ascending order of their index, as entries; checks nothing. What enters is found in
 * three ways: */
enum knn_select {
    KNN_SELECT_LIST = 1, /* k entries in order; a new one moves those behind it. For small k. */
    KNN_SELECT_HEAP,     /* k entries, the last of them on top; a new one sinks from there */
    KNN_SELECT_BUFFER,   /* entries are collected behind the k; when `buffer` of them are there, a
                            partition leaves the k first. The threshold moves only then, so more get
                            in, at less cost each */
};

/* Entries behind k + buffer: as many as one row of a tile may add, and one that is written only. */
enum { KNN_KEEP_SLACK = 128 + 1 };

struct knn_keep_count {
    int64_t survivors;   /* distances below the threshold, NaN before a limit included */
    int64_t entered;     /* of them into a list or heap: below the k-th at that time */
    int64_t compactions; /* of a buffer */
};

struct knn_keep {
    enum knn_select how;
    int64_t k, buffer;
    int64_t rows, capacity; /* most rows; entries a row */
    uint64_t *entries;      /* rows × capacity */
    uint64_t *limits;       /* a row: what enters is less */
    int64_t *counts;        /* a row of a buffer: entries */
    float *thresholds;      /* a row: the distance of its limit; NaN while there is none */
    struct knn_keep_count count;
};

/* Forgets the entries of the first `rows` rows. */
void knn_keep_start(struct knn_keep *keep, int64_t rows);

/* A register tile's distances: of `rows` rows from `row` on, by `columns` of `width` training
 * points from index `first` on. */
struct knn_keep_tile {
    int64_t row, rows, first, columns;
    int width, words;
    const float *distances; /* [rows][width] */
    uint64_t *near;         /* [rows][words]; bits of columns that are not there are cleared */
};

/* Offers the distances whose bits of `near` are set. Others must not be below the threshold. */
void knn_keep_offer(struct knn_keep *keep, const struct knn_keep_tile *tile);

/* One entry of a list or heap. */
void knn_keep_enter(struct knn_keep *keep, int64_t row, uint64_t entry);

/* ---- tilings ---- */

enum knn_order { KNN_ORDER_PANELS = 1, KNN_ORDER_ROWS };

struct knn_tiling {
    int rows, vectors;              /* of a register tile; knn_tiled_has says which there are */
    int64_t m_tile, n_tile, d_tile; /* > 0; more than there is counts as all */
    bool pack; /* copy each panel of training points, its dimensions together */
    enum knn_order order;
    enum knn_select select;
    int64_t buffer; /* > 0; of KNN_SELECT_BUFFER */
};

/* What a run did, all threads together. */
struct knn_tiled_count {
    int64_t tile_calls, tile_steps; /* register tiles; their rows × dimensions */
    int64_t pack_calls, pack_steps; /* panels copied; their dimensions */
    struct knn_keep_count keep;
};

struct knn_tiled;

bool knn_tiled_has(enum host_isa isa, int rows, int vectors);

/* Workspace for `threads` threads. STATUS_INVALID: no such register tile or instruction set here, k
 * not in 1 … N, sizes below 1, N of 2^31 or more. */
enum status knn_tiled_open(const struct knn_problem *problem, const struct knn_tiling *tiling,
                           enum host_isa isa, int threads, struct knn_tiled **tiled,
                           struct error *error);
void knn_tiled_close(struct knn_tiled *tiled);

/* indices and distances (may be NULL): M×k, nearest first. */
void knn_tiled_run(struct knn_tiled *tiled, const float *tests, const float *trainings,
                   int64_t *indices, float *distances);

/* Of the last run. */
void knn_tiled_count(const struct knn_tiled *tiled, struct knn_tiled_count *count);

/* ---- is an answer right, whatever the order of its sums? (knn_run.c) ---- */

/* Distances are computed in double precision, of all rows or of a sample. An answer's indices are
 * in range and differ; its distances ascend, equal ones by index; each is that of its index, and
 * number i is the i-th smallest of the row, both but for rounding: a row's i-th smallest value
 * moves by no more than the value that moves most. For finite points. */
struct knn_check;

/* Tests and trainings must outlive it. */
enum status knn_check_new(const struct knn_problem *problem, const float *tests,
                          const float *trainings, struct knn_check **check, struct error *error);
void knn_check_free(struct knn_check *check);

bool knn_check_sampled(const struct knn_check *check);

/* The largest difference over the rows that are checked, relative to 1 + the largest sum of
 * absolute products of the row; INFINITY where a rule is broken. Both M×k. */
double knn_check_error(const struct knn_check *check, const int64_t *indices,
                       const float *distances);

/* Of sums of so many products in FP32 in any order, and 1 − the sum. */
double knn_allowed_error(int64_t dimensions);

#endif
