/* Rows of stores as sets: their order, what is taken out, what differs between two of them, what
 * an export brings back and what a table takes, on drawn rows and against brute force. */
#include "core/version.h"
#include "jobs/table/tilings.h"
#include "results/store_import.h"
#include "results/store_rows.h"
#include "results/store_write.h"
#include "tests/hardware_files.h"

#include <gsl/gsl_rng.h>
#include <sqlite3.h>

TestSuite(store_rows, .init = enter, .fini = leave);

enum { ROWS = 60, ROUNDS = 40 };

static void ok(enum status status, const struct error *error)
{
    cr_assert_eq(status, STATUS_OK, "%s", error->text);
}

static struct store *opened(const char *name, enum store_mode mode)
{
    struct store *store;
    struct error error = {0};
    ok(store_open(in_folder(name), mode, &store, &error), &error);
    return store;
}

/* Few values of each member, so that keys are often almost the same. */
static struct store_row drawn(gsl_rng *rng)
{
    static const char *const shapes[] = {"8x8x8", "16x8x8", "9x8x8"};
    static const char *const chips[] = {"00112233445566778899aabbccddeeff",
                                        "ffeeddccbbaa99887766554433221100"};
    static const char *const names[] = {"Chip", "Other chip"};
    static const char *const tilings[] = {"m=1", "m=2"};
    struct store_row row = {
        .key = {.kind = (enum store_kind)gsl_rng_uniform_int(rng, STORE_KINDS),
                .op = "matmul",
                .shape = shapes[gsl_rng_uniform_int(rng, 3)],
                .options = gsl_rng_uniform_int(rng, 2) ? "" : "batch=2",
                .dtype = "f16",
                .space = "thesis",
                .query = gsl_rng_uniform_int(rng, 3) ? "top=1" : "top=2",
                .hardware = chips[gsl_rng_uniform_int(rng, 2)],
                .cores = 1 + (int)gsl_rng_uniform_int(rng, 2),
                .model_version = (int)gsl_rng_uniform_int(rng, 2)},
        .hardware_name = names[gsl_rng_uniform_int(rng, 2)],
        .tiling = tilings[gsl_rng_uniform_int(rng, 2)],
        .time_ns = 1 + (double)gsl_rng_uniform_int(rng, 3),
        .optimal = gsl_rng_uniform_int(rng, 4) != 0,
        .answer = gsl_rng_uniform_int(rng, 4) ? "{}" : "a \"text\" \xc3\xa4",
    };
    if (!row.optimal)
        row.limit_s = 0.1;
    return row;
}

static void fill(const char *name, gsl_rng *rng, int count)
{
    struct store *store = opened(name, STORE_WRITE);
    struct error error = {0};
    for (int i = 0; i < count; i++) {
        struct store_row row = drawn(rng);
        ok(store_put(store, &row, &error), &error);
    }
    ok(store_commit(store, &error), &error);
    store_close(store);
}

static struct store_rows rows_of(const char *name)
{
    static const struct store_filter any = {0};
    struct store *store = opened(name, STORE_READ);
    struct store_rows rows;
    struct error error = {0};
    ok(store_rows_read(store, &any, STORE_ANSWERS, &rows, &error), &error);
    store_close(store);
    return rows;
}

Test(store_rows, come_in_the_order_of_comparison)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    fill("a.db", rng, 400);
    struct store_rows rows = rows_of("a.db");
    cr_expect_gt(rows.count, 200);
    for (size_t i = 1; i < rows.count; i++) {
        cr_expect_lt(store_compare(&rows.rows[i - 1].key, &rows.rows[i].key), 0, "row %zu", i);
        cr_expect_gt(store_compare(&rows.rows[i].key, &rows.rows[i - 1].key), 0, "row %zu", i);
    }
    cr_expect_eq(store_compare(&rows.rows[0].key, &rows.rows[0].key), 0);
    store_rows_clear(&rows);
    gsl_rng_free(rng);
}

/* ------------------------------------------------------------------ differences */

