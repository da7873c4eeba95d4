#include "results/csv.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct writer {
    struct csv *csv;
    struct error *error;
    int length;
    bool too_long;
};

enum status csv_open(const char *file, struct csv *csv, struct error *error)
{
    static const char mark[] = "\xef\xbb\xbf";
    memset(csv, 0, sizeof *csv);
    csv->file = file;
    csv->next_line = 1;
    csv->stream = fopen(file, "re");
    if (!csv->stream)
        return error_set(error, STATUS_IO, "%s: cannot open it: %s", file, strerror(errno));
    csv->text = malloc(CSV_MAX_RECORD_BYTES);
    if (!csv->text) {
        csv_close(csv);
        return error_memory(error);
    }
    int at = 0, next = getc(csv->stream);
    while (at < 3 && next == (unsigned char)mark[at]) {
        at++;
        next = getc(csv->stream);
    }
    if (at == 3 || at == 0) {
        (void)ungetc(next, csv->stream);
        return STATUS_OK;
    }
    csv_close(csv);
    return error_at(error, file, 1, "half a byte order mark, expected text in UTF-8");
}

void csv_close(struct csv *csv)
{
    if (csv->stream)
        fclose(csv->stream);
    free(csv->text);
    memset(csv, 0, sizeof *csv);
}

static void put(struct writer *w, int byte)
{
    if (w->length < CSV_MAX_RECORD_BYTES)
        w->csv->text[w->length++] = (char)byte;
    else
        w->too_long = true;
}

/* The next byte, with a carriage return before a line end left out. */
static int next_byte(struct csv *csv)
{
    int byte = getc(csv->stream);
    if (byte != '\r')
        return byte;
    int after = getc(csv->stream);
    if (after == '\n' || after == EOF)
        return after;
    (void)ungetc(after, csv->stream);
    return byte;
}

static enum status broken(struct writer *w, int line, const char *what)
{
    return error_at(w->error, w->csv->file, line, "%s", what);
}

/* What stands between quotation marks; *byte is what follows the closing one. */
static enum status read_quoted(struct writer *w, int *byte)
{
    int line = w->csv->next_line;
    for (;;) {
        *byte = next_byte(w->csv);
        if (*byte == '"') {
            *byte = next_byte(w->csv);
            if (*byte != '"')
                break;
        }
        if (*byte == EOF)
            return broken(w, line, "a quotation mark without its partner, expected one more");
        if (*byte == '\0')
            return broken(w, w->csv->next_line, "a zero byte, expected text");
        w->csv->next_line += *byte == '\n';
        put(w, *byte);
        if (w->too_long)
            return STATUS_OK;
    }
    if (*byte == ',' || *byte == '\n' || *byte == EOF)
        return STATUS_OK;
    return broken(w, w->csv->next_line, "text behind a closing quotation mark, expected a comma");
}

/* Reads a field whose first byte is *byte; then *byte is what ends it. */
static enum status read_field(struct writer *w, int *byte)
{
    enum status status = STATUS_OK;
    if (w->csv->field_count == CSV_MAX_FIELDS)
        return error_at(w->error, w->csv->file, w->csv->line, "more than %d fields",
                        CSV_MAX_FIELDS);
    w->csv->fields[w->csv->field_count++] = w->csv->text + w->length;
    if (*byte == '"')
        status = read_quoted(w, byte);
    else
        for (; *byte != ',' && *byte != '\n' && *byte != EOF; *byte = next_byte(w->csv)) {
            if (*byte == '\0' || *byte == '"')
                return broken(w, w->csv->next_line,
                              *byte ? "a quotation mark within a field, expected the whole field "
                                      "in quotation marks"
                                    : "a zero byte, expected text");
            put(w, *byte);
            if (w->too_long)
                break;
        }
    put(w, '\0');
    if (status == STATUS_OK && w->too_long)
        return error_at(w->error, w->csv->file, w->csv->line, "a record of more than %d bytes",
                        CSV_MAX_RECORD_BYTES);
    return status;
}

/* The first byte of the next line that is not blank, or EOF. */
static int skip_blank_lines(struct csv *csv)
{
    int byte = next_byte(csv);
    while (byte == '\n' && csv->next_line < INT_MAX) {
        csv->next_line++;
        byte = next_byte(csv);
    }
    return byte;
}

enum status csv_next(struct csv *csv, bool *found, struct error *error)
{
    struct writer writer = {csv, error, 0, false};
    int byte = skip_blank_lines(csv);
    csv->field_count = 0;
    csv->line = csv->next_line;
    *found = byte != EOF;
    enum status status = *found ? read_field(&writer, &byte) : STATUS_OK;
    while (status == STATUS_OK && byte == ',') {
        byte = next_byte(csv);
        status = read_field(&writer, &byte);
    }
    if (ferror(csv->stream))
        return error_set(error, STATUS_IO, "%s: cannot read it: %s", csv->file, strerror(errno));
    if (status == STATUS_OK && csv->next_line == INT_MAX)
        return error_at(error, csv->file, csv->line, "more than %d lines", INT_MAX);
    csv->next_line += byte == '\n';
    return status;
}

enum status csv_wrong(const struct csv *csv, struct error *error, const char *format, ...)
{
    char text[384];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return error_at(error, csv->file, csv->line, "%s", text);
}

const char *csv_shown(const char *field, char copy[CSV_SHOWN_SIZE])
{
    enum { MOST = 32 };
    size_t length = 0;
    for (; length < MOST && field[length]; length++)
        copy[length] = (char)(isprint((unsigned char)field[length]) ? field[length] : '?');
    snprintf(copy + length, CSV_SHOWN_SIZE - length, "%s", field[length] ? "..." : "");
    return copy;
}
