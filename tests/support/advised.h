/* Programs for tests of advice: random ones, what they compute, and what is wrong with them. */
#ifndef AUTOTUNE_TESTS_ADVISED_H
#define AUTOTUNE_TESTS_ADVISED_H

#include "core/program_text.h"

#include <gsl/gsl_rng.h>

/* From text that is right. */
struct program advised_parse(const struct hardware *hw, const char *text);

/* As program_print prints it; the caller frees it. */
char *advised_print(const struct program *program);

/* The text of a random program: loads, vector work and stores that share a few places, loops. With
 * barriers, one behind every line, it is safe, and slow. The caller frees it. */
char *advised_random(gsl_rng *rng, bool barriers);

/* The same with comments, empty lines, indentation and spellings as nobody would write them. */
char *advised_untidy(gsl_rng *rng, const char *text);

/* The program with its flags written anew (resync.h); false where that does not fit. */
bool advised_resync(const struct program *program, struct program *made);

/* How many findings has a program that is not safe, or only the superfluous ones? */
size_t advised_faults(const struct program *program);
size_t advised_superfluous(const struct program *program);

/* Fails unless `after` is safe and leaves the bytes that `before` does, in random legal orders. */
void advised_expect_same(const struct program *before, const struct program *after,
                         const char *what, gsl_rng *rng);

#endif
