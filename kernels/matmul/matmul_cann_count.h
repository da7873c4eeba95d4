/* Internal to the counting of the space `cann`: matmul_cann_count.c sums over base tiles,
 * matmul_cann_count_l1.c says how many pairs of parts L1 may hold with one at hand. */
#ifndef AUTOTUNE_KERNELS_MATMUL_MATMUL_CANN_COUNT_H
#define AUTOTUNE_KERNELS_MATMUL_MATMUL_CANN_COUNT_H

#include "kernels/limits.h"
#include "kernels/matmul/matmul_cann_nesting.h"
#include "kernels/slices.h"

/* Sizes of parts of one operand in L1, in elements, ascending: of one copy, and of two. */
enum { MAX_PARTS = 1280 };
struct parts {
    int count[2];
    int64_t elements[2][MAX_PARTS];
};

struct counter {
    const struct space *space;
    const struct cann *cann;
    struct tiling tiling; /* the values at hand */
    int fixed;            /* of them are given */
    struct cann_facts facts;
    struct cann_room room;
    const struct cann_chunks *chunks; /* of the base_k at hand */
    int at_split, at_m, at_n;         /* the places of split_k, base_m and base_n on their axes */
    int sum;                          /* what is summed up over base_k; */
    int64_t whole;                    /* beside a part of so many elements */
    /* what stands whole along k in L1, and how many pairs of it there are: of all; of L1 tiles that
     * are several, of several L0 ones */
    struct parts *whole_a, *whole_b;
    int64_t whole_pairs, several_pairs;
};

/* What one tile of a direction takes in a buffer. */
static inline int64_t cann_laid_tile(const struct counter *c, enum cann_direction direction,
                                     int64_t base)
{
    return cann_laid_out(c->cann, c->facts.parts, direction, base, base);
}

/* The values of an axis into which `size` is cut: the given one, or all. */
static inline int64_t cann_next_value(const struct counter *c, int axis, int64_t size, int64_t unit,
                                      int64_t value)
{
    if (c->fixed <= axis)
        return next_cut(size / unit, value / unit) * unit;
    int64_t given = c->tiling.value[axis];
    return value == 0 && is_cut_of(size, given, unit) ? given : 0;
}

/* Lists what may stand whole along k beside the base m and n at hand, and counts its pairs. */
void cann_list_whole_pairs(struct counter *c);

/* What L1 may hold, with the base tile at hand; and for the third order of loops. */
int64_t cann_count_l1(const struct counter *c);
int64_t cann_count_several(const struct counter *c);

/* Of that, with base_k at hand too and all else open: pairs of parts that are cut along k; and
 * such parts of one operand beside one of the other that takes so many elements. */
int64_t cann_count_cut_pairs(const struct counter *c);
int64_t cann_count_beside(const struct counter *c, bool of_a, int64_t elements);

#endif
