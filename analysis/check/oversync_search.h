/* The search behind analysis/check/oversync.h, on a program that has been executed. */
#ifndef AUTOTUNE_ANALYSIS_CHECK_OVERSYNC_SEARCH_H
#define AUTOTUNE_ANALYSIS_CHECK_OVERSYNC_SEARCH_H

#include "analysis/check/execution.h"
#include "analysis/check/oversync.h"

/* After execution_run. The caller owns *found. */
enum status oversync_search(struct execution *execution, struct oversync *found,
                            struct error *error);

/* Adds a finding for each unit. */
enum status oversync_add(struct execution *execution, struct findings *findings,
                         struct error *error);

#endif
