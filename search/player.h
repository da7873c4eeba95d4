/* One thread's tools: a program's memory and a simulator. */
#ifndef AUTOTUNE_SEARCH_PLAYER_H
#define AUTOTUNE_SEARCH_PLAYER_H

#include "core/operator.h"
#include "core/timeline.h"
#include "costmodel/simulate.h"

struct player {
    struct simulator *simulator;
    struct program program;
};

enum status player_open(struct player *player, struct error *error);
void player_close(struct player *player);

/* The closed form of a tiling on a processor: of spaces with `ask`. */
void asked_timeline(const struct space *space, const struct tiling *tiling,
                    struct timeline *timeline);

/* Takes superfluous synchronisation out of player->program where dispatching an instruction takes
 * time, so that what is played takes as long as what is handed out (jobs/tune/generate.h).
 * Elsewhere such flags take none, and looking for them would take far longer than playing. */
enum status player_tidy(struct player *player, struct error *error);

/* Generates one part of a tiling and plays it, all working cores in step on the bus. A generated
 * program that deadlocks is an error. The program stays in player->program. On a processor there is
 * none: the closed form is the time. STATUS_STOPPED when space->stop says so. */
enum status player_play(struct player *player, const struct space *space,
                        const struct tiling *tiling, int part, struct timeline *timeline,
                        struct error *error);

#endif
