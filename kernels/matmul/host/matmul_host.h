/* Space `host` of MatMul: FP32 products on the processor of this machine, C = A·B, all row-major
 * and dense. kernels/matmul/host/sgemm.h runs what a tiling of it means; this file is the one place
 * that says which axes there are, both sides read it.
 *
 * Loops of the blocked path, GotoBLAS's scheme (Goto and van de Geijn 2008) with every part
 * optional: order n: for n-tile, for k-tile (pack B's tile), for m-tile (pack A's tile),
 * micro-kernels order m: for m-tile, for k-tile (pack A's tile), for n-tile (pack B's tile),
 * micro-kernels A micro-kernel of R×V computes R rows by V vectors of C, one k a step; vectors lie
 * along n. The rows of a tile are cut into the fewest panels of at most R, as equal as can be, its
 * vectors into the fewest of at most V; in order n the panels along n are the outer ones, in order
 * m those along m. Each thread computes its own rows (split m) or columns (split n) and packs for
 * itself. */
#ifndef AUTOTUNE_KERNELS_MATMUL_HOST_MATMUL_HOST_H
#define AUTOTUNE_KERNELS_MATMUL_HOST_MATMUL_HOST_H

#include "core/operator.h"

enum matmul_host_axis {
    HOST_KERNEL, /* matmul_host_kernels[]: path and register tile */
    HOST_M_TILE, /* rows of A a tile; of the last one less */
    HOST_K_TILE,
    HOST_N_TILE,
    HOST_PACK_A, /* 0, 1 */
    HOST_PACK_B, /* 0, 1 */
    HOST_ORDER,  /* which of n and m is the outer loop */
    HOST_STORE,  /* cached, or streaming past the caches */
    HOST_SPLIT,  /* what threads share out: n or m */
    HOST_MATMUL_AXES
};

enum { HOST_ORDER_N = 1, HOST_ORDER_M };
enum { HOST_STORE_CACHED = 1, HOST_STORE_STREAM };
enum { HOST_SPLIT_M = 1, HOST_SPLIT_N };
enum { HOST_PACK_NO = 1, HOST_PACK_YES };

enum matmul_host_path {
    HOST_PATH_TILE, /* micro-kernels of rows × vectors */
    HOST_PATH_DOT,  /* dot products along k, vectors along k: for few columns */
};

/* One way to hold a piece of C in registers. Values of HOST_KERNEL count from 1: kernel - 1 is the
 * index here. Every row exists for every instruction set; which are fast the calibration says: its
 * loops are called "sgemm NAME". */
struct matmul_host_kernel {
    const char *name; /* "12x2", "dot 4x2" */
    enum matmul_host_path path;
    int rows, vectors; /* of a dot kernel: rows and columns of C, along k one vector */
};

enum { MATMUL_HOST_KERNELS = 28 };
extern const struct matmul_host_kernel matmul_host_kernels[MATMUL_HOST_KERNELS];

enum { HOST_DOT_MOST_COLUMNS = 15 }; /* of C, for dot kernels */

extern const struct axis *const matmul_host_axes; /* HOST_MATMUL_AXES of them */

/* Floats a vector of an instruction set. */
int host_lanes(enum host_isa isa);

/* A size cut into the fewest pieces of at most `most`, as equal as can be: the first `larger` of
 * them are one longer than the others. Size 0 has none. */
struct host_pieces {
    int64_t count, larger, least; /* least: length of the shorter ones */
};

struct host_pieces host_pieces(int64_t size, int64_t most);

/* What thread `thread` of `threads` gets of a size cut into whole units: the first threads get the
 * larger shares. Its length is 0 for those that get nothing. */
struct host_share {
    int64_t start, length;
};

struct host_share host_share(int64_t size, int64_t unit, int threads, int thread);

/* How many threads get something. */
int host_sharers(int64_t size, int64_t unit, int threads);

/* In what m (split m) or n (split n) is shared out: rows of a kernel, or columns of its vectors. */
int64_t matmul_host_unit(const struct matmul_host_kernel *kernel, enum host_isa isa, int64_t split);

/* Where the loops of a processor are, by what they do: [vectors - 1][rows - 1]; -1 where none was
 * timed that does it. The panels at the edges of tiles are those of smaller kernels; where they
 * were not timed it is the smallest timed kernel that holds them. */
enum { HOST_MOST_ROWS = 28, HOST_MOST_VECTORS = 8 };
struct matmul_host_loops {
    int tile[HOST_MOST_VECTORS][HOST_MOST_ROWS], dot[HOST_MOST_VECTORS][HOST_MOST_ROWS];
    int pack_a, pack_b, pack_dot;
};

/* space->detail of space `host`. */
struct matmul_host {
    const struct host *host;
    int64_t m, k, n;
    int threads;
    struct matmul_host_loops loops;
    int64_t *values; /* of all axes of all blocks */
};

static inline const struct matmul_host *matmul_host_of(const struct space *space)
{
    return space->detail;
}

static inline const struct matmul_host_kernel *matmul_host_kernel(const struct tiling *tiling)
{
    return &matmul_host_kernels[tiling->value[HOST_KERNEL] - 1];
}

extern const struct operator_space matmul_host_space;

/* What `ask` needs, found once a space. */
void matmul_host_find_loops(const struct host *host, struct matmul_host_loops *loops);

/* Its member `ask`. */
void matmul_host_ask(const struct space *space, const struct tiling *tiling,
                     struct host_work *work);

/* Its member `roofline_ns`: products at the rate of the fastest loop, or every operand and result
 * moved once, whichever takes longer; no tiling is faster by `ask`. */
double matmul_host_roofline_ns(const struct space *space);

/* Runs tilings on this processor (validate/runner.h). */
extern const struct host_runner sgemm_runner;

/* The inner loops of the FP32 product for the calibration (validate/loops.h).
 *
 * sgemm, a variant for every number of rows and vectors: a step is one k of a full micro-kernel
 * with packed operands (of a dot kernel: one vector along k), a call one micro-kernel, its C
 * stored. pack, variants a, b and "b for dot": a step is 64 packed bytes, a call one panel. */
extern const struct loop_family sgemm_loops, pack_loops;

#endif
