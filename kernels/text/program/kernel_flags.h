/* Which flags a plan needs: tokens that go from pipe to pipe with a tile.
 *
 * A token stands between two accesses of different pipes that conflict: a register is set after the
 * earlier one and waited for before the later one, in each round of the innermost loop around both
 * ("full"), or from a round to the one `distance` later ("free"). Every conflict is ordered by
 * tokens and by the order of pipes, conditions of steps notwithstanding: flags stand in rounds
 * without the step, too. A token that others order is left out; one whose register could be set
 * again before it was waited for gets a second one back ("pace").
 *
 * All of that follows from the plan's structure. What sizes decide is whether a tile that is loaded
 * again needs a token from its last reader, or whether loads and feeds in turn are enough
 * (`is_optional`; kernel_handover.h). */
#ifndef AUTOTUNE_KERNELS_TEXT_PROGRAM_KERNEL_FLAGS_H
#define AUTOTUNE_KERNELS_TEXT_PROGRAM_KERNEL_FLAGS_H

#include "kernels/text/plan/kernel_plan.h"

enum { FLAGS_MAX_TOKENS = 512 };

/* Where the flag of a token stands: at an item of the plan, in those rounds alone in which these
 * text loops are in their first and in their last round. */
struct flag_place {
    int item;
    uint64_t first, last;
};

struct kernel_token {
    int tile;               /* -1: tiles of different loops that share room */
    int src, dst;           /* steps: after the one, before the other */
    int from, to;           /* their pipes */
    int level;              /* plan loop, in each round of which it is set and waited for */
    bool is_early, is_late; /* in first, last rounds of a loop inside that, both */
    int distance; /* rounds of that between; 0: the same one; copies: of the tile's life */
    int count;    /* of registers in turn, */
    int first;    /* from this one on */
    bool by_slot; /* they turn with the tile's copies; else each time that it is set */
    bool is_pace; /* set at once after the wait of the token that it paces */
    bool is_optional;
    int outer; /* of an optional one: the next token that does the same further out, -1: none */
    uint64_t first_only, last_only; /* text loops in whose first, last rounds alone there is one */
    struct flag_place set, wait;    /* their rounds include those */
    int next_set, next_wait;        /* of the same item, -1: none */
};

struct kernel_flags {
    int sets[PLAN_MAX_ITEMS], waits[PLAN_MAX_ITEMS];       /* by item: its first token, -1: none */
    int registers[HARDWARE_MAX_PIPES][HARDWARE_MAX_PIPES]; /* from, to: how many */
    int step_item[PLAN_MAX_STEPS], loop_item[KERNEL_MAX_LOOPS + 1];
    uint64_t first[PLAN_MAX_STEPS],
        last[PLAN_MAX_STEPS];     /* text loops in whose first, last rounds alone a step runs */
    uint64_t ask_first, ask_last; /* text loops whose first, last rounds expressions ask for */
    uint64_t ask_second;          /* those in whose second ones products may be the first */
    uint64_t written_out;         /* text loops whose rounds differ all */
    int token_count;
    struct kernel_token tokens[FLAGS_MAX_TOKENS]; /* last: whoever keeps flags may leave off those
                                                     behind token_count */
};

/* Needs the values of sizes and axes. STATUS_TOO_LARGE beyond FLAGS_MAX_TOKENS. Whether the chip
 * has as many registers is for the caller to ask: flags_check. */
enum status kernel_flags_find(const struct kernel_plan *plan, const struct kernel_values *values,
                              struct kernel_flags *flags, struct error *error);

/* STATUS_INVALID, "5 flag registers from MTE1 to MTE2, ascend310 has 4". */
enum status kernel_flags_check(const struct kernel_plan *plan, const struct kernel_flags *flags,
                               struct error *error);

#endif
