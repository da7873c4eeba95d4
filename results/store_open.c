/* Opening a store: is the file one, is it whole, of which version; and failures in words. */
#include "results/store_connection.h"

#include "core/stop.h"
#include "results/store_schema.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

enum status store_fail(const struct store *store, struct error *error)
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

enum status store_run(struct store *store, const char *text, struct error *error)
{
    return sqlite3_exec(store->database, text, NULL, NULL, NULL) == SQLITE_OK
               ? STATUS_OK
               : store_fail(store, error);
}

/* The first column of the first row, as a whole number or as text. */
static enum status ask(struct store *store, const char *text, int64_t *number, char *word,
                       size_t size, struct error *error)
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
    TRY(ask(store, "PRAGMA application_id", &application, NULL, 0, error));
    TRY(ask(store, "PRAGMA user_version", version, NULL, 0, error));
    TRY(ask(store, "SELECT count(*) FROM sqlite_schema", &tables, NULL, 0, error));
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
    TRY(ask(store, "PRAGMA quick_check(1)", NULL, verdict, sizeof verdict, error));
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

static enum status prepare(struct store *store, enum store_mode mode, struct error *error)
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
    return prepare(store, mode, error);
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

/* With what SQLite has beside it while it is at work. */
static void remove_draft(const char *draft)
{
    static const char *const endings[] = {"-journal", "-wal", "-shm", ""};
    char path[PATH_MAX];
    for (size_t e = 0; e < sizeof endings / sizeof *endings; e++) {
        snprintf(path, sizeof path, "%s%s", draft, endings[e]);
        unlink(path);
    }
}

/* A store that is not there yet is made under another name, and gets its own when it is whole:
 * neither a full disk nor a kill leaves half of one, and nobody else can have opened what is
 * removed. Where the draft's name is too long, or a second name for it impossible, opening makes
 * the store in place; where another process was faster, its store is the one. */
static enum status make_by_draft(struct store *store, struct error *error)
{
    char draft[PATH_MAX - 16];
    int used = snprintf(draft, sizeof draft, "%s.XXXXXX", store->file);
    errno = ENAMETOOLONG;
    int descriptor = used < (int)sizeof draft ? mkostemp(draft, O_CLOEXEC) : -1;
    if (descriptor < 0 && errno == ENAMETOOLONG)
        return STATUS_OK;
    if (descriptor < 0)
        return error_set(error, STATUS_IO, "%s: %s", store->file, strerror(errno));
    set_usual_mode(descriptor);
    close(descriptor);
    enum status status = open_at(store, draft, STORE_WRITE, error);
    disconnect(store);
    if (status == STATUS_OK)
        (void)!link(draft, store->file);
    remove_draft(draft);
    return status;
}

static enum status make(struct store *store, struct error *error)
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
    if (mode == STORE_WRITE && access(store->file, F_OK) != 0)
        TRY(make(store, error));
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
