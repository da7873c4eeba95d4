/* Hill climbing by bounds: from each part's tiling, one value at a time, to tilings that may serve
 * more runs from the part's first on, or, serving as many, that miss the next one by less. What is
 * found joins the tilings among which parts are chosen; simulation decides there. */
#include "jobs/range/range_parts.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_STEPS = 64 };

/* So much of the regret is to be saved where it is what is asked for. */
#define TO_SAVE 0.1

struct climb {
    const struct range_answer *answer;
    double share; /* of regret */
    int first;    /* run */
    struct tiling tiling;
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

static void try_value(struct climb *best, const struct climb *from, int axis, int64_t value)
{
    struct climb next = *from;
    if (from->tiling.value[axis] == value)
        return;
    next.tiling.value[axis] = value;
    judge(&next);
    if (next.end > best->end || (next.end == best->end && next.over < best->over))
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
    bool better = best.end > climb->end || best.over < climb->over;
    *climb = best;
    return better;
}

static void climb_from(const struct range_answer *answer, const struct range_part *part,
                       double share, struct tiling *tiling)
{
    struct climb climb = {.answer = answer,
                          .share = share,
                          .first = part->first,
                          .tiling = answer->transfer.tiling[part->tiling]};
    judge(&climb);
    for (int i = 0; i < MOST_STEPS && climb.end < answer->run_count && step(&climb); i++)
        continue;
    *tiling = climb.tiling;
}

enum status range_climb(const struct range_question *question, double asked,
                        struct range_answer *answer, struct error *error)
{
    double share = question->tilings ? asked * (1 - TO_SAVE) : asked;
    struct tiling *found = calloc((size_t)answer->part_count, sizeof *found);
    if (!found)
        return error_memory(error);
#pragma omp parallel for num_threads(question->threads) schedule(dynamic)
    for (int p = 0; p < answer->part_count; p++)
        climb_from(answer, &answer->parts[p], share, &found[p]);
    enum status status = transfer_add(&answer->transfer, found, answer->part_count, error);
    free(found);
    return status;
}
