/* A random kernel with sizes and a tiling, run plainly: what tests of kernels begin with. */
#ifndef AUTOTUNE_TESTS_RANDOM_CASE_H
#define AUTOTUNE_TESTS_RANDOM_CASE_H

#include "tests/kernels/text/plain_kernel.h"
#include "tests/kernels/text/random_kernel.h"

struct random_case {
    unsigned long seed;
    char *text;
    struct kernel_text kernel;
    int64_t given[KERNEL_MAX_SIZES];
    int cores, used; /* cores: working, and asked for */
    struct kernel_values values;
    struct plain plain;
    char shown[RANDOM_TEXT_SIZE]; /* all of it, for a message */
};

/* The case of this seed, to be closed; NULL: it is too long for the plain evaluator, or its cores
 * cannot share. */
struct random_case *random_case_open(unsigned long seed, const struct hardware *hw);
/* The same of a text that is given, with random sizes and a random tiling. */
struct random_case *random_case_of(const char *text, unsigned long seed, const struct hardware *hw);
/* …on these sizes, in this type. */
struct random_case *random_case_sized(const char *text, enum dtype type, const int64_t *sizes,
                                      unsigned long seed, const struct hardware *hw);

void random_case_close(struct random_case *random);

/* Gives the chip what FIXP has: ReLU, and factors of columns where types are converted. */
void random_case_chip(struct hardware *hw);

/* Gives it a cache before global memory, gm, with another price of what is behind it; a cold one
 * that holds everything where all_miss_bytes is 0. */
void random_case_cache(struct hardware *hw, int64_t all_hit_bytes, int64_t all_miss_bytes);

/* How many cases a test looks at: the number in AUTOTUNE_RANDOM_KERNELS, or of `usual` as many as
 * test_cases() says. */
unsigned long random_cases(unsigned long usual);

/* The first seed of those: the number in AUTOTUNE_RANDOM_FIRST, or 1. */
unsigned long random_first(void);

#endif
