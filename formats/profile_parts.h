/* Between formats/profile.c and its parts: profile_names.c knows columns by name, profile_columns.c
 * finds those of a head, profile_counters.c reads what modes count. */
#ifndef AUTOTUNE_FORMATS_PROFILE_PARTS_H
#define AUTOTUNE_FORMATS_PROFILE_PARTS_H

#include "formats/profile.h"

/* A field without blanks, tabs and quotation marks around it: spreadsheets are kept from rounding
 * by them. */
const char *profile_trimmed(const char *field, int *length);

/* Fills what *profile says about columns from its first record. STATUS_INVALID when that is no
 * profile's. */
enum status profile_find_columns(struct profile *profile, struct error *error);

/* "", N/A, … */
bool profile_is_absent(const char *text, int length);

/* What a column's name says. */
struct profile_column {
    int slot;     /* enum profile_slot */
    int mode;     /* enum profile_mode; -1: of every one */
    double scale; /* of its values */
};

/* False: the name is of no column that is looked for. */
bool profile_find_column(const char *field, struct profile_column *column);

/* A number of a column, from 0 to `largest`, scaled; -1 where there is none. */
double profile_number(const struct profile *profile, int slot, double largest, const char *expected,
                      struct profile_row *row);

/* The same of a share, which may be in percent: a little more than 1 is rounding. */
double profile_share(const struct profile *profile, int slot, struct profile_row *row);

/* Fills counters and modes of a row that has its times. */
void profile_read_counters(const struct profile *profile, struct profile_row *row);

/* Ratios are printed with few digits, and counters are read one after the other. */
#define PROFILE_ROUNDING 0.01

#endif
