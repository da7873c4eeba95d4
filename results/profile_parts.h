/* Between results/profile.c and results/profile_columns.c. */
#ifndef AUTOTUNE_RESULTS_PROFILE_PARTS_H
#define AUTOTUNE_RESULTS_PROFILE_PARTS_H

#include "results/profile.h"

/* A field without blanks, tabs and quotation marks around it: spreadsheets are kept from rounding
 * by them. */
const char *profile_trimmed(const char *field, int *length);

/* Fills what *profile says about columns from its first record. STATUS_INVALID when that is no
 * profile's. */
enum status profile_find_columns(struct profile *profile, struct error *error);

#endif
