/* The tilings of an answer as the tables that operator libraries load (formats/bank_write.h). */
#ifndef AUTOTUNE_JOBS_TUNE_EXPORT_H
#define AUTOTUNE_JOBS_TUNE_EXPORT_H

#include "core/operator.h"
#include "core/status.h"
#include "results/format.h"

#include <stdio.h>

/* Can tilings of this space be written? STATUS_INVALID says what can. */
enum status export_check(const struct space *space, struct error *error);

struct export_source {
    const struct problem *problem;
    const struct space *space;
    const struct search_result *search; /* with a tiling at least */
    const char *title;
};

/* Tilings that the form has no words for are left out; STATUS_INVALID, and why, where it has none
 * for any of them. */
enum status export_write(const struct export_source *source, const struct format *format, FILE *out,
                         int *left_out, struct error *error);

/* One tiling of a table of many problems; the problem is the caller's. */
struct export_row {
    const struct operator_bank *bank; /* of its space */
    const struct problem *problem;
    struct tiling tiling;
    double simulated_ns;
};

/* STATUS_INVALID: the tables do not hold tilings of `what`, and whose they hold. */
enum status export_refuse(struct error *error, const char *what);

/* Writes tilings as they come; count >= 1, and those without words as above. `title` is a line for
 * what has a comment, `origin` says where a table is from (formats/bank_write.h); either may be
 * NULL. */
enum status export_write_rows(const struct export_row *tilings, int count, const char *title,
                              const char *origin, const struct format *format, FILE *out,
                              int *left_out, struct error *error);

#endif
