/* An array in order of index, counted by stretches: within one, prefixes that are alike follow each
 * other and are counted once. */
#include "search/roots.h"

#include "core/array.h"
#include "core/stop.h"

#include <stdlib.h>

enum { STRETCH = 512 };

bool roots_add(struct roots *roots, int64_t index)
{
    if (!array_reserve(&roots->items, roots->count, &roots->capacity, sizeof *roots->items))
        return false;
    roots->items[roots->count++] = (struct root){index, -1};
    return true;
}

void roots_close(struct roots *roots)
{
    free(roots->items);
}

static void note_leaves(struct roots *roots, int64_t leaves)
{
    int64_t all;
#pragma omp atomic capture
    all = roots->leaves += leaves;
    if (roots->most && all > roots->most)
        roots->enough = 1;
}

/* A count that was stopped in its midst says too little: it is not kept. */
static void count_stretch(struct roots *roots, const struct prefix_levels *levels,
                          const struct space *space, int64_t first)
{
    struct leaf_counter counter = {.any = false};
    for (int64_t i = first; i < first + STRETCH && i < roots->count; i++) {
        struct tiling tiling;
        space_tiling(space, roots->items[i].index, &tiling);
        int64_t leaves = leaf_counter_next(&counter, levels, space, &tiling);
        note_leaves(roots, leaves);
        if (stop_due(space->stop))
            return;
        roots->items[i].leaves = leaves;
    }
}

void roots_count(struct roots *roots, const struct prefix_levels *levels, const struct space *space,
                 int threads)
{
    bool counted = true;
    roots->leaves = 0;
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int64_t first = 0; first < roots->count; first += STRETCH)
        if (!stop_due(space->stop))
            count_stretch(roots, levels, space, first);
    for (int64_t i = 0; i < roots->count && counted; i++)
        counted = roots->items[i].leaves >= 0;
    roots->counted = counted;
}

static int by_index(const void *left, const void *right)
{
    const struct root *a = left, *b = right;
    return a->index < b->index ? -1 : a->index > b->index;
}

int64_t roots_leaves(const struct roots *roots, int64_t index)
{
    const struct root key = {.index = index};
    const struct root *root = roots->count ? bsearch(&key, roots->items, (size_t)roots->count,
                                                     sizeof *roots->items, by_index)
                                           : NULL;
    return root ? root->leaves : -1;
}
