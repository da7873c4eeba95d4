/* The part of a space in which some axes have one value. */
#ifndef AUTOTUNE_SEARCH_RESTRICT_H
#define AUTOTUNE_SEARCH_RESTRICT_H

#include "core/space.h"

enum { AXIS_FREE = -1 };

/* Fills *part with the tilings of `space` whose values are those of *fixed wherever these are not
 * AXIS_FREE. It borrows from both and must not be closed; its indices are its own. */
void space_restrict(const struct space *space, const struct tiling *fixed, struct space *part);

#endif
