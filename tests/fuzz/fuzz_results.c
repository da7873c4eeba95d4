/* Exported results: each line is written as it was read; all of them come out of a store as they
 * went in, and every table made of them can be read by what it is for. */
#include "formats/bank.h"
#include "formats/csv.h"
#include "jobs/table/tilings.h"
#include "results/store_import.h"
#include "results/store_write.h"
#include "tests/fuzz/fuzz.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ------------------------------------------------------------------ rows */

/* What is taken is whole, and reads back as it is written. */
static enum status take_result(void *context, const struct store_row *row, struct error *error)
{
    bool *again = context;
    char *text = NULL, file[FUZZ_PATH_SIZE];
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    fuzz_require(out != NULL, "memory");
    fuzz_require(row->key.cores >= 1 && row->key.model_version >= 0, "counts are in range");
    fuzz_require(row->time_ns >= 0 && row->limit_s >= 0, "times are not negative");
    fuzz_require((row->time_ns > 0) == (*row->tiling != 0), "a tiling has a time");
    fuzz_require(strlen(row->key.hardware) == 32, "a fingerprint is whole");
    fuzz_require(store_export_row(row, out, error) == STATUS_OK, "a row can be written");
    fuzz_require(fclose(out) == 0 && length > 0 && text[length - 1] == '\n', "as a line");
    fuzz_require_json(text, length);
    if (!*again) {
        bool now = true;
        fuzz_write(fuzz_path(".again", file), text, length);
        fuzz_require_ok(store_lines_read(file, take_result, &now, error), error);
        unlink(file);
    }
    free(text);
    return STATUS_OK;
}

/* ------------------------------------------------------------------ stores */

static enum status put_row(void *out, const struct store_row *row, struct error *error)
{
    return store_export_row(row, out, error);
}

/* Imports the file into a store of its own; what it exports, or NULL where the import is refused.
 * The caller frees the text and removes the store. */
static char *export_of(const char *file, const char *db, size_t *length)
{
    static const struct store_filter everything;
    struct store_imported counts;
    struct store *store;
    struct error error = {0};
    char *text = NULL;
    fuzz_require_ok(store_open(db, STORE_WRITE, &store, &error), &error);
    enum status status = store_import(file, store, &everything, STORE_REFUSE, &counts, &error);
    fuzz_require_line(status, &error);
    if (status == STATUS_OK) {
        FILE *out = open_memstream(&text, length);
        fuzz_require(out != NULL, "memory");
        fuzz_require_ok(store_each(store, put_row, out, &error), &error);
        fuzz_require(fclose(out) == 0, "memory");
    }
    store_close(store);
    return text;
}

static void require_same_export(const char *text, size_t length)
{
    char file[FUZZ_PATH_SIZE], db[FUZZ_PATH_SIZE];
    size_t size;
    fuzz_write(fuzz_path(".again", file), text, length);
    char *again = export_of(file, fuzz_path("-again.db", db), &size);
    fuzz_require(again && size == length && memcmp(again, text, size) == 0,
                 "an export is imported as it is");
    free(again);
    unlink(file);
    unlink(db);
}

/* ------------------------------------------------------------------ tables */

typedef void table_check(const struct tilings *tilings, const char *text, size_t length);

static void check_json(const struct tilings *tilings, const char *text, size_t length)
{
    json_t *document = json_loadb(text, length, JSON_REJECT_DUPLICATES, NULL), *table;
    size_t index, entries = 0;
    fuzz_require(document != NULL, "a table is JSON");
    json_array_foreach(json_object_get(document, "tables"), index, table) entries +=
        json_array_size(json_object_get(table, "entries"));
    fuzz_require((int64_t)entries == tilings->count, "an entry a shape");
    json_decref(document);
}

static void check_csv(const struct tilings *tilings, const char *text, size_t length)
{
    char file[FUZZ_PATH_SIZE];
    struct error error;
    struct csv csv;
    bool found = true;
    int64_t records = -1;
    fuzz_write(fuzz_path("-table.csv", file), text, length);
    fuzz_require_ok(csv_open(file, &csv, &error), &error);
    for (; found; records += found) {
        fuzz_require_ok(csv_next(&csv, &found, &error), &error);
        fuzz_require(!found || csv.field_count == 15, "a record has a field for each column");
        fuzz_require(!found || csv.line == records + 2, "and a line");
    }
    fuzz_require(records == tilings->count, "a record a shape");
    csv_close(&csv);
    unlink(file);
}

