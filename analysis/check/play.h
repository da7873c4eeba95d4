/* Plays a program once, finds what its order says is wrong, and keeps what the search for
 * superfluous synchronisation needs.
 *
 *   play_init(&play, &program, &error);
 *   play_run(&play, &findings, &error);       then play.record is closed
 *   play_clear(&play); */
#ifndef AUTOTUNE_ANALYSIS_CHECK_PLAY_H
#define AUTOTUNE_ANALYSIS_CHECK_PLAY_H

#include "analysis/check/findings.h"
#include "analysis/check/loop_fold.h"
#include "analysis/check/overlap.h"
#include "analysis/check/record.h"

struct play {
    const struct program *program;
    struct nest nest;
    struct order order;
    struct overlap overlap;
    struct record record;
    struct fold fold;
    int64_t events;
    bool blocked; /* waits wait for each other's sets for ever */
};

/* STATUS_TOO_LARGE as program_check. After an error there is nothing to clear. */
enum status play_init(struct play *play, const struct program *program, struct error *error);

/* Adds hazards, double sets, deadlocks and unmatched flags. */
enum status play_run(struct play *play, struct findings *findings, struct error *error);

void play_clear(struct play *play);

#endif
