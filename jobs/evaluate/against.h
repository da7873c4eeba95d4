/* The incumbent's tilings against ours: every problem of a bank is tuned, and the best tiling's
 * simulated time compared with that of the tiling which the bank recorded.
 *
 *   evaluate_rows(…) gives predictions          (jobs/evaluate/evaluate.h)
 *   against_tune(&bank, predictions, hw, &options, duels, &error)
 *   against_make(&bank, predictions, hw, duels, &answer, &error) */
#ifndef AUTOTUNE_JOBS_EVALUATE_AGAINST_H
#define AUTOTUNE_JOBS_EVALUATE_AGAINST_H

#include "core/space.h"
#include "jobs/evaluate/evaluation.h"

struct against_options {
    int threads;         /* >= 1; each problem is tuned by one */
    double time_limit_s; /* for each problem */
    const volatile sig_atomic_t *stop;
    /* Called now and then by any thread, one at a time; NULL: none. */
    void (*progress)(void *context, int64_t done, int64_t total);
    void *context;
};

/* A row, and the best of its problem. A recorded tiling whose values are all on the axes is in the
 * space, itself or as the same kernel. */
struct duel {
    double best_ns; /* 0: not compared */
    bool proven;    /* nothing in the space is faster; false where the limit struck */
    bool first;     /* of the rows with its problem */
    bool even_grid; /* equal blocks on all cores: is there such a grid? */
    int off_axis;   /* the first axis that lacks the recorded tiling's value; -1: none */
    struct tiling recorded, best;
};

/* Tunes every problem with rows that have been predicted, once. Answers do not depend on threads,
 * except where the limit strikes. STATUS_NO_MEMORY and what the search cannot do. */
enum status against_tune(const struct bank *bank, const struct prediction predictions[],
                         const struct hardware *hw, const struct against_options *options,
                         struct duel duels[], struct error *error);

/* Sets *answer to an object: how often the best is better than, equal to and worse than the
 * recorded tiling, and how much is gained, as claimed and shrunk (validate/shrink.h), over all
 * rows and classes of them; the largest gains and
 * what is worse, with both tilings; all rows. The caller owns it. */
enum status against_make(const struct bank *bank, const struct prediction predictions[],
                         const struct hardware *hw, const struct duel duels[],
                         const struct against_options *options, json_t **answer,
                         struct error *error);

#endif
