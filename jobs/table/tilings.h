/* The best tiling of each shape in a store, and the tables made of them.
 *
 *   tilings_read(file, &filter, &tilings, &error)
 *   tilings_write(&tilings, &about, &formats[FORMAT_C], out, &error)
 *   tilings_clear(&tilings) */
#ifndef AUTOTUNE_JOBS_TABLE_TILINGS_H
#define AUTOTUNE_JOBS_TABLE_TILINGS_H

#include "formats/table.h"
#include "jobs/tune/export.h"
#include "jobs/tune/kernels.h"
#include "results/store_rows.h"

/* One shape's best tiling. */
struct best_tiling {
    struct problem problem;
    const char *space, *tiling;
    double time_ns;
    bool optimal;
};

struct tilings {
    struct store_rows rows; /* which hold the texts */
    int64_t count;
    struct best_tiling *best; /* by operator, element type, choices, sizes; all different */
    enum store_kind kind;
    const char *hardware, *fingerprint;
    int cores;
    int64_t infeasible;           /* shapes' results without a legal tiling, left out */
    int64_t outdated;             /* simulated results of other model versions, left out */
    int64_t of_kind[STORE_KINDS]; /* results that the filter lets pass, whatever its kind */
};

/* Opens the store and takes the fastest of each operator, element type, options and shape among the
 * rows that the filter lets pass; of equally fast ones a proven one, then the first by its tiling.
 * Without a kind in the filter: simulated. Kernels' texts are those that were read, or are found by
 * name, and stay with `kernels`. Nothing found is count = 0, not an error. STATUS_INVALID
 * where rows are of several chips, numbers of cores, or spaces of one operator (the text names
 * them), or where a row is no problem that this program has. */
enum status tilings_read(const char *file, const struct store_filter *filter,
                         struct kernels *kernels, struct tilings *tilings, struct error *error);
void tilings_clear(struct tilings *tilings);

/* What a table says of itself. */
struct table_about {
    const char *version, *command, *prefix;
};

/* What there is to say beside a table. */
enum { TABLE_WHY_SIZE = 200 };
struct table_remarks {
    int left_out;                   /* tilings that a library's form has no words for */
    char unchecked[TABLE_WHY_SIZE]; /* why the header can re-check none of a kernel's text; or "" */
};

/* Needs count >= 1. Of a library's form: STATUS_INVALID where it has no words for any tiling, or
 * one is of a space that has no such rows. */
enum status tilings_write(const struct tilings *tilings, const struct table_about *about,
                          const struct format *format, FILE *out, struct table_remarks *remarks,
                          struct error *error);

#endif
