/* All rounds of a step, as kernel_sums.c has them, on a tape: of each loop around it the rounds
 * that may differ. Beside the sum stands, where it holds (kernel_trace_whole.c), what one round of
 * all the range does: for many tilings at once that is by far the closer bound. */
#include "kernels/text/plan/kernel_structure.h"
#include "kernels/text/tape/kernel_trace_parts.h"

enum { ON_FIRST = 1, ON_LAST = 2, MOST_ROUNDS = 64, MOST_LOOKS = 4096 };

struct summing {
    struct tracer *t;
    int step;
    struct trace_price price;
    struct trace_times *times;
    uint64_t whole; /* text loops of which one round is all */
    int looks;      /* at one instruction */
};

static const struct cell_step *cells_of(const struct summing *s)
{
    return &s->t->work->cells.steps[s->step];
}

static int number(const struct summing *s, double value)
{
    return trace_number(s->t, value);
}

static int apply(const struct summing *s, enum tape_op op, int a, int b)
{
    return tape_apply(s->t->tape, op, a, b);
}

/* ------------------------------------------------------------------ cells */

static int value_of(const struct summing *s, const struct cell *cell)
{
    struct tracer *t = s->t;
    switch (cell->kind) {
    case CELL_NUMBER:
        return number(s, (double)cell->number);
    case CELL_GIVEN:
        return trace_expression(t, cell->given);
    case CELL_APPLY:
        return trace_apply(t, cell->op, t->cells[cell->args[0]], t->cells[cell->args[1]]);
    case CELL_CHOICE: /* a part with its room, or without: the less of both */
        if (cell->loops & s->whole)
            return t->cells[cell->args[2]];
        return tape_choice(t->tape, t->cells[cell->args[0]], t->cells[cell->args[1]],
                           t->cells[cell->args[2]]);
    case CELL_ROUND:
        break;
    }
    t->failed = true;
    return 0;
}

/* A round of the loop on a level; -1: nobody asks. */
struct round {
    int length, begin, is_first, is_last;
};

static void enter(const struct summing *s, int level, struct round round)
{
    const struct kernel_cells *cells = &s->t->work->cells;
    const struct cell_step *step = cells_of(s);
    const struct cell_loop *loop = &cells->loops[step->loops[level - 1]];
    const int facts[ROUND_FACTS] = {[ROUND_LENGTH] = round.length,
                                    [ROUND_BEGIN] = round.begin,
                                    [ROUND_FIRST] = round.is_first,
                                    [ROUND_LAST] = round.is_last};
    for (int f = 0; f < ROUND_FACTS; f++)
        if (loop->facts[f] >= 0 && facts[f] >= 0)
            s->t->cells[loop->facts[f]] = facts[f];
    for (int i = step->list[level]; i < step->list[level + 1]; i++) {
        int cell = cells->listed[i];
        s->t->cells[cell] = value_of(s, &cells->cells[cell]);
    }
}

/* ------------------------------------------------------------------ one instruction */

static int move_burst_fs(const struct summing *s, const int n[CELL_NUMBERS])
{
    struct tracer *t = s->t;
    int table = t->plan->hw->prices[t->plan->steps[s->step].price].burst_table;
    if (table < 0 || tape_known(t->tape, n[1]).hi <= 1)
        return number(s, 0);
    int each = tape_burst(t->tape, apply(s, TAPE_CDIV, n[0], n[1]), n[2], table);
    return tape_choice(t->tape, apply(s, TAPE_AT_MOST, n[1], number(s, 1)), number(s, 0),
                       apply(s, TAPE_MULTIPLY, n[1], each));
}

static int blocks_of(const struct summing *s, const int n[CELL_NUMBERS])
{
    const struct matrix_type *type =
        hardware_matrix_type(s->t->plan->hw, s->t->work->instructions[s->step].type);
    int m = apply(s, TAPE_CDIV, n[0], number(s, type->block_m));
    int k = apply(s, TAPE_CDIV, n[1], number(s, type->block_k));
    int columns = apply(s, TAPE_CDIV, n[2], number(s, type->block_n));
    return apply(s, TAPE_MULTIPLY, apply(s, TAPE_MULTIPLY, m, k), columns);
}

