/* The format is told by the first bytes, most often by the first key of the first object. A file is
 * cut into records through a window of 64 KiB: a value ends where its brackets close, with strings
 * and escapes tracked; whether it is JSON is for jansson to say, which parses one at a time
 * (bank_parse.c). A record that breaks a rule is reported, and reading goes on where it is known
 * that the next one starts. */
#include "formats/bank.h"
#include "core/array.h"
#include "core/utf8.h"
#include "formats/bank_parse.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SCAN_AHEAD = 1 << 16 };

struct scan {
    FILE *in;
    const char *file;
    size_t limit; /* bytes of a record */
    size_t at, filled;
    int line;   /* of the next byte, from 1 */
    char *text; /* the record, with a NUL behind it; owned: scan_close */
    size_t length;
    int64_t capacity;
    int text_line; /* where it starts */
    char ahead[SCAN_AHEAD];
};

/* Is there a byte at hand, or can one be read? */
static bool fill_window(struct scan *scan)
{
    if (scan->at < scan->filled)
        return true;
    scan->at = 0;
    scan->filled = fread(scan->ahead, 1, sizeof scan->ahead, scan->in);
    return scan->filled > 0;
}

/* "-" is the standard input. */
static enum status scan_open(struct scan *scan, const char *file, size_t limit, struct error *error)
{
    bool standard = strcmp(file, "-") == 0;
    scan->in = standard ? stdin : fopen(file, "re");
    scan->file = standard ? "standard input" : file;
    scan->limit = limit;
    scan->line = 1;
    scan->at = scan->filled = scan->length = 0;
    scan->capacity = 0;
    scan->text = NULL;
    if (!scan->in)
        return error_set(error, STATUS_IO, "%s: cannot open it: %s", file, strerror(errno));
    fill_window(scan);
    return utf8_begin(scan->file, scan->ahead, scan->filled, &scan->at, error);
}

static void scan_close(struct scan *scan)
{
    if (scan->in && scan->in != stdin)
        fclose(scan->in);
    free(scan->text);
}

/* The bytes that can be seen without moving on: a full buffer unless the file is shorter. */
static const char *scan_ahead(struct scan *scan, size_t *length)
{
    *length = fill_window(scan) ? scan->filled - scan->at : 0;
    return scan->ahead + scan->at;
}

static int next_byte(struct scan *scan)
{
    return fill_window(scan) ? (unsigned char)scan->ahead[scan->at] : EOF;
}

static int take_byte(struct scan *scan)
{
    int byte = next_byte(scan);
    scan->at += byte != EOF;
    scan->line += byte == '\n';
    return byte;
}

static bool is_space(int byte)
{
    return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r';
}

/* The next byte that is no white space; EOF at the end. scan_next takes it, scan_peek does not. */
static int scan_peek(struct scan *scan)
{
    while (is_space(next_byte(scan)))
        take_byte(scan);
    return next_byte(scan);
}

static int scan_next(struct scan *scan)
{
    scan_peek(scan);
    return take_byte(scan);
}

/* Did reading fail, in contrast to the file's end? */
static enum status scan_check(const struct scan *scan, struct error *error)
{
    if (!ferror(scan->in))
        return STATUS_OK;
    return error_set(error, STATUS_IO, "%s: cannot read it", scan->file);
}

static bool append_byte(struct scan *scan, int byte)
{
    for (size_t end = scan->length; end < scan->length + 2; end++)
        if (!array_reserve(&scan->text, (int64_t)end, &scan->capacity, 1))
            return false;
    scan->text[scan->length++] = (char)byte;
    scan->text[scan->length] = 0;
    return true;
}

static enum status too_long(const struct scan *scan, struct error *error)
{
    return error_at(error, scan->file, scan->text_line, "a record of more than %zu bytes",
                    scan->limit);
}

/* Takes the next line that is not blank. *any is false at the end of the file. A line beyond the
 * limit is skipped, and is STATUS_INVALID. */
