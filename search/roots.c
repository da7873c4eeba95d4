/* An array in order of index, counted by stretches: within one, prefixes that are alike follow each
 * other and are counted once. */
#include "search/roots.h"

#include "core/array.h"
#include "core/stop.h"
#include "search/clock.h"
#include "search/walk.h"

#include <signal.h>
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

/* A count that was stopped in its midst says too little: it is not kept. */
static void count_stretch(struct roots *roots, const struct prefix_levels *levels,
                          const struct space *space, int64_t first)
{
    struct leaf_counter counter = {.any = false};
    for (int64_t i = first; i < first + STRETCH && i < roots->count; i++) {
        struct tiling tiling;
        space_tiling(space, roots->items[i].index, &tiling);
        int64_t leaves = leaf_counter_next(&counter, levels, space, &tiling);
#pragma omp atomic
        roots->leaves += leaves;
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

/* ---- counting alone: no bound is asked for ---- */

struct legal_count {
    const struct space *space;
    const struct prefix_levels *levels;
    int64_t most;
    int64_t leaves;
    volatile sig_atomic_t enough; /* there are more than `most` */
};

struct legal_counter {
    struct legal_count *count;
    const struct space *space; /* that stops where there are enough */
    struct leaf_counter counter;
};

static void count_one(void *context, const struct tiling *tiling, int64_t index)
{
    struct legal_counter *counter = context;
    struct legal_count *count = counter->count;
    (void)index;
    int64_t all,
        leaves = leaf_counter_next(&counter->counter, count->levels, counter->space, tiling);
#pragma omp atomic capture
    all = count->leaves += leaves;
    if (all > count->most)
        count->enough = 1;
}

int64_t roots_legal(const struct space *space, int64_t most, int threads)
{
    struct limited limited;
    struct prefix_levels levels;
    struct legal_count count = {.space = space, .levels = &levels, .most = most};
    const struct space *until =
        search_until(space, (struct stop){.told = &count.enough, .also = space->stop}, &limited);
    prefix_levels_of(space, &levels);
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int64_t i = 0; i < space_roots(space); i++) {
        struct legal_counter counter = {.count = &count, .space = until};
        (void)space_walk(until, space_root(space, i), levels.length[0], levels.length[1], count_one,
                         &counter);
    }
    return count.leaves;
}
