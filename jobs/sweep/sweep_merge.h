/* Joining stores: those of a sweep's shards, or any others. */
#ifndef AUTOTUNE_JOBS_SWEEP_SWEEP_MERGE_H
#define AUTOTUNE_JOBS_SWEEP_SWEEP_MERGE_H

#include "core/status.h"

#include <stdint.h>

struct merge_counts {
    int64_t rows;           /* read */
    int64_t added;          /* to the store */
    int64_t duplicates;     /* were in it already, by another of the stores or before */
    int64_t better;         /* of these: say more than what was there (a proof, a longer limit) */
    int64_t measured_twice; /* of these: other measurements of the same; one of them is kept */
};

/* Puts all results of the stores into `into`, which is made where there is none, in one
 * transaction: all or nothing. Of two results of a question the one that says more is kept
 * (job_row_says_more), whatever the order of the stores. STATUS_INVALID: one of them holds results
 * of another version of the model (store gc drops these), two say different things of the same
 * question, or one is `into` itself; STATUS_IO. */
enum status merge_stores(const char *into, const char *const files[], int count,
                         struct merge_counts *counts, struct error *error);

#endif
