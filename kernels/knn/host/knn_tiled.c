/* Runs a tiling of k-NN as fast as the processor allows. The loops of GotoBLAS (Goto and van de
 * Geijn 2008) with the selection inside, as in GSKNN (Yu et al. 2015). Test points are laid out
 * block by block, training points packed panel by panel, if at all; a register tile computes
 * distances, compares them with its rows' thresholds and hands over only those below. Threads have
 * shares of the test points, each with its own memory, and nothing in common but the input.
 *
 * A register tile hands over a bit for each distance below its row's threshold, in words whose
 * lowest set bits are taken one by one: a row without any costs one test. Thresholds may lag behind
 * the limits, so an entry is compared with its limit again before it enters.
 *
 * In a heap the new entry sinks from the root (Williams 1964). Selecting and sorting are by
 * partition (Hoare 1961), about the median of three (Singleton 1969), in Lomuto's form without
 * branches; short pieces are sorted by insertion (Sedgewick 1978). */
#include "kernels/knn/host/knn_tiled.h"
#include "core/least.h"
#include "kernels/knn/host/knn_code.h"

#include <stdlib.h>
#include <string.h>

/* ---- entries in order ------------------------------------------------------------------------ */

/* Shorter pieces are sorted by insertion. */
enum { SHORT_PIECE = 16 };

