/* Makes the space of products on processors and says what in it may run. A block of the space is
 * one register tile and one split over threads; its tiles are the size over a table of counts, in
 * whole register tiles. Register tiles without a timed loop are left out, and so are those that
 * cut a small product just as another does. What only the values together make senseless is
 * refused one by one (conflicts). The loops are those of Goto and van de Geijn 2008. */
#include "kernels/matmul/host/matmul_host.h"
#include "core/least.h"
#include "kernels/limits.h"
#include "kernels/matmul/matmul.h"
#include "kernels/matmul/matmul_cann.h"

#include <stdio.h>
#include <stdlib.h>

#define TILE(R, V)                                                                                 \
    {                                                                                              \
#R "x" #V, HOST_PATH_TILE, R, V                                                            \
    }
#define DOT(R, C)                                                                                  \
    {                                                                                              \
        "dot " #R "x" #C, HOST_PATH_DOT, R, C                                                      \
    }

/* By vectors, then rows. With AVX-512's 32 registers R·V + V + 1 fit without spilling up to 28x1,
 * 14x2, 9x3, 6x4, 5x5, 4x6 and 3x8; AVX2's 16 hold 12x1, 6x2, 4x3 and 2x4. */
const struct matmul_host_kernel matmul_host_kernels[MATMUL_HOST_KERNELS] = {
    TILE(4, 1), TILE(8, 1), TILE(12, 1), TILE(16, 1), TILE(24, 1), TILE(28, 1), TILE(4, 2),
    TILE(6, 2), TILE(8, 2), TILE(12, 2), TILE(14, 2), TILE(4, 3),  TILE(8, 3),  TILE(9, 3),
    TILE(4, 4), TILE(6, 4), TILE(5, 5),  TILE(4, 6),  TILE(1, 8),  TILE(3, 8),  DOT(4, 1),
    DOT(8, 1),  DOT(4, 2),  DOT(8, 2),   DOT(4, 4),   DOT(6, 4),   DOT(4, 6),   DOT(3, 8),
};

enum { KERNELS = MATMUL_HOST_KERNELS };

/* Value 0 of each is no value: those of a tiling count from 1. */
static const char *const kernel_names[] = {
    "-",       "4x1",     "8x1",     "12x1",    "16x1",    "24x1",    "28x1",    "4x2",
    "6x2",     "8x2",     "12x2",    "14x2",    "4x3",     "8x3",     "9x3",     "4x4",
    "6x4",     "5x5",     "4x6",     "1x8",     "3x8",     "dot 4x1", "dot 8x1", "dot 4x2",
    "dot 8x2", "dot 4x4", "dot 6x4", "dot 4x6", "dot 3x8",
};
_Static_assert(sizeof kernel_names / sizeof *kernel_names == KERNELS + 1, "a name a kernel");

static const char *const answers[] = {"-", "no", "yes"};
static const char *const orders[] = {"-", "n", "m"};
static const char *const stores[] = {"-", "cached", "stream"};
static const char *const splits[] = {"-", "m", "n"};

static const struct axis axes[HOST_MATMUL_AXES] = {
    [HOST_KERNEL] = {.name = "kernel", .value_names = kernel_names, .name_count = KERNELS + 1},
    [HOST_M_TILE] = {.name = "m_tile", .unit = "elements"},
    [HOST_K_TILE] = {.name = "k_tile", .unit = "elements"},
    [HOST_N_TILE] = {.name = "n_tile", .unit = "elements"},
    [HOST_PACK_A] = {.name = "pack_a", .value_names = answers, .name_count = 3},
    [HOST_PACK_B] = {.name = "pack_b", .value_names = answers, .name_count = 3},
    [HOST_ORDER] = {.name = "order", .value_names = orders, .name_count = 3},
    [HOST_STORE] = {.name = "store", .value_names = stores, .name_count = 3},
    [HOST_SPLIT] = {.name = "split", .value_names = splits, .name_count = 3},
};

