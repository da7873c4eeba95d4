/* What ITG and AIP have in common: one large instruction in place of many small ones. */
#ifndef AUTOTUNE_ANALYSIS_ADVICE_ADVICE_GROW_H
#define AUTOTUNE_ANALYSIS_ADVICE_ADVICE_GROW_H

#include "analysis/advice/trial.h"

/* Tries at every place, until nothing more helps, to make one instruction of `kind` (a move or a
 * vector operation) of several: of a line and those like it that follow in its block, or the next
 * one, at the place of the first or the last; of a loop's line in all its iterations, before or
 * behind the loop or in place of it.
 *
 * Each computes the same when no line between the old places and the new one touches what the line
 * writes, or writes what it reads: the proof on trial decides that. */
enum status advice_grow(struct trial *trial, enum instruction_kind kind, struct error *error);

#endif
