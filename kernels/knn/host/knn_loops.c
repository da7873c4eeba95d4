/* Runs single loops of k-NN for the calibration. Every loop runs the code of the kernel, on data
 * like the kernel's. Where branches depend on data these are random and new in each call, since a
 * predictor learns what repeats; where the selection is not meant, thresholds let nothing pass.
 * Memory is cut from what the calibration lends. */
#include "core/least.h"

#include "kernels/knn/host/knn_code.h"
#include "kernels/knn/host/knn_host.h"
#include "kernels/knn/host/knn_tiled.h"
#include "kernels/matmul/host/matmul_host.h"
#include "validate/loops.h"

#include <math.h>
#include <string.h>

enum {
    LINE = 16,     /* floats */
    SIZE_STEP = 4, /* buffers of so many entries a step asked for */
    SCAN_ROWS = 8,
    SCAN_WIDTH = 32,
};

/* Memory that a loop works in. */
struct scratch {
    char *data;
    int64_t bytes;
};

/* A piece of it in whole cache lines, or NULL. */
static void *take_piece(struct scratch *scratch, int64_t bytes)
{
    void *piece = scratch->data;
    bytes += -bytes & 63;
    if (bytes > scratch->bytes)
        return NULL;
    scratch->data += bytes;
    scratch->bytes -= bytes;
    return piece;
}

/* Xorshift64 (Marsaglia 2003): some three cycles a number. */
static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void fill_random(uint64_t *entries, int64_t n, uint64_t *state)
{
    for (int64_t i = 0; i < n; i++)
        entries[i] = next_random(state);
}

/* Nothing is near: thresholds are below every distance. A step asked for is a dimension. */
static int64_t run_tile(int index, const struct knn_code *code, int64_t calls, int64_t steps,
                        struct scratch *scratch)
{
    const struct knn_host_kernel *kernel = &knn_host_kernels[index];
    int64_t rows = kernel->rows, width = (int64_t)kernel->vectors * code->lanes;
    float *distances = take_piece(scratch, rows * width * (int64_t)sizeof(float));
    float *thresholds = take_piece(scratch, rows * (int64_t)sizeof(float));
    uint64_t *near = take_piece(scratch, rows * KNN_MAX_WORDS * (int64_t)sizeof *near);
    int64_t floats = scratch->bytes / (int64_t)sizeof(float);
    int64_t dimensions = least_of(steps, (floats - LINE) / (rows + width));
    if (!near || dimensions < 1)
        return 0;
    float *tests = take_piece(scratch, dimensions * rows * (int64_t)sizeof(float));
    const struct knn_step step = {.tests = tests,
                                  .trainings = (float *)(void *)scratch->data,
                                  .stride = width,
                                  .dimensions = dimensions,
                                  .thresholds = thresholds,
                                  .distances = distances,
                                  .near = near};
    for (int64_t r = 0; r < rows; r++)
        thresholds[r] = -INFINITY;
    for (int64_t i = 0; i < calls; i++)
        (void)code->tile[kernel->vectors - 1][rows - 1](&step);
    return dimensions * rows;
}

/* Panels of two vectors; a step asked for is a dimension. */
static int64_t run_pack(const struct knn_code *code, int64_t calls, int64_t steps,
                        struct scratch *scratch)
{
    enum { VECTORS = 2 };
    int width = VECTORS * code->lanes;
    int64_t row = width * (int64_t)sizeof(float),
            dimensions = least_of(steps, scratch->bytes / 2 / row);
    const float *from = take_piece(scratch, dimensions * row);
    float *to = take_piece(scratch, dimensions * row);
    if (!to || dimensions < 1)
        return 0;
    for (int64_t i = 0; i < calls; i++)
        code->pack(from, width, dimensions, width, width, to);
    return dimensions * VECTORS;
}

