/* Reads and writes rows by their keys, in SQLite. Opening asks: is the file a store, is it whole,
 * of which version? There is a prepared statement for each question. The first change opens a
 * transaction with BEGIN IMMEDIATE, which waits for its turn at once rather than failing half-way,
 * and store_commit ends it. Readers' statements are reset before, for their snapshots would stand
 * in the way. Walks are in the order of store_compare, so that two stores can be gone through side
 * by side. */
#include "results/store.h"
#include "core/draft.h"
#include "core/stop.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* ------------------------------------------------------------------ schema */

/* Marks the file as a store ("ATUN"). */
#define STORE_APPLICATION 0x4154554e

/* The key is the table: rows are found by it, and lie in its order whoever wrote them first. */
#define VERSION_1                                                                                  \
    "CREATE TABLE result ("                                                                        \
    "  kind TEXT NOT NULL CHECK (kind IN ('simulated', 'measured', 'imported')),"                  \
    "  op TEXT NOT NULL, shape TEXT NOT NULL, options TEXT NOT NULL, dtype TEXT NOT NULL,"         \
    "  space TEXT NOT NULL, query TEXT NOT NULL, hardware TEXT NOT NULL,"                          \
    "  cores INTEGER NOT NULL CHECK (cores > 0), model_version INTEGER NOT NULL,"                  \
    "  hardware_name TEXT NOT NULL, tiling TEXT NOT NULL,"                                         \
    "  time_ns REAL NOT NULL CHECK (time_ns >= 0),"                                                \
    "  optimal INTEGER NOT NULL CHECK (optimal IN (0, 1)),"                                        \
    "  limit_s REAL NOT NULL CHECK (limit_s >= 0), answer TEXT NOT NULL,"                          \
    "  PRIMARY KEY (op, shape, options, dtype, space, hardware, cores, query, model_version,"      \
    "               kind)"                                                                         \
    ") STRICT, WITHOUT ROWID;"                                                                     \
    "CREATE TABLE note (name TEXT PRIMARY KEY, text TEXT NOT NULL) STRICT, WITHOUT ROWID;"         \
    "PRAGMA application_id = 0x4154554e;"                                                          \
    "PRAGMA user_version = 1;"

/* [v] makes version v + 1 of version v; each sets user_version. To change the schema, add a step,
 * and to tests/results/test_store.c a store of the version before. */
static const char *const store_schema_steps[] = {VERSION_1};
static const int store_schema_version = sizeof store_schema_steps / sizeof *store_schema_steps;

/* A run of digits from *at on, without leading zeros; its length. */
static int count_digits(const char *text, int length, int *at)
{
    while (*at + 1 < length && text[*at] == '0' && text[*at + 1] >= '0' && text[*at + 1] <= '9')
        ++*at;
    int count = 0;
    while (*at + count < length && text[*at + count] >= '0' && text[*at + count] <= '9')
        count++;
    return count;
}

int store_compare_shapes(void *unused, int left_length, const void *left, int right_length,
                         const void *right)
{
    (void)unused;
    const char *a = left, *b = right;
    int i = 0, j = 0;
    while (i < left_length && j < right_length) {
        int in_a = count_digits(a, left_length, &i), in_b = count_digits(b, right_length, &j);
        if (in_a != in_b && in_a && in_b)
            return in_a < in_b ? -1 : 1;
        int count = in_a && in_b ? in_a : 1;
        int order = memcmp(a + i, b + j, (size_t)count);
        if (order)
            return order;
        i += count;
        j += count;
    }
    return (left_length - i) - (right_length - j);
}

/* ------------------------------------------------------------------ connection */

enum store_statement { GET, PUT, REMOVE, NOTE_GET, NOTE_SET, STATEMENTS };

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

/* Those that write are prepared for STORE_WRITE only. */
static const char *const store_sql[STATEMENTS] = {
    [GET] = "SELECT " KEY_COLUMNS ", " VALUE_COLUMNS " FROM result " THIS_KEY,
    [PUT] = "INSERT OR REPLACE INTO result (" KEY_COLUMNS ", " VALUE_COLUMNS ") VALUES "
            "(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)",
    [REMOVE] = "DELETE FROM result " THIS_KEY,
    [NOTE_GET] = "SELECT text FROM note WHERE name = ?1",
    [NOTE_SET] = "INSERT OR REPLACE INTO note (name, text) VALUES (?1, ?2)",
};