static enum status scan_line(struct scan *scan, bool *any, struct error *error)
{
    *any = scan_peek(scan) != EOF;
    scan->text_line = scan->line;
    scan->length = 0;
    bool fits = true;
    for (int byte; *any && (byte = next_byte(scan)) != EOF && byte != '\n'; take_byte(scan)) {
        fits = fits && scan->length < scan->limit;
        if (fits && !append_byte(scan, byte))
            return error_memory(error);
    }
    if (!fits)
        return too_long(scan, error);
    return scan_check(scan, error);
}

/* Inside a string, or outside with so many brackets open. */
struct nesting {
    bool string, escaped;
    long depth;
};

/* Is the value complete with this byte? */
static bool completes_value(struct nesting *n, int byte)
{
    if (n->string) {
        bool ends = byte == '"' && !n->escaped;
        n->escaped = byte == '\\' && !n->escaped;
        n->string = !ends;
        return ends && n->depth == 0;
    }
    n->string = byte == '"';
    n->depth += (byte == '{' || byte == '[') - (byte == '}' || byte == ']');
    return (byte == '}' || byte == ']') && n->depth <= 0;
}

/* What may follow a number or a word. */
static bool ends_word(int byte)
{
    return is_space(byte) || byte == ',' || byte == ']' || byte == '}' || byte == ':';
}

/* Takes the next value. STATUS_INVALID when it does not end or is beyond the limit. */
static enum status scan_value(struct scan *scan, struct error *error)
{
    struct nesting nesting = {0};
    int first = scan_peek(scan);
    bool word = first != '{' && first != '[' && first != '"', complete = false;
    scan->text_line = scan->line;
    scan->length = 0;
    while (!complete && next_byte(scan) != EOF && !(word && ends_word(next_byte(scan)))) {
        int byte = take_byte(scan);
        if (scan->length >= scan->limit)
            return too_long(scan, error);
        if (!append_byte(scan, byte))
            return error_memory(error);
        complete = !word && completes_value(&nesting, byte);
    }
    if (ferror(scan->in))
        return scan_check(scan, error);
    if (complete || (word && scan->length > 0))
        return STATUS_OK;
    return error_at(error, scan->file, scan->text_line, "%s, expected a JSON value",
                    next_byte(scan) == EOF ? "the file ends within it" : "there is none");
}

const char *const bank_format_names[BANK_FORMATS] = {
    [BANK_REPOSITORY] = "repository",
    [BANK_STATIC] = "static_bank",
    [BANK_RUNTIME_KB] = "runtime_kb",
    [BANK_TCUBETILING] = "tcubetiling",
};

struct reading {
    const struct bank_reader *reader;
    enum bank_format format;
    struct scan scan;
    int records;
    bool stopped; /* by the reader, not by what the file holds */
    char *key;    /* BANK_STATIC: of the array at hand */
    json_t *keys; /* seen before */
    struct error *error;
};

/* ------------------------------------------------------------------ which format it is */

static const struct {
    const char *key;
    enum bank_format format;
} first_keys[] = {
    {"shape", BANK_REPOSITORY},     {"tiling", BANK_REPOSITORY},    {"cost_time", BANK_REPOSITORY},
    {"info_dict", BANK_RUNTIME_KB}, {"knowledge", BANK_RUNTIME_KB}, {"id", BANK_RUNTIME_KB},
    {"op", BANK_RUNTIME_KB},        {"version", BANK_RUNTIME_KB},
};

static const char *skip_space(const char *at, const char *end)
{
    while (at < end && strchr(" \t\r\n", *at) && *at)
        at++;
    return at;
}

/* By the first key of an object; `at` is behind its bracket. -1: it says nothing. */
static int format_of_object(const char *at, const char *end)
{
    at = skip_space(at, end);
    if (at < end && *at == '}')
        return BANK_STATIC;
    if (at == end || *at != '"')
        return -1;
    const char *key = ++at;
    while (at < end && *at != '"')
        at += *at == '\\' && at + 1 < end ? 2 : 1;
    size_t length = (size_t)(at - key);
    for (size_t i = 0; i < sizeof first_keys / sizeof *first_keys; i++)
        if (strlen(first_keys[i].key) == length && strncmp(first_keys[i].key, key, length) == 0)
            return first_keys[i].format;
    for (int f = 0; f < BANK_TCUBE_FIELDS; f++)
        if (strlen(bank_field_names[f]) == length && strncmp(bank_field_names[f], key, length) == 0)
            return BANK_TCUBETILING;
    at = skip_space(at < end ? at + 1 : end, end);
    at = skip_space(at < end && *at == ':' ? at + 1 : end, end);
    return at < end && *at == '[' ? BANK_STATIC : -1;
}

