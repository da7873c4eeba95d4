/* The files of one run: which it reads, which it writes, and which are its stores.
 *
 *   files_note(&files, FILE_WRITTEN, "--trace", path)    every file, as soon as its name is known
 *   cli_check_files(&common)                             before the work, and before any is touched
 *   files_write(&files, path, text, length, &error)      of those noted as written
 *   cli_close(&common)
 *
 * No file that is written may be one that is read, belong to a store, or be written twice, by
 * whatever name: links, other spellings and /dev/fd lead to the same file. */
#ifndef AUTOTUNE_CLI_FILES_H
#define AUTOTUNE_CLI_FILES_H

#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum file_use { FILE_READ, FILE_STORE, FILE_WRITTEN };

struct file_entry; /* of files.c */

struct files {
    struct file_entry *entries;
    size_t count;
};

/* Notes a file; the name is copied. `option` is what a file that is written is asked for by, such
 * as "--trace": the last name that it is given counts, NULL for none. "-" is the standard input
 * where a file is read. */
void files_note(struct files *files, enum file_use use, const char *option, const char *path);

/* Replaces a file that was noted, or the one that a link names, as a whole: it has all of the text,
 * or what it had. A device or pipe is written to, and what is open already (/dev/fd/3) at its end.
 * The same of what a function puts out, which returns false where it cannot. */
enum status files_write(const struct files *files, const char *path, const char *text,
                        size_t length, struct error *error);
enum status files_write_by(const struct files *files, const char *path,
                           bool (*put)(const void *context, FILE *out), const void *context,
                           struct error *error);

/* A file without a name in $TMPDIR, or /tmp; ends the program where it cannot be made. */
FILE *files_temporary(void);

#endif
