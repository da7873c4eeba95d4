/* The store: what goes in comes out, in one order, after any end; what is no store stays as it is.
 * And fingerprints: the same content has the same, any other number another. */
#include "hardware/fingerprint.h"
#include "results/store.h"
#include "tests/hardware_files.h"

#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/wait.h>

TestSuite(store, .init = enter, .fini = leave);

static struct store *opened(const char *file, enum store_mode mode)
{
    struct store *store;
    struct error error = {0};
    cr_assert_eq(store_open(file, mode, &store, &error), STATUS_OK, "%s", error.text);
    return store;
}

static void ok(enum status status, const struct error *error)
{
    cr_assert_eq(status, STATUS_OK, "%s", error->text);
}

static const struct store_row usual = {
    .key = {.kind = STORE_SIMULATED,
            .op = "matmul",
            .shape = "512x1024x512",
            .options = "batch=4",
            .dtype = "f16",
            .space = "thesis",
            .query = "strategy=bound top=1",
            .hardware = "00112233445566778899aabbccddeeff",
            .cores = 2,
            .model_version = 1},
    .hardware_name = "Ascend 310",
    .tiling = "m_slice=128",
    .time_ns = 1234.567890123,
    .optimal = true,
    .limit_s = 0,
    .answer = "{\"a\":\"\xc3\xa4'\\\"\"}",
};

static void put(struct store *store, const struct store_row *row)
{
    struct error error = {0};
    ok(store_put(store, row, &error), &error);
}

static void commit(struct store *store)
{
    struct error error = {0};
    ok(store_commit(store, &error), &error);
}

static bool has(struct store *store, const struct store_key *key, struct store_row *row)
{
    struct error error = {0};
    bool found;
    ok(store_get(store, key, &found, row, &error), &error);
    return found;
}

static enum status count_row(void *context, const struct store_row *row, struct error *error)
{
    (void)row, (void)error;
    ++*(int *)context;
    return STATUS_OK;
}

static int rows_of(struct store *store)
{
    struct error error = {0};
    int rows = 0;
    ok(store_each(store, count_row, &rows, &error), &error);
    return rows;
}

static void expect_same(const struct store_row *a, const struct store_row *b)
{
    cr_expect_eq(a->key.kind, b->key.kind);
    cr_expect_str_eq(a->key.op, b->key.op);
    cr_expect_str_eq(a->key.shape, b->key.shape);
    cr_expect_str_eq(a->key.options, b->key.options);
    cr_expect_str_eq(a->key.dtype, b->key.dtype);
    cr_expect_str_eq(a->key.space, b->key.space);
    cr_expect_str_eq(a->key.query, b->key.query);
    cr_expect_str_eq(a->key.hardware, b->key.hardware);
    cr_expect_eq(a->key.cores, b->key.cores);
    cr_expect_eq(a->key.model_version, b->key.model_version);
    cr_expect_str_eq(a->hardware_name, b->hardware_name);
    cr_expect_str_eq(a->tiling, b->tiling);
    cr_expect_eq(a->time_ns, b->time_ns);
    cr_expect_eq(a->optimal, b->optimal);
    cr_expect_eq(a->limit_s, b->limit_s);
    cr_expect_str_eq(a->answer, b->answer);
}

Test(store, gives_back_what_was_put)
{
    struct store *store = opened(in_folder("s.db"), STORE_WRITE);
    struct store_row row;
    cr_expect_not(has(store, &usual.key, &row));
    put(store, &usual);
    cr_assert(has(store, &usual.key, &row));
    expect_same(&row, &usual);
    commit(store);
    store_close(store);
    store = opened(in_folder("s.db"), STORE_READ);
    cr_assert(has(store, &usual.key, &row));
    expect_same(&row, &usual);
    store_close(store);
}

Test(store, every_member_of_a_key_counts)
{
    struct store_row others[10];
    for (int i = 0; i < 10; i++)
        others[i] = usual;
    others[0].key.kind = STORE_MEASURED;
    others[1].key.op = "knn";
    others[2].key.shape = "512x1024x513";
    others[3].key.options = "";
    others[4].key.dtype = "f32";
    others[5].key.space = "cann";
    others[6].key.query = "strategy=bound top=2";
    others[7].key.hardware = "00112233445566778899aabbccddeefe";
    others[8].key.cores = 1;
    others[9].key.model_version = 2;
    struct store *store = opened(in_folder("s.db"), STORE_WRITE);
    struct store_row row;
    put(store, &usual);
    for (int i = 0; i < 10; i++) {
        cr_expect_not(has(store, &others[i].key, &row), "member %d does not count", i);
        put(store, &others[i]);
        cr_expect_eq(rows_of(store), i + 2);
    }
    store_close(store);
}