/* Damaged lines at the beginning are passed over. */
static int guess_format(const char *text, size_t length)
{
    const char *end = text + length, *at = skip_space(text, end);
    int format = at < end && *at == '[' ? BANK_TCUBETILING : -1;
    while (format < 0 && at < end) {
        if (*at == '{')
            format = format_of_object(at + 1, end);
        at = memchr(at, '\n', (size_t)(end - at));
        at = at ? skip_space(at, end) : end;
    }
    return format;
}

static enum status decide_format(struct reading *r, int format)
{
    size_t length;
    const char *text = scan_ahead(&r->scan, &length);
    int found = format == BANK_AUTO ? guess_format(text, length) : format;
    TRY(scan_check(&r->scan, r->error));
    if (found < 0)
        return error_at(r->error, r->scan.file, 1,
                        "expected a bank: JSON of one of the forms repository, static_bank, "
                        "runtime_kb, tcubetiling");
    r->format = (enum bank_format)found;
    return STATUS_OK;
}

/* ------------------------------------------------------------------ records */

/* A record that breaks a rule, told by r->error: goes on, if the reader wants that. */
static enum status report_bad(struct reading *r, enum status status)
{
    if (status != STATUS_INVALID || !r->reader->bad)
        return status;
    struct error why = *r->error;
    status = r->reader->bad(r->reader->context, r->records, r->scan.text_line, &why);
    r->stopped = status != STATUS_OK;
    return status;
}

/* The record that the scan holds. */
static enum status read_record(struct reading *r)
{
    struct bank_row row = {.format = r->format,
                           .record = r->records,
                           .line = r->scan.text_line,
                           .batch = 1,
                           .text = r->scan.text,
                           .text_length = r->scan.length,
                           .key = r->key};
    struct record record = {.file = r->scan.file,
                            .line = r->scan.text_line,
                            .number = r->records,
                            .numbered = r->format == BANK_STATIC || r->format == BANK_TCUBETILING,
                            .tilings_only = r->reader->tilings_only,
                            .error = r->error};
    enum status status = bank_parse(&record, r->scan.text, r->scan.length, &row);
    if (status != STATUS_OK)
        return report_bad(r, status);
    status = r->reader->row(r->reader->context, &row, r->error);
    r->stopped = status != STATUS_OK;
    return status;
}

static enum status count_record(struct reading *r)
{
    if (r->records == BANK_MAX_RECORDS)
        return error_at(r->error, r->scan.file, r->scan.line, "more than %d records",
                        BANK_MAX_RECORDS);
    r->records++;
    return STATUS_OK;
}

static enum status read_lines(struct reading *r)
{
    enum status status = STATUS_OK;
    while (status == STATUS_OK && scan_peek(&r->scan) != EOF) {
        bool any;
        status = count_record(r);
        if (status == STATUS_OK)
            status = scan_line(&r->scan, &any, r->error);
        status = status == STATUS_OK ? read_record(r) : report_bad(r, status);
    }
    return status;
}

/* Something other than the wanted byte. */
static enum status fail_unexpected(struct reading *r, const char *wanted)
{
    r->scan.text_line = r->scan.line;
    int byte = scan_peek(&r->scan);
    if (byte == EOF)
        return error_at(r->error, r->scan.file, r->scan.line,
                        "the file ends after record %d, expected %s", r->records, wanted);
    return error_at(r->error, r->scan.file, r->scan.line,
                    "byte 0x%02x after record %d, expected %s", byte, r->records, wanted);
}

static enum status expect_byte(struct reading *r, char byte, const char *wanted)
{
    if (scan_peek(&r->scan) != byte)
        return fail_unexpected(r, wanted);
    scan_next(&r->scan);
    return STATUS_OK;
}

