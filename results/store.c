/* Reads and writes rows by their keys, in SQLite. There is a prepared statement for each question.
 * The first change opens a transaction with BEGIN IMMEDIATE, which waits for its turn at once
 * rather than failing half-way, and store_commit ends it. Readers' statements are reset before,
 * for their snapshots would stand in the way. Walks are in the order of store_compare, so that two
 * stores can be gone through side by side. */
#include "results/store_connection.h"
#include "results/store_schema.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The columns of a key, in the order of struct store_key's SQL. */
#define KEY_COLUMNS   "kind, op, shape, options, dtype, space, query, hardware, cores, model_version"
#define VALUE_COLUMNS "hardware_name, tiling, time_ns, optimal, limit_s, answer"
#define THIS_KEY                                                                                   \
    "WHERE kind = ?1 AND op = ?2 AND shape = ?3 AND options = ?4 AND dtype = ?5 AND space = ?6 "   \
    "AND query = ?7 AND hardware = ?8 AND cores = ?9 AND model_version = ?10"
enum { KEY_COUNT = 10, VALUE_COUNT = 6 };

const char *const store_sql[STATEMENTS] = {
    [GET] = "SELECT " KEY_COLUMNS ", " VALUE_COLUMNS " FROM result " THIS_KEY,
    [PUT] = "INSERT OR REPLACE INTO result (" KEY_COLUMNS ", " VALUE_COLUMNS ") VALUES "
            "(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)",
    [REMOVE] = "DELETE FROM result " THIS_KEY,
    [NOTE_GET] = "SELECT text FROM note WHERE name = ?1",
    [NOTE_SET] = "INSERT OR REPLACE INTO note (name, text) VALUES (?1, ?2)",
};

static const char *const kind_names[STORE_KINDS] = {"simulated", "measured", "imported"};

const char *store_kind_name(enum store_kind kind)
{
    return kind_names[kind];
}

int store_kind_find(const char *name)
{
    for (int i = 0; i < STORE_KINDS; i++)
        if (strcasecmp(kind_names[i], name) == 0)
            return i;
    return -1;
}

/* ------------------------------------------------------------------ rows */

static bool bind_text(sqlite3_stmt *statement, int at, const char *text)
{
    return sqlite3_bind_text(statement, at, text, -1, SQLITE_STATIC) == SQLITE_OK;
}

static bool bind_key(sqlite3_stmt *statement, const struct store_key *key)
{
    const char *const texts[] = {
        store_kind_name(key->kind),
        key->op,
        key->shape,
        key->options,
        key->dtype,
        key->space,
        key->query,
        key->hardware,
    };
    const int count = (int)(sizeof texts / sizeof *texts);
    bool bound = true;
    for (int i = 0; i < count; i++)
        bound = bound && bind_text(statement, i + 1, texts[i]);
    return bound && sqlite3_bind_int(statement, count + 1, key->cores) == SQLITE_OK &&
           sqlite3_bind_int(statement, count + 2, key->model_version) == SQLITE_OK;
}

static bool bind_row(sqlite3_stmt *statement, const struct store_row *row)
{
    return bind_key(statement, &row->key) &&
           bind_text(statement, KEY_COUNT + 1, row->hardware_name) &&
           bind_text(statement, KEY_COUNT + 2, row->tiling) &&
           sqlite3_bind_double(statement, KEY_COUNT + 3, row->time_ns) == SQLITE_OK &&
           sqlite3_bind_int(statement, KEY_COUNT + 4, row->optimal) == SQLITE_OK &&
           sqlite3_bind_double(statement, KEY_COUNT + 5, row->limit_s) == SQLITE_OK &&
           bind_text(statement, KEY_COUNT + 6, row->answer);
}

static const char *column(sqlite3_stmt *statement, int at)
{
    const unsigned char *text = sqlite3_column_text(statement, at);
    return text ? (const char *)text : "";
}