enum { BUSY_TIMEOUT_MS = 60000 };

static bool is_damage(int code)
{
    return code == SQLITE_CORRUPT || code == SQLITE_NOTADB || code == SQLITE_MISMATCH;
}

static enum status fail_damage(const struct store *store, const char *text, struct error *error)
{
    return error_set(error, STATUS_INVALID,
                     "%s: the store is damaged (%s); nothing was changed, `sqlite3 %s .recover` "
                     "may save rows",
                     store->file, text, store->file);
}

/* What the system said where a file could not be opened, read or written. */
static enum status fail_file(const struct store *store, const char *text, struct error *error)
{
    int cause = sqlite3_system_errno(store->database);
    return error_set(error, STATUS_IO, "%s: %s%s%s", store->file, text, cause ? ": " : "",
                     cause ? strerror(cause) : "");
}

static enum status store_fail(const struct store *store, struct error *error)
{
    int code = sqlite3_errcode(store->database);
    const char *text = sqlite3_errmsg(store->database);
    if (code == SQLITE_NOMEM)
        return error_memory(error);
    if (code == SQLITE_NOTADB)
        return error_set(error, STATUS_INVALID, "%s: expected a store, this is no SQLite file",
                         store->file);
    if (is_damage(code))
        return fail_damage(store, text, error);
    if (code == SQLITE_FULL)
        return error_set(error, STATUS_IO,
                         "%s: no space is left, there or for temporary files; what was "
                         "committed is kept",
                         store->file);
    if (code == SQLITE_BUSY)
        return error_set(error, STATUS_IO, "%s: another process has kept it locked for %d s",
                         store->file, BUSY_TIMEOUT_MS / 1000);
    if (code == SQLITE_READONLY) /* the log lies beside the file */
        return error_set(error, STATUS_IO,
                         access(store->file, W_OK) == 0 ? "%s: its folder cannot be written"
                                                        : "%s: cannot be written",
                         store->file);
    return fail_file(store, text, error);
}

static enum status store_run(struct store *store, const char *text, struct error *error)
{
    return sqlite3_exec(store->database, text, NULL, NULL, NULL) == SQLITE_OK
               ? STATUS_OK
               : store_fail(store, error);
}

