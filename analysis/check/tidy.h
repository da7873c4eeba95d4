/* Takes synchronisation that orders nothing new out of a program.
 *
 * Generators write loops whose bodies are all alike, and so flags before and after them, and in
 * them, that order nothing new in tilings with few tiles or a certain order of loops. */
#ifndef AUTOTUNE_ANALYSIS_CHECK_TIDY_H
#define AUTOTUNE_ANALYSIS_CHECK_TIDY_H

#include "core/program.h"

/* For a closed program: removes what oversync_find finds, all of it at once. A program beyond the
 * limits of the check (check.h) stays as it is. */
enum status program_tidy(struct program *program, struct error *error);

#endif