const struct axis *const matmul_host_axes = axes;

/* ---- shares and loops --------------------------------------------------------------------- */

int host_lanes(enum host_isa isa)
{
    static const int lanes[HOST_ISA_COUNT] = {
        [HOST_PORTABLE] = 4, [HOST_NEON] = 4, [HOST_AVX2] = 8, [HOST_AVX512] = 16};
    return lanes[isa];
}

struct host_pieces host_pieces(int64_t size, int64_t most)
{
    struct host_pieces pieces = {.count = size / most + (size % most > 0)};
    if (pieces.count) {
        pieces.least = size / pieces.count;
        pieces.larger = size % pieces.count;
    }
    return pieces;
}

struct host_share host_share(int64_t size, int64_t unit, int threads, int thread)
{
    int64_t units = size / unit + (size % unit > 0), least = units / threads;
    int64_t larger = units % threads;
    int64_t start = unit * (least * thread + (thread < larger ? thread : larger));
    int64_t end = start + unit * (least + (thread < larger));
    start = start < size ? start : size;
    end = end < size ? end : size;
    return (struct host_share){start, end - start};
}

int host_sharers(int64_t size, int64_t unit, int threads)
{
    int64_t units = size / unit + (size % unit > 0);
    return units < threads ? (int)units : threads;
}

int64_t matmul_host_unit(const struct matmul_host_kernel *kernel, enum host_isa isa, int64_t split)
{
    if (split == HOST_SPLIT_M)
        return kernel->rows;
    return kernel->path == HOST_PATH_DOT ? kernel->vectors
                                         : (int64_t)kernel->vectors * host_lanes(isa);
}

static int loop_called(const struct host *host, const char *path, int rows, int vectors)
{
    char name[HOST_NAME_SIZE];
    (void)snprintf(name, sizeof name, "sgemm %s%dx%d", path, rows, vectors);
    return host_loop(host, name);
}

/* Loops of kernels that were not timed: the smallest timed one that holds as much. */
static void fill_in_untimed(int loops[HOST_MOST_VECTORS][HOST_MOST_ROWS])
{
    for (int v = HOST_MOST_VECTORS - 1; v >= 0; v--)
        for (int r = HOST_MOST_ROWS - 1; r >= 0; r--) {
            if (loops[v][r] < 0 && r + 1 < HOST_MOST_ROWS)
                loops[v][r] = loops[v][r + 1];
            if (loops[v][r] < 0 && v + 1 < HOST_MOST_VECTORS)
                loops[v][r] = loops[v + 1][r];
        }
}

void matmul_host_find_loops(const struct host *host, struct matmul_host_loops *loops)
{
    for (int v = 0; v < HOST_MOST_VECTORS; v++)
        for (int r = 0; r < HOST_MOST_ROWS; r++) {
            loops->tile[v][r] = loop_called(host, "", r + 1, v + 1);
            loops->dot[v][r] = loop_called(host, "dot ", r + 1, v + 1);
        }
    fill_in_untimed(loops->tile);
    fill_in_untimed(loops->dot);
    loops->pack_a = host_loop(host, "pack a");
    loops->pack_b = host_loop(host, "pack b");
    loops->pack_dot = host_loop(host, "pack b for dot");
}

/* ---- the space ------------------------------------------------------------------------------ */

/* Rows of C that are this long begin where a vector of any instruction set may be streamed to. */
enum { STREAM_BYTES = 64 };

/* Into how many tiles a size is cut: by about a third or a half less each time. */
static const int64_t tile_counts[] = {1, 2, 3, 4, 6, 8, 16, 32, 64, 128, 256, 512, 1024};
enum { TILE_COUNTS = sizeof tile_counts / sizeof *tile_counts };

/* Smaller tiles than these only add calls: a tile of A or B of that many rows, of k, columns. */
static const int64_t least_tile[HOST_MATMUL_AXES] = {
    [HOST_M_TILE] = 96, [HOST_K_TILE] = 128, [HOST_N_TILE] = 128};

