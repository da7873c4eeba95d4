/* A growing ring of equal items, first in first out, that draws its memory from a budget shared
 * with other queues. Zero it, set item_bytes, push and pop; queue_clear frees it. */
#ifndef AUTOTUNE_ANALYSIS_CHECK_QUEUE_H
#define AUTOTUNE_ANALYSIS_CHECK_QUEUE_H

#include "core/status.h"

#include <stddef.h>
#include <stdint.h>

struct queue {
    unsigned char *items;
    size_t item_bytes;
    size_t capacity, head, count;
};

/* Appends an item and returns where to fill it in *item. Pointers to other items of this queue
 * become invalid. STATUS_TOO_LARGE when *budget_bytes, which shrinks as queues grow, is used up. */
enum status queue_push(struct queue *queue, int64_t *budget_bytes, void **item,
                       struct error *error);

/* The oldest and the newest item; NULL when empty. */
void *queue_first(const struct queue *queue);
void *queue_last(const struct queue *queue);

/* The n-th item from the oldest, which is 0; n < count. */
void *queue_item(const struct queue *queue, size_t n);

/* Drops the oldest item; its bytes stay readable until the next push. */
void queue_pop(struct queue *queue);

void queue_clear(struct queue *queue);

#endif
