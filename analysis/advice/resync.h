/* Writes the synchronisation of a program anew: as many flags as its data need, and no more.
 * The lines are understood as they stand, one after the other, whatever flags there were before.
 * Every flag gets a register of its own, and one that could be set twice gets a flag back. */
#ifndef AUTOTUNE_ANALYSIS_ADVICE_RESYNC_H
#define AUTOTUNE_ANALYSIS_ADVICE_RESYNC_H

#include "analysis/advice/edit.h"

enum {
    RESYNC_MAX_LINES = 400, /* of a program, without flags and barriers */
    RESYNC_MAX_NODES = 120, /* of a block: its lines and the pipes of its loops */
};

/* False when the program is longer than that or needs more registers than there are; the edit is
 * then without synchronisation. Out of memory sets edit->failed. */
bool resync(struct edit *edit);

#endif
