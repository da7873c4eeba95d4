#include "core/status.h"

#include "core/utf8.h"

#include <stdarg.h>
#include <stdio.h>

enum status error_set(struct error *error, enum status status, const char *format, ...)
{
    if (!error)
        return status;
    va_list list;
    va_start(list, format);
    vsnprintf(error->text, sizeof error->text, format, list);
    va_end(list);
    utf8_show(error->text); /* it quotes what files say */
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
