/* Errors as one line of text, and of a text that was read the line that it is about, with a caret
 * below; of a long one what is around the caret, cut between two characters. */
#include "core/status.h"

#include "core/utf8.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum status error_set(struct error *error, enum status status, const char *format, ...)
{
    if (!error)
        return status;
    va_list list;
    va_start(list, format);
    vsnprintf(error->text, sizeof error->text, format, list);
    va_end(list);
    utf8_show(error->text); /* it quotes what files say */
    error->excerpt[0] = '\0';
    error->status = status;
    return status;
}

enum status error_at(struct error *error, const char *file, int line, const char *format, ...)
{
    if (!error)
        return STATUS_INVALID;
    char text[sizeof error->text];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (line > 0)
        return error_set(error, STATUS_INVALID, "%s:%d: %s", file, line, text);
    return error_set(error, STATUS_INVALID, "%s: %s", file, text);
}

/* ------------------------------------------------------------------ memory */

static atomic_bool was_short;

void memory_note_short(void)
{
    was_short = true;
}

bool memory_was_short(void)
{
    return was_short;
}

/* ------------------------------------------------------------------ where it is */

/* Where the character begins that has so many before it. */
static size_t find_column(const char *line, size_t length, int column)
{
    size_t at = 0;
    while (at < length && column-- > 0) {
        size_t bytes = utf8_character(line + at, length - at);
        at += bytes ? bytes : 1;
    }
    return at;
}

void error_show(struct error *error, const char *line, size_t length, size_t at)
{
    char shown[4 * ERROR_COLUMNS + 1];
    at = at < length ? at : length;
    int all = utf8_put_line(line, length, NULL), column = utf8_put_line(line, at, NULL);
    int first = column - ERROR_COLUMNS / 2;
    first = first > all - ERROR_COLUMNS ? all - ERROR_COLUMNS : first;
    first = first < 0 ? 0 : first;
    const char *before = first > 0 ? "..." : "";
    const char *behind = first + ERROR_COLUMNS < all ? "..." : "";
    size_t from = find_column(line, length, first + (int)strlen(before));
    size_t to = find_column(line, length, first + ERROR_COLUMNS - (int)strlen(behind));
    if (!error || !length)
        return;
    for (size_t i = 0; i < to - from; i++)
        shown[i] = (char)(line[from + i] == '\t' ? ' ' : line[from + i] ? line[from + i] : '?');
    shown[to - from] = '\0';
    utf8_show(shown);
    snprintf(error->excerpt, sizeof error->excerpt, "  %s%s%s\n  %*s^", before, shown, behind,
             column - first, "");
}
