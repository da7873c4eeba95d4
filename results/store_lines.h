/* A file of exported results: what store_export_row writes, a line a row. Every line is checked as
 * a whole before anything of it counts. */
#ifndef AUTOTUNE_RESULTS_STORE_LINES_H
#define AUTOTUNE_RESULTS_STORE_LINES_H

#include "results/store_rows.h"

enum { STORE_MAX_LINE_BYTES = 1 << 26 };

/* Reads a file ("-": the standard input) and calls visit for each row. STATUS_INVALID with
 * "file:line: what, and what was expected"; STATUS_IO. */
enum status store_lines_read(const char *file,
                             enum status (*visit)(void *context, const struct store_row *row,
                                                  struct error *error),
                             void *context, struct error *error);

/* Would every line be taken? */
enum status store_lines_check(const char *file, struct error *error);

#endif
