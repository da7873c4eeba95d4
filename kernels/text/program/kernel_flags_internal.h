/* Internal to the derivation of flags. */
#ifndef AUTOTUNE_KERNELS_TEXT_PROGRAM_KERNEL_FLAGS_INTERNAL_H
#define AUTOTUNE_KERNELS_TEXT_PROGRAM_KERNEL_FLAGS_INTERNAL_H

#include "kernels/text/program/kernel_flags.h"

struct flag_maker {
    const struct kernel_plan *plan;
    const struct kernel_values *values;
    struct kernel_flags *flags;
    struct error *error;
    bool gone[FLAGS_MAX_TOKENS];
};

/* kernel_rounds_asked.c: chains, blocks, and what expressions ask of rounds. */
enum status flags_find_rounds(struct flag_maker *maker);

/* Does it ask where a round begins? */
bool flags_asks_begin(const struct kernel_text *kernel, const struct expression *e);

/* kernel_want.c: all tokens that conflicts want. */
enum status flags_want_all(struct flag_maker *maker);

/* kernel_token.c: makes a token of tile, steps, level, distance and rounds, unless there is one
 * that does as well; places its flags. */
enum status flags_add(struct flag_maker *maker, struct kernel_token *token);

/* Text loops in whose first, last rounds alone the step's pipe touches the tile where it stands. */
uint64_t flags_first(const struct flag_maker *maker, int step, int tile);
uint64_t flags_last(const struct flag_maker *maker, int step, int tile);

/* How many copies the text gives a tile, one where it says nothing. */
int64_t flags_copies(const struct flag_maker *maker, int tile);

/* The bit of a plan loop's text loop, and those of the loops from one outwards up to `end`, which
 * is not among them. */
uint64_t flags_bit(const struct flag_maker *maker, int loop);
uint64_t flags_loops(const struct flag_maker *maker, int loop, int end);

/* kernel_flags_order.c: is it in order without a token that what the first one's pipe did, at `src`
 * (after: all of it, else before it) comes before `dst` on the second's, `distance` rounds of
 * `level` later? */
struct flag_order {
    int level, distance;
    int from, to;           /* pipes */
    int src_item, dst_item; /* items of the level's body */
    int src_rank, dst_rank; /* places in them: numbers of steps */
    uint64_t first, last;   /* of rounds in which it matters */
    int without;            /* the token, -1: none */
    int reloaded;           /* a tile of which later loads are behind earlier reads, -1: none */
};
bool flags_is_ordered(const struct flag_maker *maker, const struct flag_order *order);

/* The item of a loop's body that a step is or stands in. */
int flags_item_in(const struct kernel_plan *plan, const struct kernel_flags *flags, int loop,
                  int step);

/* Does a loop in an item, however deep, run stages? */
bool flags_has_stages(const struct kernel_plan *plan, int item);

/* In which order a body runs two of its items in one round: that of its stages, then of the text */
bool flags_runs_before(const struct kernel_plan *plan, int item, int other);

/* Ranks of flags that stand before and after a whole item. */
enum { RANK_BEFORE = -1, RANK_AFTER = PLAN_MAX_STEPS };
int flags_set_rank(const struct flag_maker *maker, const struct kernel_token *token);
int flags_wait_rank(const struct flag_maker *maker, const struct kernel_token *token);

#endif
