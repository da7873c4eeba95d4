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

/* kernel_rounds_asked.c: what expressions ask of rounds. */
void flags_find_rounds(struct flag_maker *maker);

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

/* Somewhere in a round of a loop: at an item of its body; in that, at a step, in the first and the
 * last rounds of these loops around the step. */
struct flag_spot {
    int item;
    int rank; /* RANK_OF its step, one less: right before that, or */
    uint64_t first, last;
};
enum { RANK_BEFORE = -1, RANK_AFTER = 2 * PLAN_MAX_STEPS }; /* the whole item */
#define RANK_OF(step) (2 * (step) + 1)

/* Where a token's set and wait stand in a round of its level; and what they stand for: the last
 * access that the set comes after, the first that the wait comes before. */
struct flag_spot flags_set_spot(const struct flag_maker *maker, const struct kernel_token *token);
struct flag_spot flags_wait_spot(const struct flag_maker *maker, const struct kernel_token *token);
struct flag_spot flags_src_spot(const struct flag_maker *maker, const struct kernel_token *token);
struct flag_spot flags_dst_spot(const struct flag_maker *maker, const struct kernel_token *token);

/* Does one come before the other in each round, or with it, however many rounds loops inside have?
 */
bool flags_spot_precedes(const struct kernel_plan *plan, const struct flag_spot *spot,
                         const struct flag_spot *other);

/* kernel_flags_order.c: is it in order without a token that what the first one's pipe did up to
 * `src` comes before `dst` on the second's, `distance` rounds of `level` later? */
struct flag_order {
    int level, distance;
    int from, to; /* pipes */
    struct flag_spot src, dst;
    uint64_t first, last; /* of rounds in which it matters */
    int without;          /* the token, -1: none */
    int reloaded;         /* a tile of which later loads are behind earlier reads, -1: none */
};
bool flags_is_ordered(const struct flag_maker *maker, const struct flag_order *order);

/* The item of a loop's body that a step is or stands in. */
int flags_item_in(const struct kernel_plan *plan, const struct kernel_flags *flags, int loop,
                  int step);

/* Does a loop in an item, however deep, run stages? */
bool flags_has_stages(const struct kernel_plan *plan, int item);

/* In which order a body runs two of its items in one round: that of its stages, then of the text */
bool flags_runs_before(const struct kernel_plan *plan, int item, int other);

#endif
