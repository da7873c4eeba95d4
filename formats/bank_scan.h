/* Internal to formats/: cuts a file of JSON into records without holding more than one.
 *
 * A value is cut by its brackets only; whether it is JSON is for jansson to say, so that there is
 * one judge of that. */
#ifndef AUTOTUNE_FORMATS_BANK_SCAN_H
#define AUTOTUNE_FORMATS_BANK_SCAN_H

#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { SCAN_AHEAD = 1 << 16 };

struct scan {
    FILE *in;
    const char *file;
    size_t limit; /* bytes of a record */
    size_t at, filled;
    int line;   /* of the next byte, from 1 */
    char *text; /* the record, with a NUL behind it; owned: scan_close */
    size_t length;
    int64_t capacity;
    int text_line; /* where it starts */
    char ahead[SCAN_AHEAD];
};

/* "-" is the standard input. */
enum status scan_open(struct scan *scan, const char *file, size_t limit, struct error *error);
void scan_close(struct scan *scan);

/* The bytes that can be seen without moving on: a full buffer unless the file is shorter. */
const char *scan_ahead(struct scan *scan, size_t *length);

/* The next byte that is no white space; EOF at the end. scan_next takes it, scan_peek does not. */
int scan_peek(struct scan *scan);
int scan_next(struct scan *scan);

/* Takes the next line that is not blank. *any is false at the end of the file. A line beyond the
 * limit is skipped, and is STATUS_INVALID. */
enum status scan_line(struct scan *scan, bool *any, struct error *error);

/* Takes the next value. STATUS_INVALID when it does not end or is beyond the limit. */
enum status scan_value(struct scan *scan, struct error *error);

/* Did reading fail, in contrast to the file's end? */
enum status scan_check(const struct scan *scan, struct error *error);

#endif
