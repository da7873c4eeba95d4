/* Internal to the space `cann`: the lines of its work summaries. matmul_cann_summary.c counts whole
 * tilings, matmul_cann_least.c prefixes of them. */
#ifndef AUTOTUNE_KERNELS_MATMUL_MATMUL_CANN_SUMMARY_H
#define AUTOTUNE_KERNELS_MATMUL_MATMUL_CANN_SUMMARY_H

#include "kernels/matmul/matmul_cann_internal.h"

/* A line of misses stands after that of the hits. Lines called WAIT count latencies only. */
enum cann_line {
    /* the whole program */
    LOAD_A,
    MISS_A,
    LOAD_B,
    MISS_B,
    LOAD_BIAS,
    FEED_A,
    FEED_B,
    FEED_BIAS,
    MULTIPLY,
    STORE,
    /* of parts of k: what the vector cores do, one after the other */
    ADD_LOAD,
    ADD_UP,
    ADD_CAST,
    ADD_STORE,
    CANN_TOTALS,
    /* of prefixes: bytes that may miss and are then on another bus */
    LOAD_ELSEWHERE = CANN_TOTALS,
    /* before the first product */
    START_LOAD,
    START_MISS,
    START_WAIT_LOAD,
    START_WAIT_MISS,
    START_FEED_A,
    START_FEED_B,
    START_WAIT_A,
    START_WAIT_B,
    /* before the first feed */
    FEED_LOAD,
    FEED_MISS,
    FEED_WAIT_LOAD,
    FEED_WAIT_MISS,
    /* before the first store */
    FIRST_TILE,
    /* after the last product */
    END_WAIT_MULTIPLY,
    END_STORE,
    END_WAIT_STORE,
    /* after the last feed */
    AFTER_FEED_WAIT_A,
    AFTER_FEED_WAIT_B,
    AFTER_FEED_MULTIPLY,
    /* after the last load */
    AFTER_LOAD_WAIT_LOAD,
    AFTER_LOAD_WAIT_MISS,
    AFTER_LOAD_FEED_A,
    AFTER_LOAD_FEED_B,
    AFTER_LOAD_MULTIPLY,
    /* where a buffer is single: L0C; */
    TURN_C_MULTIPLY,
    TURN_C_WAIT_MULTIPLY,
    TURN_C_WAIT_STORE,
    /* L0A; */
    TURN_A0_FEED_A,
    TURN_A0_FEED_B,
    TURN_A0_WAIT_A,
    TURN_A0_WAIT_B,
    TURN_A0_WAIT_MULTIPLY,
    /* L0B; */
    TURN_B0_FEED_B,
    TURN_B0_WAIT_B,
    TURN_B0_WAIT_MULTIPLY,
    /* A's in L1; */
    TURN_A1_LOAD,
    TURN_A1_MISS,
    TURN_A1_WAIT_LOAD,
    TURN_A1_WAIT_MISS,
    TURN_A1_FEED,
    TURN_A1_MULTIPLY,
    /* B's in L1 */
    TURN_B1_LOAD,
    TURN_B1_MISS,
    TURN_B1_WAIT_LOAD,
    TURN_B1_WAIT_MISS,
    TURN_B1_FEED,
    TURN_B1_MULTIPLY,
    /* of both in L1, one set */
    TURN_SET_WAIT_A,
    TURN_SET_WAIT_B,
    CANN_LINES,
};

/* Which buffers are single: the number of the layout. */
enum {
    SINGLE_A_L1 = 1,
    SINGLE_B_L1 = 2,
    SINGLE_A_L0 = 4,
    SINGLE_B_L0 = 8,
    SINGLE_C = 16,
    SINGLE_SET = 32,  /* with both of L1: the plan's one_set */
    SPLIT_PARTS = 64, /* not a buffer: k is split */
    LAYOUTS = 128,
};

enum status cann_make_work_layouts(struct space *space, struct cann *cann, struct error *error);

/* A move from or to global memory, and the pieces it consists of there. */
struct cann_move {
    int64_t bytes, pieces, align_bytes;
    double miss_share; /* of a load */
};
struct cann_move cann_move_of(const struct cann *cann, enum cann_operand operand, int64_t bytes,
                              const int64_t extent[CANN_DIRECTIONS]);

/* Adds `times` equal moves to a line; loads to a line and, what misses, to the next one. */
void cann_add_moves(const struct cann *cann, struct work *work, enum cann_line line, int price,
                    double times, const struct cann_move *move);
void cann_add_loads(const struct cann *cann, struct work *work, enum cann_line line, double times,
                    const struct cann_move *move);

/* With copies_known = false nothing may depend on the plan's copies in L1: the order of loads that
 * begin in the same body is open. */
void cann_summarise_plan(const struct cann *cann, const struct cann_plan *plan, unsigned single,
                         bool copies_known, struct work *work);
/* Products that do not overlap with stores where L0C holds one tile of C: all, or with a unit flag
 * all but the first of every tile but the first. Needs the totals. */
void cann_put_turns_c(const struct cann *cann, double tile_steps, double first_step_blocks,
                      struct work *work);
/* What adds up parts of k; SPLIT_PARTS, or 0 where there is one part. Needs END_WAIT_STORE. */
unsigned cann_put_reduction(const struct cann *cann, int64_t parts, int cores, struct work *work);
void cann_summarise(const struct space *space, const struct tiling *tiling, struct work *work);

#endif
