/* All rounds of a step, multiplied out: of each loop around it only rounds that differ are looked
 * at, which are the last one where it is shorter, both ends where a condition asks for them, and
 * every one where it matters where a round begins. On the way the times are kept that heads and
 * tails need: within first rounds, and within last ones.
 *
 * Of many tilings at once there is, beside the sum, what one round of all the range does, where
 * that is no more (kernel_trace_whole.c): by far the closer bound. */
#include "kernels/text/plan/kernel_structure.h"
#include "kernels/text/tape/kernel_trace_parts.h"

enum { ON_FIRST = 1, ON_LAST = 2, FEWER = 2, MOST_LOOKS = 4096, MOST_KEPT = 4096 };

struct summing {
    struct tracer *t;
    int step;
    struct trace_price price;
    struct trace_times *times;
    uint64_t whole;  /* text loops of which one round is all */
    uint64_t first;  /* text loops of which one round counts */
    bool of_all;     /* of a load in two steps: what both do */
    int looks;       /* at one instruction */
    int parts;       /* of rounds that begin elsewhere */
    bool keeps_rest; /* some step runs in first rounds only */
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

/* `whole`: text loops of which one round is all. */
static int value_of(struct tracer *t, const struct cell *cell, uint64_t whole)
{
    switch (cell->kind) {
    case CELL_NUMBER:
        return trace_number(t, (double)cell->number);
    case CELL_GIVEN:
        return trace_expression(t, cell->given);
    case CELL_APPLY:
        return trace_apply(t, cell->op, t->cells[cell->args[0]], t->cells[cell->args[1]]);
    case CELL_CHOICE: /* a part with its room, or without: the less of both */
        if (cell->loops & whole)
            return t->cells[cell->args[2]];
        return tape_choice(t->tape, t->cells[cell->args[0]], t->cells[cell->args[1]],
                           t->cells[cell->args[2]]);
    case CELL_ROUND:
        break;
    }
    t->failed = true;
    return 0;
}

void trace_cells(struct tracer *t)
{
    const struct kernel_cells *cells = &t->work->cells;
    for (int i = 0; i < cells->given_count && !t->failed; i++)
        t->cells[cells->given[i]] = value_of(t, &cells->cells[cells->given[i]], 0);
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
        s->t->cells[cell] = value_of(s->t, &cells->cells[cell], s->whole);
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
    int repeats = apply(s, TAPE_MAX, apply(s, TAPE_CDIV, elements, number(s, lanes)), number(s, 1));
    return s->t->tape->is_played ? apply(s, TAPE_SUBTRACT, repeats, number(s, 1)) : repeats;
}

static struct trace_sum sum_one(const struct summing *s)
{
    struct tracer *t = s->t;
    const struct cell_step *step = cells_of(s);
    struct trace_sum one = {number(s, 1), number(s, 0), number(s, 0)};
    int condition = s->of_all ? step->all_runs : step->condition;
    int n[CELL_NUMBERS] = {0};
    for (int i = 0; i < CELL_NUMBERS && step->numbers[i] >= 0; i++)
        n[i] = t->cells[step->numbers[i]];
    switch (t->plan->steps[s->step].kind) {
    case INSTRUCTION_MOVE:
        one.units = s->of_all ? t->cells[step->all] : n[0];
        one.burst_fs = s->whole || s->of_all ? one.burst_fs : move_burst_fs(s, n);
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
    if (condition < 0)
        return one;
    int runs = t->cells[condition], none = number(s, 0);
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

/* In which rounds of the loops further out the sum is: on the path of first ones, of last ones. */
struct way {
    unsigned path;
    int turn; /* the level on which the path of last rounds was left through a first one, 0: none */
    int exists; /* 1, or 0 where one of them has no rounds */
};

static struct trace_sum sum_rounds(struct summing *s, int level, struct way way);

/* The loop on a level, and the sum of its rounds. */
struct level {
    int number, text_loop, rounds, full, last;
    const struct cell_loop *cells;
    bool once, begins, ends, asks;
    struct way way;
    struct trace_sum sum, first; /* of the latter one round */
};

/* Of a tape that is played, what was worked out for a round and does not stay. */
static void forget_round(struct summing *s, struct level *loop, int count)
{
    struct tape *tape = s->t->tape;
    struct interval numbers[6 + 4 * CELL_LEVELS];
    int *kept[6 + 4 * CELL_LEVELS] = {&loop->sum.instructions, &loop->sum.units,
                                      &loop->sum.burst_fs,     &loop->first.instructions,
                                      &loop->first.units,      &loop->first.burst_fs};
    int kept_count = 6;
    for (int l = 0; l < CELL_LEVELS; l++) {
        kept[kept_count++] = &s->times->first_fs[l];
        kept[kept_count++] = &s->times->last_fs[l];
        kept[kept_count++] = &s->times->rest_fs[l];
        kept[kept_count++] = &s->times->turn_fs[l];
    }
    for (int i = 0; i < kept_count; i++)
        if (*kept[i] >= count)
            numbers[i] = tape_known(tape, *kept[i]);
    tape_forget(tape, count);
    for (int i = 0; i < kept_count; i++)
        *kept[i] = *kept[i] < count ? *kept[i] : tape_keep(tape, numbers[i]);
}

/* Adds so many times what a round does, of which one may be the first, or the last. */
static void add_rounds(struct summing *s, struct level *loop, unsigned on, struct round round,
                       int times)
{
    struct way way = {.path = loop->way.path & on, .exists = loop->way.exists};
    int begun = s->t->tape->count;
    if (tape_known(s->t->tape, times).hi <= 0)
        return;
    if (on & ON_LAST)
        way.turn = loop->way.turn;
    else if (s->keeps_rest && on & ON_FIRST && loop->way.path & ON_LAST)
        way.turn = loop->number;
    enter(s, loop->number, round);
    struct trace_sum one = sum_rounds(s, loop->number + 1, way), *sum = &loop->sum;
    sum->instructions =
        apply(s, TAPE_ADD, sum->instructions, apply(s, TAPE_MULTIPLY, times, one.instructions));
    sum->units = apply(s, TAPE_ADD, sum->units, apply(s, TAPE_MULTIPLY, times, one.units));
    sum->burst_fs = apply(s, TAPE_ADD, sum->burst_fs, apply(s, TAPE_MULTIPLY, times, one.burst_fs));
    if (on & ON_FIRST)
        loop->first = one;
    if (s->t->tape->is_played && s->t->tape->count - begun > MOST_KEPT)
        forget_round(s, loop, begun);
}

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
    return plan->dealt >> text_loop & 1 ? apply(s, TAPE_OVER, range, number(s, plan->dealers))
                                        : range;
}

static struct level level_of(const struct summing *s, int number_of, struct way way)
{
    struct tracer *t = s->t;
    const struct cell_step *step = cells_of(s);
    int loop = step->loops[number_of - 1], text_loop = t->plan->loops[loop].text_loop;
    const struct cell_loop *cells = &t->work->cells.loops[loop];
    int none = number(s, 0);
    return (struct level){
        .number = number_of,
        .text_loop = text_loop,
        .way = way,
        .sum = {none, none, none},
        .first = {none, none, none},
        .rounds = apply(s, TAPE_MAX, t->cells[cells->rounds], none),
        .cells = cells,
        .once = (t->plan->steps[s->step].once | s->first) >> text_loop & 1,
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
static void merge_last(const struct summing *s, const struct level *loop, int is_last,
                       const struct trace_times *before)
{
    for (int l = loop->number; loop->way.path & ON_LAST && l <= cells_of(s)->depth; l++)
        s->times->last_fs[l] =
            tape_choice(s->t->tape, is_last, s->times->last_fs[l], before->last_fs[l]);
}

/* Where the round begins that so many come before. */
static int begin_of(const struct summing *s, const struct level *loop, int number_of)
{
    const int *cells = s->t->cells;
    return apply(s, TAPE_ADD, cells[loop->cells->begin],
                 apply(s, TAPE_MULTIPLY, number_of, cells[loop->cells->by]));
}

/* Each round by itself: where it begins matters. */
static void sum_each(struct summing *s, struct level *loop)
{
    struct tape *tape = s->t->tape;
    struct interval rounds = tape_known(tape, loop->rounds);
    int begun = tape->count;
    for (int64_t round = 0; !s->t->failed && round < (int64_t)rounds.hi; round++) {
        struct trace_times before = *s->times;
        int number_of = number(s, (double)round), count = number(s, (double)round + 1);
        int is_last = apply(s, TAPE_EQUAL, loop->rounds, count);
        int length = loop->asks ? tape_choice(tape, is_last, loop->last, loop->full) : -1;
        unsigned last = tape_known(tape, is_last).hi > 0 ? ON_LAST : 0U;
        add_rounds(
            s, loop, last | (round == 0 ? ON_FIRST : 0U),
            (struct round){length, begin_of(s, loop, number_of), number(s, round == 0), is_last},
            apply(s, TAPE_LESS, number_of, loop->rounds));
        if (last)
            merge_last(s, loop, is_last, &before);
        if (tape->is_played)
            forget_round(s, loop, begun);
    }
}

/* Rounds that begin between two, of `count` that are neither the first nor the last. */
static void add_part(struct summing *s, struct level *loop, int part, int parts, int count)
{
    int none = number(s, 0), one = number(s, 1), all = number(s, parts);
    int least = apply(s, TAPE_DIVIDE, count, all), most = apply(s, TAPE_CDIV, count, all);
    int first = apply(s, TAPE_ADD, one, apply(s, TAPE_MULTIPLY, least, number(s, part)));
    int last = apply(s, TAPE_MIN, count, apply(s, TAPE_MULTIPLY, most, number(s, part + 1)));
    int begin = apply(s, TAPE_BETWEEN, begin_of(s, loop, first), begin_of(s, loop, last));
    int others = apply(s, TAPE_ADD, count, number(s, parts - 1 - part));
    add_rounds(s, loop, 0, (struct round){loop->full, begin, none, none},
               apply(s, TAPE_DIVIDE, others, all));
}

/* Where there are many or it is not known how many: the first, the last, and some parts of the
 * others, in each of which a round may begin anywhere. */
static void sum_parts(struct summing *s, struct level *loop)
{
    int one = number(s, 1), none = number(s, 0);
    int is_one = apply(s, TAPE_EQUAL, loop->rounds, one), parts = s->parts;
    int others = apply(s, TAPE_MAX, apply(s, TAPE_SUBTRACT, loop->rounds, number(s, 2)), none);
    unsigned last = tape_known(s->t->tape, is_one).hi > 0 ? ON_LAST : 0U;
    s->parts = parts > FEWER ? parts / FEWER : 1;
    add_rounds(s, loop, ON_FIRST | last,
               (struct round){loop->full, s->t->cells[loop->cells->begin], one, is_one},
               apply(s, TAPE_MIN, loop->rounds, one));
    for (int part = 0; part < parts; part++)
        add_part(s, loop, part, parts, others);
    struct trace_times first = *s->times;
    int is_other = apply(s, TAPE_LESS, one, loop->rounds);
    int begin = begin_of(s, loop, apply(s, TAPE_SUBTRACT, loop->rounds, one));
    add_rounds(s, loop, ON_LAST, (struct round){loop->last, begin, none, one}, is_other);
    merge_last(s, loop, is_other, &first);
    s->parts = parts;
}

/* The first, the last where it is another one, and those between. */
static void sum_both_ends(struct summing *s, struct level *loop)
{
    int one = number(s, 1), none = number(s, 0);
    int is_one = apply(s, TAPE_EQUAL, loop->rounds, one);
    int others = apply(s, TAPE_MAX, apply(s, TAPE_SUBTRACT, loop->rounds, number(s, 2)), none);
    unsigned last = tape_known(s->t->tape, is_one).hi > 0 ? ON_LAST : 0U;
    add_rounds(s, loop, ON_FIRST | last, (struct round){loop->full, -1, one, is_one},
               apply(s, TAPE_MIN, loop->rounds, one));
    add_rounds(s, loop, 0, (struct round){loop->full, -1, none, none}, others);
    struct trace_times first = *s->times;
    int is_other = apply(s, TAPE_LESS, one, loop->rounds);
    add_rounds(s, loop, ON_LAST, (struct round){loop->last, -1, none, one}, is_other);
    merge_last(s, loop, is_other, &first);
}

/* Full ones, and the last; all at once where it is full for certain. */
static void sum_lengths(struct summing *s, struct level *loop)
{
    int one = number(s, 1), none = number(s, 0);
    int others = apply(s, TAPE_MAX, apply(s, TAPE_SUBTRACT, loop->rounds, one), none);
    struct interval full = tape_known(s->t->tape, loop->full);
    struct interval last = tape_known(s->t->tape, loop->last);
    if (loop->full == loop->last || tape_known(s->t->tape, others).hi <= 0 ||
        (full.lo == full.hi && last.lo == last.hi && full.lo == last.lo)) {
        add_rounds(s, loop, ON_FIRST | ON_LAST, (struct round){loop->full, -1, -1, -1},
                   loop->rounds);
        return;
    }
    add_rounds(s, loop, ON_FIRST, (struct round){loop->full, -1, -1, -1}, others);
    add_rounds(s, loop, ON_LAST, (struct round){loop->last, -1, -1, -1},
               apply(s, TAPE_MIN, loop->rounds, one));
}

/* One round of all the range does no more than all rounds together. */
static void strengthen(struct summing *s, struct level *loop)
{
    struct tracer *t = s->t;
    uint64_t group, whole = s->whole;
    if (t->tape->is_played || range_of(s, loop->text_loop) < 0 ||
        !trace_is_subadditive(t, s->step, s->of_all, loop->number, &group))
        return;
    int range = whole_of(s, loop->text_loop);
    s->whole |= group;
    enter(s, loop->number, (struct round){range, -1, -1, -1});
    struct trace_sum one = sum_rounds(s, loop->number + 1, (struct way){.exists = number(s, 1)});
    s->whole = whole;
    int any = apply(s, TAPE_LESS, number(s, 0), range);
    loop->sum.units = apply(s, TAPE_AT_LEAST, loop->sum.units,
                            tape_choice(t->tape, any, one.units, number(s, 0)));
}

static struct trace_sum sum_loop(struct summing *s, int level, struct way way,
                                 struct trace_sum *first)
{
    struct tracer *t = s->t;
    struct level loop = level_of(s, level, way);
    int one = number(s, 1);
    if (s->whole >> loop.text_loop & 1) {
        enter(s, level, (struct round){whole_of(s, loop.text_loop), -1, -1, -1});
        return sum_rounds(s, level + 1, (struct way){.exists = way.exists});
    }
    t->failed |=
        t->tape->is_played && !(tape_known(t->tape, loop.rounds).hi <= PROGRAM_MAX_EXECUTED);
    loop.way.exists = apply(s, TAPE_MULTIPLY, way.exists, apply(s, TAPE_MIN, loop.rounds, one));
    if (loop.asks) {
        loop.full = at_least_1(s, loop.cells->full);
        loop.last = apply(s, TAPE_MIN, at_least_1(s, loop.cells->last), loop.full);
    }
    if (loop.once) {
        if (way.path & ON_LAST && tape_known(t->tape, loop.rounds).hi > 1 &&
            s->times->once >= level)
            s->times->once = level - 1;
        add_rounds(s, &loop, ON_FIRST | ON_LAST,
                   (struct round){loop.asks ? loop.full : -1,
                                  loop.begins ? t->cells[loop.cells->begin] : -1, one,
                                  apply(s, TAPE_EQUAL, loop.rounds, one)},
                   apply(s, TAPE_MIN, loop.rounds, one));
    } else if (loop.begins) {
        if (t->tape->is_played || tape_known(t->tape, loop.rounds).hi <= t->detail)
            sum_each(s, &loop);
        else
            sum_parts(s, &loop);
    } else if (loop.ends) {
        sum_both_ends(s, &loop);
    } else if (loop.asks) {
        sum_lengths(s, &loop);
        strengthen(s, &loop);
    } else {
        add_rounds(s, &loop, ON_FIRST | ON_LAST, (struct round){-1, -1, -1, -1}, loop.rounds);
    }
    *first = loop.first;
    return loop.sum;
}

static struct trace_sum sum_rounds(struct summing *s, int level, struct way way)
{
    struct tape *tape = s->t->tape;
    if (s->t->failed || tape->failed)
        return (struct trace_sum){0, 0, 0};
    bool is_one = level > cells_of(s)->depth;
    s->t->failed |= is_one && ++s->looks > MOST_LOOKS && !tape->is_played;
    struct trace_sum first = {number(s, 0), number(s, 0), number(s, 0)};
    struct trace_sum sum = is_one ? sum_one(s) : sum_loop(s, level, way, &first);
    int time_fs = way.path || way.turn ? apply(s, TAPE_MULTIPLY, way.exists, time_of(s, &sum)) : 0;
    if (way.turn && is_one)
        s->times->turn_fs[way.turn - 1] = time_fs;
    if (way.path & ON_FIRST)
        s->times->first_fs[level - 1] = time_fs;
    if (way.path & ON_LAST)
        s->times->last_fs[level - 1] = time_fs;
    if (way.path & ON_LAST && s->keeps_rest)
        s->times->rest_fs[level - 1] = apply(s, TAPE_SUBTRACT, time_fs, time_of(s, &first));
    return sum;
}

/* Rounds that load the same; 2 where they are not known to be as many in all rounds of others. */
static int rounds_again(const struct summing *s)
{
    const struct cell_step *step = cells_of(s);
    int again = number(s, 1);
    for (int l = 0; l < step->depth; l++) {
        int rounds = s->t->work->cells.loops[step->loops[l]].rounds;
        if (!plan_loads_again(s->t->plan, s->step, step->loops[l]))
            continue;
        if (s->t->work->cells.cells[rounds].loops)
            return number(s, 2);
        again =
            apply(s, TAPE_MULTIPLY, again, apply(s, TAPE_MAX, s->t->cells[rounds], number(s, 1)));
    }
    return again;
}

/* Bytes of a share, which are at least: of what is loaded for the first time, so in one round of
 * those that load the same and by one core of those that do, the part that misses, less what each
 * load rounds off, unless it is the only one; and the rest. */
static int share_units(const struct summing *own, const struct trace_sum *sum)
{
    struct tracer *t = own->t;
    const struct plan_step *step = &t->plan->steps[own->step];
    struct trace_times ignored;
    struct summing s = *own;
    const struct way way = {.exists = number(own, 1)};
    s.times = &ignored;
    s.of_all = true;
    s.looks = 0;
    struct trace_sum all = sum_rounds(&s, 1, way);
    s.first = step->again & ~t->plan->dealt;
    s.looks = 0;
    int missed = sum_rounds(&s, 1, way).units;
    missed = apply(&s, TAPE_MULTIPLY, missed, number(&s, (double)step->missed_parts / MISS_PARTS));
    int again = step->missed_parts == MISS_PARTS ? rounds_again(own) : number(&s, 2);
    for (int a = 0; a < step->alike_count; a++) {
        int share = trace_expression(t, step->alike[a].name);
        int cores = apply(&s, TAPE_CDIV, number(&s, (double)step->alike[a].whole),
                          apply(&s, TAPE_MAX, share, number(&s, 1)));
        missed = apply(&s, TAPE_OVER, missed, cores);
        again = apply(&s, TAPE_MULTIPLY, again, cores);
    }
    int off = apply(&s, TAPE_MULTIPLY, all.instructions, number(&s, MISS_GRAIN));
    off = tape_choice(t->tape, apply(&s, TAPE_AT_MOST, again, number(&s, 1)), number(&s, 0), off);
    int units = apply(&s, TAPE_SUBTRACT, step->share == SHARE_MISSES ? missed : all.units,
                      step->share == SHARE_MISSES ? off : missed);
    return apply(&s, TAPE_AT_LEAST, sum->units, units);
}

struct trace_sum trace_step(struct tracer *t, int step, struct trace_price price,
                            struct trace_times *times)
{
    struct summing s = {.t = t,
                        .step = step,
                        .price = price,
                        .times = times,
                        .parts = t->detail > FEWER ? t->detail / FEWER : 1};
    int none = number(&s, 0), depth = cells_of(&s)->depth;
    for (int l = 0; l < CELL_LEVELS; l++) {
        times->first_fs[l] = times->last_fs[l] = times->rest_fs[l] = none;
        times->turn_fs[l] = -1;
    }
    times->once = depth;
    for (int i = 0; i < t->plan->step_count; i++)
        s.keeps_rest |= t->tape->is_played && t->plan->steps[i].once;
    struct trace_sum sum =
        sum_rounds(&s, 1, (struct way){.path = ON_FIRST | ON_LAST, .exists = number(&s, 1)});
    for (int l = 0; l < CELL_LEVELS; l++)
        if (times->turn_fs[l] < 0)
            times->turn_fs[l] = times->last_fs[depth];
    if (t->plan->steps[step].share && !t->tape->is_played && !t->failed)
        sum.units = share_units(&s, &sum);
    return sum;
}
