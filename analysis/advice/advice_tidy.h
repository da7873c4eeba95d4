/* Takes out the synchronisation that orders nothing new (oversync.h). */
#ifndef AUTOTUNE_ANALYSIS_ADVICE_ADVICE_TIDY_H
#define AUTOTUNE_ANALYSIS_ADVICE_ADVICE_TIDY_H

#include "analysis/advice/trial.h"

/* Is there none in the program? So it seems, too, where it is too long to be searched. */
enum status tidy_is(const struct program *program, bool *tidy, struct error *error);

/* Takes it all out of the program on trial; where a trial's gates or the limits of the search stand
 * in the way, it stays. */
enum status tidy(struct trial *trial, enum trial_aim aim, struct error *error);

/* Takes out what a change has left superfluous, at any cost in time. A change that cannot be rid of
 * it is none: the trial is back at its first program. */
enum status tidy_change(struct trial *trial, struct error *error);

#endif