/* The most values of one block; multiples of this are tiles of k. */
enum { BLOCK_VALUES = 1 + 3 * TILE_COUNTS + 4 * 2 + 1, K_UNIT = 8 };

/* Tiles of `size` in multiples of `unit`, ascending; the whole size is one of them. */
static int tile_values(int64_t size, int64_t unit, int64_t least, int64_t *values)
{
    int count = 0;
    for (int t = TILE_COUNTS - 1; t >= 0; t--) {
        int64_t tile = size / tile_counts[t] + (size % tile_counts[t] > 0);
        tile = tile + (unit - tile % unit) % unit;
        tile = tile < size ? tile : size;
        bool smaller = count == 0 || tile > values[count - 1];
        if (smaller && (tile >= least || t == 0))
            values[count++] = tile;
    }
    return count;
}

/* Appends an axis's values to a block. */
struct filler {
    struct space_block *block;
    int64_t *next;
};

static void give_values(struct filler *filler, int axis, int count)
{
    filler->block->values[axis] = filler->next;
    filler->block->count[axis] = count;
    filler->next += count;
}

static void give_one(struct filler *filler, int axis, int64_t value)
{
    *filler->next = value;
    give_values(filler, axis, 1);
}

/* Values 1 and 2 of an enumeration, or one of them. */
static void give_two(struct filler *filler, int axis, bool first, bool second)
{
    int count = 0;
    if (first)
        filler->next[count++] = 1;
    if (second)
        filler->next[count++] = 2;
    give_values(filler, axis, count);
}

static void give_tiles(struct filler *filler, int axis, int64_t size, int64_t unit, bool whole)
{
    give_values(filler, axis,
                tile_values(size, unit, whole ? size : least_tile[axis], filler->next));
}

static bool can_stream(const struct matmul_host *host)
{
    return host->n * (int64_t)sizeof(float) % STREAM_BYTES == 0;
}

static int64_t largest_share(const struct matmul_host *host,
                             const struct matmul_host_kernel *kernel, int64_t split, int64_t of)
{
    int64_t size = of == HOST_SPLIT_M ? host->m : host->n;
    int64_t unit = matmul_host_unit(kernel, host->host->isa, of);
    return split == of ? host_share(size, unit, host->threads, 0).length : size;
}

/* Dot kernels take whole columns: they lie so already when there is one, else B is packed. */
static void fill_block(const struct matmul_host *host, int kernel, int64_t split,
                       struct filler *filler)
{
    const struct matmul_host_kernel *k = &matmul_host_kernels[kernel];
    bool dot = k->path == HOST_PATH_DOT;
    enum host_isa isa = host->host->isa;
    give_one(filler, HOST_KERNEL, kernel + 1);
    give_tiles(filler, HOST_M_TILE, largest_share(host, k, split, HOST_SPLIT_M),
               matmul_host_unit(k, isa, HOST_SPLIT_M), dot);
    give_tiles(filler, HOST_K_TILE, host->k, K_UNIT, dot);
    give_tiles(filler, HOST_N_TILE, largest_share(host, k, split, HOST_SPLIT_N),
               matmul_host_unit(k, isa, HOST_SPLIT_N), dot);
    give_two(filler, HOST_PACK_A, true, !dot);
    give_two(filler, HOST_PACK_B, !dot || host->n == 1, !dot || host->n > 1);
    give_two(filler, HOST_ORDER, true, !dot);
    give_two(filler, HOST_STORE, true, !dot && can_stream(host));
    give_one(filler, HOST_SPLIT, split);
}

/* Is there a timed loop of it, and does it suit the number of columns? */
static bool has_kernel(const struct matmul_host *host, int kernel)
{
    const struct matmul_host_kernel *k = &matmul_host_kernels[kernel];
    char name[HOST_NAME_SIZE];
    snprintf(name, sizeof name, "sgemm %s", k->name);
    return host_loop(host->host, name) >= 0 &&
           (k->path == HOST_PATH_TILE || host->n <= HOST_DOT_MOST_COLUMNS);
}

