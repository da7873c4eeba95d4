/* Internal to a kernel's space: what its files share. kernel_blocks.c makes axes and blocks,
 * kernel_shares.c what a core has, kernel_decide.c plans, kernel_legal.c says what fits,
 * kernel_space.c is the space. */
#ifndef AUTOTUNE_KERNELS_TEXT_SPACE_KERNEL_SPACE_INTERNAL_H
#define AUTOTUNE_KERNELS_TEXT_SPACE_KERNEL_SPACE_INTERNAL_H

#include "kernels/text/bounds/kernel_work.h"
#include "kernels/text/legal/kernel_content.h"
#include "kernels/text/legal/kernel_fit.h"
#include "kernels/text/program/kernel_flags.h"
#include "kernels/text/space/kernel_space.h"

enum { KERNEL_MAX_PLANS = 4096, KERNEL_MAX_DECISIONS = 1 << 17 };

/* A structure that some tilings have, or why it cannot be. */
struct space_plan {
    struct plan_choices choices;
    struct kernel_plan plan;
    struct kernel_fit fit;
    struct kernel_work *work;   /* owned */
    struct kernel_flags *flags; /* owned; without tokens behind token_count */
    int number;
    bool is_possible;
    bool is_certain; /* all its steps fit whatever the sizes are */
    struct kernel_doubts doubts;
    char reason[480];
};

/* A part of a block, of which each tiling has the same plan, or halves of it. */
struct decision {
    int axis;         /* -1: none is left that decides */
    bool copies;      /* all below have one plan, but for how many copies tiles have */
    int middle;       /* of the axis's values the last one in the first half */
    int below, above; /* halves */
    int plan;         /* -1: no such tiling can be */
};

/* By what a plan is found: of each block a tree, which is found by a hash table. */
struct decisions {
    unsigned axes; /* that decide, bits */
    int capacity;  /* of slots, a power of two */
    int *slots;    /* owned; blocks, -1: empty */
    int *trees;    /* owned; of each block the first decision */
    int count;
    struct decision *items; /* owned */
};

struct kernel_space {
    const struct kernel_text *kernel; /* not owned, unless it is this one: */
    struct kernel_text own;
    int64_t given[KERNEL_MAX_SIZES];
    struct kernel_values base; /* those sizes with their pads; no axes, no shares */
    int cores;                 /* up to so many */
    unsigned block_axes; /* bits: have one value in a block, which may be asked of any prefix */
    unsigned word_axes;  /* bits: decide a plan, other than by how many copies tiles have */
    unsigned copy_axes;  /* bits: decide it so */
    unsigned require_axes[KERNEL_MAX_REQUIRES]; /* bits: that each asks for */
    struct axis axes[SPACE_MAX_AXES];
    const char **words[SPACE_MAX_AXES]; /* owned */
    int64_t least[SPACE_MAX_AXES];      /* of each axis, in all blocks */
    int64_t candidates;
    int list_count;
    int64_t **lists; /* owned */
    int plan_count;
    struct space_plan **plans;        /* owned */
    const struct space_block *blocks; /* the space's */
    int block_count;
    struct decisions decisions;
    struct kernel_boxes *boxes;  /* owned; NULL: not asked for yet */
    double roofline_ns;          /* 0: not known yet, below: there is none */
    bool is_unsure;              /* the content of the tiling at hand took too long to look at */
    struct work_layout *layouts; /* owned; [number of plan · WORK_VARIANTS + variant] */
};

static inline struct kernel_space *kernel_space_of(const struct space *space)
{
    return space->detail;
}

enum status kernel_make_axes(struct space *space, struct kernel_space *ks, struct error *error);
enum status kernel_make_blocks(struct space *space, struct kernel_space *ks, struct error *error);

/* Sizes and axes of a tiling; false where cores cannot share so, with the reason, error may be
 * NULL. */
bool kernel_set_tiling(const struct kernel_space *ks, const struct tiling *tiling,
                       struct kernel_values *values, struct error *error);

/* Of each axis the least and the most value in all blocks. */
struct interval;
void kernel_space_values(const struct kernel_space *ks, struct interval *axes);

void kernel_boxes_free(struct kernel_boxes *boxes);

/* kernel_decide.c: makes all plans that tilings of the space have; the plan of a tiling, NULL: no
 * point of the space decides so. */
enum status kernel_make_plans(struct kernel_space *ks, const struct space *space,
                              struct error *error);
const struct space_plan *kernel_find_plan(const struct kernel_space *ks,
                                          const struct tiling *tiling);

/* Makes the plan that values come to, in *plan, which is zeroed; what cannot be is its reason. */
enum status kernel_make_plan(const struct kernel_values *values, struct space_plan *plan,
                             struct error *error);
void kernel_plan_free(struct space_plan *plan);

/* kernel_roofline.c: what the roofline speaks of, and the text's tensors once. */
struct json_t;
void kernel_add_roofline(const struct kernel_space *ks, const struct kernel_plan *plan,
                         struct json_t *details);

/* kernel_steps_fit.c: do the steps of a tiling fit that need not? With sizes, shares and axes as in
 * env->values; STATUS_INVALID, "line:column: …", or STATUS_STOPPED once `stop` says so. The
 * first fills what steps hang on. */
void kernel_find_asked(struct space_plan *plan);
enum status kernel_steps_fit(const struct space_plan *plan, struct kernel_env *env,
                             const struct kernel_room *room, const struct stop *stop,
                             struct error *error);

#endif
