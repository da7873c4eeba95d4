/* The best times so far, and which lower bounds can still matter. */
#ifndef AUTOTUNE_SEARCH_LEADERS_H
#define AUTOTUNE_SEARCH_LEADERS_H

#include "core/status.h"

#include <stdbool.h>
#include <stdint.h>

struct leaders {
    int top, count;
    bool best_only;   /* no one percent beyond the best */
    int64_t *time_fs; /* the `top` smallest, ascending; owned */
};

enum status leaders_open(struct leaders *leaders, int top, bool best_only, struct error *error);
void leaders_close(struct leaders *leaders);
void leaders_note(struct leaders *leaders, int64_t time_fs);

/* Bounds above this cannot change the answer: neither the `top` best, nor (unless best_only) the
 * number of tilings within one percent of the best. INT64_MAX until there are `top` times. */
int64_t leaders_limit_fs(const struct leaders *leaders);

#endif
