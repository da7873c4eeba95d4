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
    int cores; /* that run it */
    const struct trace_scope *scope;
    struct kernel_trace *trace;
    bool before_plans; /* which lets are shared is not known */
    bool has_rounds;   /* loops have lengths: */
    int lengths[KERNEL_MAX_LOOPS];
    int cells[CELLS_MAX];
    int detail;  /* so many rounds that begin elsewhere stand by themselves */
    bool failed; /* something that a tape cannot say */
};

/* kernel_trace.c */
int trace_apply(struct tracer *t, enum expression_op op, int a, int b);
int trace_expression(struct tracer *t, const struct expression *e);
int trace_given_input(struct tracer *t, struct trace_given given, struct interval known);
static inline int trace_number(struct tracer *t, double number)
{
    return tape_number(t->tape, number);
}

/* Sums over rounds of one step. */
struct trace_sum {
    int instructions, units, burst_fs;
};

/* Times of a step's instructions alone. Index l: of all rounds of its loops from the l-th on,
 * within … rounds of those before; index depth: one instruction. The last two are of a tape that is
 * played. */
struct trace_times {
    int first_fs[CELL_LEVELS]; /* … the first … */
    int last_fs[CELL_LEVELS];  /* … those in which it runs last … */
    int rest_fs[CELL_LEVELS];  /* … those, and without the first round of the l-th */
    int turn_fs[CELL_LEVELS];  /* one instruction in the first round of the l-th, else last ones */
    int once;                  /* the first of its loops in whose last round it may not run, as it
                                  runs in first ones only; depth: none */
};

/* What a step costs. On a tape that is written units of vector operations are repeats, the first
 * one, too, and base_fs is less by its time. */
struct trace_price {
    double base_fs;
    int fs_per_unit; /* on the tape */
};

enum { LINE_NUMBERS = 3 }; /* instructions, units, burst_fs of each line */

/* kernel_trace_work.c */
void trace_lines(struct tracer *t, const struct work_chains *chains,
                 int lines[WORK_MAX_LINES * LINE_NUMBERS]);
void trace_vector_lines(const struct tracer *t, const struct work_chains *chains);

/* kernel_trace_sums.c: cells that ask nothing of rounds; all rounds of a step. */
void trace_cells(struct tracer *t);
struct trace_sum trace_step(struct tracer *t, int step, struct trace_price price,
                            struct trace_times *times);

/* kernel_trace_whole.c: is what a step does in all rounds of the loop on a level at least what it
 * would do in one round of all its range? *group: it and the loops that are cut from it, bits.
 * `of_all`: is what a load in two steps does in both? */
bool trace_is_subadditive(const struct tracer *t, int step, bool of_all, int level,
                          uint64_t *group);

/* kernel_trace_ends.c: what comes before the first and after the last instruction of each chain,
 * and between them; of the last one the time of phases. */
void trace_ends(struct tracer *t, const struct work_chains *chains,
                const struct trace_times times[], const double late_fs[], const int instructions[],
                int ends[WORK_MAX_CHAINS]);

#endif
