/* Internal to the code of limits: writing a kernel's expressions, loops and tiles as C.
 *
 * Variables are called by what they are and the text's names: size_N, whole_N, let_W, axes as
 * entry->tiling.NAME; of loops in_i, by_i, rounds_i, round_i, loop_i (the length of a round) and
 * begin_i; of tiles slot_x (bytes of a copy).
 * A body is written several times: what a run uses is what the next one declares. */
#ifndef AUTOTUNE_KERNELS_TEXT_LIMITS_KERNEL_CODE_H
#define AUTOTUNE_KERNELS_TEXT_LIMITS_KERNEL_CODE_H

#include "kernels/text/limits/kernel_limits_code.h"
#include "kernels/text/space/kernel_space_internal.h"

/* Bits: which variables are read, by number in the text; visits: 1 where rounds are counted. */
struct code_uses {
    uint64_t sizes, wholes, lets, lengths, begins, visits;
};

struct code_writer {
    FILE *out;
    const struct kernel_values *values; /* of the tiling that it is made of */
    const struct kernel_text *kernel;
    const struct space_plan *plan;
    const struct kernel_posed *posed;
    const struct limits_asked *asked;
    int depth;                       /* of braces */
    int place;                       /* plan loop, whose round is the current one */
    bool is_whole;                   /* sizes and lets are all of it, not a core's share */
    bool is_shared[KERNEL_MAX_LETS]; /* so far */
    struct code_uses uses, declared; /* in this run, in the last one */
    char *why;                       /* of the body; "" as long as all can be said */
};

/* It cannot be said; the first reason stays. */
void code_refuse(struct code_writer *w, struct kernel_place at, const char *why);

/* Begins a line. */
void code_line(struct code_writer *w);
/* Puts "PREFIX_table_NAME(". */
void code_call(struct code_writer *w, const char *name);

/* A whole number or a condition, 0 or 1, in parentheses where it needs them. */
void code_put(struct code_writer *w, const struct expression *e);

/* Does it ask for sizes, so that other sizes may decide otherwise? */
bool code_asks_sizes(const struct kernel_text *kernel, const struct expression *e);

/* Where the range begins that a loop cuts, or a name means. */
void code_put_begin(struct code_writer *w, const struct expression *range);

/* Where the round of a text loop begins that is around, or the range of one that is not. */
void code_put_begin_of(struct code_writer *w, int text_loop);

/* The name of a text loop, a tile. */
const char *code_loop(const struct code_writer *w, int text_loop);
const char *code_tile(const struct code_writer *w, int tile);

/* kernel_code_shares.c: sizes, shares, what is required, and what decides the plan. */
void code_put_shares(struct code_writer *w);

/* kernel_code_walk.c: loops in C whose rounds are those that can differ, and how often they run. */
struct code_walk {
    /* Puts what is asked in each round of a loop. */
    void (*enter)(struct code_writer *w, int loop);
    /* Puts what stands in the loop's `for` for the next round, from round_NAME and rounds_NAME. */
    void (*next)(struct code_writer *w, int loop);
};
void code_put_walk(struct code_writer *w, const struct code_walk *walk);

/* Has the walk to look at every round of a loop? It is ended where there are too many. */
void code_put_each_round(struct code_writer *w, int loop);

/* kernel_code_room.c: does all that lives at once fit, and can the program be played? */
void code_put_room(struct code_writer *w);

#endif
