/* How often each line of a program runs, and in which loops it stands; without unrolling. */
#ifndef AUTOTUNE_ANALYSIS_CHECK_NEST_H
#define AUTOTUNE_ANALYSIS_CHECK_NEST_H

#include "core/program.h"

struct nest {
    int64_t *executed; /* per instruction: times that it runs; per loop: instructions that run in it
                        over the whole program, 0 when it need not be entered */
    int32_t *parent;   /* per instruction: the innermost loop around it, -1 outside of loops */
    int64_t events;    /* instructions that run, in all */
};

/* For a closed program. Free with nest_clear. */
enum status nest_init(struct nest *nest, const struct program *program, struct error *error);
void nest_clear(struct nest *nest);

/* The iterations of the loops around an instruction, outermost first; returns how many loops. */
int nest_counts(const struct nest *nest, const struct program *program, int32_t item,
                int64_t counts[PROGRAM_MAX_DEPTH]);

#endif
