/* Internal to a kernel's space: what its files share. kernel_blocks.c makes axes and blocks,
 * kernel_shares.c what a core has, kernel_legal.c says what fits, kernel_space.c is the space. */
#ifndef AUTOTUNE_KERNELS_TEXT_KERNEL_SPACE_INTERNAL_H
#define AUTOTUNE_KERNELS_TEXT_KERNEL_SPACE_INTERNAL_H

#include "kernels/text/kernel_plan.h"
#include "kernels/text/kernel_space.h"

enum { KERNEL_MAX_PLANS = 1024 };

/* A structure that some tilings have, or why it cannot be. */
struct space_plan {
    struct plan_choices choices;
    struct kernel_plan plan;
    bool is_possible;
    char reason[200];
};

struct kernel_space {
    const struct kernel_text *kernel; /* not owned */
    struct kernel_values base;        /* sizes as they were given; no axes, no shares */
    int cores;                        /* up to so many */
    struct axis axes[SPACE_MAX_AXES];
    const char **words[SPACE_MAX_AXES]; /* owned */
    int64_t candidates;
    int list_count;
    int64_t **lists; /* owned */
    int plan_count;
    struct space_plan **plans; /* owned */
};

static inline struct kernel_space *kernel_space_of(const struct space *space)
{
    return space->detail;
}

enum status kernel_make_axes(struct space *space, struct kernel_space *ks, struct error *error);
enum status kernel_make_blocks(struct space *space, struct kernel_space *ks, struct error *error);

/* Sizes and axes of a tiling; false where cores cannot share so. */
bool kernel_set_tiling(const struct kernel_space *ks, const struct tiling *tiling,
                       struct kernel_values *values);

/* The plan of values; NULL: no tiling of the space has it. */
const struct space_plan *kernel_find_plan(const struct kernel_space *ks,
                                          const struct kernel_values *values);

/* kernel_legal.c: members of struct operator_space. */
bool kernel_possible(const struct space *space, const struct tiling *tiling, int fixed);
bool kernel_is_legal(const struct space *space, const struct tiling *tiling);
int kernel_violations(const struct space *space, const struct tiling *tiling,
                      struct violation list[MAX_VIOLATIONS]);

#endif