/* After an entry of a list or an object: another one, or the end. */
static enum status expect_more(struct reading *r, char closing, const char *wanted, bool *more)
{
    int byte = scan_peek(&r->scan);
    *more = byte == ',';
    if (byte != ',' && byte != closing)
        return fail_unexpected(r, wanted);
    scan_next(&r->scan);
    return STATUS_OK;
}

/* The next value is a record. */
static enum status read_value(struct reading *r)
{
    TRY(count_record(r));
    TRY(scan_value(&r->scan, r->error));
    return read_record(r);
}

static enum status read_list(struct reading *r)
{
    enum status status = expect_byte(r, '[', "'['");
    bool more = status == STATUS_OK && scan_peek(&r->scan) != ']';
    if (status == STATUS_OK && !more)
        scan_next(&r->scan);
    while (more) {
        status = read_value(r);
        if (status == STATUS_OK)
            status = expect_more(r, ']', "',' or ']'", &more);
        more = more && status == STATUS_OK;
    }
    return status;
}

static enum status read_key(struct reading *r)
{
    if (scan_peek(&r->scan) != '"')
        return fail_unexpected(r, "a key");
    TRY(scan_value(&r->scan, r->error));
    json_t *key = json_loadb(r->scan.text, r->scan.length, JSON_DECODE_ANY, NULL);
    const char *text = json_string_value(key);
    free(r->key);
    r->key = text ? strdup(text) : NULL;
    json_decref(key);
    if (!text)
        return error_at(r->error, r->scan.file, r->scan.text_line, "a key that is no JSON text");
    if (json_object_get(r->keys, text ? r->key : ""))
        return error_at(r->error, r->scan.file, r->scan.text_line, "the key \"%.64s\" again",
                        r->key);
    if (!r->key || json_object_set_new(r->keys, r->key, json_true()))
        return error_memory(r->error);
    return expect_byte(r, ':', "':'");
}

static enum status read_static(struct reading *r)
{
    enum status status = expect_byte(r, '{', "'{'");
    bool more = status == STATUS_OK && scan_peek(&r->scan) != '}';
    if (status == STATUS_OK && !more)
        scan_next(&r->scan);
    while (more) {
        status = read_key(r);
        if (status == STATUS_OK)
            status = read_list(r);
        if (status == STATUS_OK)
            status = expect_more(r, '}', "',' or '}'", &more);
        more = more && status == STATUS_OK;
    }
    return status;
}

/* A list of tilings, or one after the other. */
static enum status read_tilings(struct reading *r)
{
    if (scan_peek(&r->scan) == '[')
        return read_list(r);
    while (scan_peek(&r->scan) != EOF)
        TRY(read_value(r));
    return STATUS_OK;
}

static enum status read_all(struct reading *r)
{
    static enum status (*const forms[BANK_FORMATS])(struct reading *) = {
        [BANK_REPOSITORY] = read_lines,
        [BANK_STATIC] = read_static,
        [BANK_RUNTIME_KB] = read_lines,
        [BANK_TCUBETILING] = read_tilings,
    };
    enum status status = forms[r->format](r);
    if (status == STATUS_OK && scan_peek(&r->scan) != EOF)
        status = fail_unexpected(r, "the end of the file");
    if (status == STATUS_OK)
        status = scan_check(&r->scan, r->error);
    return r->stopped ? status : report_bad(r, status);
}

enum status bank_read(const char *file, int format, const struct bank_reader *reader,
                      enum bank_format *found, struct error *error)
{
    struct error own = {0};
    struct reading *r = calloc(1, sizeof *r);
    if (!r)
        return error_memory(error);
    *r = (struct reading){.reader = reader, .keys = json_object(), .error = error ? error : &own};
    enum status status = scan_open(&r->scan, file, BANK_MAX_RECORD, r->error);
    if (status == STATUS_OK)
        status = decide_format(r, format);
    if (status == STATUS_OK && found)
        *found = r->format;
    if (status == STATUS_OK)
        status = read_all(r);
    scan_close(&r->scan);
    json_decref(r->keys);
    free(r->key);
    free(r);
    return status;
}
