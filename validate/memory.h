/* Memory that may be taken, asked before it is: systems give out more than there is, and end the
 * program that uses it. */
#ifndef AUTOTUNE_VALIDATE_MEMORY_H
#define AUTOTUNE_VALIDATE_MEMORY_H

#include "core/status.h"

#include <stdint.h>

/* Bytes that this process may still take: what the system can free, within the limits of its
 * control group and of itself. INFINITY where nobody knows. */
double memory_available(void);

/* STATUS_NO_MEMORY with "CONTENTS need 3.7 TiB, 12 GiB are available" where they do not fit. */
enum status memory_require(const char *contents, double bytes, struct error *error);

/* So many floats, at the start of a cache line; NULL without memory; to be freed by free. */
float *memory_floats(int64_t rows, int64_t columns);

#endif
