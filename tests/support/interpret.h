/* Runs a program on bytes, in one of its legal orders, and sums up what it leaves behind.
 *
 * Written from docs/program.md alone: instructions are dispatched in program order, each pipe is a
 * queue, the n-th wait takes the n-th set, a barrier over all and the scalar pipe hold up dispatch.
 * Among the steps that are possible the generator chooses one, so a program that lacks an order
 * gives different sums for different seeds. A move copies bytes; other instructions compute some
 * bytes that depend on their operation, line and every source element, element by element; the
 * line plays no part in vector operations that name all the inputs that their description says. */
#ifndef AUTOTUNE_TESTS_INTERPRET_H
#define AUTOTUNE_TESTS_INTERPRET_H

#include "core/program.h"

#include <gsl/gsl_rng.h>

/* The sum of what lies in external memory at the end; all operands must be in the first 128 KiB of
 * their buffer. Aborts the test on a deadlock. */
uint64_t interpret(const struct program *program, gsl_rng *rng);

#endif