/* Panels as high as the product and as wide are the same with any kernel that holds so much: the
 * first of the table stands for all. */
static bool is_needless(const struct matmul_host *host, int kernel)
{
    const struct matmul_host_kernel *k = &matmul_host_kernels[kernel];
    int64_t lanes = k->path == HOST_PATH_DOT ? 1 : host_lanes(host->host->isa);
    int64_t vectors = host->n / lanes + (host->n % lanes > 0);
    for (int i = 0; i < kernel; i++) {
        const struct matmul_host_kernel *other = &matmul_host_kernels[i];
        if (other->path == k->path && has_kernel(host, i) &&
            least_of(other->rows, host->m) == least_of(k->rows, host->m) &&
            least_of(other->vectors, vectors) == least_of(k->vectors, vectors))
            return true;
    }
    return false;
}

static enum status make_blocks(struct space *space, struct matmul_host *host, struct error *error)
{
    int64_t splits_of[] = {HOST_SPLIT_M, HOST_SPLIT_N};
    host->values = malloc(sizeof *host->values * 2 * KERNELS * BLOCK_VALUES);
    if (!host->values)
        return error_memory(error);
    struct filler filler = {.next = host->values};
    for (int s = 0; s < (host->threads > 1 ? 2 : 1); s++)
        for (int i = 0; i < KERNELS; i++)
            if (has_kernel(host, i) && !is_needless(host, i)) {
                filler.block = space_add_block(space);
                if (!filler.block)
                    return error_memory(error);
                fill_block(host, i, splits_of[s], &filler);
            }
    if (space->block_count)
        return STATUS_OK;
    return error_set(
        error, STATUS_INVALID,
        "%s has no timed loop \"sgemm …\": `autotune calibrate --hw host` measures them",
        space->hw->name);
}

static enum status create(struct space *space, const struct problem *problem, int cores,
                          struct error *error)
{
    struct matmul_host *host = calloc(1, sizeof *host);
    if (!host)
        return error_memory(error);
    *host = (struct matmul_host){
        .host = space->hw->host,
        .m = problem->size[MATMUL_M],
        .k = problem->size[MATMUL_K],
        .n = problem->size[MATMUL_N],
        .threads = cores,
    };
    matmul_host_find_loops(host->host, &host->loops);
    space->detail = host;
    space->axis_count = HOST_MATMUL_AXES;
    space->axes = axes;
    return make_blocks(space, host, error);
}

static void destroy(struct space *space)
{
    struct matmul_host *host = space->detail;
    if (host)
        free(host->values);
    free(host);
}

/* ---- what may run --------------------------------------------------------------------------- */

/* With one tile each way and one panel in one of them, both orders are the same. */
static bool order_matters(const struct space *space, const struct tiling *tiling)
{
    const struct matmul_host *host = matmul_host_of(space);
    const struct matmul_host_kernel *kernel = matmul_host_kernel(tiling);
    int64_t split = tiling->value[HOST_SPLIT];
    int64_t m = largest_share(host, kernel, split, HOST_SPLIT_M);
    int64_t n = largest_share(host, kernel, split, HOST_SPLIT_N);
    bool one_tile = tiling->value[HOST_M_TILE] >= m && tiling->value[HOST_N_TILE] >= n;
    return !one_tile || (m > matmul_host_unit(kernel, host->host->isa, HOST_SPLIT_M) &&
                         n > matmul_host_unit(kernel, host->host->isa, HOST_SPLIT_N));
}

static bool has_known_kernel(const struct tiling *tiling)
{
    return tiling->value[HOST_KERNEL] >= 1 && tiling->value[HOST_KERNEL] <= KERNELS;
}

