#include "core/status.h"

#include <stdarg.h>
#include <stdio.h>

static void one_line(char *text)
{
    for (; *text; text++)
        if (*text == '\n' || *text == '\r')
            *text = ' ';
}

enum status error_set(struct error *error, enum status status, const char *format, ...)
{
    if (!error)
        return status;
    va_list list;
    va_start(list, format);
    vsnprintf(error->text, sizeof error->text, format, list);
    va_end(list);
    one_line(error->text);
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
