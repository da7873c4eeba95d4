/* Where operands lie: beyond their buffer, or not at a multiple of what it asks for. In closed form
 * over all iterations; nothing is executed. */
#ifndef AUTOTUNE_ANALYSIS_CHECK_PLACES_H
#define AUTOTUNE_ANALYSIS_CHECK_PLACES_H

#include "analysis/check/findings.h"
#include "analysis/check/nest.h"

/* Adds findings of capacity and alignment. */
void places_check(const struct program *program, const struct nest *nest,
                  struct findings *findings);

#endif
