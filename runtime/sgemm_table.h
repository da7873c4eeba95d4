/* A tuned table: which tiling is best for which product, read from CSV; and tilings made to fit.
 *
 * Columns are found by name, in any order, and others are left alone: m, k, n and the axes of
 * MatMul's space `host` have to be there; rank (rows behind the first are passed over), batch (must
 * be 1), quarantined (rows with a text there are passed over), threads (0 and no such column: any
 * number) and isa may be. A record that repeats the header's names is a header again, for what
 * follows. */
#ifndef AUTOTUNE_RUNTIME_SGEMM_TABLE_H
#define AUTOTUNE_RUNTIME_SGEMM_TABLE_H

#include "core/host.h"
#include "core/space.h"
#include "core/status.h"

enum { TABLE_MAX_ENTRIES = 1 << 20, TABLE_MAX_SIZE = 1 << 30 };

struct table_entry {
    int64_t m, k, n;
    int threads; /* tuned for; 0: not said */
    int isa;     /* enum host_isa; -1: not said */
    int line;
    struct tiling tiling;
};

struct table {
    int64_t count;
    struct table_entry *entries; /* in the order of the file; of equal ones only the last */
};

/* Reads a whole file. STATUS_INVALID with "file:line: what, and what was expected",
 * STATUS_TOO_LARGE, STATUS_NO_MEMORY, STATUS_IO. A table without entries is none. The caller owns
 * *table (table_clear). */
enum status table_read(const char *file, const struct axis *axes, int axis_count,
                       struct table *table, struct error *error);
void table_clear(struct table *table);

/* A product that wants a tiling. */
struct table_wish {
    int64_t m, k, n;
    int threads;
    int isa;
};

/* How far an entry's product is from another: the sum of the magnitudes of the ratios' logarithms,
 * of the sizes and of the numbers of threads. 0: the same. */
double table_distance(const struct table_entry *entry, const struct table_wish *wish);

/* The next usable entry behind `last` in order of distance and, of equal distance, position;
 * last = -1: the nearest. -1: no more. */
int64_t table_next(const struct table *table, const struct table_wish *wish, int64_t last);

/* ---- a tiling of one product made to fit another (autotune_sgemm.c) ---- */

/* Each size is cut into as many tiles as its size over the entry's tile, rounded (at least one), of
 * equal sizes, up to what the micro-kernel does at once: a tile that held the whole of a size does
 * again for one half as large again, and no tile is followed by a sliver. */

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
