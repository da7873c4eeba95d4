/* Bounders of several spaces of one chip; spaces whose summaries have the same layouts share one.
 *
 *   bounders_open(&bounders, spaces, count, &error)   spaces[number]
 *   bounders_of(&bounders, number)
 *   bounders_close(&bounders)                         whatever the status */
#ifndef AUTOTUNE_SEARCH_BOUNDERS_H
#define AUTOTUNE_SEARCH_BOUNDERS_H

#include "search/candidates.h"

struct bounders {
    int count;
    struct bounder *items; /* owned, as `of` */
    int *of;               /* by space */
};

enum status bounders_open(struct bounders *bounders, const struct space *const spaces[], int count,
                          struct error *error);
void bounders_close(struct bounders *bounders);

static inline const struct bounder *bounders_of(const struct bounders *bounders, int space)
{
    return &bounders->items[bounders->of[space]];
}

#endif
