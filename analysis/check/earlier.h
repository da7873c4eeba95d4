/* What an access comes after though later accesses of the same pipe are not in order with it: the
 * last events of each pipe, to be looked through backwards. */
#ifndef AUTOTUNE_ANALYSIS_CHECK_EARLIER_H
#define AUTOTUNE_ANALYSIS_CHECK_EARLIER_H

#include "analysis/check/pair.h"

enum { EARLIER_MAX = 1 << 16 }; /* events kept, a pipe */

struct earlier_event;

struct earlier {
    const struct program *program;
    struct {
        struct earlier_event *events; /* owned: a ring */
        size_t count, capacity;       /* all events so far; a power of two */
    } pipes[HARDWARE_MAX_PIPES];
    int64_t budget; /* of events to look at */
};

void earlier_init(struct earlier *earlier, const struct program *program);
void earlier_clear(struct earlier *earlier);

/* Keeps an event that touches memory. */
enum status earlier_add(struct earlier *earlier, const struct event *event, struct error *error);

/* Of the events of `pipe` with numbers in (after, last]: the last one that conflicts with this
 * event, on operands that are `watched`, into *found; where both touch, into *address. Returns the
 * number up to which nothing can be said, because it is too long ago; 0: all was looked at. */
uint32_t earlier_find(struct earlier *earlier, const struct event *event, int pipe, uint32_t after,
                      const bool *watched, struct pair *found, int64_t *address);

#endif
