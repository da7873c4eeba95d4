/* Internal to the work summaries of the space `cann`: what their parts share. Totals come first
 * (matmul_cann_totals.c), since its ends and turns (matmul_cann_ends.c) start from them. */
#ifndef AUTOTUNE_KERNELS_MATMUL_MATMUL_CANN_PARTS_H
#define AUTOTUNE_KERNELS_MATMUL_MATMUL_CANN_PARTS_H

#include "kernels/matmul/matmul_cann_summary.h"

#include <string.h>

/* A or B. */
struct cann_side {
    enum cann_operand which;
    enum cann_direction across;
    enum cann_live_range l1, l0;
    enum cann_line load, feed;
    int level_l1, level_l0;
    bool one; /* of all batches */
};

static inline struct cann_side cann_side_of(const struct cann_plan *plan, enum cann_operand which)
{
    bool a = which == CANN_A;
    struct cann_side o = {
        .which = which,
        .across = a ? CANN_M : CANN_N,
        .l1 = a ? LIVE_A_L1 : LIVE_B_L1,
        .l0 = a ? LIVE_A_L0 : LIVE_B_L0,
        .load = a ? LOAD_A : LOAD_B,
        .feed = a ? FEED_A : FEED_B,
        .one = !a && plan->one_b,
    };
    o.level_l1 = plan->scope[o.l1].level;
    o.level_l0 = plan->scope[o.l0].level;
    return o;
}

/* Bytes of a part in L1, and of a tile in L0. */
static inline int64_t cann_part_bytes(const struct cann *cann, const struct cann_side *o,
                                      const int64_t extent[CANN_DIRECTIONS])
{
    return (o->one ? 1 : extent[CANN_BATCH]) * extent[o->across] * extent[CANN_K] *
           cann->machine.type_bytes;
}

static inline int64_t cann_tile_bytes(const struct cann *cann, const struct cann_side *o,
                                      const int64_t extent[CANN_DIRECTIONS])
{
    return extent[o->across] * extent[CANN_K] * cann->machine.type_bytes;
}

struct cann_move cann_load_of(const struct cann *cann, const struct cann_plan *plan,
                              enum cann_operand operand, int64_t bytes,
                              const int64_t extent[CANN_DIRECTIONS]);

/* What a load of so many bytes ends with: the wait for its last move. */
void cann_wait_for_load(double miss_share, struct work *work, enum cann_line line, int64_t bytes);

/* The tile of the first body of a level, or of the last. */
static inline void cann_tile_of(const struct cann_plan *plan, int level, bool last,
                                int64_t extent[CANN_DIRECTIONS])
{
    memcpy(extent, plan->extent, sizeof plan->extent);
    for (int l = 0; l <= level; l++) {
        enum cann_direction d = plan->level[l].direction;
        int64_t slice = plan->level[l].slice, rest = extent[d] % slice;
        extent[d] = extent[d] < slice ? extent[d] : last && rest ? rest : slice;
    }
}

/* From a tile of level `level` on to the first of a deeper one. */
static inline void cann_first_within(const struct cann_plan *plan, int level, int deeper,
                                     int64_t extent[CANN_DIRECTIONS])
{
    for (int l = level + 1; l <= deeper; l++) {
        enum cann_direction d = plan->level[l].direction;
        if (plan->level[l].slice < extent[d])
            extent[d] = plan->level[l].slice;
    }
}

/* Blocks of the matrix unit in a tile; all products within a body of a level. */
static inline double cann_blocks_of(const struct cann *cann, const int64_t extent[CANN_DIRECTIONS])
{
    const struct cann_machine *m = &cann->machine;
    int64_t rows = extent[CANN_M] / m->block_mn, columns = extent[CANN_N] / m->block_mn;
    int64_t deep = extent[CANN_K] / m->block_k;
    return (double)extent[CANN_BATCH] * (double)rows * (double)columns * (double)deep;
}

void cann_add_products(const struct cann *cann, const struct cann_plan *plan, struct work *work,
                       enum cann_line line, int level, const int64_t extent[CANN_DIRECTIONS]);

/* Instructions and bytes of the whole program. */
void cann_sum_totals(const struct cann *cann, const struct cann_plan *plan, struct work *work);

/* Until the first product: both first parts, the wait for the later one, its feed (and the other
 * one where that comes after it), the wait for the last feed. */
void cann_put_start(const struct cann *cann, const struct cann_plan *plan, bool copies_known,
                    struct work *work);

/* Before the first store. */
void cann_put_first_tile(const struct cann *cann, const struct cann_plan *plan, struct work *work);

/* After the last product, and after the last feed. */
void cann_put_end(const struct cann *cann, const struct cann_plan *plan, struct work *work);

/* After the last load: the feed of what it brought, and all products with it. */
void cann_put_after_loads(const struct cann *cann, const struct cann_plan *plan, bool copies_known,
                          struct work *work);

/* One tile of C in L0C: each is stored before the next begins. */
void cann_put_turns_of_c(const struct cann *cann, const struct cann_plan *plan, struct work *work);

/* One tile of A in L0A: after its last product the next one is fed, and, where B's scope is the
 * same, B's after it. */
void cann_put_turns_a0(const struct cann *cann, const struct cann_plan *plan, struct work *work);
void cann_put_turns_b0(const struct cann *cann, const struct cann_plan *plan, struct work *work);

/* One part in L1: the next is loaded once the last tile of this one has been fed, and that waits
 * for all products of the part but those of the tiles that L0 holds. */
void cann_put_turns_l1(const struct cann *cann, const struct cann_plan *plan,
                       enum cann_operand which, bool copies_known, struct work *work);

/* One set in L1: nothing is loaded while it is fed, nor fed while it is loaded. B comes last. Needs
 * the turns of B's parts. */
void cann_put_turns_of_sets(const struct cann_plan *plan, struct work *work);

#endif
