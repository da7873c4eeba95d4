/* Internal to prefixes of a kernel's tilings: what all tilings of a box do at least. */
#ifndef AUTOTUNE_KERNELS_TEXT_NEST_KERNEL_NEST_LEAST_H
#define AUTOTUNE_KERNELS_TEXT_NEST_KERNEL_NEST_LEAST_H

#include "costmodel/bound.h"
#include "kernels/text/bounds/kernel_work_parts.h"
#include "kernels/text/nest/kernel_nest.h"

/* A loop around a step. Loops that are cut from one another follow each other, the outer one first:
 * what they do multiplies with what others do. */
struct least_loop {
    const struct kernel_loop *text;
    bool begins;  /* cut from no loop, or from none that is before it */
    bool is_once; /* the step runs in its first round only */
    bool counts;  /* the step's work is proportional to the length of its rounds, … */
};

/* A step's work is at least `scale` · the product of `counts` · the product of the lengths that
 * count. */
struct least_step {
    int loop_count;
    struct least_loop loops[PROGRAM_MAX_DEPTH];
    int count_count;
    const struct expression *counts[2 * KERNEL_MAX_DIMS];
    double scale, off;  /* units of work, less `off` an instruction */
    bool is_sometimes;  /* it asks which round it is: perhaps it never runs */
    uint64_t before[2]; /* bits: steps whose result its first run waits for */
    uint64_t after[2];  /* bits: steps that wait for its result after each run */
};

/* What a step does at least: in all; the first time that it runs, and the last time. */
struct least_work {
    double instructions, units, first_units, last_units;
};

/* The least times of a box with the words of a choice, in fs. */
struct least_sums {
    struct least_work works[PLAN_MAX_STEPS];
    double total_fs[PLAN_MAX_STEPS], head_fs[PLAN_MAX_STEPS], tail_fs[PLAN_MAX_STEPS];
};

struct nest_least {
    int step_count;
    struct least_step steps[PLAN_MAX_STEPS];
};

enum status kernel_least_make(const struct kernel_work *work, struct nest_least **least,
                              struct error *error);

/* Of all summaries of prefixes. */
struct nest_bounds {
    struct work_layout layout;
    int line_of[HARDWARE_MAX_PRICES]; /* -1: none */
    struct bound_plan *plans;         /* owned; of 1, 2, … cores */
};

/* kernel_nest_sized.c: the summary of a box in which copies alone are open; false: it has none. */
bool kernel_nest_sized(const struct kernel_space *ks, const struct nest_block *block,
                       const struct kernel_box *box, struct work *put);

/* kernel_nest_forms.c: what a step does. */
void kernel_least_step(const struct least_step *step, const struct kernel_box *box,
                       struct least_work *work);

#endif
