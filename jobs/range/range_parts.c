/* Parts of a range have one tiling each: from the first run on always the tiling that reaches
 * furthest. What serves a part serves every part of it, so no other choice needs fewer parts
 * (docs/ranges.md). Which tiling that is, is found by bounds first: how far one may reach is known
 * before anything is simulated, and only who may reach furthest is (Minoux 1978, lazy greedy). The
 * least regret of so many parts is found by bisection, in steps of a millionth.
 *
 * Hill climbing by bounds goes from the tilings that may serve most runs from a part's first on,
 * one value at a time, to those that may serve more, or, serving as many, miss the next one by
 * less. What is found joins the tilings among which parts are chosen; simulation decides there. */
#include "jobs/range/range.h"

#include <math.h>
#include <stdlib.h>

/* ------------------------------------------------------------------ parts */

enum { MILLION = 1000000 };
#define MOST_REGRET (INT64_C(1000) * MILLION)

/* How far a tiling serves, from one run on. */
struct reach {
    int end;    /* the first run that it does not serve … */
    bool exact; /* … for sure; else it may serve even less */
};

struct cover {
    struct range_answer *answer;
    struct reach *reaches; /* by tiling; owned */
    int64_t millionths;    /* of regret */
    int64_t most_parts;
};

static int64_t allowed_fs(const struct range_class *class, int64_t millionths)
{
    return within_fs(class->best_fs, (double)millionths / MILLION);
}

static int bound_reach(const struct cover *cover, int64_t tiling, int first)
{
    const struct range_answer *answer = cover->answer;
    int run = first;
    while (run < answer->run_count &&
           transfer_bound_fs(&answer->transfer, tiling, answer->runs[run].class) <=
               allowed_fs(&answer->classes[answer->runs[run].class], cover->millionths))
        run++;
    return run;
}

static enum status time_reach(const struct cover *cover, int64_t tiling, int first,
                              struct reach *reach, struct error *error)
{
    struct range_answer *answer = cover->answer;
    int run = first;
    for (; run < reach->end; run++) {
        int class = answer->runs[run].class;
        int64_t time_fs;
        TRY(transfer_time(&answer->transfer, tiling, class, &time_fs, error));
        if (time_fs > allowed_fs(&answer->classes[class], cover->millionths))
            break;
    }
    *reach = (struct reach){run, true};
    return STATUS_OK;
}

/* The tiling that serves most runs from `first` on; of equally good ones the first. */
static enum status find_furthest(struct cover *cover, int first, struct range_part *part,
                                 struct error *error)
{
    int64_t tilings = cover->answer->transfer.tilings, best = 0;
    for (int64_t t = 0; t < tilings; t++)
        cover->reaches[t] = (struct reach){bound_reach(cover, t, first), false};
    for (;;) {
        for (int64_t t = 0; t < tilings; t++)
            if (cover->reaches[t].end > cover->reaches[best].end ||
                (t < best && cover->reaches[t].end == cover->reaches[best].end))
                best = t;
        if (cover->reaches[best].exact)
            break;
        TRY(time_reach(cover, best, first, &cover->reaches[best], error));
    }
    *part = (struct range_part){first, cover->reaches[best].end - 1, best, 0, 0};
    return STATUS_OK;
}

/* As few parts as do; answer->part_count is more than `most_parts` where so many do not. */
static enum status make_parts(struct cover *cover, struct error *error)
{
    struct range_answer *answer = cover->answer;
    answer->part_count = 0;
    for (int run = 0; run < answer->run_count && answer->part_count <= cover->most_parts;) {
        struct range_part *part = &answer->parts[answer->part_count++];
        TRY(find_furthest(cover, run, part, error));
        run = part->last + 1;
    }
    return STATUS_OK;
}

/* ------------------------------------------------------------------ the tiling of a part */

static double regret_of(const struct range_class *class, int64_t time_fs)
{
    return (double)(time_fs - class->best_fs) / (double)class->best_fs;
}

