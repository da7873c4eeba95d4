/* A kernel's text with sizes and values of its axes, as far as its program. */
#ifndef AUTOTUNE_TESTS_KERNEL_CASE_H
#define AUTOTUNE_TESTS_KERNEL_CASE_H

#include "kernels/text/program/kernel_program.h"

#include <gsl/gsl_rng.h>

struct kernel_case {
    struct kernel_text kernel;
    const struct hardware *hw;
    struct kernel_plan plan;
    struct kernel_flags flags;
    struct kernel_room room;
    struct kernel_env env;
    struct kernel_values values;
    struct program program;
    struct error error; /* why not */
};

/* A file in kernels/library, or a text that begins with "kernel"; aborts the test where it does not
 * parse. The caller frees it by kernel_case_close. */
struct kernel_case *kernel_case_open(const struct hardware *hw, const char *text);
void kernel_case_close(struct kernel_case *c);

/* Sizes as given; then values of axes: by the n-th that each may have, or at random where `nth` is
 * NULL. False where an axis has none. */
bool kernel_case_set(struct kernel_case *c, const int64_t sizes[], const int *nth, gsl_rng *rng);

/* The plan, flags, room and program of these values; false where they are not legal. */
bool kernel_case_make(struct kernel_case *c);

/* Names, sizes and axes, in memory of its own. */
const char *kernel_case_text(const struct kernel_case *c);

#endif
