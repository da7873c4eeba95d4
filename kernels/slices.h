/* Equal slices: the sizes that a number of tiles along one direction gives. Counts that give the
 * same slice are one candidate; the last tile carries the remainder. Sizes are in elements. */
#ifndef AUTOTUNE_KERNELS_SLICES_H
#define AUTOTUNE_KERNELS_SLICES_H

#include <stdbool.h>
#include <stdint.h>

/* `value` in units of `unit`, rounded up to a whole one. */
int64_t round_up(int64_t value, int64_t unit);
int64_t divide_up(int64_t value, int64_t unit);

/* The share of the core with most work when `size` is cut into equal shares of whole blocks, and
 * how many cores have work. */
int64_t share_of(int64_t size, int cores, int64_t block, int *cores_used);

/* Is `slice` what some number of tiles gives? Both are multiples of `block`. */
bool is_slice(int64_t size, int64_t slice, int64_t block);

/* All slices of `size` (a multiple of `block`), ascending: about 2·sqrt(size / block). The caller
 * frees them; NULL when out of memory. */
int64_t *slices_of(int64_t size, int64_t block, int *count);

#endif
