/* Internal to formats/: one JSON record as a bank's row, by format. */
#ifndef AUTOTUNE_FORMATS_BANK_PARSE_H
#define AUTOTUNE_FORMATS_BANK_PARSE_H

#include "core/status.h"
#include "formats/bank_row.h"

struct record {
    const char *file;
    int line, number;
    bool numbered;     /* the line alone does not say which record it is */
    bool tilings_only; /* the problem's sizes may be missing */
    struct error *error;
};

/* Reads a row of row->format from the text of its record. STATUS_INVALID with "file:line: what". */
enum status bank_parse(struct record *r, const char *text, size_t length, struct bank_row *row);

#endif
