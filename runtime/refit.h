/* A tiling of one product made to fit another.
 *
 * Each size is cut into as many tiles as its size over the entry's tile, rounded (at least one), of
 * equal sizes, up to what the micro-kernel does at once: a tile that held the whole of a size does
 * again for one half as large again, and no tile is followed by a sliver. */
#ifndef AUTOTUNE_RUNTIME_REFIT_H
#define AUTOTUNE_RUNTIME_REFIT_H

#include "core/host.h"
#include "kernels/operator.h"
#include "runtime/table.h"

/* What can be tried, in this order: with equal tiles; with the entry's tiles, cut to the sizes
 * where they are larger; each of them with stores as they are and then through the caches, since
 * streaming wants rows of whole cache lines. */
enum { REFITS = 4 };

void refit(const struct tiling *tiling, const struct table_wish *wish, int which,
           struct tiling *fitted);

/* The first of the refits that is legal in the space of the product; false: none is. */
bool refit_legal(const struct space *space, const struct tiling *tiling,
                 const struct table_wish *wish, struct tiling *fitted);

/* Tilings that suit most products, without a table: the first legal one of a short list for the
 * instruction set. False only where none is. */
bool refit_default(const struct space *space, const struct table_wish *wish,
                   struct tiling *fitted);

#endif