static int64_t run_turn(int64_t calls, int64_t steps, struct scratch *scratch)
{
    enum { ROWS = 12 };
    int64_t row = ROWS * (int64_t)sizeof(float),
            dimensions = least_of(steps, scratch->bytes / 2 / row);
    const float *from = take_piece(scratch, dimensions * row);
    float *to = take_piece(scratch, dimensions * row);
    if (!to || dimensions < 1)
        return 0;
    for (int64_t i = 0; i < calls; i++)
        knn_turn(from, ROWS, dimensions, to);
    return dimensions * ROWS;
}

/* Rows that hold k entries each, in the scratch memory. */
static bool open_keep(struct knn_keep *keep, enum knn_select how, int64_t k, int64_t rows,
                      struct scratch *scratch)
{
    *keep = (struct knn_keep){.how = how, .k = k, .buffer = k, .rows = rows};
    keep->capacity = how == KNN_SELECT_BUFFER ? 2 * k + KNN_KEEP_SLACK : k;
    keep->limits = take_piece(scratch, rows * (int64_t)sizeof *keep->limits);
    keep->counts = take_piece(scratch, rows * (int64_t)sizeof *keep->counts);
    keep->thresholds = take_piece(scratch, rows * (int64_t)sizeof *keep->thresholds);
    keep->entries = take_piece(scratch, rows * keep->capacity * (int64_t)sizeof *keep->entries);
    return keep->limits && keep->counts && keep->thresholds && keep->entries;
}

static struct knn_keep_tile scan_tile(struct scratch *scratch)
{
    return (struct knn_keep_tile){
        .rows = SCAN_ROWS,
        .columns = SCAN_WIDTH,
        .width = SCAN_WIDTH,
        .words = 1,
        .near = take_piece(scratch, SCAN_ROWS * (int64_t)sizeof(uint64_t)),
        .distances = take_piece(scratch, (int64_t)SCAN_ROWS * SCAN_WIDTH * (int64_t)sizeof(float)),
    };
}

/* Register tiles of up to eight rows of which none is near, a row a step. */
static int64_t run_scan(int64_t calls, int64_t steps, struct scratch *scratch)
{
    struct knn_keep keep;
    struct knn_keep_tile tile = scan_tile(scratch);
    if (!tile.distances || !open_keep(&keep, KNN_SELECT_BUFFER, 1, 1, scratch))
        return 0;
    tile.rows = least_of(steps / 8, SCAN_ROWS);
    memset(tile.near, 0, SCAN_ROWS * sizeof *tile.near);
    for (int64_t i = 0; i < calls; i++)
        knn_keep_offer(&keep, &tile);
    return tile.rows;
}

/* Rows of random places with one to eight entries of 32, every other row on average, into buffers
 * that are emptied before they are full. A call is such a row. */
static int64_t run_collect(int64_t calls, int64_t steps, struct scratch *scratch)
{
    enum { DEEP = 64 };
    uint64_t state = UINT64_C(0x9e3779b97f4a7c15);
    struct knn_keep keep;
    struct knn_keep_tile tile = scan_tile(scratch);
    int64_t bits = least_of(steps / 16 + 1, 8), done = 0;
    if (!tile.distances || !open_keep(&keep, KNN_SELECT_BUFFER, 1, SCAN_ROWS, scratch))
        return 0;
    keep.buffer = (int64_t)2 * DEEP; /* never reached */
    knn_keep_start(&keep, SCAN_ROWS);
    while (done < calls) {
        uint64_t which = next_random(&state);
        for (int r = 0; r < SCAN_ROWS; r++) {
            uint64_t place = (UINT64_C(1) << bits) - 1;
            tile.near[r] = which >> r & 1 ? place << (which >> (16 + 3 * r) & 7) * 3 : 0;
            keep.counts[r] &= DEEP - 1;
        }
        done += __builtin_popcountll(which & ((1U << SCAN_ROWS) - 1));
        knn_keep_offer(&keep, &tile);
    }
    return bits;
}

