/* Exported results back into a store: of another machine, of a shard, of a backup.
 *
 * A file has what store_export_row writes, a line a row. Every line is checked as a whole before
 * anything of it counts, and nothing is committed unless all lines are good. */
#ifndef AUTOTUNE_RESULTS_STORE_IMPORT_H
#define AUTOTUNE_RESULTS_STORE_IMPORT_H

#include "results/store_rows.h"

#include <stdint.h>

enum { STORE_MAX_LINE_BYTES = 1 << 26 };

/* Reads a file ("-": the standard input) and calls visit for each row. STATUS_INVALID with
 * "file:line: what, and what was expected"; STATUS_IO. */
enum status store_lines_read(const char *file,
                             enum status (*visit)(void *context, const struct store_row *row,
                                                  struct error *error),
                             void *context, struct error *error);

/* Would every line be taken? */
enum status store_lines_check(const char *file, struct error *error);

/* What happens to a row whose key the store has with another result. */
enum store_clash {
    STORE_REFUSE, /* a proven result beats one that was cut off, of those the faster counts, then
                     the one with more time; anything else is STATUS_INVALID */
    STORE_KEEP,   /* what the store has counts */
    STORE_REPLACE /* what the file has counts */
};

struct store_imported {
    int64_t added, replaced, kept, same, left_out; /* left out: by the filter */
};

/* Puts all rows of a file that the filter lets pass, and commits them together. After a failure
 * nothing is committed, and closing the store drops what was put. */
enum status store_import(const char *file, struct store *store, const struct store_filter *filter,
                         enum store_clash clash, struct store_imported *imported,
                         struct error *error);

#endif
