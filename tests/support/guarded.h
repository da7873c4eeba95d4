/* Memory whose neighbours cannot be touched: what reads or writes past its end (or before its
 * beginning) dies of it. */
#ifndef AUTOTUNE_TESTS_GUARDED_H
#define AUTOTUNE_TESTS_GUARDED_H

#include <stdbool.h>
#include <stddef.h>

struct guarded {
    void *map;
    size_t map_bytes;
    float *data;
};

/* Room for floats that ends at a page's end, or begins at a page's beginning, with a forbidden page
 * beyond; aborts the test without memory. */
struct guarded guarded_new(size_t floats, bool at_end);
void guarded_free(struct guarded *guarded);

#endif
