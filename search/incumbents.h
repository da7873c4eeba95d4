/* The best times so far, and which lower bounds can still matter. */
#ifndef AUTOTUNE_SEARCH_INCUMBENTS_H
#define AUTOTUNE_SEARCH_INCUMBENTS_H

#include "core/status.h"

#include <stdbool.h>
#include <stdint.h>

struct incumbents {
    int top, count;
    bool best_only;   /* no one percent beyond the best */
    int64_t *time_fs; /* the `top` smallest, ascending; owned */
};

enum status incumbents_open(struct incumbents *incumbents, int top, bool best_only,
                            struct error *error);
void incumbents_close(struct incumbents *incumbents);
void incumbents_note(struct incumbents *incumbents, int64_t time_fs);

/* Bounds above this cannot change the answer: neither the `top` best, nor (unless best_only) the
 * number of tilings within one percent of the best. INT64_MAX until there are `top` times. */
int64_t incumbents_limit_fs(const struct incumbents *incumbents);

#endif
