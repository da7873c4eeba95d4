/* Reads a table of tilings and finds the nearest. Records are read one by one by the columns of
 * the last header. Afterwards entries are sorted by what they are for, the last of equals is kept,
 * and all are put back into the order of lines, which decides between entries that are as near.
 * The search for the nearest goes through all of them: it happens once a shape. */
#include "runtime/sgemm_table.h"

#include "core/array.h"
#include "formats/csv.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum column { M, K, N, THREADS, ISA, RANK, BATCH, QUARANTINED, FIRST_AXIS, NEEDED = N };

static const char *const column_names[FIRST_AXIS] = {"m",   "k",    "n",     "threads",
                                                     "isa", "rank", "batch", "quarantined"};

struct reader {
    struct csv csv;
    struct table *table;
    const struct axis *axes;
    int axis_count;
    struct error *error;
    int column[FIRST_AXIS + SPACE_MAX_AXES]; /* position of each in a record; -1: not there */
    int field_count;
};

static const char *column_name(const struct reader *r, int column)
{
    return column < FIRST_AXIS ? column_names[column] : r->axes[column - FIRST_AXIS].name;
}

static int column_count(const struct reader *r)
{
    return FIRST_AXIS + r->axis_count;
}

/* NULL where the table has no such column. */
static const char *field(const struct reader *r, int column)
{
    return r->column[column] < 0 ? NULL : r->csv.fields[r->column[column]];
}

static enum status find_column(struct reader *r, int column)
{
    const char *name = column_name(r, column);
    TRY(csv_find(&r->csv, name, &r->column[column], r->error));
    if ((column <= NEEDED || column >= FIRST_AXIS) && r->column[column] < 0)
        return csv_wrong(
            &r->csv, r->error,
            "no column %s, expected a header with m, k, n and every axis of a tiling, as "
            "autotune --op matmul --hw host --format csv writes it",
            name);
    return STATUS_OK;
}

static enum status read_header(struct reader *r)
{
    r->field_count = r->csv.field_count;
    for (int c = 0; c < column_count(r); c++)
        TRY(find_column(r, c));
    return STATUS_OK;
}

/* Decimal digits alone, from `least` to `most`. */
static enum status read_number(const struct reader *r, int column, int64_t least, int64_t most,
                               int64_t *number)
{
    char copy[40];
    const char *text = field(r, column);
    char *end = NULL;
    errno = 0;
    *number = isdigit((unsigned char)text[0]) ? strtoll(text, &end, 10) : 0;
    if (end && *end == '\0' && errno == 0 && *number >= least && *number <= most)
        return STATUS_OK;
    return csv_wrong(&r->csv, r->error, "%s: \"%s\", expected a number from %lld to %lld",
                     column_name(r, column), csv_shown(text, copy), (long long)least,
                     (long long)most);
}

static enum status read_axis(const struct reader *r, int a, struct tiling *tiling)
{
    char copy[40], names[160] = "a number from 1 on";
    const struct axis *axis = &r->axes[a];
    const char *text = field(r, FIRST_AXIS + a);
    if (axis_value_parse(axis, text, &tiling->value[a]) && tiling->value[a] >= 1 &&
        (axis->value_names || tiling->value[a] <= TABLE_MAX_SIZE))
        return STATUS_OK;
    size_t length = 0;
    for (int i = 1; axis->value_names && i < axis->name_count && length < sizeof names; i++)
        length += (size_t)snprintf(names + length, sizeof names - length, "%s%s",
                                   i > 1 ? ", " : "one of ", axis->value_names[i]);
    return csv_wrong(&r->csv, r->error, "%s: \"%s\", expected %s%s", axis->name,
                     csv_shown(text, copy), names, length < sizeof names ? "" : "...");
}

static enum status read_isa(const struct reader *r, int *isa)
{
    char copy[40];
    const char *text = field(r, ISA);
    *isa = -1;
    if (!text || !*text)
        return STATUS_OK;
    *isa = host_isa_find(text);
    if (*isa >= 0)
        return STATUS_OK;
    return csv_wrong(&r->csv, r->error, "isa: \"%s\", expected portable, neon, avx2 or avx512",
                     csv_shown(text, copy));
}

static enum status read_entry(const struct reader *r, struct table_entry *entry)
{
    int64_t batch = 1, threads = 0;
    memset(entry, 0, sizeof *entry);
    entry->line = r->csv.line;
    TRY(read_number(r, M, 1, TABLE_MAX_SIZE, &entry->m));
    TRY(read_number(r, K, 1, TABLE_MAX_SIZE, &entry->k));
    TRY(read_number(r, N, 1, TABLE_MAX_SIZE, &entry->n));
    if (field(r, BATCH))
        TRY(read_number(r, BATCH, 1, 1, &batch));
    if (field(r, THREADS))
        TRY(read_number(r, THREADS, 0, HOST_MAX_THREADS, &threads));
    TRY(read_isa(r, &entry->isa));
    for (int a = 0; a < r->axis_count; a++)
        TRY(read_axis(r, a, &entry->tiling));
    entry->threads = (int)threads;
    return STATUS_OK;
}

