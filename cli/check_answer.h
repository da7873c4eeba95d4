/* What `autotune check` answers about a program. */
#ifndef AUTOTUNE_CLI_CHECK_ANSWER_H
#define AUTOTUNE_CLI_CHECK_ANSWER_H

#include "analysis/check/check.h"
#include "formats/text.h"

#include <stdio.h>

/* One line a finding; with `verbose`, its witness in indented lines below. */
void check_write_table(const char *file, const struct program *program, const struct check *check,
                       bool verbose, const struct style *style, FILE *out);

enum status check_write_json(const char *file, const struct program *program,
                             const struct check *check, FILE *out, struct error *error);

#endif
