/* k-NN in FP32 as fast as the processor allows: what a tiling of space `host`
 * (kernels/knn/host/knn_host.h) means.
 *
 * Distances are computed register tile by register tile, all dimensions of a tile in one go, and
 * compared with their rows' thresholds while still in registers: the product is never stored. What
 * is below enters its row's k nearest (knn_keep.h). Loops:
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
#include "kernels/knn/host/knn_keep.h"
#include "kernels/knn/host/knn_selb_host.h"

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

#endif
