/* Random descriptions for tests: a shipped one with other numbers.
 *
 * Every rule of docs/hardware.md holds. What a program of tests/jobs/test_closed_loop.c takes for
 * known (cores, classes of pieces, the clock) is drawn from a seed of its own, so that two
 * descriptions may share it and differ in everything else. */
#ifndef AUTOTUNE_TESTS_RANDOM_DESCRIPTION_H
#define AUTOTUNE_TESTS_RANDOM_DESCRIPTION_H

#include "hardware/description.h"

/* Aborts the test on failure. The caller clears it. */
void random_description(const char *base, unsigned long structure, unsigned long seed,
                        struct description *description);

#endif
