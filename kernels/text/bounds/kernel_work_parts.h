/* Internal to work summaries of texts: what is found once a plan. */
#ifndef AUTOTUNE_KERNELS_TEXT_BOUNDS_KERNEL_WORK_PARTS_H
#define AUTOTUNE_KERNELS_TEXT_BOUNDS_KERNEL_WORK_PARTS_H

#include "kernels/text/bounds/kernel_cells.h"
#include "kernels/text/bounds/kernel_work.h"

/* Two steps on different pipes touch the same bytes in the same rounds, and one of them writes:
 * `second` waits for the result of `first`. */
struct work_edge {
    uint8_t first, second;
};
enum { WORK_MAX_EDGES = 4096 }; /* any others are left out: bounds get smaller */

/* A walk over the bodies in the order in which a round's items run: those of an earlier stage
 * first. */
enum work_event_kind { WORK_STEP, WORK_OPEN, WORK_CLOSE };
struct work_event {
    enum work_event_kind kind;
    int number; /* step or plan loop */
};
enum { WORK_MAX_EVENTS = 2 * (KERNEL_MAX_LOOPS + 1) + PLAN_MAX_STEPS };

/* Chains of one variant. */
struct work_chains {
    struct work_layout layout;
    uint8_t line[PLAN_MAX_STEPS];       /* of each step */
    uint16_t chains_of[PLAN_MAX_STEPS]; /* bits */
    bool has_gaps;
    double gap_fs[WORK_MAX_CHAINS][PLAN_MAX_STEPS]; /* latency before and behind each but one of the
                                                       step's instructions, in the chain */
};

struct kernel_work {
    const struct kernel_plan *plan; /* not owned */
    struct kernel_cells cells;
    struct instruction instructions[PLAN_MAX_STEPS]; /* without their sizes */
    bool has_stages;                                 /* rounds of a body are mixed */
    int event_count;
    struct work_event events[WORK_MAX_EVENTS];
    int place[PLAN_MAX_STEPS]; /* of steps, in `events` */
    int edge_count;
    struct work_edge edges[WORK_MAX_EDGES];
    int edges_to[PLAN_MAX_STEPS],
        edges_end[PLAN_MAX_STEPS]; /* by `second`: [edges_to, edges_end) */
    struct work_chains chains[WORK_VARIANTS];
    uint64_t shapes; /* text loops that must not be ragged for the first variant */
};

/* kernel_order.c: events and edges. */
void work_find_order(struct kernel_work *work);

/* Can no two executions of these steps overlap in time, in any rounds? */
bool work_excludes(const struct kernel_plan *plan, int a, int b, enum work_variant variant);

/* kernel_chains.c: lines and chains of a variant. */
enum status work_find_chains(struct kernel_work *work, enum work_variant variant,
                             struct error *error);

/* kernel_gaps.c: what a chain waits for results, once it is found. */
void work_find_gaps(struct kernel_work *work, enum work_variant variant);

#endif
