/* Heads and tails: at least how long after the start a step's first instruction starts, and before
 * the end of the program its last one ends. One walk over first rounds, and one backwards over last
 * ones. Chains keep clocks: what is in a chain waits for all of it before. Edges add what waits for
 * a result of another pipe in the same round. docs/bounds.md says why. */
#include "kernels/text/bounds/kernel_work_parts.h"

#include <float.h>
#include <string.h>

struct clocks {
    double chain_fs[WORK_MAX_CHAINS]; /* until, or from, the instructions of a chain so far */
    double step_fs[PLAN_MAX_STEPS];   /* the same of a step; 0: has not run */
};

static double later(double a, double b)
{
    return a > b ? a : b;
}

static double latest_chain(const struct work_sums *sums, int step, const double chain_fs[])
{
    double fs = 0;
    for (unsigned c = sums->chains->chains_of[step]; c; c &= c - 1)
        fs = later(fs, chain_fs[__builtin_ctz(c)]);
    return fs;
}

static void set_chains(const struct work_sums *sums, int step, double chain_fs[], double fs)
{
    for (unsigned c = sums->chains->chains_of[step]; c; c &= c - 1)
        chain_fs[__builtin_ctz(c)] = later(chain_fs[__builtin_ctz(c)], fs);
}

static int depth_of(const struct work_sums *sums, int step)
{
    return sums->work->cells.steps[step].depth;
}

/* ------------------------------------------------------------------ all rounds of a loop */

/* Of each chain: the least of its steps' ends, and its time in the loop. */
struct passage {
    double least_fs[WORK_MAX_CHAINS], sum_fs[WORK_MAX_CHAINS];
};

static void pass_step(const struct work_sums *sums, int step, double end_fs, double time_fs,
                      struct passage *passage)
{
    for (unsigned c = sums->chains->chains_of[step]; c && time_fs > 0; c &= c - 1) {
        int chain = __builtin_ctz(c);
        if (end_fs < passage->least_fs[chain])
            passage->least_fs[chain] = end_fs;
        passage->sum_fs[chain] += time_fs;
    }
}

static void begin_passage(const struct work_sums *sums, struct passage *passage)
{
    for (int c = 0; c < sums->chains->layout.chain_count; c++) {
        passage->least_fs[c] = DBL_MAX;
        passage->sum_fs[c] = 0;
    }
}

static void end_passage(const struct work_sums *sums, const struct passage *passage,
                        double chain_fs[])
{
    for (int c = 0; c < sums->chains->layout.chain_count; c++)
        if (passage->sum_fs[c] > 0)
            chain_fs[c] = later(chain_fs[c], passage->least_fs[c] + passage->sum_fs[c]);
}

/* ------------------------------------------------------------------ heads */

static void head_of_step(struct work_sums *sums, int step, struct clocks *clocks)
{
    const struct kernel_work *work = sums->work;
    double time_fs = sums->times[step].first_fs[depth_of(sums, step)];
    double start_fs = latest_chain(sums, step, clocks->chain_fs);
    for (int e = work->edges_to[step]; e < work->edges_end[step] && time_fs > 0; e++) {
        int before = work->edges[e].first;
        if (clocks->step_fs[before] > 0)
            start_fs = later(start_fs, clocks->step_fs[before] + sums->late_fs[before]);
    }
    sums->head_fs[step] = start_fs;
    if (time_fs <= 0)
        return;
    clocks->step_fs[step] = start_fs + time_fs;
    set_chains(sums, step, clocks->chain_fs, start_fs + time_fs);
}

static void head_after_loop(struct work_sums *sums, int number, struct clocks *clocks)
{
    const struct plan_loop *loop = &sums->work->plan->loops[number];
    struct passage passage;
    begin_passage(sums, &passage);
    for (int s = loop->first_step; s < loop->end_step; s++) {
        double time_fs = sums->times[s].first_fs[loop->depth - 1];
        pass_step(sums, s, sums->head_fs[s], time_fs, &passage);
        if (time_fs > 0)
            clocks->step_fs[s] = later(clocks->step_fs[s], sums->head_fs[s] + time_fs);
    }
    end_passage(sums, &passage, clocks->chain_fs);
}

