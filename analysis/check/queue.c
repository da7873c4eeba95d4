/* A ring whose capacity is a power of two and doubles; growing copies its two stretches one behind
 * the other. */
#include "analysis/check/queue.h"

#include "analysis/check/check.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 4 };

static void *slot(const struct queue *queue, size_t position)
{
    /* Capacities are powers of two. */
    return queue->items + ((queue->head + position) & (queue->capacity - 1)) * queue->item_bytes;
}

static enum status grow(struct queue *queue, int64_t *budget_bytes, struct error *error)
{
    size_t capacity = queue->capacity ? queue->capacity * 2 : FIRST_CAPACITY;
    int64_t more = (int64_t)((capacity - queue->capacity) * queue->item_bytes);
    if (more > *budget_bytes)
        return error_set(
            error, STATUS_TOO_LARGE,
            "the sets and instructions that wait for other pipes at one time take more "
            "than the %lld bytes allowed",
            CHECK_MAX_BYTES);
    unsigned char *items = malloc(capacity * queue->item_bytes);
    if (!items)
        return error_memory(error);
    size_t until_wrap = queue->capacity - queue->head;
    size_t straight = queue->count < until_wrap ? queue->count : until_wrap;
    if (queue->count) {
        memcpy(items, slot(queue, 0), straight * queue->item_bytes);
        memcpy(items + straight * queue->item_bytes, queue->items,
               (queue->count - straight) * queue->item_bytes);
    }
    free(queue->items);
    queue->items = items;
    queue->capacity = capacity;
    queue->head = 0;
    *budget_bytes -= more;
    return STATUS_OK;
}

enum status queue_push(struct queue *queue, int64_t *budget_bytes, void **item, struct error *error)
{
    if (queue->count == queue->capacity)
        TRY(grow(queue, budget_bytes, error));
    *item = slot(queue, queue->count++);
    return STATUS_OK;
}

void *queue_first(const struct queue *queue)
{
    return queue->count ? slot(queue, 0) : NULL;
}

void *queue_last(const struct queue *queue)
{
    return queue->count ? slot(queue, queue->count - 1) : NULL;
}

void *queue_item(const struct queue *queue, size_t n)
{
    return slot(queue, n);
}

void queue_pop(struct queue *queue)
{
    queue->head = (queue->head + 1) & (queue->capacity - 1);
    queue->count--;
}

void queue_clear(struct queue *queue)
{
    free(queue->items);
    queue->items = NULL;
    queue->capacity = queue->head = queue->count = 0;
}
