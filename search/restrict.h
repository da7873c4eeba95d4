/* The part of a space in which some axes have one value. */
#ifndef AUTOTUNE_SEARCH_RESTRICT_H
#define AUTOTUNE_SEARCH_RESTRICT_H

#include "core/space.h"

/* Fills *part with the tilings of `space` whose values are those of *fixed wherever these are not
 * AXIS_FREE. It borrows from both; its indices are its own. The caller clears it, and must not
 * close it. Of a kind that has any_value space_open_at makes such a space, whose blocks these
 * kinds know. */
enum status space_restrict(const struct space *space, const struct tiling *fixed,
                           struct space *part, struct error *error);
void space_restrict_clear(struct space *part);

#endif
