/* Rows of a store chosen by what they are about, and rows kept in memory.
 *
 *   struct store_rows rows = {0};
 *   store_rows_read(store, &filter, STORE_ANSWERS, &rows, &error)
 *   store_rows_clear(&rows) */
#ifndef AUTOTUNE_RESULTS_STORE_ROWS_H
#define AUTOTUNE_RESULTS_STORE_ROWS_H

#include "results/store.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* What a row must be; NULL and what says "any" lets everything pass. Names ignore case. */
struct store_filter {
    bool kind_given;
    enum store_kind kind;
    const char *op, *dtype, *space;
    const char *kernel, *kernel2; /* fingerprints of a kernel's text, and of a second one or NULL */
    const char *shape, *options;  /* patterns of the shell: "512x*" */
    const char *hardware; /* a name, in any case, without its blanks; or 6 or more digits that
                             a fingerprint begins with */
    int64_t cores;        /* 0: any */
};

bool store_filter_is_empty(const struct store_filter *filter);
bool store_filter_matches(const struct store_filter *filter, const struct store_row *row);

/* The fingerprint of the text that the row's kernel comes from: the last word of its query,
 * "kernel=…"; "": it is an operator's. */
const char *store_kernel(const struct store_row *row);

/* Copies of rows, in the order in which they were added. */
struct store_rows {
    struct store_row *rows;
    size_t count;
};

enum store_answers { STORE_NO_ANSWERS, STORE_ANSWERS }; /* without, answer is "" */

enum status store_rows_add(struct store_rows *rows, const struct store_row *row,
                           enum store_answers answers, struct error *error);
void store_rows_drop_last(struct store_rows *rows); /* of count >= 1 */
void store_rows_clear(struct store_rows *rows);

/* All that the filter lets pass, in the order of the store. After a failure *rows is empty. */
enum status store_rows_read(struct store *store, const struct store_filter *filter,
                            enum store_answers answers, struct store_rows *rows,
                            struct error *error);

/* Throws away what a store need not keep: simulated results of other model versions, with which no
 * question is answered any more, and whatever else is asked for. What was measured or imported
 * does not depend on the model and goes only when asked for. */
/* How many of one kind and model version go. */
struct store_waste {
    enum store_kind kind;
    int model_version;
    int64_t count;
};

enum { STORE_MAX_WASTES = 64 }; /* versions beyond share the last */

struct store_gc {
    const struct store_filter *filter; /* what goes besides; empty: nothing */
    /* filled */
    struct store_rows rows; /* without answers; store_gc_clear frees them */
    int waste_count;
    struct store_waste wastes[STORE_MAX_WASTES]; /* by kind, then by version */
    int64_t removed, kept;
};

/* Finds what would go; a store opened for reading will do. After a failure there is nothing to
 * clear. */
enum status store_gc_find(struct store *store, struct store_gc *gc, struct error *error);

/* Removes it in one transaction and makes the file smaller. */
enum status store_gc_remove(struct store *store, const struct store_gc *gc, struct error *error);
void store_gc_clear(struct store_gc *gc);

/* What went, or with dry_run would; the sizes are the file's. */
struct store_gc_counts {
    bool dry_run;
    int64_t bytes_before, bytes_after;
};
enum status store_gc_table(const struct store_gc *gc, const struct store_gc_counts *counts,
                           FILE *out, struct error *error);
enum status store_gc_json(const struct store_gc *gc, const struct store_gc_counts *counts,
                          FILE *out, struct error *error);

#endif
