/* The bytes of a description file, and what libconfig would silently get wrong in them. */
#ifndef AUTOTUNE_HARDWARE_TEXT_H
#define AUTOTUNE_HARDWARE_TEXT_H

#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>

/* Reads a whole file; the caller frees *text. STATUS_IO for what is missing, unreadable or no
 * regular file, STATUS_TOO_LARGE beyond 256 KiB. */
enum status text_read(const char *file, char **text, struct error *error);

/* Refuses whole numbers that libconfig 1.5 would cut to 32 bits without a word, @include (which
 * ends the process when the file is a folder), strings without an end (it leaks them) and more
 * lines than it can count. */
enum status text_check(const char *file, const char *text, struct error *error);

/* Appends ", part" (or "part" to an empty list) as far as `size` allows. */
void text_append(char *list, size_t size, const char *part);

/* Well-formed UTF-8 without control characters, so that it may go to a terminal or into JSON. */
bool text_is_printable(const char *text);

#endif
