/* What shows that synchronisation is superfluous: two accesses that it orders, and what orders them
 * all the same.
 *
 *   oversync_walk_init(&walk, &execution, &found, &error);      found: of oversync_search
 *   oversync_witness(&walk, &found.units[i], &witness);
 *   oversync_walk_clear(&walk); */
#ifndef AUTOTUNE_ANALYSIS_CHECK_OVERSYNC_WITNESS_H
#define AUTOTUNE_ANALYSIS_CHECK_OVERSYNC_WITNESS_H

#include "analysis/check/check.h"
#include "analysis/check/execution.h"
#include "analysis/check/oversync.h"

/* How something is known: the synchronisation on the way, in order, which passes a pipe but once.
 */
struct way {
    bool known;
    int count;
    int32_t items[WITNESS_MAX_STEPS];
};

struct known; /* what a pipe, or a set, knows of the others */

struct oversync_walk {
    const struct record *record;
    const struct overlap *overlap;
    const struct oversync *found;
    bool *gone;    /* per instruction: superfluous */
    bool *in_unit; /* … of the unit at hand */
    struct way pipes[HARDWARE_MAX_PIPES];
    struct way *slots;   /* per slot of the record */
    struct known *known; /* the same */
    int64_t budget;      /* of steps, for all units together */
};

/* After a failure there is nothing to clear. */
enum status oversync_walk_init(struct oversync_walk *walk, const struct execution *execution,
                               const struct oversync *found, struct error *error);
void oversync_walk_clear(struct oversync_walk *walk);

/* Fills reason, accesses and steps of an empty witness. */
void oversync_witness(struct oversync_walk *walk, const struct oversync_unit *unit,
                      struct witness *witness);

#endif
