/* What a store holds, for people and for machines. Texts of a store are data: no byte of them
 * steers a terminal or breaks a line. */
#ifndef AUTOTUNE_RESULTS_STORE_WRITE_H
#define AUTOTUNE_RESULTS_STORE_WRITE_H

#include "formats/text.h"
#include "results/store_rows.h"

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

/* Lists: a line a row, without the answers. */
typedef enum status store_list_writer(const struct store_rows *rows, const struct style *style,
                                      FILE *out, struct error *error);
store_list_writer store_list_table, store_list_json, store_list_csv;

/* The same with the whole answers. */
store_list_writer store_show_table, store_show_json;

/* One row as one line of JSON, every member of it, in this order:
 * kind, op, shape, options, dtype, space, query, hardware, cores, model_version, hardware_name,
 * tiling, time_ns, optimal, limit_s, answer. An answer is a JSON object where it is one written
 * without blanks, else a text. Equal rows give equal bytes. */
enum status store_export_row(const struct store_row *row, FILE *out, struct error *error);

/* What changed between two stores.
 *
 * Rows match by their key without the model version; of several versions of one key the newest
 * counts. What is left over matches where all but the fingerprint is the same, the chip is called
 * the same, and there is one such row on either side: the description has changed. The stores are
 * gone through once, in their order; memory does not grow with them. */
enum store_change {
    STORE_SAME,
    STORE_BETTER, /* the new time is shorter, or there is a tiling now */
    STORE_WORSE,
    STORE_OTHER, /* the same time, but another tiling, answer or fingerprint */
    STORE_ADDED,
    STORE_REMOVED,
    STORE_CHANGES
};
const char *store_change_name(enum store_change change);

/* old is NULL for what was added, new for what was removed; valid during the call. */
typedef enum status store_diff_visit(void *context, enum store_change change,
                                     const struct store_row *old, const struct store_row *new,
                                     struct error *error);

struct store_diff {
    const struct store_filter *filter; /* of both sides */
    store_diff_visit *visit;           /* of all but STORE_SAME, in the order of the stores */
    void *context;
    int64_t count[STORE_CHANGES]; /* filled */
};

enum status store_diff(struct store *old, struct store *new, struct store_diff *diff,
                       struct error *error);

/* The differences as text for review or as JSON, ending with how many there are of each kind. */
enum status store_diff_table(struct store *old, struct store *new, struct store_diff *diff,
                             const struct style *style, FILE *out, struct error *error);
enum status store_diff_json(struct store *old, struct store *new, struct store_diff *diff,
                            FILE *out, struct error *error);

#endif
