/* Space `host` of k-NN: FP32 on the processor of this machine. kernels/knn/host/knn_tiled.h runs
 * what a tiling of it means; this file is the one place that says which axes there are. */
#ifndef AUTOTUNE_KERNELS_KNN_HOST_KNN_HOST_H
#define AUTOTUNE_KERNELS_KNN_HOST_KNN_HOST_H

#include "kernels/knn/knn.h"

enum knn_host_axis {
    KNN_HOST_KERNEL, /* knn_host_kernels[]: register tile */
    KNN_HOST_M_TILE, /* test points that go through all training points together */
    KNN_HOST_N_TILE, /* training points a tile */
    KNN_HOST_D_TILE, /* dimensions a tile; sums wait in memory between several */
    KNN_HOST_PACK,   /* copy panels of training points, or read them as they lie */
    KNN_HOST_ORDER,  /* the outer loop in a tile: panels of training points, or rows of tests */
    KNN_HOST_SELECT, /* list, heap, buffer */
    KNN_HOST_BUFFER, /* entries beyond k before a buffer is cut to k; 1: not a buffer */
    KNN_HOST_AXES
};

/* As enum knn_order and enum knn_select of knn_tiled.h (a test compares them). */
enum { KNN_HOST_PACK_NO = 1, KNN_HOST_PACK_YES };
enum { KNN_HOST_ORDER_PANELS = 1, KNN_HOST_ORDER_ROWS };
enum { KNN_HOST_SELECT_LIST = 1, KNN_HOST_SELECT_HEAP, KNN_HOST_SELECT_BUFFER };

/* Longer lists are not worth a try: an entry moves half of it. */
enum { KNN_HOST_LIST_MOST = 128, KNN_HOST_BUFFER_LEAST = 16, KNN_HOST_BUFFER_MOST = 65536 };

/* More workspace than this, all threads together, is a limit that a tiling breaks. */
#define KNN_HOST_WORKSPACE_BYTES (INT64_C(2) << 30)

/* A register tile: rows of test points by vectors of training points. Values of KNN_HOST_KERNEL
 * count from 1: kernel − 1 is the index here. Its loop is called "knn NAME". */
struct knn_host_kernel {
    const char *name; /* "14x2" */
    int rows, vectors;
};

enum { KNN_HOST_KERNELS = 19 };
extern const struct knn_host_kernel knn_host_kernels[KNN_HOST_KERNELS];

/* Loops of family "knn" beside the register tiles', a step each: */
enum knn_host_loop {
    KNN_LOOP_PACK,    /* a call a panel, a step a vector copied */
    KNN_LOOP_TURN,    /* a step a number of the test points, laid out for register tiles */
    KNN_LOOP_SCAN,    /* a call a register tile with near points, a step a row of it */
    KNN_LOOP_LIST,    /* a call an entry, a step an entry moved for it */
    KNN_LOOP_HEAP,    /* a call an entry, a step a level that it sinks */
    KNN_LOOP_COLLECT, /* a call a row with near points, a step an entry collected */
    KNN_LOOP_COMPACT, /* a call a cut to k, a step an entry looked at */
    KNN_LOOP_SORT,    /* a call a row, a step one of k·log2 k */
    KNN_HOST_LOOPS
};
extern const char *const knn_host_loops[KNN_HOST_LOOPS]; /* variants: "pack", … */

/* One problem on one processor; space->detail. */
struct knn_host {
    const struct host *host;
    int64_t m, d, n, k;
    int threads;
    int lanes;                         /* floats a vector */
    int64_t share;                     /* test points of the thread with most, of all threads */
    int tile_loops[KNN_HOST_KERNELS];  /* of knn_host_kernels[], or -1 */
    int loops[KNN_HOST_LOOPS];         /* or -1 */
    int64_t values[KNN_HOST_AXES][32]; /* of the axes, ascending */
    int value_count[KNN_HOST_AXES];
};

static inline const struct knn_host *knn_host_of(const struct space *space)
{
    return space->detail;
}

static inline const struct knn_host_kernel *knn_host_kernel(const struct tiling *tiling)
{
    return &knn_host_kernels[tiling->value[KNN_HOST_KERNEL] - 1];
}

/* Memory of all threads; INT64_MAX stands for more than can be counted. */
int64_t knn_host_workspace_bytes(const struct knn_host *knn, const struct tiling *tiling);

extern const struct operator_space knn_host_space;

/* Runs tilings on this processor (validate/runner.h), and what a tiling means to it. */
extern const struct host_runner knn_runner;
struct knn_tiling knn_tiling_of(const struct tiling *tiling);

/* The inner loops for the calibration (validate/loops.h): first the register tiles, in the order of
 * knn_host_kernels[], then what knn_host_loops[] names. */
extern const struct loop_family knn_loops;

#endif
