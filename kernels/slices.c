/* Cuts sizes into tiles. A slice is the smallest tile that cuts a size into its number of tiles: a
 * larger one with as many would only be padded more. There are about 2·√blocks of them, and the
 * walk jumps from one to the next. Cuts, of wider spaces, add the small sizes and the powers of
 * two. */
#include "kernels/slices.h"

#include "core/array.h"
#include "core/least.h"

#include <stdlib.h>

struct tiles tiles_of(int64_t size, int64_t slice)
{
    struct tiles tiles = {.slice = slice < size ? slice : size};
    /* exact for sizes below 2^32, and several times as fast as a 64-bit division */
    tiles.count = (int64_t)((double)(size + tiles.slice - 1) / (double)tiles.slice);
    tiles.last = size - (tiles.count - 1) * tiles.slice;
    return tiles;
}

bool is_slice(int64_t size, int64_t slice, int64_t block)
{
    int64_t blocks = size / block, tile = slice / block;
    return slice % block == 0 && tile > 0 && tile <= blocks &&
           divide_up(blocks, divide_up(blocks, tile)) == tile;
}

/* The slices above a size of less than `whole`. */
static int64_t next_slice(int64_t whole, int64_t slice)
{
    int64_t tiles = slice ? divide_up(whole, slice) : whole + 1;
    return divide_up(whole, tiles - 1);
}

int64_t next_cut(int64_t whole, int64_t cut)
{
    int64_t power = 1;
    if (cut >= whole)
        return 0;
    if (cut < CUTS_ALL)
        return cut + 1;
    while (power <= cut)
        power *= 2;
    return least_of(power, next_slice(whole, cut));
}

bool is_cut(int64_t whole, int64_t cut)
{
    if (cut <= 0 || cut > whole)
        return false;
    return cut <= CUTS_ALL || (cut & (cut - 1)) == 0 || is_slice(whole, cut, 1);
}

bool is_cut_of(int64_t size, int64_t cut, int64_t block)
{
    return cut % block == 0 && is_cut(size / block, cut / block);
}

int64_t slab_of(int64_t size, int cores, int64_t block, int *cores_used)
{
    int64_t blocks = divide_up(size, block), slab = divide_up(blocks, cores);
    *cores_used = (int)divide_up(blocks, slab);
    return slab * block;
}

/* Between two slices the count jumps, so the walk is over about 2·sqrt(blocks) values. */
int64_t *slices_of(int64_t size, int64_t block, int *count)
{
    int64_t blocks = size / block, *values = NULL;
    *count = 0;
    for (int64_t slice = 1; slice <= blocks; slice++) {
        int64_t tiles = divide_up(blocks, slice);
        slice = divide_up(blocks, tiles);
        if (!array_room(&values, *count, sizeof *values))
            break;
        values[(*count)++] = slice * block;
        if (tiles == 1)
            return values;
        /* the next slice with fewer tiles */
        slice = divide_up(blocks, tiles - 1) - 1;
    }
    free(values);
    return NULL;
}

double price_least_fs(const struct hardware *hw, const struct price *price, int cores, double bytes)
{
    if (price->bus < 0)
        return bytes * (double)price->rate.fs / (double)price->rate.units / cores;
    const struct bus *bus = &hw->buses[price->bus];
    return bytes * 1e15 / (double)bus->total_bytes_per_s[bus->sharers - 1];
}
