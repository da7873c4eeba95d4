/* Internal to the least summaries of prefixes of the space `cann` (matmul_cann_least.c). */
#ifndef AUTOTUNE_KERNELS_MATMUL_MATMUL_CANN_LEAST_H
#define AUTOTUNE_KERNELS_MATMUL_MATMUL_CANN_LEAST_H

#include "kernels/matmul/matmul_cann_nesting.h"

#include <math.h>

/* A prefix, and the sizes that are open at what makes them cheapest. */
struct least {
    const struct cann *cann;
    const int64_t *value;
    int fixed;
    struct cann_facts facts;
    struct cann_room room;
    bool base, n_known, k; /* are the base tile's m, its n, and its k known? */
    int64_t m, n;          /* base tile; a block of the matrix unit where open */
    /* with m known and n open: n at most, and is no part of B in L1 whole along k? */
    int64_t n_most;
    bool b_is_cut;
    struct work *work;
};

static inline double least_up(double value, double unit)
{
    return ceil(value / unit);
}

static inline void least_put(struct work *work, enum cann_line line, double instructions,
                             double units)
{
    work->instructions[line] = instructions;
    work->units[line] = units;
}

/* What is loaded of both operands. */
void least_put_loads(struct least *l);

/* Where base_m is known and base_n open: how large that is at most, and so how few tiles of n there
 * are at least; where parts of B in L1 are whole along k, or where they need not be. */
void least_take_n(struct least *l, bool whole);

/* B's slab brings its parts itself. */
static inline bool least_may_be_slab(const struct least *l)
{
    if (l->fixed > CANN_L0B_HOLDS)
        return l->value[CANN_L0B_HOLDS] == HOLDS_SLAB;
    return !l->cann->tcube && l->facts.n * l->facts.k <= l->room.l0b;
}

/* Does all of an operand miss, so that none of its loads is split? */
bool least_all_miss(const struct least *l, bool of_a);

/* How often is an operand brought for the same block, at least: once for each tile of the other
 * direction unless it is whole along k where it is held, and the loops of that direction can run
 * within its scope. */
double least_repeats(const struct least *l, bool of_a, bool whole);

/* Blocks for which an operand is brought. */
static inline double least_blocks(const struct least *l, bool of_a, bool whole)
{
    return !of_a && l->facts.one_b && whole ? 1 : (double)l->facts.blocks;
}

#endif
