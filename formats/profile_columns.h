/* Internal to formats/: what the head of a profile says, and texts of fields. */
#ifndef AUTOTUNE_FORMATS_PROFILE_COLUMNS_H
#define AUTOTUNE_FORMATS_PROFILE_COLUMNS_H

#include "formats/profile.h"

/* A field without blanks, tabs and quotation marks around it: spreadsheets are kept from rounding
 * by them. */
const char *profile_trimmed(const char *field, int *length);

/* Fills what *profile says about columns from its first record. STATUS_INVALID when that is no
 * profile's. */
enum status profile_find_columns(struct profile *profile, struct error *error);

/* "", N/A, … */
bool profile_is_absent(const char *text, int length);

#endif
