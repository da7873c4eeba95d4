/* Heads and tails: at least how long after the start a step's first instruction starts, and before
 * the end of the program its last one ends. One walk over first rounds, and one backwards over last
 * ones. Chains keep clocks: what is in a chain waits for all of it before. Edges add what waits for
 * a result of another pipe in the same round. docs/bounds.md says why. What may not run at all
 * counts where it does; steps that run in the first rounds of a loop only say what is behind them
 * on a tape that is played, as there it is known whether there are other rounds. */
#include "kernels/text/tape/kernel_trace_parts.h"

#include <float.h>

struct ending {
    struct tracer *t;
    const struct work_chains *chains;
    const struct trace_times *times;
    const double *late_fs;
    int none, never; /* 0, and later than all */
    int head_fs[PLAN_MAX_STEPS], tail_fs[PLAN_MAX_STEPS];
    int phases_fs; /* of the program, by steps that run in first rounds only; 0: none */
};

/* Until, or from, the instructions of a chain so far, and of a step; 0: has not run. */
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
    struct interval known = tape_known(e->t->tape, time_fs);
    if (known.lo > 0 || known.hi <= 0)
        return known.lo > 0 ? then : otherwise;
    return tape_choice(e->t->tape, apply(e, TAPE_LESS, e->none, time_fs), then, otherwise);
}

static int later(const struct ending *e, int a, int b)
{
    return apply(e, TAPE_MAX, a, b);
}

static int latest_chain(const struct ending *e, int step, const int chain_fs[])
{
    int fs = e->none;
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
        clocks->chain_fs[c] = e->none;
    for (int s = 0; s < PLAN_MAX_STEPS; s++)
        clocks->step_fs[s] = e->none;
}

/* ------------------------------------------------------------------ all rounds of a loop */

/* Of each chain: the least of its steps' ends, and its time in the loop. */
struct passage {
    int least_fs[WORK_MAX_CHAINS], sum_fs[WORK_MAX_CHAINS];
};

static void begin_passage(const struct ending *e, struct passage *passage)
{
    for (int c = 0; c < WORK_MAX_CHAINS; c++) {
        passage->least_fs[c] = e->never;
        passage->sum_fs[c] = e->none;
    }
}

static void pass_step(const struct ending *e, int step, int end_fs, int time_fs,
                      struct passage *passage)
{
    int least = where_any(e, time_fs, end_fs, e->never);
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
        chain_fs[c] = later(e, chain_fs[c], where_any(e, passage->sum_fs[c], fs, e->none));
    }
}

/* ------------------------------------------------------------------ heads */