void heap_replace(uint64_t *heap, int64_t n, uint64_t entry)
{
    int64_t at = 0;
    for (int64_t child = 1; child < n; child = 2 * at + 1) {
        child += child + 1 < n && heap[child + 1] > heap[child];
        if (heap[child] <= entry)
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = entry;
}

static void sort_short(uint64_t *entries, int64_t n)
{
    for (int64_t i = 1; i < n; i++) {
        uint64_t entry = entries[i];
        int64_t at = i;
        for (; at > 0 && entries[at - 1] > entry; at--)
            entries[at] = entries[at - 1];
        entries[at] = entry;
    }
}

static void swap(uint64_t *a, uint64_t *b)
{
    uint64_t entry = *a;
    *a = *b;
    *b = entry;
}

/* Puts the entry at `pivot` where it belongs, smaller ones before it, and returns its place.
 * Without branches: a comparison of random entries is a coin toss. */
static int64_t partition(uint64_t *entries, int64_t n, int64_t pivot)
{
    int64_t less = 1;
    swap(&entries[0], &entries[pivot]);
    uint64_t limit = entries[0];
    for (int64_t i = 1; i < n; i++) {
        uint64_t entry = entries[i];
        entries[i] = entries[less];
        entries[less] = entry;
        less += entry < limit;
    }
    swap(&entries[0], &entries[less - 1]);
    return less - 1;
}

static int64_t median_of_three(const uint64_t *entries, int64_t a, int64_t b, int64_t c)
{
    if (entries[a] < entries[b]) {
        if (entries[b] < entries[c])
            return b;
        return entries[a] < entries[c] ? c : a;
    }
    if (entries[a] < entries[c])
        return a;
    return entries[b] < entries[c] ? c : b;
}

void entries_select(uint64_t *entries, int64_t n, int64_t k)
{
    while (n > SHORT_PIECE) {
        int64_t at = partition(entries, n, median_of_three(entries, 0, n / 2, n - 1));
        if (at == k - 1)
            return;
        if (at >= k) {
            n = at;
        } else {
            entries += at + 1;
            n -= at + 1;
            k -= at + 1;
        }
    }
    sort_short(entries, n);
}

void entries_sort(uint64_t *entries, int64_t n)
{
    while (n > SHORT_PIECE) {
        int64_t at = partition(entries, n, median_of_three(entries, 0, n / 2, n - 1));
        int64_t right = n - at - 1;
        if (at < right) { /* the shorter piece first: the depth is logarithmic */
            entries_sort(entries, at);
            entries += at + 1;
            n = right;
        } else {
            entries_sort(entries + at + 1, right);
            n = at;
        }
    }
    sort_short(entries, n);
}

/* ---- the k nearest of each row --------------------------------------------------------------- */

static int64_t capacity_of(enum knn_select how, int64_t k, int64_t buffer)
{
    return how == KNN_SELECT_BUFFER ? k + buffer + KNN_KEEP_SLACK : k;
}

static void knn_keep_close(struct knn_keep *keep)
{
    free(keep->entries);
    free(keep->limits);
    free(keep->counts);
    free(keep->thresholds);
    memset(keep, 0, sizeof *keep);
}

static enum status knn_keep_open(struct knn_keep *keep, enum knn_select how, int64_t k,
                                 int64_t buffer, int64_t rows, struct error *error)
{
    *keep = (struct knn_keep){.how = how, .k = k, .buffer = buffer, .rows = rows};
    keep->capacity = capacity_of(how, k, buffer);
    keep->entries = calloc((size_t)rows, (size_t)keep->capacity * sizeof *keep->entries);
    keep->limits = calloc((size_t)rows, sizeof *keep->limits);
    keep->counts = calloc((size_t)rows, sizeof *keep->counts);
    keep->thresholds = calloc((size_t)rows, sizeof *keep->thresholds);
    if (keep->entries && keep->limits && keep->counts && keep->thresholds)
        return STATUS_OK;
    knn_keep_close(keep);
    return error_memory(error);
}

static void set_limit(struct knn_keep *keep, int64_t row, uint64_t limit)
{
    keep->limits[row] = limit;
    keep->thresholds[row] = entry_distance(limit);
}

void knn_keep_start(struct knn_keep *keep, int64_t rows)
{
    for (int64_t r = 0; r < rows; r++) {
        keep->counts[r] = 0;
        set_limit(keep, r, ENTRY_NONE);
    }
    if (keep->how != KNN_SELECT_BUFFER)
        memset(keep->entries, 0xff, (size_t)(rows * keep->capacity) * sizeof *keep->entries);
}

static void enter_list(uint64_t *list, int64_t k, uint64_t entry)
{
    int64_t at = k - 1;
    for (; at > 0 && list[at - 1] > entry; at--)
        list[at] = list[at - 1];
    list[at] = entry;
}

void knn_keep_enter(struct knn_keep *keep, int64_t row, uint64_t entry)
{
    uint64_t *entries = keep->entries + row * keep->capacity;
    if (entry >= keep->limits[row])
        return;
    keep->count.entered++;
    if (keep->how == KNN_SELECT_LIST)
        enter_list(entries, keep->k, entry);
    else
        heap_replace(entries, keep->k, entry);
    set_limit(keep, row, entries[keep->how == KNN_SELECT_LIST ? keep->k - 1 : 0]);
}

/* Near distances, a bit each in ascending order, into a list or heap. */
static void enter_near(struct knn_keep *keep, int64_t row, const float *distances, uint64_t near,
                       int64_t first)
{
    for (; near; near &= near - 1, keep->count.survivors++) {
        int c = __builtin_ctzll(near);
        knn_keep_enter(keep, row, entry_of(distances[c], first + c));
    }
}

/* Without branches: what is not below the limit is written over by the next. */
static void collect_near(struct knn_keep *keep, int64_t row, const float *distances, uint64_t near,
                         int64_t first)
{
    uint64_t *entries = keep->entries + row * keep->capacity, limit = keep->limits[row];
    int64_t count = keep->counts[row];
    for (; near; near &= near - 1) {
        int c = __builtin_ctzll(near);
        entries[count] = entry_of(distances[c], first + c);
        count += entries[count] < limit;
    }
    keep->count.survivors += count - keep->counts[row];
    keep->counts[row] = count;
}

static void compact_row(struct knn_keep *keep, int64_t row)
{
    uint64_t *entries = keep->entries + row * keep->capacity;
    entries_select(entries, keep->counts[row], keep->k);
    set_limit(keep, row, entries[keep->k - 1]);
    keep->counts[row] = keep->k;
    keep->count.compactions++;
}

static void offer_row(struct knn_keep *keep, int64_t row, const float *distances,
                      const uint64_t *near, int words, int64_t first)
{
    for (int w = 0; w < words; w++) {
        int64_t at = KNN_WORD_BITS * (int64_t)w;
        if (keep->how == KNN_SELECT_BUFFER)
            collect_near(keep, row, distances + at, near[w], first + at);
        else
            enter_near(keep, row, distances + at, near[w], first + at);
    }
    if (keep->how == KNN_SELECT_BUFFER && keep->counts[row] >= keep->k + keep->buffer)
        compact_row(keep, row);
}

/* Bits of word `word` that stand for columns. */
static uint64_t columns_of(int64_t columns, int word)
{
    int64_t here = columns - KNN_WORD_BITS * (int64_t)word;
    return here >= KNN_WORD_BITS ? UINT64_MAX : here > 0 ? (UINT64_C(1) << here) - 1 : 0;
}

void knn_keep_offer(struct knn_keep *keep, const struct knn_keep_tile *tile)
{
    uint64_t *near = tile->near;
    for (int64_t r = 0; r < tile->rows; r++, near += tile->words) {
        uint64_t any = 0;
        for (int w = 0; w < tile->words; w++)
            any |= near[w] &= columns_of(tile->columns, w);
        if (any)
            offer_row(keep, tile->row + r, tile->distances + r * tile->width, near, tile->words,
                      tile->first);
    }
}

/* The k first of a row, in order. At least k must have been offered. */
static void knn_keep_finish(struct knn_keep *keep, int64_t row, int64_t *indices, float *distances)
{
    uint64_t *entries = keep->entries + row * keep->capacity;
    if (keep->how == KNN_SELECT_BUFFER && keep->counts[row] > keep->k)
        entries_select(entries, keep->counts[row], keep->k);
    if (keep->how != KNN_SELECT_LIST)
        entries_sort(entries, keep->k);
    for (int64_t i = 0; i < keep->k; i++) {
        indices[i] = entry_index(entries[i]);
        if (distances)
            distances[i] = entry_distance(entries[i]);
    }
}

/* ---- tiles ----------------------------------------------------------------------------------- */

enum { ALIGNMENT = 64 };

/* One thread's share of the test points and its workspace. */
struct knn_share {
    _Alignas(ALIGNMENT) int64_t first; /* test points; shares are in cache lines of their own */
    int64_t rows;
    float *tests;     /* an m-tile, block by block: [dimensions][rows of the block] */
    float *trainings; /* packed panels: [dimensions][width], one or an n-tile's */
    float *sums;      /* of an m-tile by an n-tile: register tile by register tile */
    float *distances; /* of a register tile */
    uint64_t *near;
    struct knn_keep keep;
    struct knn_tiled_count count;
};

struct knn_tiled {
    struct knn_problem problem;
    struct knn_tiling tiling; /* tiles not larger than the problem */
    const struct knn_code *code;
    int width, words; /* training points of a panel; words of near points a row */
    int share_count;
    struct knn_share *shares;
};

/* A run's data, and the stretch that the loops are at. */
struct stretch {
    const struct knn_tiled *tiled;
    struct knn_share *share;
    const float *tests, *trainings;
    int64_t row, rows;             /* m-tile, within the share */
    int64_t column, columns;       /* n-tile */
    int64_t dimension, dimensions; /* d-tile */
    int64_t blocks, panels;
};

static int64_t parts_of(int64_t whole, int64_t part)
{
    return (whole + part - 1) / part;
}

/* Where part `number` of `parts` begins: their lengths differ by one at most. */
static int64_t part_start(int64_t whole, int64_t parts, int64_t number)
{
    int64_t longer = whole % parts;
    return number * (whole / parts) + least_of(number, longer);
}

static const struct knn_code *const codes[HOST_ISA_COUNT] = {
    [HOST_PORTABLE] = &knn_code_portable,
#if defined __aarch64__
    [HOST_NEON] = &knn_code_neon,
#elif defined __x86_64__
    [HOST_AVX2] = &knn_code_avx2,
    [HOST_AVX512] = &knn_code_avx512,
#endif
};

const struct knn_code *knn_code_of(enum host_isa isa)
{
    return host_isa_has(isa) ? codes[isa] : NULL;
}

bool knn_tiled_has(enum host_isa isa, int rows, int vectors)
{
    const struct knn_code *code = knn_code_of(isa);
    return code && rows > 0 && rows <= KNN_MAX_ROWS && vectors > 0 && vectors <= KNN_MAX_VECTORS &&
           code->tile[vectors - 1][rows - 1];
}

/* Where packed panel `panel` of an n-tile is; one after the other is in the same place where only
 * one is needed at a time. */
static float *packed_panel(const struct stretch *at, int64_t panel)
{
    const struct knn_tiling *tiling = &at->tiled->tiling;
    int64_t place = tiling->pack && tiling->order == KNN_ORDER_ROWS ? panel : 0;
    return at->share->trainings + place * at->tiled->width * tiling->d_tile;
}

static int64_t panel_columns(const struct stretch *at, int64_t panel)
{
    int64_t width = at->tiled->width;
    return least_of(width, at->columns - panel * width);
}

/* Panels with less than their width are always packed: reading past them is not allowed. */
static bool is_packed(const struct stretch *at, int64_t panel)
{
    return at->tiled->tiling.pack || panel_columns(at, panel) < at->tiled->width;
}

static const float *panel_source(const struct stretch *at, int64_t panel)
{
    return at->trainings + at->dimension * at->tiled->problem.trainings + at->column +
           panel * at->tiled->width;
}

static void pack_panel(const struct stretch *at, int64_t panel)
{
    if (!is_packed(at, panel))
        return;
    at->tiled->code->pack(panel_source(at, panel), at->tiled->problem.trainings, at->dimensions,
                          (int)panel_columns(at, panel), at->tiled->width, packed_panel(at, panel));
    at->share->count.pack_calls++;
    at->share->count.pack_steps += at->dimensions;
}

static void offer_tile(const struct stretch *at, int64_t row, int64_t rows, int64_t panel)
{
    const struct knn_tiled *tiled = at->tiled;
    const struct knn_keep_tile tile = {
        .row = row,
        .rows = rows,
        .first = at->column + panel * tiled->width,
        .columns = panel_columns(at, panel),
        .width = tiled->width,
        .words = tiled->words,
        .distances = at->share->distances,
        .near = at->share->near,
    };
    knn_keep_offer(&at->share->keep, &tile);
}

static void tile(const struct stretch *at, int64_t block, int64_t panel)
{
    const struct knn_tiled *tiled = at->tiled;
    struct knn_share *share = at->share;
    const int64_t width = tiled->width, d = tiled->problem.dimensions;
    int64_t row = part_start(at->rows, at->blocks, block);
    int64_t rows = part_start(at->rows, at->blocks, block + 1) - row;
    bool packed = is_packed(at, panel), last = at->dimension + at->dimensions == d;
    float *sums =
        share->sums ? share->sums + (row * at->panels + panel * rows) * width : share->sums;
    struct knn_step step = {
        .tests = share->tests + row * d + rows * at->dimension,
        .trainings = packed ? packed_panel(at, panel) : panel_source(at, panel),
        .stride = packed ? width : tiled->problem.trainings,
        .dimensions = at->dimensions,
        .sums = at->dimension > 0 ? sums : NULL,
        .carry = last ? NULL : sums,
        .thresholds = share->keep.thresholds + row,
        .distances = share->distances,
        .near = share->near,
    };
    share->count.tile_calls++;
    share->count.tile_steps += rows * at->dimensions;
    if (tiled->code->tile[tiled->tiling.vectors - 1][rows - 1](&step))
        offer_tile(at, row, rows, panel);
}

static void panels_outside(const struct stretch *at)
{
    for (int64_t panel = 0; panel < at->panels; panel++) {
        pack_panel(at, panel);
        for (int64_t block = 0; block < at->blocks; block++)
            tile(at, block, panel);
    }
}

static void rows_outside(const struct stretch *at)
{
    for (int64_t panel = 0; panel < at->panels; panel++)
        pack_panel(at, panel);
    for (int64_t block = 0; block < at->blocks; block++)
        for (int64_t panel = 0; panel < at->panels; panel++)
            tile(at, block, panel);
}

static void run_n_tile(struct stretch *at)
{
    const int64_t d = at->tiled->problem.dimensions, part = at->tiled->tiling.d_tile;
    at->panels = parts_of(at->columns, at->tiled->width);
    for (at->dimension = 0; at->dimension < d; at->dimension += part) {
        at->dimensions = least_of(part, d - at->dimension);
        if (at->tiled->tiling.order == KNN_ORDER_PANELS)
            panels_outside(at);
        else
            rows_outside(at);
    }
}

void knn_turn(const float *tests, int64_t rows, int64_t dimensions, float *turned)
{
    for (int64_t l = 0; l < dimensions; l++)
        for (int64_t r = 0; r < rows; r++)
            *turned++ = tests[r * dimensions + l];
}

static void turn_tests(const struct stretch *at)
{
    const int64_t d = at->tiled->problem.dimensions;
    float *packed = at->share->tests;
    for (int64_t block = 0; block < at->blocks; block++) {
        int64_t row = part_start(at->rows, at->blocks, block);
        int64_t rows = part_start(at->rows, at->blocks, block + 1) - row;
        knn_turn(at->tests + (at->share->first + at->row + row) * d, rows, d, packed + row * d);
    }
}

static void run_share(const struct knn_tiled *tiled, struct knn_share *share, const float *tests,
                      const float *trainings, int64_t *indices, float *distances)
{
    const int64_t n = tiled->problem.trainings, k = tiled->problem.k;
    const struct knn_tiling *tiling = &tiled->tiling;
    struct stretch at = {.tiled = tiled, .share = share, .tests = tests, .trainings = trainings};
    share->count = (struct knn_tiled_count){0};
    share->keep.count = (struct knn_keep_count){0};
    for (at.row = 0; at.row < share->rows; at.row += at.rows) {
        at.rows = least_of(tiling->m_tile, share->rows - at.row);
        at.blocks = parts_of(at.rows, tiling->rows);
        turn_tests(&at);
        knn_keep_start(&share->keep, at.rows);
        for (at.column = 0; at.column < n; at.column += at.columns) {
            at.columns = least_of(tiling->n_tile, n - at.column);
            run_n_tile(&at);
        }
        for (int64_t r = 0; r < at.rows; r++) {
            int64_t to = (share->first + at.row + r) * k;
            knn_keep_finish(&share->keep, r, indices + to, distances ? distances + to : NULL);
        }
    }
    share->count.keep = share->keep.count;
}

void knn_tiled_run(struct knn_tiled *tiled, const float *tests, const float *trainings,
                   int64_t *indices, float *distances)
{
    if (tiled->share_count == 1) { /* without a parallel region: it would start threads */
        run_share(tiled, tiled->shares, tests, trainings, indices, distances);
        return;
    }
#pragma omp parallel for schedule(static, 1) num_threads(tiled->share_count)
    for (int s = 0; s < tiled->share_count; s++)
        run_share(tiled, &tiled->shares[s], tests, trainings, indices, distances);
}

void knn_tiled_count(const struct knn_tiled *tiled, struct knn_tiled_count *count)
{
    *count = (struct knn_tiled_count){0};
    for (int s = 0; s < tiled->share_count; s++) {
        const struct knn_tiled_count *share = &tiled->shares[s].count;
        count->tile_calls += share->tile_calls;
        count->tile_steps += share->tile_steps;
        count->pack_calls += share->pack_calls;
        count->pack_steps += share->pack_steps;
        count->keep.survivors += share->keep.survivors;
        count->keep.entered += share->keep.entered;
        count->keep.compactions += share->keep.compactions;
    }
}

/* Floats in whole cache lines; NULL also where the number is too large. */
static float *floats(int64_t a, int64_t b, int64_t c)
{
    int64_t count;
    if (__builtin_mul_overflow(a, b, &count) || __builtin_mul_overflow(count, c, &count) ||
        count > INT64_MAX / 8)
        return NULL;
    return aligned_alloc(ALIGNMENT, (size_t)(parts_of(count * 4, ALIGNMENT) * ALIGNMENT));
}

static enum status open_share(const struct knn_tiled *tiled, struct knn_share *share,
                              struct error *error)
{
    const struct knn_tiling *tiling = &tiled->tiling;
    int64_t rows = least_of(tiling->m_tile, share->rows), d = tiled->problem.dimensions;
    int64_t panels = parts_of(tiling->n_tile, tiled->width);
    int64_t packed = tiling->pack && tiling->order == KNN_ORDER_ROWS ? panels : 1;
    share->tests = floats(rows, d, 1);
    share->trainings = floats(packed, tiling->d_tile, tiled->width);
    share->distances = floats(tiling->rows, tiled->width, 1);
    share->near = (uint64_t *)(void *)floats(tiling->rows, tiled->words, 2);
    if (tiling->d_tile < d)
        share->sums = floats(rows, panels, tiled->width);
    if (!share->tests || !share->trainings || !share->distances || !share->near ||
        (tiling->d_tile < d && !share->sums))
        return error_memory(error);
    return knn_keep_open(&share->keep, tiling->select, tiled->problem.k, tiling->buffer, rows,
                         error);
}

void knn_tiled_close(struct knn_tiled *tiled)
{
    for (int s = 0; tiled && s < tiled->share_count; s++) {
        struct knn_share *share = &tiled->shares[s];
        free(share->tests);
        free(share->trainings);
        free(share->sums);
        free(share->distances);
        free(share->near);
        knn_keep_close(&share->keep);
    }
    if (tiled)
        free(tiled->shares);
    free(tiled);
}

static enum status check_tiling(const struct knn_problem *problem, const struct knn_tiling *tiling,
                                enum host_isa isa, int threads, struct error *error)
{
    if (problem->tests < 1 || problem->trainings < 1 || problem->dimensions < 1 || threads < 1)
        return error_set(error, STATUS_INVALID, "no points, dimensions or threads");
    if (problem->trainings > INT32_MAX || problem->tests > INT32_MAX ||
        problem->dimensions > INT32_MAX)
        return error_set(error, STATUS_INVALID, "expected less than 2^31 points and dimensions");
    if (problem->k < 1 || problem->k > problem->trainings)
        return error_set(error, STATUS_INVALID, "k = %lld, expected 1 to %lld",
                         (long long)problem->k, (long long)problem->trainings);
    if (!knn_code_of(isa))
        return error_set(error, STATUS_INVALID, "this processor has no %s", host_isa_name(isa));
    if (!knn_tiled_has(isa, tiling->rows, tiling->vectors))
        return error_set(error, STATUS_INVALID, "no register tile of %d rows by %d vectors",
                         tiling->rows, tiling->vectors);
    if (tiling->m_tile < 1 || tiling->n_tile < 1 || tiling->d_tile < 1 || tiling->buffer < 1 ||
        tiling->buffer > INT32_MAX)
        return error_set(error, STATUS_INVALID, "expected tiles and a buffer of at least 1");
    return STATUS_OK;
}

static enum status open_shares(struct knn_tiled *tiled, int64_t count, struct error *error)
{
    tiled->shares = aligned_alloc(ALIGNMENT, (size_t)count * sizeof *tiled->shares);
    if (!tiled->shares)
        return error_memory(error);
    memset(tiled->shares, 0, (size_t)count * sizeof *tiled->shares);
    for (int64_t s = 0; s < count; s++) {
        struct knn_share *share = &tiled->shares[tiled->share_count++];
        share->first = part_start(tiled->problem.tests, count, s);
        share->rows = part_start(tiled->problem.tests, count, s + 1) - share->first;
        TRY(open_share(tiled, share, error));
    }
    return STATUS_OK;
}

enum status knn_tiled_open(const struct knn_problem *problem, const struct knn_tiling *tiling,
                           enum host_isa isa, int threads, struct knn_tiled **tiled,
                           struct error *error)
{
    enum status status = check_tiling(problem, tiling, isa, threads, error);
    if (status != STATUS_OK)
        return status;
    struct knn_tiled *made = calloc(1, sizeof *made);
    if (!made)
        return error_memory(error);
    made->problem = *problem;
    made->tiling = *tiling;
    made->tiling.n_tile = least_of(tiling->n_tile, problem->trainings);
    made->tiling.d_tile = least_of(tiling->d_tile, problem->dimensions);
    made->code = knn_code_of(isa);
    made->width = tiling->vectors * made->code->lanes;
    made->words = knn_words(made->width);
    status = open_shares(made, least_of(threads, parts_of(problem->tests, tiling->rows)), error);
    if (status == STATUS_OK)
        *tiled = made;
    else
        knn_tiled_close(made);
    return status;
}