/* What a tiling's regret in a part is, as far as it is below `most`; `most` where it is not. */
static enum status worst_of(struct range_answer *answer, const struct range_part *part,
                            int64_t tiling, double most, double *worst, struct error *error)
{
    struct transfer *transfer = &answer->transfer;
    *worst = most;
    for (int run = part->first; run <= part->last; run++) {
        int class = answer->runs[run].class;
        int64_t bound_fs = transfer_bound_fs(transfer, tiling, class);
        if (bound_fs == NOT_LEGAL || regret_of(&answer->classes[class], bound_fs) >= most)
            return STATUS_OK;
    }
    double regret = 0;
    for (int run = part->first; run <= part->last; run++) {
        int class = answer->runs[run].class;
        int64_t time_fs;
        TRY(transfer_time(transfer, tiling, class, &time_fs, error));
        double here = regret_of(&answer->classes[class], time_fs);
        regret = here > regret ? here : regret;
        if (regret >= most)
            return STATUS_OK;
    }
    *worst = regret;
    return STATUS_OK;
}

/* Of all that serve the part, the one of the least regret. */
static enum status choose_tiling(struct range_answer *answer, struct range_part *part,
                                 struct error *error)
{
    double regret;
    TRY(worst_of(answer, part, part->tiling, HUGE_VAL, &part->regret_known, error));
    for (int64_t t = 0; t < answer->transfer.tilings; t++) {
        TRY(worst_of(answer, part, t, part->regret_known, &regret, error));
        if (regret < part->regret_known) {
            part->regret_known = regret;
            part->tiling = t;
        }
    }
    return STATUS_OK;
}

static enum status choose_tilings(struct range_answer *answer, struct error *error)
{
    for (int p = 0; p < answer->part_count; p++)
        TRY(choose_tiling(answer, &answer->parts[p], error));
    return STATUS_OK;
}

/* ------------------------------------------------------------------ the parts */

static enum status too_few(const struct cover *cover, struct error *error)
{
    return error_set(error, STATUS_INVALID,
                     "--tilings %lld: no so few of the tilings that were found are legal for all "
                     "sizes of the range, expected more",
                     (long long)cover->most_parts);
}

static enum status find_regret(struct cover *cover, struct error *error)
{
    int64_t below = -1, enough = MOST_REGRET;
    cover->millionths = enough;
    TRY(make_parts(cover, error));
    if (cover->answer->part_count > cover->most_parts)
        return too_few(cover, error);
    while (enough - below > 1) {
        cover->millionths = below + (enough - below) / 2;
        TRY(make_parts(cover, error));
        if (cover->answer->part_count > cover->most_parts)
            below = cover->millionths;
        else
            enough = cover->millionths;
    }
    cover->millionths = enough;
    return make_parts(cover, error);
}

static enum status cover_range(const struct range_question *question, struct cover *cover,
                               struct error *error)
{
    struct range_answer *answer = cover->answer;
    free(answer->parts);
    answer->parts = calloc((size_t)answer->run_count + 1, sizeof *answer->parts);
    cover->reaches = calloc((size_t)answer->transfer.tilings + 1, sizeof *cover->reaches);
    if (!answer->parts || !cover->reaches)
        return error_memory(error);
    cover->most_parts = question->tilings ? question->tilings : answer->run_count;
    cover->millionths = (int64_t)(question->regret * MILLION);
    TRY(question->tilings ? find_regret(cover, error) : make_parts(cover, error));
    return choose_tilings(answer, error);
}

/* The first size without a legal tiling. */
static int64_t find_without(const struct range_answer *answer)
{
    for (int run = 0; run < answer->run_count; run++)
        if (answer->classes[answer->runs[run].class].best_fs == NOT_LEGAL)
            return answer->runs[run].from;
    return 0;
}

enum status range_cover(const struct range_question *question, struct range_answer *answer,
                        double *asked, struct error *error)
{
    struct cover cover = {.answer = answer};
    *asked = 0;
    answer->without = find_without(answer);
    if (answer->without)
        return STATUS_OK;
    enum status status = cover_range(question, &cover, error);
    *asked = (double)cover.millionths / MILLION;
    free(cover.reaches);
    return status;
}

/* ------------------------------------------------------------------ climbing */

enum { MOST_STEPS = 64, STARTS = 8 };