static void head_of_step(struct ending *e, int step, struct clocks *clocks)
{
    const struct kernel_work *work = e->t->work;
    int time_fs = e->times[step].first_fs[depth_of(e, step)];
    int chains_fs = latest_chain(e, step, clocks->chain_fs), start_fs = chains_fs;
    for (int i = work->edges_to[step]; i < work->edges_end[step]; i++) {
        int before = work->edges[i].first, ended_fs = clocks->step_fs[before];
        int result_fs = apply(e, TAPE_ADD, ended_fs, number(e, e->late_fs[before]));
        start_fs = later(e, start_fs, where_any(e, ended_fs, result_fs, e->none));
    }
    e->head_fs[step] = where_any(e, time_fs, start_fs, chains_fs);
    int end_fs = where_any(e, time_fs, apply(e, TAPE_ADD, start_fs, time_fs), e->none);
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
        clocks->step_fs[s] = later(e, clocks->step_fs[s], where_any(e, time_fs, end_fs, e->none));
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

/* What a step's first instruction still takes to the end, told to those whose results it uses. */
static void tell(const struct ending *e, int step, int fs, int wait_fs[])
{
    const struct kernel_work *work = e->t->work;
    for (int i = work->edges_to[step]; i < work->edges_end[step]; i++) {
        int before = work->edges[i].first;
        int result_fs = apply(e, TAPE_ADD, fs, number(e, e->late_fs[before]));
        wait_fs[before] = later(e, wait_fs[before], where_any(e, fs, result_fs, e->none));
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
    fs = where_any(e, time_fs, apply(e, TAPE_ADD, e->tail_fs[step], time_fs), e->none);
    set_chains(e, step, clocks->chain_fs, fs);
    clocks->step_fs[step] = fs;
    tell(e, step, fs, wait_fs);
}

/* ------------------------------------------------------------------ steps that run once */

/* Do both run in the same rounds, so that an edge between them holds where `before` runs last? */
static bool runs_with(const struct kernel_plan *plan, int before, int step)
{
    return !plan->steps[before].condition && !plan->steps[step].condition &&
           !plan->steps[before].share && !plan->steps[step].share &&
           (plan->steps[step].once & ~plan->steps[before].once) == 0;
}

/* How many of the loops around a step are also around the other. */
static int common_depth(const struct ending *e, int step, int other)
{
    const struct cell_step *a = &e->t->work->cells.steps[step];
    const struct cell_step *b = &e->t->work->cells.steps[other];
    int depth = 0;
    while (depth < a->depth && depth < b->depth && a->loops[depth] == b->loops[depth])
        depth++;
    return depth;
}

/* Does it stand before `last`, and not run on where that runs in first rounds only, within a round
 * of the loop on `level`? */
static bool is_over(const struct ending *e, int step, int last, int level)
{
    const struct kernel_work *work = e->t->work;
    uint64_t once = work->plan->steps[last].once & ~work->plan->steps[step].once;
    bool over = work->place[step] < work->place[last];
    for (int l = level + 1; l < common_depth(e, step, last); l++)
        over &= !(once >> work->plan->loops[work->cells.steps[last].loops[l]].text_loop & 1);
    return over;
}

/* The time of a step until `last` has run last, which is in the first round of the loop on `level`
 * of last rounds: that of all rounds before, and of this one where it is over by then. */
static int before_fs(const struct ending *e, int step, int last, int level)
{
    const struct trace_times *times = &e->times[step];
    int common = common_depth(e, step, last), all_fs = times->last_fs[0];
    bool over = is_over(e, step, last, level);
    if (step == last || times->once < (common < level ? common : level))
        return all_fs;
    if (common <= level)
        return over ? all_fs : apply(e, TAPE_SUBTRACT, all_fs, times->last_fs[common]);
    return apply(e, TAPE_SUBTRACT, all_fs, over ? times->rest_fs[level] : times->last_fs[level]);
}

/* The program's time by a step that runs in the first round of a loop only: its chain until then,
 * and what comes after. */
static int phases_of(const struct ending *e, int step, int level)
{
    int longest_fs = e->none;
    for (unsigned c = e->chains->chains_of[step]; c; c &= c - 1) {
        int least_fs = e->never, sum_fs = e->none;
        for (int s = 0; s < e->t->plan->step_count; s++) {
            if (!(e->chains->chains_of[s] >> __builtin_ctz(c) & 1))
                continue;
            int fs = before_fs(e, s, step, level);
            sum_fs = apply(e, TAPE_ADD, sum_fs, fs);
            least_fs = apply(e, TAPE_MIN, least_fs, where_any(e, fs, e->head_fs[s], e->never));
        }
        longest_fs = later(e, longest_fs, apply(e, TAPE_ADD, least_fs, sum_fs));
    }
    return apply(e, TAPE_ADD, longest_fs, e->tail_fs[step]);
}

/* What all rounds of a loop but the first still take, of each chain. */
static void rest_of_loop(const struct ending *e, const struct plan_loop *loop,
                         int rest_fs[WORK_MAX_CHAINS])
{
    struct passage passage;
    begin_passage(e, &passage);
    for (int c = 0; c < WORK_MAX_CHAINS; c++)
        rest_fs[c] = e->none;
    for (int s = loop->first_step; s < loop->end_step; s++)
        if (e->times[s].once >= loop->depth)
            pass_step(e, s, e->tail_fs[s], e->times[s].rest_fs[loop->depth - 1], &passage);
    end_passage(e, &passage, rest_fs);
}

/* What runs in the first round of a loop only has all other rounds behind it: those of each chain
 * that its own, or what waits for it in its round, is in. */
static void tail_of_once(struct ending *e, int close, int number_of)
{
    const struct kernel_work *work = e->t->work;
    const struct plan_loop *loop = &work->plan->loops[number_of];
    int rest_fs[WORK_MAX_CHAINS], wait_fs[PLAN_MAX_STEPS];
    rest_of_loop(e, loop, rest_fs);
    for (int s = 0; s < work->plan->step_count; s++)
        wait_fs[s] = e->none;
    for (int i = close; work->events[i].kind != WORK_OPEN || work->events[i].number != number_of;
         i--) {
        int step = work->events[i].number;
        if (work->events[i].kind != WORK_STEP)
            continue;
        int fs = later(e, wait_fs[step], latest_chain(e, step, rest_fs));
        for (int j = work->edges_to[step]; j < work->edges_end[step]; j++) {
            int before = work->edges[j].first;
            int one_fs = apply(e, TAPE_ADD, e->times[step].turn_fs[loop->depth - 1], fs);
            if (runs_with(work->plan, before, step))
                wait_fs[before] = later(e, wait_fs[before],
                                        apply(e, TAPE_ADD, one_fs, number(e, e->late_fs[before])));
        }
        int time_fs = e->times[step].last_fs[0];
        if (e->times[step].once != loop->depth - 1 || tape_known(e->t->tape, time_fs).lo <= 0)
            continue;
        e->tail_fs[step] = later(e, e->tail_fs[step], fs);
        e->phases_fs = later(e, e->phases_fs, phases_of(e, step, loop->depth - 1));
    }
}

/* Where rounds are mixed, those behind a first one are not all behind what is in it. */
static bool has_once(const struct ending *e, int number_of)
{
    const struct plan_loop *loop = &e->t->plan->loops[number_of];
    bool any = false;
    for (int s = loop->first_step; s < loop->end_step; s++)
        any |= e->times[s].once == loop->depth - 1 && e->times[s].once < depth_of(e, s);
    return any && e->t->tape->is_played && !e->t->work->has_stages;
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
        int fs = where_any(e, time_fs, apply(e, TAPE_ADD, e->tail_fs[s], time_fs), e->none);
        clocks->step_fs[s] = later(e, clocks->step_fs[s], fs);
        tell(e, s, where_any(e, time_fs, clocks->step_fs[s], e->none), wait_fs);
    }
    end_passage(e, &passage, clocks->chain_fs);
}

static void find_tails(struct ending *e)
{
    struct clocks clocks;
    int wait_fs[PLAN_MAX_STEPS], close[KERNEL_MAX_LOOPS + 1];
    begin(e, &clocks);
    for (int s = 0; s < PLAN_MAX_STEPS; s++)
        wait_fs[s] = e->none;
    for (int i = e->t->work->event_count - 1; i >= 0; i--) {
        const struct work_event *event = &e->t->work->events[i];
        if (event->kind == WORK_STEP) {
            tail_of_step(e, event->number, &clocks, wait_fs);
        } else if (event->kind == WORK_CLOSE) {
            close[event->number] = i;
        } else {
            if (has_once(e, event->number))
                tail_of_once(e, close[event->number], event->number);
            tail_before_loop(e, event->number, &clocks, wait_fs);
        }
    }
}

/* ------------------------------------------------------------------ both */

static int end_of_chain(const struct ending *e, int chain, const int instructions[])
{
    int head_fs = e->never, tail_fs = head_fs, gaps_fs = e->none, one = number(e, 1);
    for (int s = 0; s < e->t->plan->step_count; s++) {
        int time_fs = e->times[s].first_fs[0];
        if (!(e->chains->chains_of[s] >> chain & 1))
            continue;
        head_fs = apply(e, TAPE_MIN, head_fs, where_any(e, time_fs, e->head_fs[s], e->never));
        tail_fs = apply(e, TAPE_MIN, tail_fs, where_any(e, time_fs, e->tail_fs[s], e->never));
        if (!e->chains->has_gaps)
            continue;
        int others = later(e, apply(e, TAPE_SUBTRACT, instructions[s], one), e->none);
        gaps_fs = apply(e, TAPE_ADD, gaps_fs,
                        apply(e, TAPE_MULTIPLY, others, number(e, e->chains->gap_fs[chain][s])));
    }
    int fs = apply(e, TAPE_ADD, apply(e, TAPE_ADD, head_fs, tail_fs), gaps_fs);
    return tape_choice(e->t->tape, apply(e, TAPE_LESS, head_fs, e->never), fs, e->none);
}

void trace_ends(struct tracer *t, const struct work_chains *chains,
                const struct trace_times times[], const double late_fs[], const int instructions[],
                int ends[WORK_MAX_CHAINS])
{
    struct ending ending = {.t = t,
                            .chains = chains,
                            .times = times,
                            .late_fs = late_fs,
                            .none = trace_number(t, 0),
                            .never = trace_number(t, DBL_MAX)};
    int last = chains->layout.chain_count - 1;
    ending.phases_fs = ending.none;
    find_heads(&ending);
    find_tails(&ending);
    for (int c = 0; c < last; c++)
        ends[c] = end_of_chain(&ending, c, instructions);
    ends[last] = ending.phases_fs;
}
