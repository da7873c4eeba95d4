/* A tiling of one product made to fit another.
 *
 * Each size is cut into as many tiles as its size over the entry's tile, rounded (at least one), of
 * equal sizes, up to what the micro-kernel does at once: a tile that held the whole of a size does
 * again for one half as large again, and no tile is followed by a sliver. */
#ifndef AUTOTUNE_RUNTIME_REFIT_H
#define AUTOTUNE_RUNTIME_REFIT_H

#include "core/host.h"
#include "core/operator.h"
#include "runtime/sgemm_table.h"

/* What can be tried, in this order: with equal tiles, then with the entry's, cut to the sizes where
 * they are larger; each with the entry's stores and order of loops, then with stores through the
 * caches (streaming wants rows of whole cache lines and one tile of k), then with order n. */
enum { REFITS = 8 };

void refit(const struct tiling *tiling, const struct table_wish *wish, int which,
           struct tiling *fitted);

/* May this product run so? Sizes of tiles need not be points of a search's space. */
bool refit_is_legal(const struct tiling *tiling, const struct table_wish *wish);

/* The first of the refits that is legal; false: none is. */
bool refit_legal(const struct tiling *tiling, const struct table_wish *wish, struct tiling *fitted);

/* A product of so few rows or columns waits for memory whatever it is multiplied with: the default
 * reads each operand once, and another shape's tiling tells nothing. */
enum { REFIT_THIN = 4 };
bool refit_is_thin(const struct table_wish *wish);

/* What suits most products, without a table; always legal. */
void refit_default(const struct table_wish *wish, struct tiling *fitted);

#endif