static int repeats_of(const struct summing *s, int elements)
{
    const struct instruction *in = &s->t->work->instructions[s->step];
    int from = dtype_bytes((enum dtype)in->type), to = dtype_bytes((enum dtype)in->to_type);
    int lanes = s->t->plan->hw->vector_repeat_bytes / (from > to ? from : to);
    return apply(s, TAPE_MAX, apply(s, TAPE_CDIV, elements, number(s, lanes)), number(s, 1));
}

static struct trace_sum sum_one(const struct summing *s)
{
    struct tracer *t = s->t;
    const struct cell_step *step = cells_of(s);
    struct trace_sum one = {number(s, 1), number(s, 0), number(s, 0)};
    int n[CELL_NUMBERS] = {0};
    for (int i = 0; i < CELL_NUMBERS && step->numbers[i] >= 0; i++)
        n[i] = t->cells[step->numbers[i]];
    switch (t->plan->steps[s->step].kind) {
    case INSTRUCTION_MOVE:
        one.units = n[0];
        one.burst_fs = s->whole ? one.burst_fs : move_burst_fs(s, n);
        break;
    case INSTRUCTION_MATRIX:
        one.units = blocks_of(s, n);
        break;
    case INSTRUCTION_VECTOR:
        one.units = repeats_of(s, n[0]);
        break;
    default:
        one.units = n[0];
    }
    if (step->condition < 0)
        return one;
    int runs = t->cells[step->condition], none = number(s, 0);
    return (struct trace_sum){tape_choice(t->tape, runs, one.instructions, none),
                              tape_choice(t->tape, runs, one.units, none),
                              tape_choice(t->tape, runs, one.burst_fs, none)};
}

/* ------------------------------------------------------------------ rounds */

static int time_of(const struct summing *s, const struct trace_sum *sum)
{
    int base = apply(s, TAPE_MULTIPLY, sum->instructions, number(s, s->price.base_fs));
    int work = apply(s, TAPE_MULTIPLY, sum->units, s->price.fs_per_unit);
    return apply(s, TAPE_ADD, apply(s, TAPE_ADD, base, work), sum->burst_fs);
}

static struct trace_sum sum_rounds(struct summing *s, int level, unsigned path, int exists);

/* Adds so many times what a round does. */
static void add_rounds(struct summing *s, int level, unsigned path, int exists, struct round round,
                       int times, struct trace_sum *sum)
{
    if (tape_known(s->t->tape, times).hi <= 0)
        return;
    enter(s, level, round);
    struct trace_sum one = sum_rounds(s, level + 1, path, exists);
    sum->instructions =
        apply(s, TAPE_ADD, sum->instructions, apply(s, TAPE_MULTIPLY, times, one.instructions));
    sum->units = apply(s, TAPE_ADD, sum->units, apply(s, TAPE_MULTIPLY, times, one.units));
    sum->burst_fs = apply(s, TAPE_ADD, sum->burst_fs, apply(s, TAPE_MULTIPLY, times, one.burst_fs));
}

/* The loop on a level. */
struct level {
    int text_loop, rounds, full, last;
    const struct cell_loop *cells;
    bool once, begins, ends, asks;
};

/* All of the range, where the loop stands in what it is cut from; -1: not known. */
static int range_of(const struct summing *s, int text_loop)
{
    struct tracer *t = s->t;
    const struct expression *in = t->plan->kernel->loops[text_loop].in;
    if (in->op != EXPRESSION_LOOP)
        return in->loops ? -1 : trace_expression(t, in);
    int loop = t->plan->plan_loop_of[text_loop], around = t->plan->plan_loop_of[in->number];
    int fact = around >= 0 && plan_is_within(t->plan, loop, around)
                   ? t->work->cells.loops[around].facts[ROUND_LENGTH]
                   : -1;
    return fact >= 0 ? t->cells[fact] : -1;
}

/* What a core plays of it at least, where several deal it out. */
static int whole_of(const struct summing *s, int text_loop)
{
    const struct kernel_plan *plan = s->t->plan;
    int range = range_of(s, text_loop);
    return plan->dealt >> text_loop & 1 ? tape_share(s->t->tape, range, plan->dealers) : range;
}

