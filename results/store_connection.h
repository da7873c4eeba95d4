/* The connection behind a store, for the files that make it: opening (store_open.c) and rows
 * (store.c). */
#ifndef AUTOTUNE_RESULTS_STORE_CONNECTION_H
#define AUTOTUNE_RESULTS_STORE_CONNECTION_H

#include "results/store.h"

#include <sqlite3.h>

enum store_statement { GET, PUT, REMOVE, NOTE_GET, NOTE_SET, STATEMENTS };

struct store {
    sqlite3 *database;
    char *file; /* as the user named it */
    sqlite3_stmt *statements[STATEMENTS];
    bool writing; /* within a transaction */
};

/* The text of each; those that write are prepared for STORE_WRITE only. */
extern const char *const store_sql[STATEMENTS];

/* What SQLite's last failure means to a user. */
enum status store_fail(const struct store *store, struct error *error);
enum status store_run(struct store *store, const char *text, struct error *error);

#endif
