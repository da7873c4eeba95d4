/* Keeps the k nearest of each row while distances stream past. A register tile hands over a bit
 * for each distance below its row's threshold, in words whose lowest set bits are taken one by
 * one: a row without any costs one test. Thresholds may lag behind the limits, so an entry is
 * compared with its limit again before it enters. */
#include "kernels/knn/host/knn_keep.h"

#include "kernels/knn/host/knn_code.h"
#include "kernels/knn/host/knn_order.h"

#include <stdlib.h>
#include <string.h>

static int64_t capacity_of(enum knn_select how, int64_t k, int64_t buffer)
{
    return how == KNN_SELECT_BUFFER ? k + buffer + KNN_KEEP_SLACK : k;
}

double knn_keep_bytes(enum knn_select how, int64_t k, int64_t buffer, int64_t rows)
{
    double row = (double)capacity_of(how, k, buffer) * sizeof(uint64_t) + sizeof(uint64_t) +
                 sizeof(int64_t) + sizeof(float);
    return row * (double)rows;
}

enum status knn_keep_open(struct knn_keep *keep, enum knn_select how, int64_t k, int64_t buffer,
                          int64_t rows, struct error *error)
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

void knn_keep_close(struct knn_keep *keep)
{
    free(keep->entries);
    free(keep->limits);
    free(keep->counts);
    free(keep->thresholds);
    memset(keep, 0, sizeof *keep);
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
static void enter_all(struct knn_keep *keep, int64_t row, const float *distances, uint64_t near,
                      int64_t first)
{
    for (; near; near &= near - 1, keep->count.survivors++) {
        int c = __builtin_ctzll(near);
        knn_keep_enter(keep, row, entry_of(distances[c], first + c));
    }
}

/* Without branches: what is not below the limit is written over by the next. */
static void collect(struct knn_keep *keep, int64_t row, const float *distances, uint64_t near,
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

static void compact(struct knn_keep *keep, int64_t row)
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
            collect(keep, row, distances + at, near[w], first + at);
        else
            enter_all(keep, row, distances + at, near[w], first + at);
    }
    if (keep->how == KNN_SELECT_BUFFER && keep->counts[row] >= keep->k + keep->buffer)
        compact(keep, row);
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

void knn_keep_finish(struct knn_keep *keep, int64_t row, int64_t *indices, float *distances)
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
