/* The bytes of a description file, and what libconfig would silently get wrong in them. */
#ifndef AUTOTUNE_HARDWARE_CONFIG_TEXT_H
#define AUTOTUNE_HARDWARE_CONFIG_TEXT_H

#include "core/status.h"

#include <stddef.h>

/* Reads a whole file, a byte order mark left out; the caller frees *text. STATUS_INVALID for what
 * is no UTF-8 by its first bytes, STATUS_IO for what is missing, unreadable or no
 * regular file, STATUS_TOO_LARGE beyond 256 KiB. */
enum status text_read(const char *file, char **text, struct error *error);

/* Refuses whole numbers that libconfig 1.5 would cut to 32 bits without a word, @include (which
 * ends the process when the file is a folder), strings without an end (it leaks them) and more
 * lines than it can count. */
enum status text_check(const char *file, const char *text, struct error *error);

/* Appends ", part" (or "part" to an empty list) as far as `size` allows. */
void text_append(char *list, size_t size, const char *part);

#endif
