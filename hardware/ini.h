/* The sections and keys of an INI file, as CANN's platform descriptions are written.
 *
 * A line is blank, a comment (its first character is # or ;), a [section], or key=value; blanks
 * around each part and a carriage return at the end do not count, nor does a byte order mark.
 * Values are whole lines: there are no quotes, no escapes and no comments behind a value, and a
 * value may be empty. Names are compared without regard to case and underscores, since old files
 * write cubeFreq for cube_freq. Call order: ini_read, the look-ups, ini_clear. */
#ifndef AUTOTUNE_HARDWARE_INI_H
#define AUTOTUNE_HARDWARE_INI_H

#include "core/status.h"

#include <stddef.h>

struct ini_section {
    const char *name;
    int line;
};

struct ini_entry {
    int section; /* index */
    const char *key, *value;
    int line;
};

struct ini {
    char *file, *text;            /* owned; what follows points into the text */
    struct ini_section *sections; /* owned */
    struct ini_entry *entries;    /* owned; in file order */
    size_t section_count, entry_count;
    int last_line;
};

/* Reads a file; *ini is zero after a failure. Every line must be well-formed, printable UTF-8 of
 * 4096 bytes at most. Only sections whose names are in `wanted` (ends with NULL) are kept; in them
 * no name may occur twice. STATUS_IO for what cannot be read, STATUS_TOO_LARGE beyond text_read's
 * limit, STATUS_INVALID with "file:line: …" for the rest. */
enum status ini_read(const char *file, const char *const *wanted, struct ini *ini,
                     struct error *error);
void ini_clear(struct ini *ini);

/* NULL when there is none. */
const struct ini_section *ini_find_section(const struct ini *ini, const char *name);
const struct ini_entry *ini_find(const struct ini *ini, const char *section, const char *key);

#endif
