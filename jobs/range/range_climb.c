/* Hill climbing by bounds: from the tilings that may serve most runs from a part's first on, one
 * value at a time, to those that may serve more, or, serving as many, miss the next one by less.
 * What is found joins the tilings among which parts are chosen; simulation decides there. */
#include "jobs/range/range_parts.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_STEPS = 64, STARTS = 8 };

/* So much of the regret is to be saved where it is what is asked for. */
#define TO_SAVE 0.1

struct climb {
    const struct range_answer *answer;
    double share; /* of regret */
    struct tiling tiling;
    int first;   /* run */
    int end;     /* the first run that it does not serve … */
    double over; /* … and what it takes there at least, of what is known to do */
};

static void judge(struct climb *climb)
{
    const struct range_answer *answer = climb->answer;
    climb->over = 0;
    for (climb->end = climb->first; climb->end < answer->run_count; climb->end++) {
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
    judge(&next);
    if (is_better(&next, best))
        *best = next;
}

/* The best of all tilings that differ in one value; false: there is none. */
static bool step(struct climb *climb)
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
        judge(&next);
        int at = count < STARTS ? count++ : STARTS;
        for (; at > 0 && is_better(&next, &starts[at - 1]); at--)
            if (at < STARTS)
                starts[at] = starts[at - 1];
        if (at < STARTS)
            starts[at] = next;
    }
    return count;
}

static void climb_from(const struct range_answer *answer, const struct range_part *part,
                       double share, struct tiling found[STARTS])
{
    const struct climb from = {.answer = answer, .share = share, .first = part->first};
    struct climb starts[STARTS];
    int count = find_starts(&from, starts);
    if (!count)
        return;
    for (int s = 0; s < STARTS; s++) {
        struct climb *climb = &starts[s < count ? s : 0];
        for (int i = 0; i < MOST_STEPS && climb->end < answer->run_count && step(climb); i++)
            continue;
        found[s] = climb->tiling;
    }
}

enum status range_climb(const struct range_question *question, double asked,
                        struct range_answer *answer, struct error *error)
{
    double share = question->tilings ? asked * (1 - TO_SAVE) : asked;
    struct tiling *found = calloc((size_t)answer->part_count * STARTS, sizeof *found);
    if (!found)
        return error_memory(error);
#pragma omp parallel for num_threads(question->threads) schedule(dynamic)
    for (int p = 0; p < answer->part_count; p++)
        climb_from(answer, &answer->parts[p], share, &found[(ptrdiff_t)p * STARTS]);
    enum status status =
        transfer_add(&answer->transfer, found, (int64_t)answer->part_count * STARTS, error);
    free(found);
    return status;
}
