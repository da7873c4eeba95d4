/* A state machine over bytes as RFC 4180 has it, writing the fields of a record into one buffer.
 * The raw bytes of the record are kept until it is whole, so that after a broken one reading can
 * begin again at its second line. Cells that a spreadsheet would run as formulas get an apostrophe
 * (CSV injection, OWASP). */
#include "formats/csv.h"

#include "core/utf8.h"

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

/* The bytes of a record are more than its text: marks are doubled, lines end in two bytes. */
enum { MAX_READ_BYTES = 4 * CSV_MAX_RECORD_BYTES };

/* Reads on, and keeps what is read of the record at hand; false at the end of the file. */
static bool refill(struct csv *csv)
{
    if (csv->end == MAX_READ_BYTES) {
        memmove(csv->read, csv->read + csv->start, (size_t)(csv->end - csv->start));
        csv->end -= csv->start;
        csv->at -= csv->start;
        csv->start = 0;
    }
    csv->end +=
        (int)fread(csv->read + csv->end, 1, (size_t)(MAX_READ_BYTES - csv->end), csv->stream);
    return csv->at < csv->end;
}

static int raw_byte(struct csv *csv)
{
    return csv->at < csv->end || refill(csv) ? csv->read[csv->at++] : EOF;
}

static enum status begin(struct csv *csv, struct error *error)
{
    csv->text = malloc(CSV_MAX_RECORD_BYTES);
    csv->read = malloc(MAX_READ_BYTES);
    if (!csv->text || !csv->read)
        return error_memory(error);
    refill(csv);
    size_t mark;
    TRY(utf8_begin(csv->file, csv->read, (size_t)csv->end, &mark, error));
    csv->at = (int)mark;
    return STATUS_OK;
}

enum status csv_open(const char *file, struct csv *csv, struct error *error)
{
    memset(csv, 0, sizeof *csv);
    bool standard = strcmp(file, "-") == 0;
    csv->file = standard ? "standard input" : file;
    csv->next_line = 1;
    csv->stream = standard ? stdin : fopen(file, "re");
    if (!csv->stream)
        return error_set(error, STATUS_IO, "%s: cannot open it: %s", file, strerror(errno));
    enum status status = begin(csv, error);
    if (status != STATUS_OK)
        csv_close(csv);
    return status;
}

void csv_close(struct csv *csv)
{
    if (csv->stream && csv->stream != stdin)
        fclose(csv->stream);
    free(csv->text);
    free(csv->read);
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
    int byte = raw_byte(csv);
    if (byte != '\r')
        return byte;
    int after = raw_byte(csv);
    if (after == '\n' || after == EOF)
        return after;
    csv->at--;
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

/* To where the next line begins that is not blank; false at the end of the file. */
static bool skip_blank_lines(struct csv *csv)
{
    int byte;
    do {
        csv->start = csv->at;
        byte = next_byte(csv);
        csv->next_line += byte == '\n' && csv->next_line < INT_MAX;
    } while (byte == '\n');
    csv->at = csv->start;
    return byte != EOF;
}

enum status csv_next(struct csv *csv, bool *found, struct error *error)
{
    struct writer writer = {csv, error, 0, false};
    csv->field_count = 0;
    *found = skip_blank_lines(csv);
    csv->line = csv->next_line;
    int byte = *found ? next_byte(csv) : EOF;
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

void csv_skip(struct csv *csv)
{
    int byte;
    csv->at = csv->start;
    do {
        csv->start = csv->at;
        byte = raw_byte(csv);
    } while (byte != '\n' && byte != EOF);
    csv->next_line = csv->line + (csv->line < INT_MAX);
}

int64_t csv_place(const struct csv *csv)
{
    return (int64_t)ftello(csv->stream) - csv->end + csv->start;
}

enum status csv_seek(struct csv *csv, int64_t place, int line, struct error *error)
{
    if (fseeko(csv->stream, (off_t)place, SEEK_SET) != 0)
        return error_set(error, STATUS_IO, "%s: cannot read it again: %s", csv->file,
                         strerror(errno));
    csv->start = csv->at = csv->end = 0;
    csv->next_line = line;
    return STATUS_OK;
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

enum status csv_find(const struct csv *csv, const char *name, int *place, struct error *error)
{
    *place = -1;
    for (int f = 0; f < csv->field_count; f++) {
        if (strcmp(csv->fields[f], name) != 0)
            continue;
        if (*place >= 0)
            return csv_wrong(csv, error, "the column %s twice, expected once", name);
        *place = f;
    }
    return STATUS_OK;
}

const char *csv_shown(const char *field, char copy[CSV_SHOWN_SIZE])
{
    enum { MOST = 32 };
    snprintf(copy, CSV_SHOWN_SIZE, "%.*s%s", MOST, field, strlen(field) > MOST ? "..." : "");
    utf8_show(copy);
    return copy;
}

/* A cell that begins so is a formula to a spreadsheet, unless it is a number. */
static bool is_formula(const char *text)
{
    char *end;
    if (!*text || !strchr("=+-@\t\r\n", *text))
        return false;
    bool plain = !text[strspn(text, "+-.0123456789eE")] && strpbrk(text, "0123456789");
    (void)strtod(text, &end);
    return !plain || *end;
}

void csv_put(const char *text, FILE *out)
{
    bool formula = is_formula(text), quoted = formula || text[strcspn(text, ",\"\r\n")];
    fputs(formula ? "\"'" : quoted ? "\"" : "", out);
    for (size_t length; length = strcspn(text, "\""), text[length]; text += length + 1) {
        utf8_put_line(text, length, out);
        fputs("\"\"", out);
    }
    utf8_put_line(text, strlen(text), out);
    if (quoted)
        fputc('"', out);
}
