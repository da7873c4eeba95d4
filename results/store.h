/* What is kept: results by what they are answers to, in one SQLite file.
 *
 * A result is one row: its key (below), an answer as JSON text, and a few members of it as columns
 * for lists. Rows hold no clock and no run: the same search gives the same row, whoever did it in
 * whatever order; what is measured differs each time. WAL, STRICT tables, a busy timeout, BEGIN
 * IMMEDIATE: any number of processes may read and write at once. A commit is durable: what
 * store_commit returned for is there after a SIGKILL or power loss.
 *
 *   store_open(file, STORE_WRITE, &store, &error)
 *   store_get(…) / store_put(…) … store_commit(…)
 *   store_close(&store) */
#ifndef AUTOTUNE_RESULTS_STORE_H
#define AUTOTUNE_RESULTS_STORE_H

#include "core/status.h"

#include <stdbool.h>
#include <stdint.h>

struct store;

enum store_mode {
    STORE_READ,  /* must exist */
    STORE_WRITE, /* is made where it does not; an older version is migrated */
};

/* Kinds of results, never mixed: simulated by the model, measured on hardware, imported from
 * banks. */
enum store_kind { STORE_SIMULATED, STORE_MEASURED, STORE_IMPORTED, STORE_KINDS };
const char *store_kind_name(enum store_kind kind);
int store_kind_find(const char *name); /* or -1 */

/* What a result is an answer to. All members count; texts are never NULL. */
struct store_key {
    enum store_kind kind;
    const char *op;       /* "matmul" */
    const char *shape;    /* "512x1024x512" */
    const char *options;  /* "batch=4 transpose=a": sizes and choices that are not the default,
                             in the operator's order; "" for none */
    const char *dtype;    /* "f16" */
    const char *space;    /* "cann" */
    const char *query;    /* what else decides the answer: "strategy=bound top=1", with the
                             operator's own (--mac …) */
    const char *hardware; /* fingerprint */
    int cores;
    int model_version;
};

struct store_row {
    struct store_key key;
    const char *hardware_name; /* as the description calls it; not part of the key */
    const char *tiling;        /* of the best: "m_slice=128,…"; "" where nothing is legal */
    double time_ns;            /* of the best; 0: nothing is legal */
    bool optimal;              /* proven; false: cut off, or measured, and others may be better */
    double limit_s;            /* the time limit of a run that was cut off or measures; 0: none */
    const char *answer;        /* JSON */
};

/* Opens a store. STATUS_INVALID: not a store, corrupt, or of a newer version, and then nothing was
 * changed; STATUS_IO. */
enum status store_open(const char *file, enum store_mode mode, struct store **store,
                       struct error *error);
void store_close(struct store *store); /* what was not committed is dropped */

/* Looks one result up: *found, and then *row, valid until the next call on this store. */
enum status store_get(struct store *store, const struct store_key *key, bool *found,
                      struct store_row *row, struct error *error);

/* Adds a result or replaces the one of the same key; begins a transaction where none is open. */
enum status store_put(struct store *store, const struct store_row *row, struct error *error);

/* Takes a result out, if it is there; within the same transaction as store_put. */
enum status store_remove(struct store *store, const struct store_key *key, struct error *error);

/* Makes all that was put durable. */
enum status store_commit(struct store *store, struct error *error);

/* Gives the space of removed rows back to the file system; after a commit. */
enum status store_compact(struct store *store, struct error *error);

/* A collation: texts in which runs of digits compare as numbers, "64x8" before "512x8". */
int store_compare_shapes(void *unused, int left_length, const void *left, int right_length,
                         const void *right);

/* The order of rows: op, shape by its numbers, options, dtype, space, fingerprint, cores, query,
 * kind by its name, version; texts by their bytes. Less than, equal to or more than 0. */
int store_compare(const struct store_key *a, const struct store_key *b);

/* Calls visit for every row in this order until it returns something else than STATUS_OK, which is
 * returned. Texts of *row are valid during the call. */
enum status store_each(struct store *store,
                       enum status (*visit)(void *context, const struct store_row *row,
                                            struct error *error),
                       void *context, struct error *error);

/* The same one row at a time, for who goes through two stores at once. Texts of *row are valid
 * until the next call; the walk is closed before its store. After a failure of store_walk_open
 * there is nothing to close. */
struct store_walk;
enum status store_walk_open(struct store *store, struct store_walk **walk, struct error *error);
enum status store_walk_next(struct store_walk *walk, bool *found, struct store_row *row,
                            struct error *error);
void store_walk_close(struct store_walk *walk);

/* Small texts beside the results ("command", "sweep"); NULL-safe look-up: *text is "" where there
 * is none, valid until the next call. */
enum status store_note_get(struct store *store, const char *name, const char **text,
                           struct error *error);
enum status store_note_set(struct store *store, const char *name, const char *text,
                           struct error *error);

#endif
