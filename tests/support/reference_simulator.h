/* A second simulator, for tests: slow and as plain as the rules it plays.
 *
 * The program is unrolled into one list of instructions a core, and all cores advance together
 * from one moment at which something happens to the next: nothing runs ahead, no loop is folded,
 * nothing is shared with costmodel/ but the vocabulary of core/. Work left on a bus is an exact
 * integer, so its answers are the very integers that the simulator must give. */
#ifndef AUTOTUNE_TESTS_REFERENCE_SIMULATOR_H
#define AUTOTUNE_TESTS_REFERENCE_SIMULATOR_H

#include "core/program.h"
#include "core/timeline.h"

enum { REFERENCE_MAX_EXECUTED = 4096, REFERENCE_MAX_CORES = 4 };

/* Plays a closed program on `cores` cores, core c starting c·core_skew_fs later with `skew`.
 * busy_fs is the largest of any core. False when the program has more than REFERENCE_MAX_EXECUTED
 * instructions to play. */
bool reference_simulate(const struct program *program, int cores, bool skew,
                        struct timeline *timeline);

#endif