static void check_c(const struct tilings *tilings, const char *text, size_t length)
{
    fuzz_require(strlen(text) == length, "C has no 0");
    fuzz_require(fuzz_require_c(text) == tilings->count, "a row a shape");
}

static void check_header(const struct tilings *tilings, const char *text, size_t length)
{
    (void)tilings;
    fuzz_require(strlen(text) == length, "C has no 0");
    fuzz_require_c(text);
}

static int count_cells(const char *line)
{
    int cells = 0;
    for (; *line && *line != '\n'; line++) {
        line += *line == '\\' && line[1] != '\n';
        cells += *line == '|' && line[-1] != '\\';
    }
    return cells;
}

/* Lines of a table have as many cells as the line before. */
static void check_markdown(const struct tilings *tilings, const char *text, size_t length)
{
    int cells = 0;
    int64_t rows = 0;
    for (const char *line = text; line < text + length; line += strcspn(line, "\n") + 1) {
        int here = *line == '|' ? count_cells(line) : 0;
        fuzz_require(!cells || !here || here == cells, "a row has a cell for each column");
        rows += here && cells;
        rows -= here && strncmp(line, "|---", 4) == 0;
        cells = here;
    }
    fuzz_require(rows == tilings->count, "a row a shape");
}

static enum status count_row(void *count, const struct bank_row *row, struct error *error)
{
    (void)row, (void)error;
    ++*(int64_t *)count;
    return STATUS_OK;
}

static void check_bank(const struct tilings *tilings, const char *text, size_t length)
{
    int64_t count = 0;
    const struct bank_reader reader = {.row = count_row, .context = &count};
    char file[FUZZ_PATH_SIZE];
    struct error error;
    fuzz_write(fuzz_path("-bank.json", file), text, length);
    fuzz_require_ok(bank_read(file, BANK_RUNTIME_KB, &reader, NULL, &error), &error);
    fuzz_require(count == tilings->count, "a record a shape");
    unlink(file);
}

static const struct {
    const char *name;
    table_check *check;
} checks[] = {
    {"json", check_json},
    {"csv", check_csv},
    {"c", check_c},
    {"markdown", check_markdown},
    {"tcubetiling", check_header},
    {"runtime_kb", check_bank},
};

static void write_tables(const struct tilings *tilings)
{
    const struct table_about about = {"1", "autotune table --db '*/ \"\?\?/\\\n|`<b>'", "autotune"};
    for (size_t f = 0; f < sizeof checks / sizeof *checks; f++) {
        char *text = NULL;
        size_t length;
        struct error error = {0};
        FILE *out = open_memstream(&text, &length);
        fuzz_require(out != NULL, "memory");
        struct tilings written = *tilings;
        struct table_remarks remarks = {.left_out = 0};
        enum status status =
            tilings_write(tilings, &about, format_find(checks[f].name), out, &remarks, &error);
        written.count -= remarks.left_out;
        fuzz_require(fclose(out) == 0, "memory");
        fuzz_require_line(status, &error);
        if (status == STATUS_OK)
            checks[f].check(&written, text, length);
        free(text);
    }
}

static void read_tables(const char *db)
{
    struct kernels *kernels;
    struct error memory;
    fuzz_require_ok(kernels_open(NULL, &kernels, &memory), &memory);
    for (int kind = 0; kind < STORE_KINDS; kind++) {
        const struct store_filter filter = {.kind_given = true, .kind = (enum store_kind)kind};
        struct tilings tilings;
        struct error error = {0};
        enum status status = tilings_read(db, &filter, kernels, &tilings, &error);
        fuzz_require_line(status, &error);
        if (status != STATUS_OK)
            continue;
        if (tilings.count)
            write_tables(&tilings);
        tilings_clear(&tilings);
    }
    kernels_close(kernels);
}

void fuzz_read_results(const char *file)
{
    struct error error = {0};
    bool again = false;
    char db[FUZZ_PATH_SIZE];
    size_t length;
    enum status status = store_lines_read(file, take_result, &again, &error);
    fuzz_require_line(status, &error);
    if (status != STATUS_OK)
        return;
    char *text = export_of(file, fuzz_path(".db", db), &length);
    if (text) {
        require_same_export(text, length);
        read_tables(db);
    }
    free(text);
    unlink(db);
}