void work_find_heads(struct work_sums *sums)
{
    struct clocks clocks;
    memset(&clocks, 0, sizeof clocks);
    for (int e = 0; e < sums->work->event_count; e++) {
        const struct work_event *event = &sums->work->events[e];
        if (event->kind == WORK_STEP)
            head_of_step(sums, event->number, &clocks);
        else if (event->kind == WORK_CLOSE)
            head_after_loop(sums, event->number, &clocks);
    }
}

/* ------------------------------------------------------------------ tails */

/* What a step's first instruction still takes to the end, told to those whose results it uses. */
static void tell(const struct work_sums *sums, int step, double fs, double wait_fs[])
{
    const struct kernel_work *work = sums->work;
    for (int e = work->edges_to[step]; e < work->edges_end[step]; e++) {
        int before = work->edges[e].first;
        wait_fs[before] = later(wait_fs[before], fs + sums->late_fs[before]);
    }
}

static void tail_of_step(struct work_sums *sums, int step, struct clocks *clocks, double wait_fs[])
{
    const struct step_times *times = &sums->times[step];
    int depth = depth_of(sums, step);
    double fs = later(sums->late_fs[step], latest_chain(sums, step, clocks->chain_fs));
    bool runs = times->once == depth && times->last_fs[depth] > 0;
    sums->tail_fs[step] = runs ? later(fs, wait_fs[step]) : fs;
    if (!runs)
        return;
    fs = sums->tail_fs[step] + times->last_fs[depth];
    set_chains(sums, step, clocks->chain_fs, fs);
    clocks->step_fs[step] = fs;
    tell(sums, step, fs, wait_fs);
}

/* Do both run in the same rounds, so that an edge between them holds where `before` runs last? */
static bool runs_with(const struct kernel_plan *plan, int before, int step)
{
    return !plan->steps[before].condition && !plan->steps[step].condition &&
           (plan->steps[step].once & ~plan->steps[before].once) == 0;
}

/* How many of the loops around a step are also around the other. */
static int common_depth(const struct work_sums *sums, int step, int other)
{
    const struct cell_step *a = &sums->work->cells.steps[step];
    const struct cell_step *b = &sums->work->cells.steps[other];
    int depth = 0;
    while (depth < a->depth && depth < b->depth && a->loops[depth] == b->loops[depth])
        depth++;
    return depth;
}

/* Does it stand before `last`, and not run on where that runs in first rounds only, within a round
 * of the loop on `level`? */
static bool is_over(const struct work_sums *sums, int step, int last, int level)
{
    const struct kernel_work *work = sums->work;
    uint64_t once = work->plan->steps[last].once & ~work->plan->steps[step].once;
    bool over = work->place[step] < work->place[last];
    for (int l = level + 1; l < common_depth(sums, step, last); l++)
        over &= !(once >> work->plan->loops[work->cells.steps[last].loops[l]].text_loop & 1);
    return over;
}

/* The time of a step until `last` has run last, which is in the first round of the loop on `level`
 * of last rounds: that of all rounds before, and of this one where it is over by then. */
static double before_fs(const struct work_sums *sums, int step, int last, int level)
{
    const struct step_times *times = &sums->times[step];
    int common = common_depth(sums, step, last);
    bool over = is_over(sums, step, last, level);
    if (step == last || times->once < (common < level ? common : level))
        return times->last_fs[0];
    if (common <= level)
        return over ? times->last_fs[0] : times->last_fs[0] - times->last_fs[common];
    return times->last_fs[0] - (over ? times->rest_fs[level] : times->last_fs[level]);
}

/* The program's time by a step that runs in the first round of a loop only: its chain until then,
 * and what comes after. */
static double phases_of(const struct work_sums *sums, int step, int level)
{
    double longest_fs = 0;
    for (unsigned c = sums->chains->chains_of[step]; c; c &= c - 1) {
        double least_fs = DBL_MAX, sum_fs = 0;
        for (int s = 0; s < sums->work->plan->step_count; s++) {
            if (!(sums->chains->chains_of[s] >> __builtin_ctz(c) & 1))
                continue;
            double fs = before_fs(sums, s, step, level);
            sum_fs += fs;
            least_fs = fs > 0 && sums->head_fs[s] < least_fs ? sums->head_fs[s] : least_fs;
        }
        longest_fs = later(longest_fs, least_fs + sum_fs);
    }
    return longest_fs + sums->tail_fs[step];
}