Test(store, a_later_result_of_the_same_key_replaces)
{
    struct store *store = opened(in_folder("s.db"), STORE_WRITE);
    struct store_row better = usual, row;
    better.time_ns = 1000;
    better.hardware_name = "renamed";
    put(store, &usual);
    put(store, &better);
    commit(store);
    cr_assert(has(store, &usual.key, &row));
    expect_same(&row, &better);
    cr_expect_eq(rows_of(store), 1);
    store_close(store);
}

Test(store, what_is_not_committed_is_dropped)
{
    struct store *store = opened(in_folder("s.db"), STORE_WRITE);
    put(store, &usual);
    store_close(store);
    store = opened(in_folder("s.db"), STORE_WRITE);
    cr_expect_eq(rows_of(store), 0);
    store_close(store);
}

struct shapes {
    int count;
    char text[8][32];
};

static enum status list_shape(void *context, const struct store_row *row, struct error *error)
{
    (void)error;
    struct shapes *shapes = context;
    snprintf(shapes->text[shapes->count++], 32, "%s", row->key.shape);
    return STATUS_OK;
}

Test(store, rows_come_in_the_order_of_their_sizes)
{
    static const char *const ascending[] = {"1x9x9",     "9x1x1",     "16x16x16",     "64x64x64",
                                            "64x64x128", "512x64x64", "512x1024x512", "1024x1x1"};
    struct store *store = opened(in_folder("s.db"), STORE_WRITE);
    struct shapes shapes = {0};
    struct error error = {0};
    for (int i = 0; i < 8; i++) {
        struct store_row row = usual;
        row.key.shape = ascending[(5 * i + 3) % 8];
        put(store, &row);
    }
    ok(store_each(store, list_shape, &shapes, &error), &error);
    cr_assert_eq(shapes.count, 8);
    for (int i = 0; i < 8; i++)
        cr_expect_str_eq(shapes.text[i], ascending[i]);
    store_close(store);
}