static enum status add_entry(struct reader *r, const struct table_entry *entry)
{
    struct table *table = r->table;
    if (table->count == TABLE_MAX_ENTRIES)
        return error_set(r->error, STATUS_TOO_LARGE, "%s:%d: more than %d entries", r->csv.file,
                         r->csv.line, TABLE_MAX_ENTRIES);
    if (!array_room(&table->entries, table->count, sizeof *table->entries))
        return error_memory(r->error);
    table->entries[table->count++] = *entry;
    return STATUS_OK;
}

/* A file that was appended begins with its own header, perhaps in another order. "m" and "n" are
 * also values of axes; "k" is not. */
static bool is_header(const struct reader *r)
{
    int place = -1;
    return csv_find(&r->csv, column_names[K], &place, NULL) != STATUS_OK || place >= 0;
}

static enum status read_record(struct reader *r)
{
    struct table_entry entry;
    int64_t rank = 1;
    if (is_header(r))
        return read_header(r);
    if (r->csv.field_count != r->field_count)
        return csv_wrong(&r->csv, r->error, "%d fields, expected %d as in the header",
                         r->csv.field_count, r->field_count);
    if (field(r, RANK))
        TRY(read_number(r, RANK, 1, INT64_MAX, &rank));
    TRY(read_entry(r, &entry));
    bool runs = !field(r, QUARANTINED) || !*field(r, QUARANTINED);
    return rank == 1 && runs ? add_entry(r, &entry) : STATUS_OK;
}

static int compare_wishes(const struct table_entry *a, const struct table_entry *b)
{
    const int64_t left[] = {a->m, a->k, a->n, a->threads, a->isa};
    const int64_t right[] = {b->m, b->k, b->n, b->threads, b->isa};
    for (int i = 0; i < 5; i++)
        if (left[i] != right[i])
            return left[i] < right[i] ? -1 : 1;
    return 0;
}

static int by_wish(const void *a, const void *b)
{
    const struct table_entry *left = a, *right = b;
    int order = compare_wishes(left, right);
    return order ? order : (left->line > right->line) - (left->line < right->line);
}

static int by_line(const void *a, const void *b)
{
    const struct table_entry *left = a, *right = b;
    return (left->line > right->line) - (left->line < right->line);
}

/* Of entries for the same product the last stays, where it stands. */
static void keep_last(struct table *table)
{
    int64_t kept = 0;
    qsort(table->entries, (size_t)table->count, sizeof *table->entries, by_wish);
    for (int64_t i = 0; i < table->count; i++)
        if (i + 1 == table->count ||
            compare_wishes(&table->entries[i], &table->entries[i + 1]) != 0)
            table->entries[kept++] = table->entries[i];
    table->count = kept;
    qsort(table->entries, (size_t)kept, sizeof *table->entries, by_line);
}

static enum status read_all(struct reader *r)
{
    bool found;
    TRY(csv_next(&r->csv, &found, r->error));
    if (!found)
        return error_at(r->error, r->csv.file, 1,
                        "empty, expected a header with m, k, n and every axis of a tiling");
    TRY(read_header(r));
    while (found) {
        TRY(csv_next(&r->csv, &found, r->error));
        if (found)
            TRY(read_record(r));
    }
    if (r->table->count == 0)
        return error_at(r->error, r->csv.file, r->csv.line,
                        "no entry behind the header, expected some");
    keep_last(r->table);
    return STATUS_OK;
}

enum status table_read(const char *file, const struct axis *axes, int axis_count,
                       struct table *table, struct error *error)
{
    struct reader reader = {.table = table, .axes = axes, .axis_count = axis_count, .error = error};
    memset(table, 0, sizeof *table);
    TRY(csv_open(file, &reader.csv, error));
    enum status status = read_all(&reader);
    csv_close(&reader.csv);
    if (status != STATUS_OK)
        table_clear(table);
    return status;
}

void table_clear(struct table *table)
{
    free(table->entries);
    memset(table, 0, sizeof *table);
}

static double log_ratio(int64_t a, int64_t b)
{
    return fabs(log((double)a / (double)b));
}

double table_distance(const struct table_entry *entry, const struct table_wish *wish)
{
    double threads = entry->threads ? log_ratio(entry->threads, wish->threads) : 0;
    return log_ratio(entry->m, wish->m) + log_ratio(entry->k, wish->k) +
           log_ratio(entry->n, wish->n) + threads;
}

int64_t table_next(const struct table *table, const struct table_wish *wish, int64_t last)
{
    double behind = last < 0 ? -1 : table_distance(&table->entries[last], wish), least = INFINITY;
    int64_t nearest = -1;
    for (int64_t i = 0; i < table->count; i++) {
        const struct table_entry *entry = &table->entries[i];
        double distance = table_distance(entry, wish);
        bool is_behind = distance > behind || (distance == behind && i > last);
        if ((entry->isa == wish->isa || entry->isa < 0) && is_behind && distance < least) {
            least = distance;
            nearest = i;
        }
    }
    return nearest;
}
