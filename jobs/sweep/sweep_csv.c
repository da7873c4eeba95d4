/* Sweeps as tables: a header of options, a job a row. */
#include "formats/csv.h"
#include "jobs/sweep/sweep_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct table {
    const struct sweep_source *source;
    struct sweep *sweep;
    struct csv csv;
    int column_count;
    bool has_kernels;
    const char *columns[CSV_MAX_FIELDS];
};

static bool has_column(const struct table *table, const char *name)
{
    for (int i = 0; i < table->column_count; i++)
        if (strcmp(table->columns[i], name) == 0)
            return true;
    return false;
}

/* Beside kernels any column may be a size of theirs. */
static enum status add_column(struct table *table, const char *name, struct error *error)
{
    const char *file = table->csv.file;
    int line = table->csv.line;
    if (!job_has_option(name) && !table->has_kernels)
        return error_at(error, file, line,
                        "column '%.64s': expected op, shape, or another long option that says what "
                        "to search%s",
                        name, job_option_like(name).text);
    if (strcmp(name, "set-hw") != 0 && has_column(table, name))
        return error_at(error, file, line, "column '%.64s' is there twice", name);
    const char *copy = sweep_copy(table->sweep, name);
    if (!copy)
        return error_memory(error);
    table->columns[table->column_count++] = copy;
    return STATUS_OK;
}

static enum status read_header(struct table *table, struct error *error)
{
    bool found;
    TRY(csv_next(&table->csv, &found, error));
    if (!found)
        return error_at(error, table->csv.file, 0, "empty, expected a header that names op,shape");
    for (int i = 0; i < table->csv.field_count; i++)
        table->has_kernels = table->has_kernels || strcmp(table->csv.fields[i], "kernel") == 0;
    for (int i = 0; i < table->csv.field_count; i++)
        TRY(add_column(table, table->csv.fields[i], error));
    if (!((has_column(table, "op") || table->has_kernels) && has_column(table, "shape")))
        return error_at(error, table->csv.file, table->csv.line,
                        "expected a header that names op,shape and other options");
    return STATUS_OK;
}

/* An empty field says nothing. */
static enum status add_row(struct table *table, struct error *error)
{
    struct sweep *sweep = table->sweep;
    const struct csv *csv = &table->csv;
    char text[SWEEP_FAULT_SIZE];
    if (csv->field_count != table->column_count) {
        snprintf(text, sizeof text, "%d fields, expected %d as in the header", csv->field_count,
                 table->column_count);
        return sweep_add_fault(sweep, csv->line, text, error);
    }
    int count = table->source->option_count;
    struct sweep_option *row = sweep_row(table->source, sweep, csv->field_count);
    for (int i = 0; row && i < csv->field_count; i++) {
        if (!csv->fields[i][0])
            continue;
        row[count] = (struct sweep_option){table->columns[i], sweep_copy(sweep, csv->fields[i])};
        if (!row[count++].text)
            row = NULL;
    }
    return row ? sweep_add(sweep, csv->line, row, count, error) : error_memory(error);
}

/* Counting rows takes a hundredth of what making jobs of them takes, so too many are refused before
 * any is made. What cannot be read twice, and a broken row, are left to the reading. */
static enum status check_count(const struct sweep_source *source, const struct sweep *sweep,
                               struct error *error)
{
    struct csv csv;
    struct stat about;
    struct error broken;
    bool found = true;
    int64_t rows = -1; /* the header is none */
    if (stat(source->name, &about) != 0 || !S_ISREG(about.st_mode))
        return STATUS_OK;
    enum status status = csv_open(source->name, &csv, error);
    if (status != STATUS_OK)
        return status;
    while (found && rows <= sweep->most_jobs && csv_next(&csv, &found, &broken) == STATUS_OK)
        rows += found;
    if (rows > sweep->most_jobs)
        status = error_set(error, STATUS_TOO_LARGE, "%s:%d: expected at most %lld rows", csv.file,
                           csv.line, (long long)sweep->most_jobs);
    csv_close(&csv);
    return status;
}

enum status sweep_read_csv(const struct sweep_source *source, struct sweep *sweep,
                           struct error *error)
{
    struct table *table = calloc(1, sizeof *table);
    bool found = true;
    if (!table)
        return error_memory(error);
    table->source = source;
    table->sweep = sweep;
    enum status status = check_count(source, sweep, error);
    if (status == STATUS_OK)
        status = csv_open(source->name, &table->csv, error);
    if (status == STATUS_OK) {
        status = read_header(table, error);
        while (status == STATUS_OK && found) {
            status = csv_next(&table->csv, &found, error);
            if (status == STATUS_OK && found)
                status = add_row(table, error);
        }
        csv_close(&table->csv);
    }
    free(table);
    return status;
}