/* A text with a zero byte would end early and stand for another: no store has one. */
static enum status check_texts(const struct store *store, sqlite3_stmt *statement,
                               struct error *error)
{
    for (int i = 0; i < KEY_COUNT + VALUE_COUNT; i++) {
        if (sqlite3_column_type(statement, i) != SQLITE3_TEXT)
            continue;
        const unsigned char *text = sqlite3_column_text(statement, i);
        if (!text)
            return error_memory(error);
        if (strlen((const char *)text) != (size_t)sqlite3_column_bytes(statement, i))
            return error_set(error, STATUS_INVALID,
                             "%s: the store is damaged (a zero byte in a text)", store->file);
    }
    return STATUS_OK;
}

static enum status read_row(const struct store *store, sqlite3_stmt *statement,
                            struct store_row *row, struct error *error)
{
    TRY(check_texts(store, statement, error));
    int kind = store_kind_find(column(statement, 0));
    *row = (struct store_row){
        .key = {.kind = kind < 0 ? STORE_IMPORTED : (enum store_kind)kind,
                .op = column(statement, 1),
                .shape = column(statement, 2),
                .options = column(statement, 3),
                .dtype = column(statement, 4),
                .space = column(statement, 5),
                .query = column(statement, 6),
                .hardware = column(statement, 7),
                .cores = sqlite3_column_int(statement, 8),
                .model_version = sqlite3_column_int(statement, 9)},
        .hardware_name = column(statement, KEY_COUNT),
        .tiling = column(statement, KEY_COUNT + 1),
        .time_ns = sqlite3_column_double(statement, KEY_COUNT + 2),
        .optimal = sqlite3_column_int(statement, KEY_COUNT + 3) != 0,
        .limit_s = sqlite3_column_double(statement, KEY_COUNT + 4),
        .answer = column(statement, KEY_COUNT + 5),
    };
    if (!isfinite(row->time_ns) || !isfinite(row->limit_s))
        return error_set(error, STATUS_INVALID, "%s: the store is damaged (an infinite time)",
                         store->file);
    return STATUS_OK;
}

enum status store_get(struct store *store, const struct store_key *key, bool *found,
                      struct store_row *row, struct error *error)
{
    sqlite3_stmt *statement = store->statements[GET];
    *found = false;
    sqlite3_reset(statement);
    if (!bind_key(statement, key))
        return store_fail(store, error);
    int code = sqlite3_step(statement);
    if (code == SQLITE_DONE) {
        sqlite3_reset(statement); /* a statement under way keeps the log from being cleared */
        return STATUS_OK;
    }
    if (code != SQLITE_ROW)
        return store_fail(store, error);
    enum status status = read_row(store, statement, row, error);
    *found = status == STATUS_OK;
    return status;
}

/* Readers' snapshots end before a write begins. */
static enum status begin(struct store *store, struct error *error)
{
    if (store->writing)
        return STATUS_OK;
    sqlite3_reset(store->statements[GET]);
    sqlite3_reset(store->statements[NOTE_GET]);
    enum status status = store_run(store, "BEGIN IMMEDIATE", error);
    store->writing = status == STATUS_OK;
    return status;
}

/* Runs a statement that gives no rows, and makes it ready for its next use. */
static enum status step(struct store *store, sqlite3_stmt *statement, bool bound,
                        struct error *error)
{
    enum status status = STATUS_OK;
    if (!bound || sqlite3_step(statement) != SQLITE_DONE)
        status = store_fail(store, error);
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    return status;
}

enum status store_put(struct store *store, const struct store_row *row, struct error *error)
{
    enum status status = begin(store, error);
    sqlite3_stmt *statement = store->statements[PUT];
    return status == STATUS_OK ? step(store, statement, bind_row(statement, row), error) : status;
}

enum status store_remove(struct store *store, const struct store_key *key, struct error *error)
{
    enum status status = begin(store, error);
    sqlite3_stmt *statement = store->statements[REMOVE];
    return status == STATUS_OK ? step(store, statement, bind_key(statement, key), error) : status;
}

enum status store_commit(struct store *store, struct error *error)
{
    if (!store->writing)
        return STATUS_OK;
    enum status status = store_run(store, "COMMIT", error);
    if (status != STATUS_OK)
        store_run(store, "ROLLBACK", NULL);
    store->writing = false;
    return status;
}