static bool same_text(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

/* All of the key but fingerprint and version. */
static bool alike(const struct store_key *a, const struct store_key *b)
{
    return a->kind == b->kind && same_text(a->shape, b->shape) &&
           same_text(a->options, b->options) && same_text(a->query, b->query) &&
           a->cores == b->cores;
}

static bool matches(const struct store_row *a, const struct store_row *b)
{
    return alike(&a->key, &b->key) && same_text(a->key.hardware, b->key.hardware);
}

/* Is there the same of a newer version? */
static bool is_outdated(const struct store_rows *rows, const struct store_row *row)
{
    for (size_t i = 0; i < rows->count; i++)
        if (matches(&rows->rows[i], row) &&
            rows->rows[i].key.model_version > row->key.model_version)
            return true;
    return false;
}

static const struct store_row *partner_of(const struct store_row *row,
                                          const struct store_rows *others)
{
    for (size_t i = 0; i < others->count; i++)
        if (matches(&others->rows[i], row) && !is_outdated(others, &others->rows[i]))
            return &others->rows[i];
    return NULL;
}

/* The only row without a partner that `row` could be under another fingerprint; `mine` are the
 * rows beside it. */
static const struct store_row *namesake_of(const struct store_row *row,
                                           const struct store_rows *mine,
                                           const struct store_rows *others)
{
    const struct store_row *found = NULL;
    int here = 0, there = 0;
    for (size_t i = 0; i < mine->count; i++) {
        const struct store_row *r = &mine->rows[i];
        here += alike(&r->key, &row->key) && same_text(r->hardware_name, row->hardware_name) &&
                !is_outdated(mine, r) && !partner_of(r, others);
    }
    for (size_t i = 0; i < others->count; i++) {
        const struct store_row *r = &others->rows[i];
        if (!alike(&r->key, &row->key) || !same_text(r->hardware_name, row->hardware_name) ||
            is_outdated(others, r) || partner_of(r, mine))
            continue;
        found = r;
        there++;
    }
    return here == 1 && there == 1 ? found : NULL;
}

static enum store_change judged(const struct store_row *old, const struct store_row *new)
{
    if (new->time_ns < old->time_ns)
        return STORE_BETTER;
    if (new->time_ns > old->time_ns)
        return STORE_WORSE;
    return same_text(old->tiling, new->tiling) && same_text(old->answer, new->answer) &&
                   old->optimal == new->optimal &&matches(old, new)
               ? STORE_SAME
               : STORE_OTHER;
}

static void count_by_force(const struct store_rows *old, const struct store_rows *new,
                           int64_t count[STORE_CHANGES])
{
    memset(count, 0, STORE_CHANGES * sizeof *count);
    for (size_t i = 0; i < old->count; i++) {
        const struct store_row *row = &old->rows[i];
        if (is_outdated(old, row))
            continue;
        const struct store_row *other = partner_of(row, new);
        if (!other)
            other = namesake_of(row, old, new);
        count[other ? judged(row, other) : STORE_REMOVED]++;
    }
    for (size_t i = 0; i < new->count; i++)
        if (!is_outdated(new, &new->rows[i]) && !partner_of(&new->rows[i], old) &&
            !namesake_of(&new->rows[i], new, old))
            count[STORE_ADDED]++;
}

struct last {
    struct store_rows row;
    int64_t seen;
};

static enum status expect_order(void *context, enum store_change change,
                                const struct store_row *old, const struct store_row *new,
                                struct error *error)
{
    struct last *last = context;
    const struct store_row *row = new ? new : old;
    cr_expect_neq(change, STORE_SAME);
    cr_expect_eq(!old, change == STORE_ADDED);
    cr_expect_eq(!new, change == STORE_REMOVED);
    if (last->row.count)
        cr_expect_leq(store_compare(&last->row.rows[0].key, &row->key), 0, "not in order");
    store_rows_clear(&last->row);
    last->seen++;
    return store_rows_add(&last->row, row, STORE_NO_ANSWERS, error);
}

Test(store_rows, differences_are_those_of_brute_force)
{
    static const struct store_filter any = {0};
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    int64_t sum[STORE_CHANGES] = {0};
    for (int round = 0; round < ROUNDS; round++) {
        struct error error = {0};
        char names[2][32];
        for (int i = 0; i < 2; i++) {
            snprintf(names[i], sizeof names[i], "%d-%d.db", round, i);
            fill(names[i], rng, (int)gsl_rng_uniform_int(rng, ROWS));
        }
        struct store *old = opened(names[0], STORE_READ), *new = opened(names[1], STORE_READ);
        struct store_rows left = rows_of(names[0]), right = rows_of(names[1]);
        struct last last = {0};
        struct store_diff diff = {.filter = &any, .visit = expect_order, .context = &last};
        int64_t expected[STORE_CHANGES], changes = 0;
        count_by_force(&left, &right, expected);
        ok(store_diff(old, new, &diff, &error), &error);
        for (int c = 0; c < STORE_CHANGES; c++) {
            cr_expect_eq(diff.count[c], expected[c], "round %d: %s: %lld, expected %lld", round,
                         store_change_name((enum store_change)c), (long long)diff.count[c],
                         (long long)expected[c]);
            sum[c] += expected[c];
            changes += c == STORE_SAME ? 0 : expected[c];
        }
        cr_expect_eq(last.seen, changes);
        store_rows_clear(&last.row);
        store_rows_clear(&left);
        store_rows_clear(&right);
        store_close(old);
        store_close(new);
    }
    for (int c = 0; c < STORE_CHANGES; c++)
        cr_expect_gt(sum[c], 5, "%s was hardly drawn", store_change_name((enum store_change)c));
    gsl_rng_free(rng);
}

/* ------------------------------------------------------------------ export, import */

static void export_to(const char *name, const char *file)
{
    struct store_rows rows = rows_of(name);
    struct error error = {0};
    FILE *out = fopen(in_folder(file), "w");
    cr_assert(out);
    for (size_t i = 0; i < rows.count; i++)
        ok(store_export_row(&rows.rows[i], out, &error), &error);
    fclose(out);
    store_rows_clear(&rows);
}

Test(store_rows, an_export_brings_all_back)
{
    static const struct store_filter any = {0};
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    struct store_imported imported;
    struct error error = {0};
    fill("a.db", rng, 300);
    struct store *store = opened("a.db", STORE_WRITE);
    struct store_row row = drawn(rng);
    row.key.cores = 77;
    row.time_ns = 0.1 + 0.2; /* needs 17 digits */
    row.answer = "{\"n\":[0.10000000000000001,1e-300,-5],\"t\":null}";
    ok(store_put(store, &row, &error), &error);
    ok(store_commit(store, &error), &error);
    store_close(store);
    export_to("a.db", "a.jsonl");
    char file[256];
    snprintf(file, sizeof file, "%s", in_folder("a.jsonl"));
    store = opened("b.db", STORE_WRITE);
    ok(store_import(file, store, &any, STORE_REFUSE, &imported, &error), &error);
    store_close(store);
    struct store_rows a = rows_of("a.db"), b = rows_of("b.db");
    cr_assert_eq(a.count, b.count);
    cr_expect_eq(imported.added, (int64_t)a.count);
    for (size_t i = 0; i < a.count; i++) {
        const struct store_row *p = &a.rows[i], *q = &b.rows[i];
        cr_expect_eq(store_compare(&p->key, &q->key), 0);
        cr_expect(p->time_ns == q->time_ns && p->limit_s == q->limit_s &&
                  p->optimal == q->optimal && same_text(p->tiling, q->tiling) &&
                  same_text(p->answer, q->answer) && same_text(p->hardware_name, q->hardware_name));
    }
    store_rows_clear(&a);
    store_rows_clear(&b);
    gsl_rng_free(rng);
}

Test(store_rows, a_refused_import_leaves_all_as_it_was)
{
    static const struct store_filter any = {0};
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    struct store_imported imported;
    struct error error = {0};
    fill("a.db", rng, 50);
    fill("b.db", rng, 50);
    export_to("a.db", "a.jsonl");
    FILE *out = fopen(in_folder("a.jsonl"), "a");
    fputs("{}\n", out);
    fclose(out);
    char file[256];
    snprintf(file, sizeof file, "%s", in_folder("a.jsonl"));
    struct store_rows before = rows_of("b.db");
    struct store *store = opened("b.db", STORE_WRITE);
    cr_expect_eq(store_import(file, store, &any, STORE_REPLACE, &imported, &error), STATUS_INVALID);
    store_close(store);
    struct store_rows after = rows_of("b.db");
    cr_assert_eq(before.count, after.count);
    for (size_t i = 0; i < before.count; i++)
        cr_expect(store_compare(&before.rows[i].key, &after.rows[i].key) == 0 &&
                  before.rows[i].time_ns == after.rows[i].time_ns);
    store_rows_clear(&before);
    store_rows_clear(&after);
    gsl_rng_free(rng);
}

/* ------------------------------------------------------------------ taking out */

Test(store_rows, gc_takes_what_is_outdated_and_what_is_asked_for)
{
    static const struct store_filter two_cores = {.cores = 2};
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    struct error error = {0};
    fill("a.db", rng, 300);
    struct store_rows before = rows_of("a.db");
    struct store_gc gc = {.filter = &two_cores};
    struct store *store = opened("a.db", STORE_WRITE);
    ok(store_gc_find(store, &gc, &error), &error);
    ok(store_gc_remove(store, &gc, &error), &error);
    store_close(store);
    struct store_rows after = rows_of("a.db");
    size_t kept = 0;
    for (size_t i = 0; i < before.count; i++) {
        const struct store_key *key = &before.rows[i].key;
        if (key->cores == 2 ||
            (key->kind == STORE_SIMULATED && key->model_version != MODEL_VERSION))
            continue;
        cr_assert_lt(kept, after.count);
        cr_expect_eq(store_compare(key, &after.rows[kept++].key), 0);
    }
    cr_expect_eq(kept, after.count);
    cr_expect_eq(gc.kept, (int64_t)kept);
    cr_expect_eq(gc.removed, (int64_t)(before.count - kept));
    int64_t wasted = 0;
    for (int i = 0; i < gc.waste_count; i++)
        wasted += gc.wastes[i].count;
    cr_expect_eq(wasted, gc.removed);
    store_gc_clear(&gc);
    store_rows_clear(&before);
    store_rows_clear(&after);
    gsl_rng_free(rng);
}

Test(store_rows, a_removed_row_is_gone_once_committed)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    struct error error = {0};
    fill("a.db", rng, 30);
    struct store_rows rows = rows_of("a.db");
    for (int commits = 0; commits < 2; commits++) {
        struct store *store = opened("a.db", STORE_WRITE);
        ok(store_remove(store, &rows.rows[3].key, &error), &error);
        if (commits)
            ok(store_commit(store, &error), &error);
        store_close(store);
        struct store_rows now = rows_of("a.db");
        cr_expect_eq(now.count, rows.count - (size_t)commits);
        store_rows_clear(&now);
    }
    store_rows_clear(&rows);
    gsl_rng_free(rng);
}

