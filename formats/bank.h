/* Banks of tuned kernels, read record by record: memory is bounded by the largest record (and, in
 * a static bank, by its keys), whatever the file's size.
 *
 * Errors say "file:line: what, and what was expected"; where several records may stand in a line,
 * "file:line: record N: what". */
#ifndef AUTOTUNE_FORMATS_BANK_H
#define AUTOTUNE_FORMATS_BANK_H

#include "core/status.h"
#include "formats/bank_row.h"

enum {
    BANK_AUTO = BANK_FORMATS,    /* by the file's first bytes */
    BANK_MAX_RECORD = 1 << 20,   /* bytes of one record */
    BANK_MAX_RECORDS = 10000000, /* of one file */
};

/* "repository", "static_bank", "runtime_kb", "tcubetiling". */
extern const char *const bank_format_names[BANK_FORMATS];

struct bank_reader {
    /* Called for every row, in order. The row, its text and key are valid during the call. Any
     * status but STATUS_OK ends the reading. */
    enum status (*row)(void *context, const struct bank_row *row, struct error *error);
    /* Called for a record that breaks a rule (0: what stands before the first), with the error's
     * text; what it returns ends the reading unless STATUS_OK. NULL: the first such record ends the
     * reading with its error. Damage that leaves open where the next record starts is the last
     * record that is looked at. */
    enum status (*bad)(void *context, int record, int line, const struct error *why);
    void *context;
    bool tilings_only; /* of runtime_kb: the problem's sizes and types may be missing */
};

/* Reads a bank; "-" is the standard input. `format` is one of enum bank_format or BANK_AUTO, and
 * *found (or NULL) is what it was. STATUS_INVALID for a record that breaks a rule, or for a file
 * that is no bank; STATUS_IO when it cannot be read. */
enum status bank_read(const char *file, int format, const struct bank_reader *reader,
                      enum bank_format *found, struct error *error);

#endif
