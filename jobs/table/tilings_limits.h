/* What lets the header of a table re-check its tilings for other shapes. */
#ifndef AUTOTUNE_JOBS_TABLE_TILINGS_LIMITS_H
#define AUTOTUNE_JOBS_TABLE_TILINGS_LIMITS_H

#include "jobs/table/tilings.h"
#include "kernels/limits_code.h"

/* Of all parts of a table, by their number. */
struct tilings_limits {
    int part_count;
    struct part_limits {
        struct limits_code code;
        struct table_limits *list;
    } * parts;
};

/* Fills the parts' limits and the entries'. `parts` and `entries` are those of the tilings, in
 * their order. `why` says why none of a kernel's text can be checked, "" where they can.
 * *limits is cleared after the table is written, whatever the status. */
enum status tilings_limits_make(const struct tilings *tilings, const char *prefix,
                                struct table_part *parts, int part_count,
                                struct table_entry *entries, struct tilings_limits *limits,
                                char why[TABLE_WHY_SIZE], struct error *error);
void tilings_limits_clear(struct tilings_limits *limits);

#endif