/* The first column of the first row, as a whole number or as text. */
static enum status ask_first_column(struct store *store, const char *text, int64_t *number,
                                    char *word, size_t size, struct error *error)
{
    sqlite3_stmt *statement;
    enum status status = STATUS_OK;
    if (sqlite3_prepare_v2(store->database, text, -1, &statement, NULL) != SQLITE_OK)
        return store_fail(store, error);
    int code = sqlite3_step(statement);
    if (code != SQLITE_ROW && code != SQLITE_DONE)
        status = store_fail(store, error);
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
    TRY(ask_first_column(store, "PRAGMA application_id", &application, NULL, 0, error));
    TRY(ask_first_column(store, "PRAGMA user_version", version, NULL, 0, error));
    TRY(ask_first_column(store, "SELECT count(*) FROM sqlite_schema", &tables, NULL, 0, error));
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

/* In a transaction of its own: another process may be making the store. */
static enum status check_snapshot(struct store *store, int64_t *version, struct error *error)
{
    enum status status = store_run(store, "BEGIN", error);
    if (status != STATUS_OK)
        return status;
    status = check_version(store, version, error);
    store_run(store, "ROLLBACK", NULL);
    return status;
}

static enum status check_content(struct store *store, struct error *error)
{
    char verdict[200] = "";
    TRY(ask_first_column(store, "PRAGMA quick_check(1)", NULL, verdict, sizeof verdict, error));
    if (strcmp(verdict, "ok") != 0)
        TRY(fail_damage(store, verdict, error));
    return STATUS_OK;
}

/* Step by step from the version that the file has, all or nothing. */
static enum status migrate(struct store *store, struct error *error)
{
    int64_t version;
    enum status status = store_run(store, "BEGIN IMMEDIATE", error);
    if (status != STATUS_OK)
        return status;
    status = check_version(store, &version, error); /* another process may have been faster */
    for (; status == STATUS_OK && version < store_schema_version; version++)
        status = store_run(store, store_schema_steps[version], error);
    if (status == STATUS_OK)
        status = store_run(store, "COMMIT", error);
    else
        store_run(store, "ROLLBACK", NULL);
    return status;
}

/* Two processes that both turn a new file's log on would wait for each other: then SQLite refuses
 * at once, whatever the time it is allowed, and one of them has to ask again. */
static enum status turn_log_on(struct store *store, struct error *error)
{
    enum { PAUSE_MS = 10 };
    enum status status = store_run(store, "PRAGMA journal_mode = WAL", error);
    for (int waited_ms = 0; waited_ms < BUSY_TIMEOUT_MS && status != STATUS_OK &&
                            sqlite3_errcode(store->database) == SQLITE_BUSY;
         waited_ms += PAUSE_MS) {
        sqlite3_sleep(PAUSE_MS);
        status = store_run(store, "PRAGMA journal_mode = WAL", error);
    }
    return status == STATUS_OK ? store_run(store, "PRAGMA synchronous = FULL", error) : status;
}

static enum status prepare_store(struct store *store, enum store_mode mode, struct error *error)
{
    int64_t version;
    TRY(check_snapshot(store, &version, error));
    if (mode == STORE_READ && version < store_schema_version)
        return error_set(error, STATUS_INVALID,
                         version == 0 ? "%s: expected a store, this is an empty database"
                                      : "%s: a store of an older version; a command that writes to "
                                        "it brings it up to date",
                         store->file);
    TRY(check_content(store, error));
    if (mode == STORE_WRITE)
        TRY(turn_log_on(store, error));
    if (mode == STORE_WRITE && version < store_schema_version)
        TRY(migrate(store, error));
    for (int s = 0; s < STATEMENTS; s++)
        if ((mode == STORE_WRITE || s == GET || s == NOTE_GET) &&
            sqlite3_prepare_v3(store->database, store_sql[s], -1, SQLITE_PREPARE_PERSISTENT,
                               &store->statements[s], NULL) != SQLITE_OK)
            TRY(store_fail(store, error));
    return STATUS_OK;
}

/* In a closed folder and on a full disk there is no room for the shared memory of a log; where no
 * log is left a store can be read as it is. */
static bool has_no_room(int code)
{
    return code == SQLITE_CANTOPEN || code == SQLITE_READONLY || code == SQLITE_IOERR ||
           code == SQLITE_FULL;
}

static bool needs_no_log(const char *file)
{
    char log[4096];
    struct stat about;
    snprintf(log, sizeof log, "%s-wal", file);
    return stat(log, &about) != 0 || about.st_size == 0;
}

/* As a URI, in which three characters of names mean something else. */
static int open_without_log(const char *file, sqlite3 **database)
{
    sqlite3_str *uri = sqlite3_str_new(NULL);
    sqlite3_str_appendall(uri, "file:");
    for (const char *c = file; *c; c++)
        sqlite3_str_appendf(uri, strchr("%?#", *c) ? "%%%02x" : "%c", *c);
    sqlite3_str_appendall(uri, "?immutable=1");
    char *text = sqlite3_str_finish(uri);
    if (!text)
        return SQLITE_NOMEM;
    int code = sqlite3_open_v2(text, database, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL);
    sqlite3_free(text);
    return code;
}

/* The name of a file whatever it begins with: SQLite may be built to take "file:" for a URI. */
static int open_named(const char *file, int flags, sqlite3 **database)
{
    char *path = sqlite3_mprintf("%s%s", *file == '/' ? "" : "./", file);
    int code = path ? sqlite3_open_v2(path, database, flags, NULL) : SQLITE_NOMEM;
    sqlite3_free(path);
    return code;
}

/* Readers too are let write where they may, to take the log away when they are the last; what they
 * ask may not. */
static int open_file(const char *file, enum store_mode mode, sqlite3 **database)
{
    int create = mode == STORE_WRITE ? SQLITE_OPEN_CREATE : 0;
    bool no_log = needs_no_log(file);
    int code = open_named(file, SQLITE_OPEN_READWRITE | create, database);
    if (mode == STORE_WRITE || code != SQLITE_OK)
        return code;
    int reading = sqlite3_exec(*database, "PRAGMA query_only = 1; SELECT 1 FROM sqlite_schema",
                               NULL, NULL, NULL);
    if (!has_no_room(reading) || !no_log)
        return code;
    sqlite3_close(*database);
    *database = NULL;
    return open_without_log(file, database);
}

/* Of other names SQLite makes databases that are gone at the end. */
static enum status check_file(const char *file, enum store_mode mode, struct error *error)
{
    struct stat about;
    if (!*file || *file == ':')
        return error_set(error, STATUS_INVALID, "'%s': expected the name of a file", file);
    if (stat(file, &about) != 0)
        return mode == STORE_WRITE
                   ? STATUS_OK
                   : error_set(error, STATUS_IO, "%s: there is no such store", file);
    return S_ISREG(about.st_mode)
               ? STATUS_OK
               : error_set(error, STATUS_INVALID, "%s: expected a store, this is no regular file",
                           file);
}

static enum status open_at(struct store *store, const char *path, enum store_mode mode,
                           struct error *error)
{
    if (open_file(path, mode, &store->database) != SQLITE_OK)
        return store->database ? store_fail(store, error) : error_memory(error);
    if (sqlite3_busy_timeout(store->database, BUSY_TIMEOUT_MS) != SQLITE_OK ||
        sqlite3_create_collation(store->database, "shape", SQLITE_UTF8, NULL,
                                 store_compare_shapes) != SQLITE_OK)
        return store_fail(store, error);
    return prepare_store(store, mode, error);
}

static void disconnect(struct store *store)
{
    for (int s = 0; s < STATEMENTS; s++)
        sqlite3_finalize(store->statements[s]);
    if (store->writing)
        sqlite3_exec(store->database, "ROLLBACK", NULL, NULL, NULL);
    sqlite3_close(store->database);
    *store = (struct store){.file = store->file};
}

/* ------------------------------------------------------------------ making */

static void set_usual_mode(int descriptor)
{
    mode_t mask = umask(0);
    umask(mask);
    fchmod(descriptor, 0644 & ~mask);
}

/* A store that is not there yet is made under another name, and gets its own when it is whole:
 * neither a full disk nor a kill leaves half of one, and nobody else can have opened what is
 * removed. Where the draft's name is too long, or a second name for it impossible, opening makes
 * the store in place; where another process was faster, its store is the one. */
static enum status make_by_draft(struct store *store, struct error *error)
{
    char draft[DRAFT_PATH_SIZE];
    int descriptor = draft_open(store->file, draft);
    if (descriptor < 0 && errno == ENAMETOOLONG)
        return STATUS_OK;
    if (descriptor < 0)
        return error_set(error, STATUS_IO, "%s: %s", store->file, strerror(errno));
    set_usual_mode(descriptor);
    enum status status = open_at(store, draft, STORE_WRITE, error);
    disconnect(store);
    if (status == STATUS_OK)
        (void)!link(draft, store->file);
    draft_remove(draft);
    close(descriptor);
    return status;
}

static enum status make_file(struct store *store, struct error *error)
{
    struct stop_held held;
    stop_hold(&held);
    enum status status = make_by_draft(store, error);
    stop_release(&held);
    return status;
}

static enum status open_store(struct store *store, enum store_mode mode, struct error *error)
{
    TRY(check_file(store->file, mode, error));
    if (mode == STORE_WRITE)
        drafts_sweep(store->file);
    if (mode == STORE_WRITE && access(store->file, F_OK) != 0)
        TRY(make_file(store, error));
    return open_at(store, store->file, mode, error);
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
    enum status status = open_store(s, mode, error);
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
    disconnect(store);
    free(store->file);
    free(store);
}

/* ------------------------------------------------------------------ kinds */

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
static enum status step_statement(struct store *store, sqlite3_stmt *statement, bool bound,
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
    return status == STATUS_OK ? step_statement(store, statement, bind_row(statement, row), error)
                               : status;
}

enum status store_remove(struct store *store, const struct store_key *key, struct error *error)
{
    enum status status = begin(store, error);
    sqlite3_stmt *statement = store->statements[REMOVE];
    return status == STATUS_OK ? step_statement(store, statement, bind_key(statement, key), error)
                               : status;
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
    return step_statement(store, statement,
                          bind_text(statement, 1, name) && bind_text(statement, 2, text), error);
}
