/* Where an error about a kernel is: its file, line and column in one line of words, and the line
 * itself with a caret, which error_show cuts. Lines are looked for in the text, for there is one
 * error a kernel. */
#include "kernels/text/kernel_parser.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

const char *kernel_source_line(const struct kernel_text *kernel, int number, int *length)
{
    const char *line = kernel->source, *end = line + kernel->source_bytes, *newline;
    for (int n = 1; n < number && line < end; n++) {
        newline = memchr(line, '\n', (size_t)(end - line));
        line = newline ? newline + 1 : end;
    }
    newline = memchr(line, '\n', (size_t)(end - line));
    *length = (int)((newline ? newline : end) - line);
    if (*length && line[*length - 1] == '\r')
        --*length;
    return line;
}

static void show_line(const struct kernel_text *kernel, struct kernel_place at, struct error *error)
{
    int length;
    const char *line = kernel_source_line(kernel, at.line, &length);
    error_show(error, line, (size_t)length, (size_t)at.column - 1);
}

enum status kernel_fail(const struct kernel_parser *parser, enum status status,
                        struct kernel_place at, const char *format, ...)
{
    char text[sizeof parser->error->text];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    error_set(parser->error, status, "%s:%d:%d: %s", parser->kernel->file, at.line, at.column,
              text);
    show_line(parser->kernel, at, parser->error);
    return status;
}

/* A number above 0 with a colon behind it. */
static const char *take_number(const char *text, int *number)
{
    char *end;
    long value = strtol(text, &end, 10);
    *number = (int)value;
    return end > text && *end == ':' && value > 0 && value <= KERNEL_MAX_BYTES ? end + 1 : NULL;
}

enum status kernel_text_locate(const struct kernel_text *kernel, enum status status,
                               struct error *error)
{
    struct kernel_place at;
    if (status == STATUS_OK || !error)
        return status;
    char text[sizeof error->text];
    memcpy(text, error->text, sizeof text);
    const char *rest = take_number(text, &at.line);
    rest = rest ? take_number(rest, &at.column) : NULL;
    if (!rest)
        return status;
    error_set(error, status, "%s:%s", kernel->file, text);
    show_line(kernel, at, error);
    return status;
}
