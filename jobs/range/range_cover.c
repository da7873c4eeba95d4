/* Parts of a range, each with one tiling: from the first run on always the tiling that reaches
 * furthest. What serves a part serves every part of it, so no other choice needs fewer parts
 * (docs/ranges.md). Which tiling that is, is found by bounds first: how far one may reach is known
 * before anything is simulated, and only who may reach furthest is (Minoux 1978, lazy greedy).
 *
 * The least regret of so many parts is found by bisection, in steps of a millionth. */
#include "jobs/range/range_parts.h"

#include <math.h>
#include <stdlib.h>

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
static enum status furthest(struct cover *cover, int first, struct range_part *part,
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
        TRY(furthest(cover, run, part, error));
        run = part->last + 1;
    }
    return STATUS_OK;
}

/* ---- the tiling of a part ------------------------------------------------------------------- */

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

/* ---- the parts ------------------------------------------------------------------------------ */

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
