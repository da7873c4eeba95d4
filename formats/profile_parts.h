/* Between formats/profile.c and formats/profile_columns.c. */
#ifndef AUTOTUNE_FORMATS_PROFILE_PARTS_H
#define AUTOTUNE_FORMATS_PROFILE_PARTS_H

#include "formats/profile.h"

/* A field without blanks, tabs and quotation marks around it: spreadsheets are kept from rounding
 * by them. */
const char *profile_trimmed(const char *field, int *length);

/* Fills what *profile says about columns from its first record. STATUS_INVALID when that is no
 * profile's. */
enum status profile_find_columns(struct profile *profile, struct error *error);

#endif