/* What runs in the first round of a loop only has all other rounds behind it: those of each chain
 * that its own, or what waits for it in its round, is in. */
static void tail_of_once(struct work_sums *sums, int close, int number)
{
    const struct kernel_work *work = sums->work;
    const struct plan_loop *loop = &work->plan->loops[number];
    double rest_fs[WORK_MAX_CHAINS] = {0}, wait_fs[PLAN_MAX_STEPS] = {0};
    struct passage passage;
    begin_passage(sums, &passage);
    for (int s = loop->first_step; s < loop->end_step; s++)
        if (sums->times[s].once >= loop->depth)
            pass_step(sums, s, sums->tail_fs[s], sums->times[s].rest_fs[loop->depth - 1], &passage);
    end_passage(sums, &passage, rest_fs);
    for (int e = close; work->events[e].kind != WORK_OPEN || work->events[e].number != number;
         e--) {
        int step = work->events[e].number;
        if (work->events[e].kind != WORK_STEP)
            continue;
        double fs = later(wait_fs[step], latest_chain(sums, step, rest_fs));
        for (int i = work->edges_to[step]; i < work->edges_end[step]; i++) {
            int before = work->edges[i].first;
            double one_fs = sums->times[step].turn_fs[loop->depth - 1];
            if (runs_with(work->plan, before, step))
                wait_fs[before] = later(wait_fs[before], one_fs + fs + sums->late_fs[before]);
        }
        if (sums->times[step].once != loop->depth - 1 || sums->times[step].last_fs[0] <= 0)
            continue;
        sums->tail_fs[step] = later(sums->tail_fs[step], fs);
        sums->phases_fs = later(sums->phases_fs, phases_of(sums, step, loop->depth - 1));
    }
}

static void tail_before_loop(struct work_sums *sums, int number, struct clocks *clocks,
                             double wait_fs[])
{
    const struct plan_loop *loop = &sums->work->plan->loops[number];
    struct passage passage;
    begin_passage(sums, &passage);
    for (int s = loop->first_step; s < loop->end_step; s++) {
        double time_fs = sums->times[s].last_fs[loop->depth - 1];
        if (sums->times[s].once < loop->depth - 1 || time_fs <= 0)
            continue;
        pass_step(sums, s, sums->tail_fs[s], time_fs, &passage);
        clocks->step_fs[s] = later(clocks->step_fs[s], sums->tail_fs[s] + time_fs);
        tell(sums, s, clocks->step_fs[s], wait_fs);
    }
    end_passage(sums, &passage, clocks->chain_fs);
}

/* Where rounds are mixed, those behind a first one are not all behind what is in it. */
static bool has_once(const struct work_sums *sums, int number)
{
    const struct plan_loop *loop = &sums->work->plan->loops[number];
    bool any = false;
    for (int s = loop->first_step; s < loop->end_step && !sums->work->has_stages; s++)
        any |= sums->times[s].once == loop->depth - 1 && sums->times[s].once < depth_of(sums, s);
    return any;
}

void work_find_tails(struct work_sums *sums)
{
    const struct kernel_work *work = sums->work;
    struct clocks clocks;
    double wait_fs[PLAN_MAX_STEPS] = {0};
    int close[KERNEL_MAX_LOOPS + 1];
    sums->phases_fs = 0;
    memset(&clocks, 0, sizeof clocks);
    for (int e = work->event_count - 1; e >= 0; e--) {
        const struct work_event *event = &work->events[e];
        if (event->kind == WORK_STEP) {
            tail_of_step(sums, event->number, &clocks, wait_fs);
        } else if (event->kind == WORK_CLOSE) {
            close[event->number] = e;
        } else {
            if (has_once(sums, event->number))
                tail_of_once(sums, close[event->number], event->number);
            tail_before_loop(sums, event->number, &clocks, wait_fs);
        }
    }
}
