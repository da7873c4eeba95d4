/* The leaders of a space: the fastest tilings that a search on a chip has simulated, those of one
 * on another chip with the same space, and what a few steps from them to more even tilings lead to;
 * each with its time on both. Whoever asks orders them by a score of his own: by their worst case
 * (jobs/tune/robust.h), or by a time that something else predicts.
 *
 *   leaders_find(&space, &other, &options, share, &leaders, &error); …; leaders_clear(&leaders) */
#ifndef AUTOTUNE_JOBS_TUNE_LEADERS_H
#define AUTOTUNE_JOBS_TUNE_LEADERS_H

#include "search/search.h"

enum {
    LEADERS_PROVEN = 32,    /* the fastest of each search, which it proves to be that */
    LEADERS_SEARCHED = 200, /* at most, of each search */
};

struct leader {
    int64_t index; /* in the space, as its tiling */
    struct tiling tiling;
    int64_t time_fs;  /* on the chip */
    int64_t other_fs; /* on the other one; 0: there is none */
    unsigned even;    /* of struct operator_space */
    double score;     /* by which whoever asks orders them; 0 until then */
};

struct leaders {
    int64_t count, capacity;
    struct leader *items;        /* ascending time, then index; owned */
    struct search_result search; /* on the chip, with the seconds of all of it; owned */
    bool complete;               /* nothing was cut short, on either chip */
};

/* `other` is the space of the same problem on a chip with the same buffers; NULL: none. Leaders are
 * within this share of the best time on the chip; the best is always one. The options' `top` does
 * not count; time_limit_s is for all of it together. Without a legal
 * tiling there are no leaders. STATUS_INVALID where a tiling's time is not that of one program. */
enum status leaders_find(const struct space *space, const struct space *other,
                         const struct search_options *options, double share,
                         struct leaders *leaders, struct error *error);
void leaders_clear(struct leaders *leaders);

/* How many criteria a tiling meets, of struct operator_space's `even`. */
int even_count(unsigned even);

#endif
