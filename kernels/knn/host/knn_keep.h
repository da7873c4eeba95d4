/* The k nearest of each row, kept while distances stream past in ascending order of their index.
 *
 * A distance and its index are one 64-bit number, an entry, whose order is the order of results:
 * ascending distance, then index, NaN last. What enters is found in three ways:
 *   list    k entries in order; a new one moves those behind it. For small k.
 *   heap    k entries, the last of them on top; a new one sinks from there.
 *   buffer  entries are collected behind the k; when `buffer` of them are there, a partition leaves
 *           the k first. The threshold moves only then, so more get in, at less cost each.
 *
 * knn_keep_open, then for each group of rows: knn_keep_start, knn_keep_offer in ascending order of
 * indices, knn_keep_finish; at the end knn_keep_close. Checks nothing. */
#ifndef AUTOTUNE_KERNELS_KNN_HOST_KNN_KEEP_H
#define AUTOTUNE_KERNELS_KNN_HOST_KNN_KEEP_H

#include "core/status.h"

#include <stdbool.h>
#include <stdint.h>

enum knn_select { KNN_SELECT_LIST = 1, KNN_SELECT_HEAP, KNN_SELECT_BUFFER };

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

/* Bytes that knn_keep_open takes, as a double: they may be more than there are. */
double knn_keep_bytes(enum knn_select how, int64_t k, int64_t buffer, int64_t rows);

/* After a failure (STATUS_NO_MEMORY) there is nothing to close. */
enum status knn_keep_open(struct knn_keep *keep, enum knn_select how, int64_t k, int64_t buffer,
                          int64_t rows, struct error *error);
void knn_keep_close(struct knn_keep *keep);

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

/* The k first of a row, in order. At least k must have been offered. `distances` may be NULL. */
void knn_keep_finish(struct knn_keep *keep, int64_t row, int64_t *indices, float *distances);

#endif
