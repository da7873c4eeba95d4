/* Two lists of the same things, of which some may be missing, doubled or at another place. */
#ifndef AUTOTUNE_FORMATS_ALIGN_H
#define AUTOTUNE_FORMATS_ALIGN_H

#include "core/status.h"

#include <stdbool.h>

/* Which item of `a` each item of `b` is: match[i] of 0 to a_count - 1, no item twice, or -1. Things
 * are numbered from 0 to key_count - 1; what is -1 is like nothing else. Of each thing as many are
 * matched as both lists have; where one has more of them than the other, those between the same
 * neighbours. moved[i]: the item stands elsewhere than in `a`; of all choices the one with the
 * fewest. STATUS_NO_MEMORY. */
enum status list_align(const int *a, int a_count, const int *b, int b_count, int key_count,
                       int *match, bool *moved, struct error *error);

#endif
