/* Internal to pictures of kernels: kernel_picture.c draws what runs and where tiles lie,
 * kernel_picture_flags.c who waits for whom, kernel_picture_bounds.c what holds it up. */
#ifndef AUTOTUNE_KERNELS_TEXT_PICTURE_KERNEL_PICTURE_INTERNAL_H
#define AUTOTUNE_KERNELS_TEXT_PICTURE_KERNEL_PICTURE_INTERNAL_H

#include "kernels/text/space/kernel_space_internal.h"

#include <jansson.h>

enum { WORK_SIZE = 64, TEXT_LENGTH = 400 };

/* A line of the plan: how often it runs, and what it does the first time. */
struct line {
    double runs, fs;
    char work[WORK_SIZE];
};

struct picture {
    const struct space *space;
    const struct space_plan *found;
    const struct kernel_plan *plan; /* its own */
    struct kernel_env env;
    struct program program; /* the instruction at hand */
    int cores;
    struct line loops[KERNEL_MAX_LOOPS + 1], steps[PLAN_MAX_STEPS];
};

/* Flags: which pipe waits for which, and why. */
enum status picture_add_flags(const struct picture *p, const struct tiling *tiling, json_t *picture,
                              struct error *error);

/* kernel_left_out.c: what the description has no price for, if anything, by path. */
void kernel_add_left_out(const struct kernel_values *values, const struct kernel_plan *plan,
                         json_t *details);

/* What the lower bound is made of: steps of which no two can run at once, and buses. */
enum status picture_add_bounds(const struct picture *p, json_t *picture, struct error *error);

#endif
