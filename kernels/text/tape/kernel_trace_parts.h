/* Internal to tapes of structures: a tape in the making. */
#ifndef AUTOTUNE_KERNELS_TEXT_TAPE_KERNEL_TRACE_PARTS_H
#define AUTOTUNE_KERNELS_TEXT_TAPE_KERNEL_TRACE_PARTS_H

#include "kernels/text/bounds/kernel_work_parts.h"
#include "kernels/text/tape/kernel_trace.h"

/* Numbers of operations on the tape. */
struct tracer {
    struct tape *tape;
    const struct space_plan *space_plan;
    const struct kernel_plan *plan;
    const struct kernel_work *work;
    const struct kernel_values *values;
    const struct trace_scope *scope;
    struct kernel_trace *trace;
    bool before_plans; /* which lets are shared is not known */
    bool has_rounds;   /* loops have lengths: */
    int lengths[KERNEL_MAX_LOOPS];
    int cells[CELLS_MAX];
    bool failed; /* something that a tape cannot say */
};

/* kernel_trace.c */
int trace_apply(struct tracer *t, enum expression_op op, int a, int b);
int trace_expression(struct tracer *t, const struct expression *e);
static inline int trace_number(struct tracer *t, double number)
{
    return tape_number(t->tape, number);
}

/* Sums over rounds of one step. */
struct trace_sum {
    int instructions, units, burst_fs;
};

/* Times of a step as in struct step_times, of first and of last rounds. */
struct trace_times {
    int first_fs[CELL_LEVELS], last_fs[CELL_LEVELS];
    int once;
};

/* What a step costs; units of vector operations are repeats, base_fs is less by one's time. */
struct trace_price {
    double base_fs;
    int fs_per_unit; /* on the tape */
};

/* kernel_trace_sums.c */
struct trace_sum trace_step(struct tracer *t, int step, struct trace_price price,
                            struct trace_times *times);

/* kernel_trace_whole.c: is what a step does in all rounds of the loop on a level at least what it
 * would do in one round of all its range? *group: it and the loops that are cut from it, bits. */
bool trace_is_subadditive(const struct tracer *t, int step, int level, uint64_t *group);

/* kernel_trace_ends.c: what comes before the first and after the last instruction of each chain,
 * and between them; layout.chain_count - 1 of them. */
void trace_ends(struct tracer *t, const struct work_chains *chains,
                const struct trace_times times[], const double late_fs[], const int instructions[],
                int ends[WORK_MAX_CHAINS]);

#endif
