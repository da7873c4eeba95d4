/* The legal tilings of a space with their lower bounds, in order of bound, then index. */
#ifndef AUTOTUNE_SEARCH_CANDIDATES_H
#define AUTOTUNE_SEARCH_CANDIDATES_H

#include "costmodel/bound.h"
#include "search/recorder.h"
#include "search/search.h"

/* More tilings than so are not listed where there is another way. */
#define LISTED_MOST ((int64_t)1 << 20)

struct candidate {
    int64_t bound_fs;
    int64_t index;
    int64_t time_fs; /* 0: not simulated */
};

struct candidates {
    int64_t count, capacity;
    struct candidate *items; /* owned */
    bool complete;           /* false: stopped before the whole space was seen */
};

/* Appends one; false without memory. */
bool candidates_push(struct candidates *candidates, struct candidate candidate);

/* By bound, then index, from number `from` on. */
void candidates_sort(struct candidates *candidates, int64_t from);

/* The bounds of a space for any number of working cores. On a processor they are the times
 * themselves. */
struct bounder {
    const struct space *space;
    int layouts;
    /* [(cores - 1) · layouts + layout], owned; NULL on a processor. Made where they are asked for
     * first, by any thread: `made` says which are. */
    struct bound_plan *plans;
    bool *made;
};

enum status bounder_open(struct bounder *bounder, const struct space *space, struct error *error);
void bounder_close(struct bounder *bounder);

const struct bound_plan *bounder_make_plan(const struct bounder *bounder, int cores, int layout);

static inline const struct bound_plan *bounder_plan(const struct bounder *bounder, int cores,
                                                    int layout)
{
    int number = (cores - 1) * bounder->layouts + layout;
    return __atomic_load_n(&bounder->made[number], __ATOMIC_ACQUIRE)
               ? &bounder->plans[number]
               : bounder_make_plan(bounder, cores, layout);
}

static inline int64_t bounder_fs(const struct bounder *bounder, const struct work *work)
{
    return bound_fs(bounder_plan(bounder, work->cores, work->layout), work);
}

/* The bound of one tiling, agreed or not; 0 where a tiling is several programs. */
int64_t bounder_tiling_fs(const struct bounder *bounder, const struct space *space,
                          const struct tiling *tiling);

/* A legal tiling with its bound. On a processor the bound is the time: what lies within a share of
 * the best is known of all. */
struct candidate candidate_of(const struct bounder *bounder, const struct space *space,
                              const struct tiling *tiling, int64_t index);

/* Bounders of several spaces of one chip, by number; spaces whose summaries have the same layouts
 * share one. To be closed whatever the status. */
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

/* All that are legal. space->stop ends it early: what was found until then is not complete. The
 * recorder's threads do it. */
enum status candidates_collect(const struct space *space, const struct bounder *bounder,
                               struct recorder *recorder, struct candidates *candidates,
                               struct error *error);

/* The first legal tiling alone, where candidates_collect was stopped before it had any. */
enum status candidates_collect_first(const struct space *space, const struct bounder *bounder,
                                     struct candidates *candidates, struct error *error);

#endif