static struct level level_of(const struct summing *s, int number_of)
{
    struct tracer *t = s->t;
    const struct cell_step *step = cells_of(s);
    int loop = step->loops[number_of - 1], text_loop = t->plan->loops[loop].text_loop;
    const struct cell_loop *cells = &t->work->cells.loops[loop];
    return (struct level){
        .text_loop = text_loop,
        .rounds = apply(s, TAPE_MAX, t->cells[cells->rounds], number(s, 0)),
        .cells = cells,
        .once = t->plan->steps[s->step].once >> text_loop & 1,
        .begins = step->begins >> text_loop & 1,
        .ends = step->ends >> text_loop & 1,
        .asks = step->asks >> text_loop & 1,
    };
}

static int at_least_1(const struct summing *s, int cell)
{
    return apply(s, TAPE_MAX, s->t->cells[cell], number(s, 1));
}

/* Rounds of which one may be the last: where it is, its times are those of last rounds. */
static void merge_last(const struct summing *s, int level, unsigned path, int is_last,
                       const struct trace_times *before)
{
    for (int l = level; path & ON_LAST && l <= cells_of(s)->depth; l++)
        s->times->last_fs[l] =
            tape_choice(s->t->tape, is_last, s->times->last_fs[l], before->last_fs[l]);
}

/* Each round by itself: where it begins matters. */
static void sum_each(struct summing *s, int level, unsigned path, int exists,
                     const struct level *loop, struct trace_sum *sum)
{
    struct tracer *t = s->t;
    const struct cell_loop *cells = loop->cells;
    struct interval rounds = tape_known(t->tape, loop->rounds);
    t->failed |= !(rounds.hi <= MOST_ROUNDS);
    for (int round = 0; !t->failed && round < (int)rounds.hi; round++) {
        struct trace_times before = *s->times;
        int number_of = number(s, round), count = number(s, round + 1);
        int is_last = apply(s, TAPE_EQUAL, loop->rounds, count);
        int begin = apply(s, TAPE_ADD, t->cells[cells->begin],
                          apply(s, TAPE_MULTIPLY, number_of, t->cells[cells->by]));
        int length = cells->facts[ROUND_LENGTH] < 0
                         ? -1
                         : tape_choice(t->tape, is_last, loop->last, loop->full);
        unsigned may = tape_known(t->tape, is_last).hi > 0 ? path & ON_LAST : 0U;
        add_rounds(s, level, may | (round == 0 ? path & ON_FIRST : 0U), exists,
                   (struct round){length, begin, number(s, round == 0), is_last},
                   apply(s, TAPE_LESS, number_of, loop->rounds), sum);
        merge_last(s, level, may, is_last, &before);
    }
}

/* The first, the last where it is another one, and those between. */
static void sum_both_ends(struct summing *s, int level, unsigned path, int exists,
                          const struct level *loop, struct trace_sum *sum)
{
    int one = number(s, 1), none = number(s, 0);
    int is_one = apply(s, TAPE_EQUAL, loop->rounds, one);
    int others = apply(s, TAPE_MAX, apply(s, TAPE_SUBTRACT, loop->rounds, number(s, 2)), none);
    unsigned last = tape_known(s->t->tape, is_one).hi > 0 ? ON_LAST : 0U;
    add_rounds(s, level, path & (ON_FIRST | last), exists,
               (struct round){loop->full, -1, one, is_one}, apply(s, TAPE_MIN, loop->rounds, one),
               sum);
    add_rounds(s, level, 0, exists, (struct round){loop->full, -1, none, none}, others, sum);
    struct trace_times first = *s->times;
    int is_other = apply(s, TAPE_LESS, one, loop->rounds);
    add_rounds(s, level, path & ON_LAST, exists, (struct round){loop->last, -1, none, one},
               is_other, sum);
    merge_last(s, level, path, is_other, &first);
}

/* Full ones, and the last. */
static void sum_lengths(struct summing *s, int level, unsigned path, int exists,
                        const struct level *loop, struct trace_sum *sum)
{
    int one = number(s, 1), none = number(s, 0);
    int others = apply(s, TAPE_MAX, apply(s, TAPE_SUBTRACT, loop->rounds, one), none);
    enter(s, level, (struct round){loop->full, -1, -1, -1});
    if (path & ON_FIRST && tape_known(s->t->tape, others).hi <= 0)
        (void)sum_rounds(s, level + 1, ON_FIRST, exists);
    add_rounds(s, level, path & ON_FIRST, exists, (struct round){loop->full, -1, -1, -1}, others,
               sum);
    add_rounds(s, level, path & ON_LAST, exists, (struct round){loop->last, -1, -1, -1},
               apply(s, TAPE_MIN, loop->rounds, one), sum);
}

