/* The search behind analysis/check/oversync.h, on a program that has been played. */
#ifndef AUTOTUNE_ANALYSIS_CHECK_OVERSYNC_SEARCH_H
#define AUTOTUNE_ANALYSIS_CHECK_OVERSYNC_SEARCH_H

#include "analysis/check/oversync.h"
#include "analysis/check/play.h"

#define OVERSYNC_MAX_STEPS 1000000000LL /* of all replays together */

/* After play_run. The caller owns *found. */
enum status oversync_search(struct play *play, struct oversync *found, struct error *error);

/* Adds a finding for each unit. */
enum status oversync_report(struct play *play, struct findings *findings, struct error *error);

#endif
