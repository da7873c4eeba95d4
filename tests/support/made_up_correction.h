/* A small correction for tests. */
#ifndef AUTOTUNE_TESTS_SUPPORT_MADE_UP_CORRECTION_H
#define AUTOTUNE_TESTS_SUPPORT_MADE_UP_CORRECTION_H

#include "core/correction.h"

/* Of two features, "time" and "size m", with one tree of two levels in each forest: below 3 of time
 * the middle is ln 2, above it ln 4 where m is above 1.5 and ln 1 where not; the ends are
 * half and twice the middle's 1. The caller clears it. */
void made_up_correction(struct correction *correction);

#endif