/* One round of all the range does no more than all rounds together. */
static void strengthen(struct summing *s, int level, const struct level *loop,
                       struct trace_sum *sum)
{
    struct tracer *t = s->t;
    uint64_t group, whole = s->whole;
    if (range_of(s, loop->text_loop) < 0 || !trace_is_subadditive(t, s->step, level, &group))
        return;
    int range = whole_of(s, loop->text_loop);
    s->whole |= group;
    enter(s, level, (struct round){range, -1, -1, -1});
    struct trace_sum one = sum_rounds(s, level + 1, 0, number(s, 1));
    s->whole = whole;
    int any = apply(s, TAPE_LESS, number(s, 0), range);
    sum->units =
        apply(s, TAPE_AT_LEAST, sum->units, tape_choice(t->tape, any, one.units, number(s, 0)));
}

static struct trace_sum sum_loop(struct summing *s, int level, unsigned path, int exists)
{
    struct tracer *t = s->t;
    struct level loop = level_of(s, level);
    struct trace_sum sum = {number(s, 0), number(s, 0), number(s, 0)};
    int one = number(s, 1);
    if (s->whole >> loop.text_loop & 1) {
        enter(s, level, (struct round){whole_of(s, loop.text_loop), -1, -1, -1});
        return sum_rounds(s, level + 1, 0, exists);
    }
    exists = apply(s, TAPE_MULTIPLY, exists, apply(s, TAPE_MIN, loop.rounds, one));
    if (loop.asks) {
        loop.full = at_least_1(s, loop.cells->full);
        loop.last = apply(s, TAPE_MIN, at_least_1(s, loop.cells->last), loop.full);
    }
    if (loop.once) {
        if (path & ON_LAST && tape_known(t->tape, loop.rounds).hi > 1 && s->times->once >= level)
            s->times->once = level - 1;
        add_rounds(s, level, path, exists,
                   (struct round){loop.asks ? loop.full : -1,
                                  loop.begins ? t->cells[loop.cells->begin] : -1, one,
                                  apply(s, TAPE_EQUAL, loop.rounds, one)},
                   apply(s, TAPE_MIN, loop.rounds, one), &sum);
    } else if (loop.begins) {
        sum_each(s, level, path, exists, &loop, &sum);
    } else if (loop.ends) {
        sum_both_ends(s, level, path, exists, &loop, &sum);
    } else if (loop.asks) {
        sum_lengths(s, level, path, exists, &loop, &sum);
        strengthen(s, level, &loop, &sum);
    } else {
        add_rounds(s, level, path, exists, (struct round){-1, -1, -1, -1}, loop.rounds, &sum);
    }
    return sum;
}

static struct trace_sum sum_rounds(struct summing *s, int level, unsigned path, int exists)
{
    if (s->t->failed || s->t->tape->failed)
        return (struct trace_sum){0, 0, 0};
    bool is_one = level > cells_of(s)->depth;
    s->t->failed |= is_one && ++s->looks > MOST_LOOKS;
    struct trace_sum sum = is_one ? sum_one(s) : sum_loop(s, level, path, exists);
    int time_fs = path ? apply(s, TAPE_MULTIPLY, exists, time_of(s, &sum)) : 0;
    if (path & ON_FIRST)
        s->times->first_fs[level - 1] = time_fs;
    if (path & ON_LAST)
        s->times->last_fs[level - 1] = time_fs;
    return sum;
}

struct trace_sum trace_step(struct tracer *t, int step, struct trace_price price,
                            struct trace_times *times)
{
    struct summing s = {.t = t, .step = step, .price = price, .times = times};
    int none = number(&s, 0);
    for (int l = 0; l < CELL_LEVELS; l++)
        times->first_fs[l] = times->last_fs[l] = none;
    times->once = cells_of(&s)->depth;
    return sum_rounds(&s, 1, ON_FIRST | ON_LAST, number(&s, 1));
}
