/* Random programs as text, for property tests: legal lines for any hardware description.
 *
 * Equal options and an equally seeded generator give the same text. The pipes, paths, operations
 * and sizes are drawn from the description; operands crowd into a few places of each buffer, so
 * that they often overlap. */
#ifndef AUTOTUNE_TESTS_RANDOM_PROGRAM_H
#define AUTOTUNE_TESTS_RANDOM_PROGRAM_H

#include "core/hardware.h"

#include <gsl/gsl_rng.h>

struct random_program {
    int statements; /* lines to draw in all, without those that close loops and flags */
    int max_depth;  /* of loops; 0: none, at most PROGRAM_MAX_DEPTH */
    int max_count;  /* of iterations; a loop has 0 … max_count */
    int loop_percent, flag_percent, scalar_percent, barrier_percent; /* of the statements */
    int beyond_percent; /* of the operands: may reach beyond the buffer's end or start */
    bool operands;
    bool zero_work;  /* some instructions have nothing to do */
    bool wild_flags; /* sets and waits in any order and number; otherwise every set has one wait,
                        later in program order, so that the program cannot deadlock */
};

/* The text, to be freed by the caller; NULL without memory. */
char *random_program_text(const struct hardware *hw, const struct random_program *options,
                          gsl_rng *rng);

#endif
