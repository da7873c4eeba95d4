/* The shipped Ascend 310, or a variant of it, for tests. */
#ifndef AUTOTUNE_TESTS_MACHINE_H
#define AUTOTUNE_TESTS_MACHINE_H

#include "core/hardware.h"

/* Loads ascend310 with "key=value" overrides, separated by blanks; aborts the test on failure. */
void machine_load(struct hardware *hw, const char *overrides);

/* …or another shipped chip. */
void machine_load_named(struct hardware *hw, const char *name, const char *overrides);

#endif
