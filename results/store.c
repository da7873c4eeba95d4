#include "results/store.h"

#include "results/store_schema.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { BUSY_TIMEOUT_MS = 60000 };

enum statement { GET, PUT, REMOVE, NOTE_GET, NOTE_SET, STATEMENTS };

struct store {
    sqlite3 *database;
    char *file; /* as the user named it */
    sqlite3_stmt *statements[STATEMENTS];
    bool writing; /* within a transaction */
};

/* The columns of a key, in the order of struct store_key's SQL. */
#define KEY_COLUMNS   "kind, op, shape, options, dtype, space, query, hardware, cores, model_version"
#define VALUE_COLUMNS "hardware_name, tiling, time_ns, optimal, limit_s, answer"
#define THIS_KEY                                                                                   \
    "WHERE kind = ?1 AND op = ?2 AND shape = ?3 AND options = ?4 AND dtype = ?5 AND space = ?6 "   \
    "AND query = ?7 AND hardware = ?8 AND cores = ?9 AND model_version = ?10"
enum { KEY_COUNT = 10, VALUE_COUNT = 6 };

static const char *const sql[STATEMENTS] = {
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

/* ------------------------------------------------------------------ failures in words */

static bool is_damage(int code)
{
    return code == SQLITE_CORRUPT || code == SQLITE_NOTADB || code == SQLITE_MISMATCH;
}

static enum status fail(const struct store *store, struct error *error)
{
    int code = sqlite3_errcode(store->database);
    const char *text = sqlite3_errmsg(store->database);
    if (code == SQLITE_NOMEM)
        return error_memory(error);
    if (code == SQLITE_NOTADB)
        return error_set(error, STATUS_INVALID, "%s: expected a store, this is no SQLite file",
                         store->file);
    if (is_damage(code))
        return error_set(
            error, STATUS_INVALID,
            "%s: the store is damaged (%s); nothing was changed, `sqlite3 %s .recover` "
            "may save rows",
            store->file, text, store->file);
    if (code == SQLITE_FULL)
        return error_set(error, STATUS_IO, "%s: no space is left; what was committed is kept",
                         store->file);
    if (code == SQLITE_BUSY)
        return error_set(error, STATUS_IO, "%s: another process has kept it locked for %d s",
                         store->file, BUSY_TIMEOUT_MS / 1000);
    if (code == SQLITE_READONLY)
        return error_set(error, STATUS_IO, "%s: cannot be written", store->file);
    return error_set(error, STATUS_IO, "%s: %s", store->file, text);
}

static enum status run(struct store *store, const char *text, struct error *error)
{
    return sqlite3_exec(store->database, text, NULL, NULL, NULL) == SQLITE_OK ? STATUS_OK
                                                                              : fail(store, error);
}

/* The first column of the first row, as a whole number or as text. */
static enum status ask(struct store *store, const char *text, int64_t *number, char *word,
                       size_t size, struct error *error)
{
    sqlite3_stmt *statement;
    enum status status = STATUS_OK;
    if (sqlite3_prepare_v2(store->database, text, -1, &statement, NULL) != SQLITE_OK)
        return fail(store, error);
    int code = sqlite3_step(statement);
    if (code != SQLITE_ROW && code != SQLITE_DONE)
        status = fail(store, error);
    if (code == SQLITE_ROW && number)
        *number = sqlite3_column_int64(statement, 0);
    if (code == SQLITE_ROW && word) {
        const unsigned char *found = sqlite3_column_text(statement, 0);
        snprintf(word, size, "%s", found ? (const char *)found : "");
    }
    sqlite3_finalize(statement);
    return status;
}

/* ------------------------------------------------------------------ opening */

/* A file of another program, or of a later version of this one, is left as it is. */
static enum status check_version(struct store *store, int64_t *version, struct error *error)
{
    int64_t application = 0, tables = 0;
    *version = 0;
    enum status status = ask(store, "PRAGMA application_id", &application, NULL, 0, error);
    if (status == STATUS_OK)
        status = ask(store, "PRAGMA user_version", version, NULL, 0, error);
    if (status == STATUS_OK)
        status = ask(store, "SELECT count(*) FROM sqlite_schema", &tables, NULL, 0, error);
    if (status != STATUS_OK)
        return status;
    if (application != STORE_APPLICATION && (application || tables || *version))
        return error_set(error, STATUS_INVALID, "%s: expected a store, this is another database",
                         store->file);
    if (*version > store_schema_version)
        return error_set(error, STATUS_INVALID,
                         "%s: a store of version %lld, expected at most %d: it was written by a "
                         "newer autotune",
                         store->file, (long long)*version, store_schema_version);
    return STATUS_OK;
}

static enum status check_content(struct store *store, struct error *error)
{
    char verdict[200] = "";
    enum status status = ask(store, "PRAGMA quick_check(1)", NULL, verdict, sizeof verdict, error);
    if (status == STATUS_OK && strcmp(verdict, "ok") != 0)
        status = error_set(error, STATUS_INVALID,
                           "%s: the store is damaged (%s); nothing was changed, `sqlite3 %s "
                           ".recover` may save rows",
                           store->file, verdict, store->file);
    return status;
}

/* Step by step from the version that the file has, all or nothing. */
static enum status migrate(struct store *store, struct error *error)
{
    int64_t version;
    enum status status = run(store, "BEGIN IMMEDIATE", error);
    if (status != STATUS_OK)
        return status;
    status = check_version(store, &version, error); /* another process may have been faster */
    for (; status == STATUS_OK && version < store_schema_version; version++)
        status = run(store, store_schema_steps[version], error);
    if (status == STATUS_OK)
        status = run(store, "COMMIT", error);
    else
        run(store, "ROLLBACK", NULL);
    return status;
}

static enum status prepare(struct store *store, enum store_mode mode, struct error *error)
{
    int64_t version;
    enum status status = check_version(store, &version, error);
    if (status == STATUS_OK && mode == STORE_READ && version < store_schema_version)
        return error_set(error, STATUS_INVALID,
                         version == 0 ? "%s: expected a store, this is an empty database"
                                      : "%s: a store of an older version; a command that writes to "
                                        "it brings it up to date",
                         store->file);
    if (status == STATUS_OK)
        status = check_content(store, error);
    if (status == STATUS_OK && mode == STORE_WRITE)
        status = run(store, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL", error);
    if (status == STATUS_OK && mode == STORE_WRITE && version < store_schema_version)
        status = migrate(store, error);
    for (int s = 0; s < STATEMENTS && status == STATUS_OK; s++)
        if ((mode == STORE_WRITE || s == GET || s == NOTE_GET) &&
            sqlite3_prepare_v3(store->database, sql[s], -1, SQLITE_PREPARE_PERSISTENT,
                               &store->statements[s], NULL) != SQLITE_OK)
            status = fail(store, error);
    return status;
}

/* A store in a folder that cannot be written has no room for the shared memory of its log; where
 * no log is left it can be read as it is. */
static bool needs_no_log(const char *file)
{
    char log[4096];
    snprintf(log, sizeof log, "%s-wal", file);
    return access(log, F_OK) != 0;
}

static int open_file(const char *file, enum store_mode mode, sqlite3 **database)
{
    int flags =
        mode == STORE_WRITE ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
    int code = sqlite3_open_v2(file, database, flags, NULL);
    if (mode == STORE_WRITE || code != SQLITE_OK)
        return code;
    int reading = sqlite3_exec(*database, "SELECT 1 FROM sqlite_schema", NULL, NULL, NULL);
    if ((reading != SQLITE_CANTOPEN && reading != SQLITE_READONLY) || !needs_no_log(file))
        return code;
    sqlite3_close(*database);
    *database = NULL;
    char *uri = sqlite3_mprintf("file:%s?immutable=1", file);
    if (!uri)
        return SQLITE_NOMEM;
    code = sqlite3_open_v2(uri, database, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL);
    sqlite3_free(uri);
    return code;
}

enum status store_open(const char *file, enum store_mode mode, struct store **store,
                       struct error *error)
{
    struct store *s = calloc(1, sizeof *s);
    *store = NULL;
    if (!s || !(s->file = strdup(file))) {
        free(s);
        return error_memory(error);
    }
    enum status status;
    if (mode == STORE_READ && access(file, F_OK) != 0)
        status = error_set(error, STATUS_IO, "%s: there is no such store", file);
    else if (open_file(file, mode, &s->database) != SQLITE_OK)
        status = s->database ? fail(s, error) : error_memory(error);
    else if (sqlite3_busy_timeout(s->database, BUSY_TIMEOUT_MS) != SQLITE_OK ||
             sqlite3_create_collation(s->database, "shape", SQLITE_UTF8, NULL,
                                      store_compare_shapes) != SQLITE_OK)
        status = fail(s, error);
    else
        status = prepare(s, mode, error);
    if (status == STATUS_OK)
        *store = s;
    else
        store_close(s);
    return status;
}

void store_close(struct store *store)
{
    if (!store)
        return;
    for (int s = 0; s < STATEMENTS; s++)
        sqlite3_finalize(store->statements[s]);
    if (store->writing)
        sqlite3_exec(store->database, "ROLLBACK", NULL, NULL, NULL);
    sqlite3_close(store->database);
    free(store->file);
    free(store);
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
    enum status status = check_texts(store, statement, error);
    if (status != STATUS_OK)
        return status;
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
    return STATUS_OK;
}

enum status store_get(struct store *store, const struct store_key *key, bool *found,
                      struct store_row *row, struct error *error)
{
    sqlite3_stmt *statement = store->statements[GET];
    *found = false;
    sqlite3_reset(statement);
    if (!bind_key(statement, key))
        return fail(store, error);
    int code = sqlite3_step(statement);
    if (code == SQLITE_DONE) {
        sqlite3_reset(statement); /* a statement under way keeps the log from being cleared */
        return STATUS_OK;
    }
    if (code != SQLITE_ROW)
        return fail(store, error);
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
    enum status status = run(store, "BEGIN IMMEDIATE", error);
    store->writing = status == STATUS_OK;
    return status;
}

static enum status step(struct store *store, sqlite3_stmt *statement, bool bound,
                        struct error *error)
{
    enum status status = STATUS_OK;
    if (!bound || sqlite3_step(statement) != SQLITE_DONE)
        status = fail(store, error);
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
    enum status status = run(store, "COMMIT", error);
    if (status != STATUS_OK)
        run(store, "ROLLBACK", NULL);
    store->writing = false;
    return status;
}

/* The log is written back first: the file is as small as it gets, and whole without it. */
enum status store_compact(struct store *store, struct error *error)
{
    sqlite3_reset(store->statements[GET]);
    sqlite3_reset(store->statements[NOTE_GET]);
    return run(store, "VACUUM; PRAGMA wal_checkpoint(TRUNCATE)", error);
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
        return fail(store, error);
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
        return fail(walk->store, error);
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
    bool found = true;
    enum status status = store_walk_open(store, &walk, error);
    while (status == STATUS_OK && walk && found) {
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
        return fail(store, error);
    int code = sqlite3_step(statement);
    if (code == SQLITE_ROW)
        *text = column(statement, 0);
    else if (code == SQLITE_DONE)
        sqlite3_reset(statement);
    else
        return fail(store, error);
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
