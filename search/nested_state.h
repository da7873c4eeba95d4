/* Internal to the search by prefixes (search/nested.h): what is open, and what is known of all that
 * is not. */
#ifndef AUTOTUNE_SEARCH_NESTED_STATE_H
#define AUTOTUNE_SEARCH_NESTED_STATE_H

#include "search/roots.h"
#include "search/strategy.h"
#include "search/tally.h"

struct nested {
    struct prefix_levels levels;
    struct heap open[PREFIX_MAX_LEVELS];
    struct search_level done[PREFIX_MAX_LEVELS];
    struct roots roots;
    int batches;        /* that were observed before the roots' leaves were counted */
    int64_t seeds;      /* that were simulated before anything was opened */
    struct tally tally; /* legal tilings that are no longer open, by their bound */
};

/* Adds how many tilings are, and may be, within a share of the best. */
void nested_count_within(const struct search_run *run, struct within *within, double share,
                         int64_t best_fs);

#endif
