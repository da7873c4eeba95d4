/* Random kernels as texts, for the Ascend 310 and chips like it: valid ones, with what is hard in
 * them often. A kernel is one or more phases (random_phases.c), each a nest of loops that stores a
 * tensor of its own, side by side, and so with tiles that share room. */
#ifndef AUTOTUNE_TESTS_RANDOM_KERNEL_H
#define AUTOTUNE_TESTS_RANDOM_KERNEL_H

#include "kernels/text/plan/kernel_eval.h"

#include <gsl/gsl_rng.h>

enum { RANDOM_TEXT_SIZE = 16384 };

enum { SIZE_M, SIZE_N, SIZE_K, SIZE_B, SIZE_D, SIZES };

/* A text under construction. Sizes are M, N, K, B and D; which ones are used is known at the end.
 */
struct random_kernel {
    gsl_rng *rng;
    char declarations[RANDOM_TEXT_SIZE], body[RANDOM_TEXT_SIZE];
    int declared, length; /* of those */
    int depth;            /* of the loops around */
    int phase;
    bool has_words;    /* an axis `way` = near, far has been declared */
    unsigned copies;   /* axes of copies that have been declared, bits */
    const char *outer; /* "D,": a loop over that is around all phases; or "" */
    bool begins;       /* the sums of this product, with a row `d` */
    bool is_used[SIZES];
    int pad[SIZES];
};

/* The text, owned by the caller. */
char *random_kernel_text(gsl_rng *rng);

/* Sizes for it: small ones, ragged ones, and 1. */
void random_kernel_sizes(gsl_rng *rng, const struct kernel_text *kernel, int64_t given[]);

/* Axes: one value of each, in order; false where one has none. `cores` is a number of cores. */
bool random_kernel_tiling(gsl_rng *rng, int cores, struct kernel_values *values, int *used);

/* "M=17 N=32: a1=16 b1=3 way=far" */
enum { RANDOM_TILING_SIZE = 1024 };
const char *random_kernel_show(const struct kernel_values *values, const int64_t given[],
                               char text[RANDOM_TILING_SIZE]);

/* ------------------------------------------------------------------ among these files */

bool random_chance(struct random_kernel *kernel, int percent);
int random_draw(struct random_kernel *kernel, int count);
const char *random_of(struct random_kernel *kernel, int count, const char *const list[]);

/* The name of a size, which from here on is used. */
const char *random_size(struct random_kernel *kernel, int size);

void random_declare(struct random_kernel *kernel, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A line of the body. */
void random_line(struct random_kernel *kernel, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A line `for NAME in RANGE by AXIS` and what cuts the size in the axis' values; the body is one
 * deeper. */
void random_loop(struct random_kernel *kernel, const char *name, const char *range, int size);

/* Declares an axis that cuts the size. */
void random_axis(struct random_kernel *kernel, const char *name, int size);

/* "x c3", and its axis, "x 2" or nothing; with " at …" often, if there are loops to name. */
const char *random_copies(struct random_kernel *kernel, char text[64]);

/* Declares an axis `way` of words, once. */
void random_way(struct random_kernel *kernel);

void random_phase(struct random_kernel *kernel);
void random_product(struct random_kernel *kernel);
void random_convolution(struct random_kernel *kernel);
void random_deep(struct random_kernel *kernel);

#endif
