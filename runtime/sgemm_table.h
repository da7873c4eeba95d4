/* A tuned table: which tiling is best for which product, read from CSV.
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

#endif
