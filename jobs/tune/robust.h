/* A tiling to trust: of those that the model cannot tell from the fastest, the one whose worst case
 * is least, or whose corrected time is.
 *
 * The worst case of a tiling is its time on the chip on which every uncertain number costs most
 * (jobs/tune/corner.h), times the upper end of what the model's residual lies within:
 * of the tiling's own interval where a correction was learned, else of the description's error.
 * Leaders are within the model's error of the fastest; among those whose
 * worst case is as good as the least, the most even one is chosen. That it is the best is not
 * proven, nor meant to be: the searches behind it keep their proofs.
 *
 *   robust_search(&problem, &space, cores, &choice, &options, &result, &robust, &error)
 *   robust_over(&space, &tiling, &result.best[0], &over, &error)   against another tiling
 *   robust_json(…) */
#ifndef AUTOTUNE_JOBS_TUNE_ROBUST_H
#define AUTOTUNE_JOBS_TUNE_ROBUST_H

#include "jobs/correct/correct.h"
#include "jobs/tune/corner.h"
#include "search/search.h"
#include "validate/shrink.h"

#include <jansson.h>

/* ---- leaders: the fastest tilings that a search on a chip has simulated, those of one on another
 * chip with the same space, and what a few steps from them to more even tilings lead to; each with
 * its time on both. Whoever asks orders them by a score of his own.
 *
 *   leaders_find(&space, &other, &options, share, &leaders, &error); …; leaders_clear(&leaders) */

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

/* ---- choosing */

/* A measured kernel repeats to within two percent of itself (clean rows of an Ascend 910B2 of 10 us
 * and more: 2 % in the median), so that no measurement tells worst cases apart that are nearer. */
#define ROBUST_RESOLUTION 0.02

/* By what leaders are ordered. */
struct choice {
    const struct corner *corner;         /* worst cases; NULL: corrected times */
    const struct correcting *correcting; /* NULL: none applies, which corrected times need */
};

struct robust {
    int64_t worst_fs;            /* of the chosen one at the corner; 0: by corrected times */
    double residual_factor;      /* the upper end of its residual's interval, > 0 */
    double corrected_ns;         /* of the chosen one; 0: by worst cases */
    double nominal_corrected_ns; /* of nominal_best */
    int even;                    /* criteria that it meets, of the space's `evens` */
    int64_t weighed;             /* tilings that were compared */
    struct found nominal_best;   /* the fastest on the chip as it is described */
    int64_t nominal_worst_fs;    /* at the corner */
    bool nominal_optimal;        /* proven; false when it was cut short */
    bool complete;               /* nothing was cut short, at the corner neither */
};

/* *result is that of the search on the chip as it is described, but for best[0], which is the only
 * one and the chosen one; the caller clears it. Without a legal tiling its count is 0 and *robust
 * is empty. STATUS_INVALID where a tiling's time is not that of one program. options->time_limit_s
 * is for all of it together, and `top` does not count. */
enum status robust_search(const struct problem *problem, const struct space *space, int cores,
                          const struct choice *choice, const struct search_options *options,
                          struct search_result *result, struct robust *robust, struct error *error);

/* The chosen tiling against one that is at hand. */
struct robust_over {
    struct tiling tiling;
    int64_t time_fs;
    struct shrunk gain;
};

/* Simulates `tiling`, which breaks no limit of the kernel; it need not be a point of the space. */
enum status robust_over(const struct space *space, const struct tiling *tiling,
                        const struct found *chosen, struct robust_over *over, struct error *error);

/* What the answer says of it; `over`: NULL where nothing is at hand. */
json_t *robust_json(const struct robust *robust, const struct space *space,
                    const struct corner *corner, const struct found *chosen,
                    const struct robust_over *over);

/* The same of one that was chosen by its corrected time. */
json_t *by_corrected_json(const struct robust *robust, const struct space *space,
                          const struct found *chosen);

/* One level less, for people. */
void robust_shorten(json_t *answer);

#endif
