/* Numbers that a user writes, read strictly: the whole text, nothing around it. */
#ifndef AUTOTUNE_CORE_NUMBER_H
#define AUTOTUNE_CORE_NUMBER_H

#include "core/status.h"

#include <stdbool.h>
#include <stdint.h>

/* Decimal digits only. STATUS_INVALID: "OPTION TEXT: expected a whole number from … to …". */
enum status number_count(const char *option, const char *text, int64_t least, int64_t largest,
                         int64_t *value, struct error *error);

/* A finite number; NaN when `text` is none. */
double number_real(const char *text);

/* Seconds, more than 0. */
enum status number_seconds(const char *option, const char *text, double *value,
                           struct error *error);

/* The shortest text that reads back as the same number. Returns `text`. */
const char *number_text(double number, char text[32]);

#endif