Test(store, shapes_compare_by_their_numbers)
{
    static const char *const pairs[][2] = {{"64x8", "512x8"}, {"8x64", "8x512"}, {"8", "8x1"},
                                           {"", "1"},         {"a9", "a10"},     {"9", "a"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        int a = (int)strlen(pairs[i][0]), b = (int)strlen(pairs[i][1]);
        cr_expect_lt(store_compare_shapes(NULL, a, pairs[i][0], b, pairs[i][1]), 0, "%s %s",
                     pairs[i][0], pairs[i][1]);
        cr_expect_gt(store_compare_shapes(NULL, b, pairs[i][1], a, pairs[i][0]), 0);
        cr_expect_eq(store_compare_shapes(NULL, a, pairs[i][0], a, pairs[i][0]), 0);
    }
}

static enum status refuse(void *context, const struct store_row *row, struct error *error)
{
    (void)context, (void)row;
    return error_set(error, STATUS_TOO_LARGE, "enough");
}

Test(store, a_visitor_may_end_the_walk)
{
    struct store *store = opened(in_folder("s.db"), STORE_WRITE);
    struct error error;
    put(store, &usual);
    cr_expect_eq(store_each(store, refuse, NULL, &error), STATUS_TOO_LARGE);
    cr_expect_str_eq(error.text, "enough");
    store_close(store);
}

Test(store, keeps_notes)
{
    struct store *store = opened(in_folder("s.db"), STORE_WRITE);
    struct error error = {0};
    const char *text;
    ok(store_note_get(store, "command", &text, &error), &error);
    cr_expect_str_eq(text, "");
    ok(store_note_set(store, "command", "autotune sweep a.csv", &error), &error);
    ok(store_note_set(store, "command", "autotune sweep b.csv", &error), &error);
    commit(store);
    ok(store_note_get(store, "command", &text, &error), &error);
    cr_expect_str_eq(text, "autotune sweep b.csv");
    store_close(store);
}

/* ------------------------------------------------------------------ many writers, sudden ends */

/* Commits rows one by one, numbered by their cores, and says so after each. */
static void write_rows(int first, int count, int said)
{
    struct store *store = opened(in_folder("s.db"), STORE_WRITE);
    for (int i = first; i < first + count; i++) {
        struct store_row row = usual;
        struct error error;
        row.key.cores = i + 1;
        if (store_put(store, &row, &error) != STATUS_OK ||
            store_commit(store, &error) != STATUS_OK || write(said, &i, sizeof i) != sizeof i)
            _exit(1);
    }
    store_close(store);
    _exit(0);
}

Test(store, several_processes_write_at_once)
{
    enum { WRITERS = 4, ROWS = 25 };
    int pipes[2], status;
    cr_assert_eq(pipe(pipes), 0);
    for (int w = 0; w < WRITERS; w++)
        if (fork() == 0)
            write_rows(w * ROWS, ROWS, pipes[1]);
    for (int w = 0; w < WRITERS; w++) {
        cr_assert_gt(wait(&status), 0);
        cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    struct store *store = opened(in_folder("s.db"), STORE_READ);
    cr_expect_eq(rows_of(store), WRITERS * ROWS);
    store_close(store);
}

Test(store, what_was_committed_survives_a_kill)
{
    for (int round = 1; round <= 10; round++) {
        int pipes[2], last = -1, said = 0;
        cr_assert_eq(pipe(pipes), 0);
        pid_t child = fork();
        if (child == 0)
            write_rows(1000 * round, 1000, pipes[1]);
        close(pipes[1]);
        while (said < 3 * round && read(pipes[0], &last, sizeof last) == sizeof last)
            said++;
        kill(child, SIGKILL);
        while (read(pipes[0], &last, sizeof last) == sizeof last)
            said++; /* what it had said before it died */
        close(pipes[0]);
        waitpid(child, NULL, 0);
        struct store *store = opened(in_folder("s.db"), STORE_WRITE);
        struct store_row row;
        struct store_key key = usual.key;
        for (int i = 0; i < said; i++) {
            key.cores = 1000 * round + i + 1;
            cr_assert(has(store, &key, &row), "round %d: row %d of %d is lost", round, i, said);
            cr_expect_str_eq(row.answer, usual.answer);
        }
        store_close(store);
    }
}

/* ------------------------------------------------------------------ what is no store */

static void expect_refused(const char *file, enum store_mode mode, enum status status,
                           const char *part)
{
    struct store *store;
    struct error error = {0};
    cr_expect_eq(store_open(file, mode, &store, &error), status, "%s: %s", file, error.text);
    cr_expect_null(store);
    cr_expect(strstr(error.text, part), "%s\nexpected %s", error.text, part);
    cr_expect(strstr(error.text, file), "%s", error.text);
    cr_expect_null(strchr(error.text, '\n'));
}

static void execute(const char *file, const char *text)
{
    sqlite3 *database;
    cr_assert_eq(sqlite3_open(file, &database), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(database, text, NULL, NULL, NULL), SQLITE_OK, "%s",
                 sqlite3_errmsg(database));
    sqlite3_close(database);
}

static void expect_untouched(const char *name, enum status status, const char *part)
{
    char *before = read_file(in_folder(name));
    expect_refused(in_folder(name), STORE_WRITE, status, part);
    expect_refused(in_folder(name), STORE_READ, status, part);
    char *after = read_file(in_folder(name));
    cr_expect_arr_eq(before, after, 65536, "%s was changed", name);
    free(before);
    free(after);
}

Test(store, refuses_what_is_no_store)
{
    write_file("text.db", "op,shape\nmatmul,512x1024x512\nand so on, longer than a header: "
                          "0123456789012345678901234567890123456789\n");
    expect_untouched("text.db", STATUS_INVALID, "no SQLite file");
    execute(in_folder("other.db"), "CREATE TABLE people (name TEXT)");
    expect_untouched("other.db", STATUS_INVALID, "another database");
    execute(in_folder("marked.db"), "PRAGMA application_id = 7; CREATE TABLE t (x)");
    expect_untouched("marked.db", STATUS_INVALID, "another database");
    store_close(opened(in_folder("newer.db"), STORE_WRITE));
    execute(in_folder("newer.db"), "PRAGMA user_version = 99");
    expect_untouched("newer.db", STATUS_INVALID, "newer autotune");
    expect_refused(in_folder("absent.db"), STORE_READ, STATUS_IO, "no such store");
    cr_expect_neq(access(in_folder("absent.db"), F_OK), 0);
    expect_refused(folder, STORE_WRITE, STATUS_INVALID, "no regular file");
    expect_refused(folder, STORE_READ, STATUS_INVALID, "no regular file");
    expect_refused(in_folder("no/such/folder.db"), STORE_WRITE, STATUS_IO, "");
    write_file("empty.db", "");
    expect_refused(in_folder("empty.db"), STORE_READ, STATUS_INVALID, "empty");
    store_close(opened(in_folder("empty.db"), STORE_WRITE));
}

static void fill(const char *file, int rows)
{
    struct store *store = opened(file, STORE_WRITE);
    for (int i = 0; i < rows; i++) {
        struct store_row row = usual;
        row.key.cores = i + 1;
        put(store, &row);
    }
    commit(store);
    store_close(store);
}

Test(store, reading_leaves_nothing_beside_it)
{
    fill(in_folder("s.db"), 3);
    struct store *writer = opened(in_folder("s.db"), STORE_WRITE);
    struct store *reader = opened(in_folder("s.db"), STORE_READ);
    store_close(writer);
    cr_expect_neq(store_put(reader, &usual, &(struct error){0}), STATUS_OK);
    store_close(reader);
    cr_expect_neq(access(in_folder("s.db-wal"), F_OK), 0);
    cr_expect_neq(access(in_folder("s.db-shm"), F_OK), 0);
}

/* Whatever is changed in a store, opening and reading it end, with the rows or with a word. */
Test(store, damage_is_told)
{
    fill(in_folder("s.db"), 60);
    char *good = read_file(in_folder("s.db")), bad[65536];
    struct stat about;
    cr_assert_eq(stat(in_folder("s.db"), &about), 0);
    size_t size = (size_t)about.st_size;
    int told = 0;
    for (size_t at = 0; at < size; at += 97) {
        memcpy(bad, good, size);
        for (size_t i = at; i < at + 16 && i < size; i++)
            bad[i] = (char)(bad[i] ^ 0x5a);
        write_bytes(in_folder("bad.db"), bad, size);
        struct store *store;
        struct error error = {0};
        int rows = 0;
        enum status status = store_open(in_folder("bad.db"), STORE_READ, &store, &error);
        if (status == STATUS_OK)
            status = store_each(store, count_row, &rows, &error);
        store_close(store);
        told += status != STATUS_OK;
        cr_expect(status != STATUS_OK || rows <= 60);
        cr_expect(status == STATUS_OK || *error.text);
    }
    cr_expect_gt(told, 5);
    write_bytes(in_folder("bad.db"), good, size / 2);
    expect_refused(in_folder("bad.db"), STORE_WRITE, STATUS_INVALID, "damaged");
    free(good);
}

Test(store, a_full_disk_loses_nothing_that_was_committed)
{
    fill(in_folder("s.db"), 3);
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit limit = {40000, 40000};
    struct store *store = opened(in_folder("s.db"), STORE_WRITE);
    struct error error = {0};
    enum status status = STATUS_OK;
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    for (int i = 0; i < 5000 && status == STATUS_OK; i++) {
        struct store_row row = usual;
        row.key.cores = 100 + i;
        status = store_put(store, &row, &error);
    }
    if (status == STATUS_OK)
        status = store_commit(store, &error);
    cr_expect_eq(status, STATUS_IO, "%s", error.text);
    store_close(store);
    store = opened(in_folder("s.db"), STORE_READ);
    cr_expect_eq(rows_of(store), 3);
    store_close(store);
}

/* ------------------------------------------------------------------ fingerprints */

static void fingerprint_of(const char *name, const char *set, char fingerprint[FINGERPRINT_SIZE])
{
    struct hardware hw;
    load_ok(name, set, &hw);
    hardware_fingerprint(&hw, fingerprint);
    cr_expect_eq(strlen(fingerprint), FINGERPRINT_SIZE - 1);
    hardware_clear(&hw);
}

Test(store, fingerprint_is_of_content_not_of_names)
{
    char shipped[FINGERPRINT_SIZE], copy[FINGERPRINT_SIZE];
    char *text = read_file(SHIPPED);
    char *renamed = replaced(text, "name = \"Ascend 310\"", "name = \"Something else\"");
    write_file("copy.cfg", renamed);
    fingerprint_of("ascend310", NULL, shipped);
    fingerprint_of(in_folder("copy.cfg"), NULL, copy);
    cr_expect_str_eq(shipped, copy);
    free(renamed);
    free(text);
}

/* Every number of a description with every optional key changes it. */
Test(store, fingerprint_sees_every_number)
{
    char *text = full_description(), base[FINGERPRINT_SIZE], changed[FINGERPRINT_SIZE];
    write_file("full.cfg", text);
    struct hardware hw;
    int seen = 0;
    load_ok(in_folder("full.cfg"), NULL, &hw);
    hardware_fingerprint(&hw, base);
    for (size_t i = 0; i < hw.fact_count; i++) {
        char set[HARDWARE_KEY_SIZE + 40];
        struct hardware other;
        struct error error;
        double value = strtod(hw.facts[i].value, NULL);
        double by[] = {value + 1, value * 2, value / 2, value - 1};
        for (int b = 0; b < 4; b++) {
            snprintf(set, sizeof set, "%s=%.12g", hw.facts[i].key, by[b]);
            if (by[b] == value || load_set(in_folder("full.cfg"), set, &other, &error) != STATUS_OK)
                continue;
            hardware_fingerprint(&other, changed);
            cr_expect_str_neq(base, changed, "%s is not seen", set);
            hardware_clear(&other);
            seen++;
            break;
        }
    }
    cr_expect_gt(seen, 60, "only %d numbers could be changed", seen);
    hardware_clear(&hw);
    free(text);
}
