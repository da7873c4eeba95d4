/* Bytes come through a window of 64 KiB. A value ends where its brackets close, with strings and
 * escapes tracked; a number or word ends at what may follow it. */
#include "formats/bank_scan.h"

#include "core/array.h"
#include "core/utf8.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Is there a byte at hand, or can one be read? */
static bool fill(struct scan *scan)
{
    if (scan->at < scan->filled)
        return true;
    scan->at = 0;
    scan->filled = fread(scan->ahead, 1, sizeof scan->ahead, scan->in);
    return scan->filled > 0;
}

enum status scan_open(struct scan *scan, const char *file, size_t limit, struct error *error)
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
    fill(scan);
    return utf8_begin(scan->file, scan->ahead, scan->filled, &scan->at, error);
}

void scan_close(struct scan *scan)
{
    if (scan->in && scan->in != stdin)
        fclose(scan->in);
    free(scan->text);
}

const char *scan_ahead(struct scan *scan, size_t *length)
{
    *length = fill(scan) ? scan->filled - scan->at : 0;
    return scan->ahead + scan->at;
}

static int look(struct scan *scan)
{
    return fill(scan) ? (unsigned char)scan->ahead[scan->at] : EOF;
}

static int take(struct scan *scan)
{
    int byte = look(scan);
    scan->at += byte != EOF;
    scan->line += byte == '\n';
    return byte;
}

static bool is_space(int byte)
{
    return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r';
}

int scan_peek(struct scan *scan)
{
    while (is_space(look(scan)))
        take(scan);
    return look(scan);
}

int scan_next(struct scan *scan)
{
    scan_peek(scan);
    return take(scan);
}

enum status scan_check(const struct scan *scan, struct error *error)
{
    if (!ferror(scan->in))
        return STATUS_OK;
    return error_set(error, STATUS_IO, "%s: cannot read it", scan->file);
}

static bool append(struct scan *scan, int byte)
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

enum status scan_line(struct scan *scan, bool *any, struct error *error)
{
    *any = scan_peek(scan) != EOF;
    scan->text_line = scan->line;
    scan->length = 0;
    bool fits = true;
    for (int byte; *any && (byte = look(scan)) != EOF && byte != '\n'; take(scan)) {
        fits = fits && scan->length < scan->limit;
        if (fits && !append(scan, byte))
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
static bool completes(struct nesting *n, int byte)
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

enum status scan_value(struct scan *scan, struct error *error)
{
    struct nesting nesting = {0};
    int first = scan_peek(scan);
    bool word = first != '{' && first != '[' && first != '"', complete = false;
    scan->text_line = scan->line;
    scan->length = 0;
    while (!complete && look(scan) != EOF && !(word && ends_word(look(scan)))) {
        int byte = take(scan);
        if (scan->length >= scan->limit)
            return too_long(scan, error);
        if (!append(scan, byte))
            return error_memory(error);
        complete = !word && completes(&nesting, byte);
    }
    if (ferror(scan->in))
        return scan_check(scan, error);
    if (complete || (word && scan->length > 0))
        return STATUS_OK;
    return error_at(error, scan->file, scan->text_line, "%s, expected a JSON value",
                    look(scan) == EOF ? "the file ends within it" : "there is none");
}
