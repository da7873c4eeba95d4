/* Cutting sizes into equal parts, as every space does, and the least time of a move for rooflines.
 */
#ifndef AUTOTUNE_KERNELS_SLICES_H
#define AUTOTUNE_KERNELS_SLICES_H

#include "core/hardware.h"

#include <assert.h>

/* The tiles along one direction: full ones of `slice`, and a last one of `last` <= slice. */
struct tiles {
    int64_t count, slice, last;
};

struct tiles tiles_of(int64_t size, int64_t slice);

static inline int64_t divide_up(int64_t value, int64_t unit)
{
    assert(unit > 0);
    return (value + unit - 1) / unit;
}

static inline int64_t round_up(int64_t value, int64_t unit)
{
    return divide_up(value, unit) * unit;
}

/* Is `slice` what some number of tiles gives? Both are multiples of `block`. */
bool is_slice(int64_t size, int64_t slice, int64_t block);

/* Sizes into which a wider space cuts, in blocks: any up to CUTS_ALL, beyond these the equal slices
 * and the powers of two; `whole` itself always. */
enum { CUTS_ALL = 8 };
bool is_cut(int64_t whole, int64_t cut);
bool is_cut_of(int64_t size, int64_t cut, int64_t block); /* both in elements: multiples of block */
int64_t next_cut(int64_t whole, int64_t cut);             /* the least above `cut` >= 0; 0: none */

/* The share of the core with most work when `size` is cut into equal shares of whole blocks. */
int64_t slab_of(int64_t size, int cores, int64_t block, int *cores_used);

/* The distinct slices that tile counts 1 … size/block give, ascending; NULL without memory, else
 * owned by the caller. */
int64_t *slices_of(int64_t size, int64_t block, int *count);

/* The least time in fs for `bytes` of `cores` cores together at a price: its bus at its best, or
 * its own rate on every core. */
double price_least_fs(const struct hardware *hw, const struct price *price, int cores,
                      double bytes);

#endif
