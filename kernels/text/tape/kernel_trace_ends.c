/* Heads and tails, as kernel_ends.c has them, on a tape. What may not run at all counts where it
 * does. Steps that run in the first rounds of a loop only say nothing of the program's end. */
#include "kernels/text/tape/kernel_trace_parts.h"

#include <float.h>

struct ending {
    struct tracer *t;
    const struct work_chains *chains;
    const struct trace_times *times;
    const double *late_fs;
    int head_fs[PLAN_MAX_STEPS], tail_fs[PLAN_MAX_STEPS];
};

struct clocks {
    int chain_fs[WORK_MAX_CHAINS], step_fs[PLAN_MAX_STEPS];
};

static int number(const struct ending *e, double value)
{
    return trace_number(e->t, value);
}

static int apply(const struct ending *e, enum tape_op op, int a, int b)
{
    return tape_apply(e->t->tape, op, a, b);
}

/* `then` where the time is above 0. */
static int where_any(const struct ending *e, int time_fs, int then, int otherwise)
{
    return tape_choice(e->t->tape, apply(e, TAPE_LESS, number(e, 0), time_fs), then, otherwise);
}

static int later(const struct ending *e, int a, int b)
{
    return apply(e, TAPE_MAX, a, b);
}

static int latest_chain(const struct ending *e, int step, const int chain_fs[])
{
    int fs = number(e, 0);
    for (unsigned c = e->chains->chains_of[step]; c; c &= c - 1)
        fs = later(e, fs, chain_fs[__builtin_ctz(c)]);
    return fs;
}

static void set_chains(const struct ending *e, int step, int chain_fs[], int fs)
{
    for (unsigned c = e->chains->chains_of[step]; c; c &= c - 1)
        chain_fs[__builtin_ctz(c)] = later(e, chain_fs[__builtin_ctz(c)], fs);
}

static int depth_of(const struct ending *e, int step)
{
    return e->t->work->cells.steps[step].depth;
}

static void begin(const struct ending *e, struct clocks *clocks)
{
    for (int c = 0; c < WORK_MAX_CHAINS; c++)
        clocks->chain_fs[c] = number(e, 0);
    for (int s = 0; s < PLAN_MAX_STEPS; s++)
        clocks->step_fs[s] = number(e, 0);
}

/* ------------------------------------------------------------------ all rounds of a loop */

struct passage {
    int least_fs[WORK_MAX_CHAINS], sum_fs[WORK_MAX_CHAINS];
};

static void begin_passage(const struct ending *e, struct passage *passage)
{
    for (int c = 0; c < WORK_MAX_CHAINS; c++) {
        passage->least_fs[c] = number(e, DBL_MAX);
        passage->sum_fs[c] = number(e, 0);
    }
}

static void pass_step(const struct ending *e, int step, int end_fs, int time_fs,
                      struct passage *passage)
{
    int least = where_any(e, time_fs, end_fs, number(e, DBL_MAX));
    for (unsigned c = e->chains->chains_of[step]; c; c &= c - 1) {
        int chain = __builtin_ctz(c);
        passage->least_fs[chain] = apply(e, TAPE_MIN, passage->least_fs[chain], least);
        passage->sum_fs[chain] = apply(e, TAPE_ADD, passage->sum_fs[chain], time_fs);
    }
}

static void end_passage(const struct ending *e, const struct passage *passage, int chain_fs[])
{
    for (int c = 0; c < e->chains->layout.chain_count; c++) {
        int fs = apply(e, TAPE_ADD, passage->least_fs[c], passage->sum_fs[c]);
        chain_fs[c] = later(e, chain_fs[c], where_any(e, passage->sum_fs[c], fs, number(e, 0)));
    }
}

/* ------------------------------------------------------------------ heads */

static void head_of_step(struct ending *e, int step, struct clocks *clocks)
{
    const struct kernel_work *work = e->t->work;
    int time_fs = e->times[step].first_fs[depth_of(e, step)];
    int start_fs = latest_chain(e, step, clocks->chain_fs), none = number(e, 0);
    for (int i = work->edges_to[step]; i < work->edges_end[step]; i++) {
        int before = work->edges[i].first, ended_fs = clocks->step_fs[before];
        int result_fs = apply(e, TAPE_ADD, ended_fs, number(e, e->late_fs[before]));
        start_fs = later(e, start_fs, where_any(e, ended_fs, result_fs, none));
    }
    e->head_fs[step] = start_fs;
    int end_fs = where_any(e, time_fs, apply(e, TAPE_ADD, start_fs, time_fs), none);
    clocks->step_fs[step] = end_fs;
    set_chains(e, step, clocks->chain_fs, end_fs);
}

static void head_after_loop(const struct ending *e, int number_of, struct clocks *clocks)
{
    const struct plan_loop *loop = &e->t->plan->loops[number_of];
    struct passage passage;
    begin_passage(e, &passage);
    for (int s = loop->first_step; s < loop->end_step; s++) {
        int time_fs = e->times[s].first_fs[loop->depth - 1];
        pass_step(e, s, e->head_fs[s], time_fs, &passage);
        int end_fs = apply(e, TAPE_ADD, e->head_fs[s], time_fs);
        clocks->step_fs[s] =
            later(e, clocks->step_fs[s], where_any(e, time_fs, end_fs, number(e, 0)));
    }
    end_passage(e, &passage, clocks->chain_fs);
}

