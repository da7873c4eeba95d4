/* Banks out: rows that were read are written as they stood, new ones (row->text = NULL) in the
 * same form.
 *
 * What no one but the vendor can fill in is written as it is when unused, so that a table remains
 * loadable: in runtime_kb `id` 0 (a hash that is not published), l2MTileCnt … l2IterateOrder
 * 1, 1, all blocks, all blocks, 0 and tilingEnable 0; in static_bank a key of 32 zeros. */
#ifndef AUTOTUNE_FORMATS_BANK_WRITE_H
#define AUTOTUNE_FORMATS_BANK_WRITE_H

#include "core/status.h"
#include "formats/bank_row.h"

#include <stdio.h>

struct bank_export {
    const struct bank_row *rows;
    int count;
    const double *simulated_ns; /* of each row, or NULL: static_bank's cost_time, marked as such */
    const char *title;  /* one line for the header's comment: the problem, the chip; NULL: none */
    const char *origin; /* one line: the program, chip and command of a table of many problems;
                           NULL: none. A comment of the header, and where there is no room for one
                           a member "autotune" at the end of each record of runtime_kb */
};

typedef enum status bank_writer(const struct bank_export *bank, FILE *out, struct error *error);

/* JSON lines; rows of BANK_RUNTIME_KB. */
bank_writer bank_write_runtime_kb;

/* One object; rows of BANK_STATIC, those of one key together. */
bank_writer bank_write_static;

/* An object with the 50 fields in order, or a list of several; rows of BANK_TCUBETILING. */
bank_writer bank_write_tcubetiling_json;

/* The same as a header for C99 and C++11 that needs nothing but <stdint.h>. */
bank_writer bank_write_tcubetiling_header;

#endif