/* Entries below the limit, at any place with equal chance: as they come from random data. */
static int64_t run_enter(enum knn_select how, int64_t calls, int64_t k, struct scratch *scratch)
{
    uint64_t state = UINT64_C(0x9e3779b97f4a7c15);
    struct knn_keep keep;
    if (!open_keep(&keep, how, k, 1, scratch))
        return 0;
    keep.limits[0] = 0;
    for (int64_t i = 0; i < calls; i++) {
        if (keep.limits[0] < UINT64_C(1) << 32) { /* at the start; limits shrink by and by */
            knn_keep_start(&keep, 1);
            for (int64_t e = 0; e < k; e++)
                knn_keep_enter(&keep, 0, next_random(&state));
        }
        uint64_t part = next_random(&state) >> 32;
        knn_keep_enter(&keep, 0, (keep.limits[0] >> 32) * part);
    }
    return how == KNN_SELECT_LIST ? k / 2 : (int64_t)log2((double)k + 1);
}

/* Random entries in another order each time: a copy with some bits turned. */
static int64_t run_order(bool sort, int64_t calls, int64_t k, struct scratch *scratch)
{
    uint64_t state = UINT64_C(0x9e3779b97f4a7c15);
    int64_t n = sort ? k : 2 * k;
    uint64_t *random = take_piece(scratch, n * (int64_t)sizeof *random);
    uint64_t *entries = take_piece(scratch, n * (int64_t)sizeof *entries);
    if (!entries)
        return 0;
    fill_random(random, n, &state);
    for (int64_t i = 0; i < calls; i++) {
        uint64_t turned = next_random(&state);
        for (int64_t e = 0; e < n; e++)
            entries[e] = random[e] ^ turned;
        if (sort)
            entries_sort(entries, n);
        else
            entries_select(entries, n, k);
    }
    return sort ? (int64_t)((double)n * log2((double)n + 1)) : n;
}

static int64_t run_rest(int loop, const struct knn_code *code, int64_t calls, int64_t steps,
                        struct scratch *scratch)
{
    switch ((enum knn_host_loop)loop) {
    case KNN_LOOP_PACK:
        return run_pack(code, calls, steps, scratch);
    case KNN_LOOP_TURN:
        return run_turn(calls, steps, scratch);
    case KNN_LOOP_SCAN:
        return run_scan(calls, steps, scratch);
    case KNN_LOOP_COLLECT:
        return run_collect(calls, steps, scratch);
    case KNN_LOOP_LIST:
        return run_enter(KNN_SELECT_LIST, calls, steps, scratch);
    case KNN_LOOP_HEAP:
        return run_enter(KNN_SELECT_HEAP, calls, steps, scratch);
    default:
        return run_order(loop == KNN_LOOP_SORT, calls, SIZE_STEP * steps, scratch);
    }
}

static int64_t run(int index, enum host_isa isa, int64_t calls, int64_t steps, void *data,
                   int64_t bytes)
{
    struct scratch scratch = {data, bytes};
    const struct knn_code *code = knn_code_of(isa);
    if (!code || steps < 1)
        return 0;
    if (index < KNN_HOST_KERNELS)
        return run_tile(index, code, calls, steps, &scratch);
    return run_rest(index - KNN_HOST_KERNELS, code, calls, steps, &scratch);
}

static const char *variant(int index)
{
    return index < KNN_HOST_KERNELS ? knn_host_kernels[index].name
                                    : knn_host_loops[index - KNN_HOST_KERNELS];
}

/* A step of a register tile is one row's dimension. */
static double flops(int index, enum host_isa isa)
{
    return index < KNN_HOST_KERNELS ? 2.0 * knn_host_kernels[index].vectors * host_lanes(isa) : 0;
}

const struct loop_family knn_loops = {
    .name = "knn",
    .count = KNN_HOST_KERNELS + KNN_HOST_LOOPS,
    .variant = variant,
    .run = run,
    .flops = flops,
};