/* So much of the regret is to be saved where it is what is asked for. */
#define TO_SAVE 0.1

struct climb {
    const struct range_answer *answer;
    const struct stop *stop; /* once it is due nothing is judged any more */
    double share;            /* of regret */
    struct tiling tiling;
    int first;   /* run */
    int end;     /* the first run that it does not serve … */
    double over; /* … and what it takes there at least, of what is known to do */
};

static void judge_climb(struct climb *climb)
{
    const struct range_answer *answer = climb->answer;
    climb->over = 0;
    for (climb->end = climb->first; climb->end < answer->run_count; climb->end++) {
        if (stop_due(climb->stop))
            return;
        int class = answer->runs[climb->end].class;
        int64_t best_fs = answer->classes[class].best_fs;
        int64_t bound_fs = transfer_try(&answer->transfer, &climb->tiling, class);
        climb->over = bound_fs == NOT_LEGAL ? HUGE_VAL : (double)bound_fs / (double)best_fs;
        if (bound_fs > within_fs(best_fs, climb->share))
            return;
    }
}

static bool is_better(const struct climb *a, const struct climb *b)
{
    return a->end > b->end || (a->end == b->end && a->over < b->over);
}

static void try_value(struct climb *best, const struct climb *from, int axis, int64_t value)
{
    struct climb next = *from;
    if (from->tiling.value[axis] == value)
        return;
    next.tiling.value[axis] = value;
    judge_climb(&next);
    if (is_better(&next, best))
        *best = next;
}

/* The best of all tilings that differ in one value; false: there is none. */
static bool climb_step(struct climb *climb)
{
    const struct range_answer *answer = climb->answer;
    const struct space *space = answer->spaces[answer->runs[climb->first].class];
    struct climb best = *climb;
    for (int a = 0; a < space->axis_count; a++) {
        for (int b = 0; b < space->block_count; b++)
            for (int i = 0; i < space->blocks[b].count[a]; i++)
                try_value(&best, climb, a, space->blocks[b].values[a][i]);
        try_value(&best, climb, a, answer->largest[a]);
    }
    bool better = is_better(&best, climb);
    *climb = best;
    return better;
}

/* The best of the transfer's tilings, the better first; of equally good ones the first. */
static int find_starts(const struct climb *from, struct climb starts[STARTS])
{
    int count = 0;
    for (int64_t t = 0; t < from->answer->transfer.tilings; t++) {
        struct climb next = *from;
        next.tiling = from->answer->transfer.tiling[t];
        judge_climb(&next);
        int at = count < STARTS ? count++ : STARTS;
        for (; at > 0 && is_better(&next, &starts[at - 1]); at--)
            if (at < STARTS)
                starts[at] = starts[at - 1];
        if (at < STARTS)
            starts[at] = next;
    }
    return count;
}

static void climb_from(const struct climb *from, struct tiling found[STARTS])
{
    const struct range_answer *answer = from->answer;
    struct climb starts[STARTS];
    int count = find_starts(from, starts);
    if (!count)
        return;
    for (int s = 0; s < STARTS; s++) {
        struct climb *climb = &starts[s < count ? s : 0];
        for (int i = 0; i < MOST_STEPS && climb->end < answer->run_count && climb_step(climb); i++)
            continue;
        found[s] = climb->tiling;
    }
}

enum status range_climb(const struct range_question *question, const struct stop *stop,
                        double asked, struct range_answer *answer, struct error *error)
{
    double share = question->tilings ? asked * (1 - TO_SAVE) : asked;
    struct tiling *found = calloc((size_t)answer->part_count * STARTS, sizeof *found);
    if (!found)
        return error_memory(error);
#pragma omp parallel for num_threads(question->threads) schedule(dynamic)
    for (int p = 0; p < answer->part_count; p++) {
        const struct climb from = {
            .answer = answer, .stop = stop, .share = share, .first = answer->parts[p].first};
        climb_from(&from, &found[(ptrdiff_t)p * STARTS]);
    }
    enum status status = stop_due(stop) ? STATUS_OK
                                        : transfer_add(&answer->transfer, found,
                                                       (int64_t)answer->part_count * STARTS, error);
    free(found);
    return status;
}