/* The log is written back first: the file is as small as it gets, and whole without it. */
enum status store_compact(struct store *store, struct error *error)
{
    sqlite3_reset(store->statements[GET]);
    sqlite3_reset(store->statements[NOTE_GET]);
    return store_run(store, "VACUUM; PRAGMA wal_checkpoint(TRUNCATE)", error);
}

/* ------------------------------------------------------------------ all rows */

struct store_walk {
    struct store *store;
    sqlite3_stmt *statement;
};

static int compare_numbers(int a, int b)
{
    return (a > b) - (a < b);
}

int store_compare(const struct store_key *a, const struct store_key *b)
{
    int orders[] = {
        strcmp(a->op, b->op),
        store_compare_shapes(NULL, (int)strlen(a->shape), a->shape, (int)strlen(b->shape),
                             b->shape),
        strcmp(a->shape, b->shape),
        strcmp(a->options, b->options),
        strcmp(a->dtype, b->dtype),
        strcmp(a->space, b->space),
        strcmp(a->hardware, b->hardware),
        compare_numbers(a->cores, b->cores),
        strcmp(a->query, b->query),
        strcmp(store_kind_name(a->kind), store_kind_name(b->kind)),
        compare_numbers(a->model_version, b->model_version),
    };
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
        if (orders[i])
            return orders[i];
    return 0;
}

enum status store_walk_open(struct store *store, struct store_walk **walk, struct error *error)
{
    static const char all[] =
        "SELECT " KEY_COLUMNS ", " VALUE_COLUMNS " FROM result ORDER BY op, shape COLLATE shape, "
        "shape, options, dtype, space, hardware, cores, query, kind, model_version";
    struct store_walk *w = calloc(1, sizeof *w);
    *walk = NULL;
    if (!w)
        return error_memory(error);
    w->store = store;
    if (sqlite3_prepare_v2(store->database, all, -1, &w->statement, NULL) != SQLITE_OK) {
        free(w);
        return store_fail(store, error);
    }
    *walk = w;
    return STATUS_OK;
}

enum status store_walk_next(struct store_walk *walk, bool *found, struct store_row *row,
                            struct error *error)
{
    int code = sqlite3_step(walk->statement);
    *found = false;
    if (code == SQLITE_DONE)
        return STATUS_OK;
    if (code != SQLITE_ROW)
        return store_fail(walk->store, error);
    enum status status = read_row(walk->store, walk->statement, row, error);
    *found = status == STATUS_OK;
    return status;
}

void store_walk_close(struct store_walk *walk)
{
    if (walk)
        sqlite3_finalize(walk->statement);
    free(walk);
}

enum status store_each(struct store *store,
                       enum status (*visit)(void *context, const struct store_row *row,
                                            struct error *error),
                       void *context, struct error *error)
{
    struct store_walk *walk;
    struct store_row row;
    enum status status = store_walk_open(store, &walk, error);
    bool found = walk != NULL;
    while (status == STATUS_OK && found) {
        status = store_walk_next(walk, &found, &row, error);
        if (status == STATUS_OK && found)
            status = visit(context, &row, error);
    }
    store_walk_close(walk);
    return status;
}

enum status store_note_get(struct store *store, const char *name, const char **text,
                           struct error *error)
{
    sqlite3_stmt *statement = store->statements[NOTE_GET];
    *text = "";
    sqlite3_reset(statement);
    if (!bind_text(statement, 1, name))
        return store_fail(store, error);
    int code = sqlite3_step(statement);
    if (code == SQLITE_ROW)
        *text = column(statement, 0);
    else if (code == SQLITE_DONE)
        sqlite3_reset(statement);
    else
        return store_fail(store, error);
    return STATUS_OK;
}

enum status store_note_set(struct store *store, const char *name, const char *text,
                           struct error *error)
{
    enum status status = begin(store, error);
    sqlite3_stmt *statement = store->statements[NOTE_SET];
    if (status != STATUS_OK)
        return status;
    return step(store, statement, bind_text(statement, 1, name) && bind_text(statement, 2, text),
                error);
}
