/* All rounds of a step, multiplied out: of each loop around it only rounds that differ are looked
 * at, which are the last one where it is shorter, both ends where a condition asks for them, and
 * every one where it matters where a round begins. On the way the times are kept that heads and
 * tails need: within first rounds, and within last ones. */
#include "kernels/text/bounds/kernel_work_parts.h"

enum { ON_FIRST = 1, ON_LAST = 2 };

struct summing {
    const struct kernel_work *work;
    int step;
    int64_t *numbers;
    double base_fs, fs_per_unit;
    struct step_times *times;
    bool cannot_be;
    struct error *error;
};

static double time_of(const struct summing *s, const struct work_sum *sum)
{
    return sum->instructions * s->base_fs + sum->burst_fs + sum->units * s->fs_per_unit;
}

static struct work_sum sum_one(struct summing *s)
{
    const struct kernel_cells *cells = &s->work->cells;
    int condition = cells->steps[s->step].condition;
    if (condition >= 0 && !s->numbers[condition])
        return (struct work_sum){.instructions = 0};
    struct instruction in = s->work->instructions[s->step];
    if ((condition >= 0 && s->numbers[condition] == CELL_CANNOT_BE) ||
        !kernel_cells_instruction(cells, s->step, s->numbers, &in) ||
        instruction_price(s->work->plan->hw, &in, s->error) != STATUS_OK)
        s->cannot_be = true;
    return (struct work_sum){1, (double)in.units, (double)in.burst_fs};
}

/* How many rounds from this one on are alike. */
static int64_t count_alike(const struct summing *s, int level, int64_t round, int64_t rounds)
{
    const struct cell_step *step = &s->work->cells.steps[s->step];
    int loop = step->loops[level - 1];
    const struct cell_loop *cell = &s->work->cells.loops[loop];
    int text_loop = s->work->plan->loops[loop].text_loop;
    if (step->begins >> text_loop & 1)
        return 1;
    if (step->ends >> text_loop & 1)
        return round == 0 || round == rounds - 1 ? 1 : rounds - 1 - round;
    if (!(step->asks >> text_loop & 1) || s->numbers[cell->full] == s->numbers[cell->last])
        return rounds - round;
    return round == rounds - 1 ? 1 : rounds - 1 - round;
}

static struct work_sum sum_rounds(struct summing *s, int level, unsigned path, int turn);

/* What is inside a loop without rounds takes no time. */
static void leave_out(const struct summing *s, int level, unsigned path)
{
    for (int l = level; l <= s->work->cells.steps[s->step].depth; l++) {
        if (path & ON_FIRST)
            s->times->first_fs[l] = 0;
        if (path & ON_LAST)
            s->times->last_fs[l] = s->times->rest_fs[l] = 0;
    }
}

/* All rounds of the loop on a level; *first: of one of those that are like the first. */
static struct work_sum sum_loop(struct summing *s, int level, unsigned path, int turn,
                                struct work_sum *first)
{
    const struct kernel_plan *plan = s->work->plan;
    const struct kernel_cells *cells = &s->work->cells;
    int loop = cells->steps[s->step].loops[level - 1];
    int64_t rounds = s->numbers[cells->loops[loop].rounds];
    bool once = plan->steps[s->step].once >> plan->loops[loop].text_loop & 1;
    struct work_sum sum = {.instructions = 0};
    s->cannot_be |= rounds == CELL_CANNOT_BE;
    if (rounds <= 0)
        leave_out(s, level, path);
    if (once && rounds > 1 && path & ON_LAST && s->times->once >= level)
        s->times->once = level - 1;
    for (int64_t round = 0, alike; round < rounds; round += alike) {
        alike = once ? rounds : count_alike(s, level, round, rounds);
        double times = once ? 1 : (double)alike;
        unsigned on = (round == 0 ? ON_FIRST : 0U) | (round + alike == rounds ? ON_LAST : 0U);
        int left = path & ON_LAST && round == 0 ? level : 0;
        kernel_cells_enter(cells, s->step, level, round, rounds, s->numbers);
        struct work_sum one = sum_rounds(s, level + 1, path & on, on & ON_LAST ? turn : left);
        sum.instructions += times * one.instructions;
        sum.units += times * one.units;
        sum.burst_fs += times * one.burst_fs;
        *first = round == 0 ? one : *first;
    }
    return sum;
}

/* Of the loops from `level` on, 1: the outermost. `turn`: the level on which the path of last
 * rounds was left through a first one, 0: none. */
static struct work_sum sum_rounds(struct summing *s, int level, unsigned path, int turn)
{
    struct work_sum first = {.instructions = 0};
    bool is_one = level > s->work->cells.steps[s->step].depth;
    struct work_sum sum = is_one ? sum_one(s) : sum_loop(s, level, path, turn, &first);
    if (turn && is_one)
        s->times->turn_fs[turn - 1] = time_of(s, &sum);
    if (path & ON_FIRST)
        s->times->first_fs[level - 1] = time_of(s, &sum);
    if (path & ON_LAST) {
        s->times->last_fs[level - 1] = time_of(s, &sum);
        s->times->rest_fs[level - 1] = s->times->last_fs[level - 1] - time_of(s, &first);
    }
    return sum;
}

enum status work_sum_step(const struct kernel_work *work, struct work_sums *sums, int step,
                          int64_t numbers[CELLS_MAX], struct work_sum *sum, struct error *error)
{
    int depth = work->cells.steps[step].depth;
    struct summing summing = {
        .work = work,
        .step = step,
        .numbers = numbers,
        .base_fs = sums->base_fs[step],
        .fs_per_unit = sums->fs_per_unit[step],
        .times = &sums->times[step],
        .error = error,
    };
    summing.times->once = depth;
    for (int l = 0; l < depth; l++)
        summing.times->turn_fs[l] = -1;
    *sum = sum_rounds(&summing, 1, ON_FIRST | ON_LAST, 0);
    for (int l = 0; l < depth; l++)
        if (summing.times->turn_fs[l] < 0)
            summing.times->turn_fs[l] = summing.times->last_fs[depth];
    if (!summing.cannot_be)
        return STATUS_OK;
    const struct kernel_place at = work->plan->kernel->lines[work->plan->steps[step].line].at;
    return error_set(error, STATUS_INVALID, "%d:%d: an instruction that cannot be", at.line,
                     at.column);
}
