/* Writes the synchronisation of a program anew: as many flags as its data need, and no more.
 *
 * All sets, waits and barriers are taken out. The lines that are left are understood as they stand,
 * one after the other, and every two of them on different pipes that touch the same bytes get an
 * order (depend.h) that pipes, the scalar pipe's hold on dispatch and other flags do not give
 * already. Within an iteration that is a set behind the first line and a wait before the second;
 * from one iteration to the next it is the same with the set of the last iteration, so the flag is
 * set once at the start of the program and waited for once at its end, as for a buffer that starts
 * out free. A loop within a block counts as one line for each of its pipes.
 *
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