/* What the values mean together; the kernel is one of the table. */
static int conflicts(const struct space *space, const struct tiling *tiling,
                     struct violation list[MAX_VIOLATIONS])
{
    const struct matmul_host *host = matmul_host_of(space);
    int count = 0;
    if (tiling->value[HOST_STORE] == HOST_STORE_STREAM) {
        if (!can_stream(host))
            add_text(list, &count, "store",
                     "store=stream: rows of C are %lld bytes, expected a multiple "
                     "of %d",
                     (long long)host->n * (long long)sizeof(float), STREAM_BYTES);
        if (tiling->value[HOST_K_TILE] < host->k)
            add_text(list, &count, "store",
                     "store=stream: C is added to in tiles of k, expected k_tile=%lld",
                     (long long)host->k);
    }
    if (tiling->value[HOST_ORDER] == HOST_ORDER_M && !order_matters(space, tiling))
        add_text(list, &count, "order",
                 "order=m: with one tile and one panel it is the same as order=n");
    return count;
}

static bool legal(const struct space *space, const struct tiling *tiling)
{
    struct violation list[MAX_VIOLATIONS];
    return has_known_kernel(tiling) && conflicts(space, tiling, list) == 0;
}

static bool possible(const struct space *space, const struct tiling *tiling, int fixed)
{
    return fixed < HOST_MATMUL_AXES || legal(space, tiling);
}

/* The block of a tiling's kernel and split, or NULL. */
static const struct space_block *block_of(const struct space *space, const struct tiling *tiling)
{
    for (int b = 0; b < space->block_count; b++)
        if (space->blocks[b].values[HOST_KERNEL][0] == tiling->value[HOST_KERNEL] &&
            space->blocks[b].values[HOST_SPLIT][0] == tiling->value[HOST_SPLIT])
            return &space->blocks[b];
    return NULL;
}

static int violations(const struct space *space, const struct tiling *tiling,
                      struct violation list[MAX_VIOLATIONS])
{
    int count = 0;
    const struct space_block *block = block_of(space, tiling);
    if (!block) {
        char text[2][24];
        add_text(list, &count, "kernel", "kernel=%s,split=%s: not in this space",
                 axis_value_text(&axes[HOST_KERNEL], tiling->value[HOST_KERNEL], text[0]),
                 axis_value_text(&axes[HOST_SPLIT], tiling->value[HOST_SPLIT], text[1]));
        return count;
    }
    for (int a = HOST_M_TILE; a <= HOST_N_TILE; a++) {
        int64_t below, above;
        if (!on_axis(block, a, tiling->value[a], &below, &above))
            add_value(list, &count, axes[a].name, tiling->value[a], "tile of this space", below,
                      above);
    }
    int with_tiles = count + conflicts(space, tiling, list + count);
    for (int a = HOST_PACK_A; count == with_tiles && a <= HOST_STORE; a++) {
        int64_t below, above;
        char text[24];
        if (!on_axis(block, a, tiling->value[a], &below, &above))
            add_text(list, &count, axes[a].name, "%s=%s: not with kernel %s", axes[a].name,
                     axis_value_text(&axes[a], tiling->value[a], text),
                     matmul_host_kernel(tiling)->name);
    }
    return count > with_tiles ? count : with_tiles;
}

static int cores_used(const struct space *space, const struct tiling *tiling, int part)
{
    (void)part;
    const struct matmul_host *host = matmul_host_of(space);
    int64_t split = tiling->value[HOST_SPLIT];
    return host_sharers(split == HOST_SPLIT_M ? host->m : host->n,
                        matmul_host_unit(matmul_host_kernel(tiling), host->host->isa, split),
                        host->threads);
}

const struct operator_space matmul_host_space = {
    .name = "host",
    .title = "FP32 on this processor: register tile, cache tiles, packing, loop order, stores",
    .create = create,
    .destroy = destroy,
    .possible = possible,
    .legal = legal,
    .violations = violations,
    .cores_used = cores_used,
    .ask = matmul_host_ask,
    .roofline_ns = matmul_host_roofline_ns,
};
