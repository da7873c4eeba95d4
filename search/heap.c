/* A binary heap in an array (Williams 1964); pops carry a hole instead of swapping. */
#include "search/heap.h"

#include "core/array.h"

#include <stdlib.h>

bool open_node_before(const struct open_node *a, const struct open_node *b)
{
    return a->bound_fs != b->bound_fs ? a->bound_fs < b->bound_fs : a->index < b->index;
}

bool heap_push(struct heap *heap, struct open_node node)
{
    if (!array_reserve(&heap->items, heap->count, &heap->capacity, sizeof *heap->items))
        return false;
    int64_t at = heap->count++;
    for (; at > 0 && open_node_before(&node, &heap->items[(at - 1) / 2]); at = (at - 1) / 2)
        heap->items[at] = heap->items[(at - 1) / 2];
    heap->items[at] = node;
    return true;
}

struct open_node heap_pop(struct heap *heap)
{
    struct open_node first = heap->items[0], last = heap->items[--heap->count];
    int64_t at = 0, child = 1;
    for (; child < heap->count; at = child, child = 2 * at + 1) {
        if (child + 1 < heap->count &&
            open_node_before(&heap->items[child + 1], &heap->items[child]))
            child++;
        if (!open_node_before(&heap->items[child], &last))
            break;
        heap->items[at] = heap->items[child];
    }
    heap->items[at] = last;
    return first;
}

void heap_close(struct heap *heap)
{
    free(heap->items);
}