static void find_heads(struct ending *e)
{
    struct clocks clocks;
    begin(e, &clocks);
    for (int i = 0; i < e->t->work->event_count; i++) {
        const struct work_event *event = &e->t->work->events[i];
        if (event->kind == WORK_STEP)
            head_of_step(e, event->number, &clocks);
        else if (event->kind == WORK_CLOSE)
            head_after_loop(e, event->number, &clocks);
    }
}

/* ------------------------------------------------------------------ tails */

static void tell(const struct ending *e, int step, int fs, int wait_fs[])
{
    const struct kernel_work *work = e->t->work;
    for (int i = work->edges_to[step]; i < work->edges_end[step]; i++) {
        int before = work->edges[i].first;
        int result_fs = apply(e, TAPE_ADD, fs, number(e, e->late_fs[before]));
        wait_fs[before] = later(e, wait_fs[before], where_any(e, fs, result_fs, number(e, 0)));
    }
}

static void tail_of_step(struct ending *e, int step, struct clocks *clocks, int wait_fs[])
{
    const struct trace_times *times = &e->times[step];
    int depth = depth_of(e, step), time_fs = times->last_fs[depth];
    int fs = later(e, number(e, e->late_fs[step]), latest_chain(e, step, clocks->chain_fs));
    e->tail_fs[step] = fs;
    if (times->once < depth)
        return;
    e->tail_fs[step] = where_any(e, time_fs, later(e, fs, wait_fs[step]), fs);
    fs = where_any(e, time_fs, apply(e, TAPE_ADD, e->tail_fs[step], time_fs), number(e, 0));
    set_chains(e, step, clocks->chain_fs, fs);
    clocks->step_fs[step] = fs;
    tell(e, step, fs, wait_fs);
}

static void tail_before_loop(const struct ending *e, int number_of, struct clocks *clocks,
                             int wait_fs[])
{
    const struct plan_loop *loop = &e->t->plan->loops[number_of];
    struct passage passage;
    begin_passage(e, &passage);
    for (int s = loop->first_step; s < loop->end_step; s++) {
        int time_fs = e->times[s].last_fs[loop->depth - 1];
        if (e->times[s].once < loop->depth - 1)
            continue;
        pass_step(e, s, e->tail_fs[s], time_fs, &passage);
        int fs = where_any(e, time_fs, apply(e, TAPE_ADD, e->tail_fs[s], time_fs), number(e, 0));
        clocks->step_fs[s] = later(e, clocks->step_fs[s], fs);
        tell(e, s, where_any(e, time_fs, clocks->step_fs[s], number(e, 0)), wait_fs);
    }
    end_passage(e, &passage, clocks->chain_fs);
}

static void find_tails(struct ending *e)
{
    struct clocks clocks;
    int wait_fs[PLAN_MAX_STEPS];
    begin(e, &clocks);
    for (int s = 0; s < PLAN_MAX_STEPS; s++)
        wait_fs[s] = number(e, 0);
    for (int i = e->t->work->event_count - 1; i >= 0; i--) {
        const struct work_event *event = &e->t->work->events[i];
        if (event->kind == WORK_STEP)
            tail_of_step(e, event->number, &clocks, wait_fs);
        else if (event->kind == WORK_OPEN)
            tail_before_loop(e, event->number, &clocks, wait_fs);
    }
}

/* ------------------------------------------------------------------ both */

static int end_of_chain(const struct ending *e, int chain, const int instructions[])
{
    int none = number(e, 0), never = number(e, DBL_MAX);
    int head_fs = never, tail_fs = never, gaps_fs = none;
    for (int s = 0; s < e->t->plan->step_count; s++) {
        int time_fs = e->times[s].first_fs[0];
        if (!(e->chains->chains_of[s] >> chain & 1))
            continue;
        head_fs = apply(e, TAPE_MIN, head_fs, where_any(e, time_fs, e->head_fs[s], never));
        tail_fs = apply(e, TAPE_MIN, tail_fs, where_any(e, time_fs, e->tail_fs[s], never));
        if (!e->chains->has_gaps)
            continue;
        int others = apply(e, TAPE_SUBTRACT, instructions[s], number(e, 1));
        gaps_fs = apply(e, TAPE_ADD, gaps_fs,
                        apply(e, TAPE_MULTIPLY, later(e, others, none),
                              number(e, e->chains->gap_fs[chain][s])));
    }
    int fs = apply(e, TAPE_ADD, apply(e, TAPE_ADD, head_fs, tail_fs), gaps_fs);
    return tape_choice(e->t->tape, apply(e, TAPE_LESS, head_fs, never), fs, none);
}

void trace_ends(struct tracer *t, const struct work_chains *chains,
                const struct trace_times times[], const double late_fs[], const int instructions[],
                int ends[WORK_MAX_CHAINS])
{
    struct ending ending = {.t = t, .chains = chains, .times = times, .late_fs = late_fs};
    find_heads(&ending);
    find_tails(&ending);
    for (int c = 0; c < chains->layout.chain_count - 1; c++)
        ends[c] = end_of_chain(&ending, c, instructions);
}
