/* Depth first over the axes' values in ascending order; what a prefix says rules out the values
 * after it. Levels come from what the space says of itself; leaves are counted by the space's own
 * closed forms, and a level-1 prefix that is `alike` the one before is not counted again. */
#include "search/prefix.h"

#include "core/stop.h"
#include "search/clock.h"

/* ---- all prefixes of a length ---- */

enum { LOOK_EVERY = 64 }; /* values, between two looks at space->stop */

struct walk {
    const struct space *space;
    const struct space_block *block;
    int to;
    walk_visit *visit;
    void *context;
    struct tiling tiling;
    unsigned values;
    bool stopped;
};

/* Tilings that share a prefix of `fixed` values. */
static int64_t stride_of(const struct space *space, const struct space_block *block, int fixed)
{
    int64_t stride = 1;
    for (int a = fixed; a < space->axis_count; a++)
        stride *= block->count[a];
    return stride;
}

enum prefix_verdict prefix_begins(const struct space *space, const struct tiling *tiling, int fixed)
{
    const struct operator_space *kind = space->kind;
    if (kind->nesting)
        return kind->nesting->begins(space, tiling, fixed);
    if (kind->possible(space, tiling, fixed))
        return BEGINS_SOME;
    return fixed < space->axis_count ? BEGINS_NONE : BEGINS_NOT;
}

static bool is_stopped(struct walk *walk)
{
    if (++walk->values % LOOK_EVERY == 0 && stop_due(walk->space->stop))
        walk->stopped = true;
    return walk->stopped;
}

static void walk_axis(struct walk *walk, int fixed, int64_t index, int64_t stride)
{
    if (fixed == walk->to) {
        walk->visit(walk->context, &walk->tiling, index);
        return;
    }
    const int64_t *values = walk->block->values[fixed];
    int count = walk->block->count[fixed];
    stride /= count;
    for (int i = 0; i < count && !is_stopped(walk); i++) {
        walk->tiling.value[fixed] = values[i];
        enum prefix_verdict some = prefix_begins(walk->space, &walk->tiling, fixed + 1);
        if (some == BEGINS_NONE)
            break;
        if (some == BEGINS_SOME)
            walk_axis(walk, fixed + 1, index + i * stride, stride);
    }
    /* All blocks differ in some axis, whose only value `possible` may need. */
    walk->tiling.value[fixed] = values[0];
}

bool space_walk(const struct space *space, int64_t index, int from, int to, walk_visit *visit,
                void *context)
{
    struct walk walk = {.space = space,
                        .block = space_block_of(space, index),
                        .to = to,
                        .visit = visit,
                        .context = context};
    space_tiling(space, index, &walk.tiling);
    if (prefix_begins(space, &walk.tiling, from) == BEGINS_SOME)
        walk_axis(&walk, from, index, stride_of(space, walk.block, from));
    return !walk.stopped;
}

int64_t space_roots(const struct space *space)
{
    int64_t count = 0;
    for (int b = 0; b < space->block_count; b++)
        count += space->blocks[b].count[0];
    return count;
}

int64_t space_root(const struct space *space, int64_t number)
{
    const struct space_block *block = space->blocks;
    while (number >= block->count[0])
        number -= block++->count[0];
    return block->first_index + number * stride_of(space, block, 1);
}

/* ---- levels ---- */

void prefix_levels_of(const struct space *space, struct prefix_levels *levels)
{
    const struct operator_nesting *nesting = space->kind->nesting;
    *levels = (struct prefix_levels){.count = 1, .length = {1}};
    for (const int *length = nesting ? nesting->lengths : NULL; length && *length; length++)
        levels->length[levels->count++] = *length;
    levels->length[levels->count++] = space->axis_count;
}

int64_t prefix_bound_fs(const struct prefix_levels *levels, const struct space *space,
                        const struct bounder *bounder, const struct tiling *tiling, int level)
{
    const struct operator_space *kind = space->kind;
    struct work work;
    if (prefix_is_tiling(levels, level))
        kind->summarise(space, tiling, &work);
    else
        kind->nesting->summarise(space, tiling, levels->length[level], &work);
    return bounder_fs(bounder, &work);
}

int64_t prefix_leaf_count(const struct prefix_levels *levels, const struct space *space,
                          const struct tiling *tiling, int level)
{
    return prefix_is_tiling(levels, level)
               ? 1
               : space->kind->nesting->leaf_count(space, tiling, levels->length[level]);
}

int64_t leaf_counter_next(struct leaf_counter *counter, const struct prefix_levels *levels,
                          const struct space *space, const struct tiling *tiling)
{
    if (prefix_is_tiling(levels, 1))
        return 1;
    if (!counter->any || !space->kind->nesting->alike(space, &counter->last, tiling))
        counter->count = prefix_leaf_count(levels, space, tiling, 1);
    counter->any = true;
    counter->last = *tiling;
    return counter->count;
}

/* ---- counting alone, without bounds ---- */

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

static void count_leaves(void *context, const struct tiling *tiling, int64_t index)
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

int64_t space_count_legal(const struct space *space, int64_t most, int threads)
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
        (void)space_walk(until, space_root(space, i), levels.length[0], levels.length[1],
                         count_leaves, &counter);
    }
    return count.leaves;
}
