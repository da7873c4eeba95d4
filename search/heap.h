/* Open prefixes of one length, least bound first, then smallest index. */
#ifndef AUTOTUNE_SEARCH_HEAP_H
#define AUTOTUNE_SEARCH_HEAP_H

#include <stdbool.h>
#include <stdint.h>

struct open_node {
    int64_t bound_fs;
    int64_t index; /* of the first tiling with this prefix */
};

struct heap {
    int64_t count, capacity;
    struct open_node *items; /* owned; items[0] is the first */
};

/* Which comes first? */
bool open_node_before(const struct open_node *a, const struct open_node *b);

/* False without memory. */
bool heap_push(struct heap *heap, struct open_node node);

/* Takes the first away; the heap must not be empty. */
struct open_node heap_pop(struct heap *heap);

void heap_close(struct heap *heap);

#endif