Test(store_rows, a_zero_byte_in_a_text_is_damage)
{
    static const struct store_filter any = {0};
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    sqlite3 *database;
    struct store_rows rows;
    struct error error = {0};
    fill("a.db", rng, 3);
    cr_assert_eq(sqlite3_open(in_folder("a.db"), &database), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(database, "UPDATE result SET tiling = 'm=' || char(0) || '1'", NULL,
                              NULL, NULL),
                 SQLITE_OK);
    sqlite3_close(database);
    struct store *store = opened("a.db", STORE_READ);
    cr_expect_eq(store_rows_read(store, &any, STORE_ANSWERS, &rows, &error), STATUS_INVALID);
    cr_expect(strstr(error.text, "damaged"), "%s", error.text);
    cr_expect_eq(rows.count, 0);
    store_close(store);
    gsl_rng_free(rng);
}

/* ------------------------------------------------------------------ tables */

/* Of one shape's results the fastest, then a proven one, then the first by its tiling. */
Test(store_rows, a_table_takes_the_best)
{
    static const struct store_filter any = {0};
    static const struct {
        const char *query, *tiling;
        double time_ns;
        bool optimal;
    } results[] = {{"a", "m=3", 2, true},
                   {"b", "m=1", 1, false},
                   {"c", "m=5", 1, true},
                   {"d", "m=4", 1, true},
                   {"e", "", 0, true}};
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    struct tilings tilings;
    struct error error = {0};
    struct store *store = opened("a.db", STORE_WRITE);
    struct store_row row = drawn(rng);
    row.key.kind = STORE_SIMULATED;
    for (size_t i = 0; i < sizeof results / sizeof *results; i++) {
        row.key.query = results[i].query;
        row.key.model_version = MODEL_VERSION;
        row.tiling = results[i].tiling;
        row.time_ns = results[i].time_ns;
        row.optimal = results[i].optimal;
        ok(store_put(store, &row, &error), &error);
    }
    row.key.model_version = MODEL_VERSION + 1;
    row.tiling = "m=9";
    row.time_ns = 0.5;
    ok(store_put(store, &row, &error), &error);
    row.key.kind = STORE_MEASURED;
    row.time_ns = 0.1;
    ok(store_put(store, &row, &error), &error);
    ok(store_commit(store, &error), &error);
    store_close(store);
    ok(tilings_read(in_folder("a.db"), &any, NULL, &tilings, &error), &error);
    cr_assert_eq(tilings.count, 1);
    cr_expect_str_eq(tilings.best[0].tiling, "m=4");
    cr_expect_eq(tilings.outdated, 1);
    cr_expect_eq(tilings.infeasible, 1);
    tilings_clear(&tilings);
    gsl_rng_free(rng);
}
