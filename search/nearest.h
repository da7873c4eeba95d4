/* The legal tiling that is nearest to one that is not: fewest values changed, then least change
 * (enumerations count 1, numbers the difference in elements), then smallest index. */
#ifndef AUTOTUNE_SEARCH_NEAREST_H
#define AUTOTUNE_SEARCH_NEAREST_H

#include "core/operator.h"
#include "core/status.h"

/* *found is false when the space has no legal tiling; or, where it is too large to list, when none
 * was found among the 20 million prefixes of tilings that are looked at, in order of changes. */
enum status search_nearest(const struct space *space, const struct tiling *wanted,
                           struct tiling *nearest, bool *found, struct error *error);

#endif
