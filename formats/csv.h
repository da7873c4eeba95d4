/* Comma-separated values, a record at a time (RFC 4180: fields may stand in quotation marks, with
 * commas, line ends and doubled marks inside).
 *
 * Call order: csv_open, csv_next until it finds no more, csv_close. A byte order mark, blank lines
 * and carriage returns at line ends are skipped. Memory does not grow with the file. Whoever can do
 * without a broken record calls csv_skip after csv_next has refused it, and goes on. */
#ifndef AUTOTUNE_FORMATS_CSV_H
#define AUTOTUNE_FORMATS_CSV_H

#include "core/status.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { CSV_MAX_FIELDS = 256, CSV_MAX_RECORD_BYTES = 65536 };

struct csv {
    const char *file; /* for messages; the caller's */
    FILE *stream;
    int next_line;
    int line; /* where the record begins, from 1 */
    int field_count;
    const char *fields[CSV_MAX_FIELDS]; /* into text; valid until the next call */
    char *text;                         /* owned */
    /* What was read of the file, from the record's first byte on. */
    unsigned char *read; /* owned */
    int start, at, end;  /* of the record, of the next byte, of what was read */
};

/* STATUS_IO when the file cannot be opened. After a failure there is nothing to close. */
enum status csv_open(const char *file, struct csv *csv, struct error *error);

/* Reads a record; *found is false at the end of the file. STATUS_INVALID with "file:line: …" for
 * quotation marks that do not match, zero bytes and what exceeds the limits; STATUS_IO. */
enum status csv_next(struct csv *csv, bool *found, struct error *error);

/* After csv_next has returned STATUS_INVALID: the next record begins on the line after the one
 * where the refused record begins, whatever its quotation marks took in. */
void csv_skip(struct csv *csv);
void csv_close(struct csv *csv);

/* Where in the file the record at hand begins, and reading goes on from such a place, which is that
 * of a line. STATUS_IO: it is no file that can be read twice. */
int64_t csv_place(const struct csv *csv);
enum status csv_seek(struct csv *csv, int64_t place, int line, struct error *error);

/* Where the column of this name stands in the record at hand, a header; -1: nowhere. STATUS_INVALID
 * where it stands twice. */
enum status csv_find(const struct csv *csv, const char *name, int *place, struct error *error);

/* STATUS_INVALID about the record at hand: "file:line: …". */
enum status csv_wrong(const struct csv *csv, struct error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* What a field may show of itself in a message: one line, cut to `copy`. */
enum { CSV_SHOWN_SIZE = 40 };
const char *csv_shown(const char *field, char copy[CSV_SHOWN_SIZE]);

/* Writes a text as one cell: in quotation marks where it needs them, '?' for what is not shown, and
 * with an apostrophe before what a spreadsheet would take for a formula. */
void csv_put(const char *text, FILE *out);

#endif
