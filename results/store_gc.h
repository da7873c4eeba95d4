/* Throws away what a store need not keep: simulated results of other model versions, with which no
 * question is answered any more, and whatever else is asked for. What was measured or imported
 * does not depend on the model and goes only when asked for. */
#ifndef AUTOTUNE_RESULTS_STORE_GC_H
#define AUTOTUNE_RESULTS_STORE_GC_H

#include "results/store_rows.h"

#include <stdint.h>
#include <stdio.h>

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
