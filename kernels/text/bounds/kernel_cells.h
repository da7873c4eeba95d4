/* The numbers of a plan in a flat form, of which tapes are made.
 *
 * A cell is a number: one that is given, what a round is, or an operation on earlier cells; what is
 * meant twice is there once. What asks nothing of rounds is one cell, whatever its expression, and
 * kernel_number's.
 *
 * Cells know the text loops whose rounds they ask. A step has lists of those that it needs, one
 * for each loop around it: those to be computed anew where that loop's round changes. */
#ifndef AUTOTUNE_KERNELS_TEXT_BOUNDS_KERNEL_CELLS_H
#define AUTOTUNE_KERNELS_TEXT_BOUNDS_KERNEL_CELLS_H

#include "kernels/text/plan/kernel_plan.h"

enum {
    CELLS_MAX = 2048,
    CELLS_MAX_LISTED = 16384,
    CELL_LEVELS = PROGRAM_MAX_DEPTH + 1, /* level 0: no loop */
    CELL_NONE = -1,
};

enum cell_kind { CELL_NUMBER, CELL_GIVEN, CELL_ROUND, CELL_APPLY, CELL_CHOICE };

struct cell {
    enum cell_kind kind;
    enum expression_op op;          /* of CELL_APPLY, on args 0 and 1 */
    int args[3];                    /* of CELL_CHOICE: condition, then, else */
    int64_t number;                 /* of CELL_NUMBER; of CELL_ROUND what of which loop */
    const struct expression *given; /* of CELL_GIVEN */
    uint64_t loops;                 /* text loops on which it depends, and of these: */
    uint64_t begins, ends;          /* where the round begins; whether it is the first or last */
};

/* Of the round of a loop. */
enum cell_round { ROUND_LENGTH, ROUND_BEGIN, ROUND_FIRST, ROUND_LAST, ROUND_FACTS };

/* Cells of a plan loop: rounds, their step, the length of all but the last and of that, where the
 * first begins; and those that entering a round fills in. CELL_NONE: nobody asks. */
struct cell_loop {
    int rounds, by, full, last, begin;
    int facts[ROUND_FACTS];
};

/* What an instruction needs: bytes, bursts, alignment; m, k, n; elements; count. */
enum { CELL_NUMBERS = 3 };

struct cell_step {
    int numbers[CELL_NUMBERS], condition;
    int all, all_runs; /* of a load in two steps: bytes of both, and its condition in the text */
    int depth;         /* loops around it, */
    int loops[PROGRAM_MAX_DEPTH]; /* outermost first: plan loops */
    uint64_t asks, begins, ends;  /* of all its cells, as in a cell */
    int list[CELL_LEVELS + 1];    /* in `listed`: level l has [list[l], list[l + 1]) */
};

struct kernel_cells {
    const struct kernel_plan *plan; /* not owned */
    int count, given_count, listed_count;
    struct cell *cells; /* owned, as the next two */
    int *listed;        /* ascending on a level */
    int *given;         /* cells that ask nothing of rounds, ascending */
    struct cell_loop loops[KERNEL_MAX_LOOPS + 1];
    struct cell_step steps[PLAN_MAX_STEPS];
    uint64_t shapes[KERNEL_MAX_TILES]; /* text loops on which a tile's extents depend */
};

static inline int cell_args(enum cell_kind kind)
{
    return kind == CELL_CHOICE ? 3 : kind == CELL_APPLY ? 2 : 0;
}

/* STATUS_TOO_LARGE beyond the limits above. */
enum status kernel_cells_make(const struct kernel_plan *plan, struct kernel_cells *cells,
                              struct error *error);
void kernel_cells_clear(struct kernel_cells *cells);

#endif
