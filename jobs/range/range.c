/* Classes, proofs, parts. */
#include "jobs/range/range_parts.h"
#include "search/clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum status range_check(const struct range_question *question, struct error *error)
{
    const struct job *job = question->job;
    struct problem last = job->problem;
    if (job->hw->host)
        return error_set(error, STATUS_INVALID,
                         "--shape: a range is proven by simulation, and %s is a processor, whose "
                         "kernels are measured: expected a chip",
                         job->hw->name);
    if (job->space.kind->costs)
        return error_set(
            error, STATUS_INVALID,
            "--shape: a tiling of %s is several programs that share no bound, expected "
            "one size in place of the range",
            job->problem.op->name);
    long long sizes = question->range.to - question->range.from + 1;
    if (sizes > RANGE_MAX_SIZES)
        return error_set(error, STATUS_INVALID,
                         "--shape: a range of %lld sizes, expected at most %d", sizes,
                         RANGE_MAX_SIZES);
    last.size[question->range.size] = question->range.to;
    return problem_settle(&last, error);
}

/* The worst over the sizes of a part, of what is proven of them: the roofline is, in any case. */
static double proven_regret(const struct range_answer *answer, const struct range_part *part)
{
    double worst = 0;
    for (int run = part->first; run <= part->last; run++) {
        const struct range_class *class = &answer->classes[answer->runs[run].class];
        double least = (double)class->least_fs, time = (double)range_time_fs(answer, part, run);
        if (least == 0)
            least = class->space.kind->roofline_ns(&class->space) * FS_PER_NS;
        worst = fmax(worst, least > 0 ? (time - least) / least : INFINITY);
    }
    return worst;
}

static void tell_regrets(struct range_answer *answer)
{
    answer->regret = 0;
    for (int p = 0; p < answer->part_count; p++) {
        answer->parts[p].regret = proven_regret(answer, &answer->parts[p]);
        answer->regret = fmax(answer->regret, answer->parts[p].regret);
    }
}

/* Parts are chosen as if the fastest tilings that are known were the fastest. A faster one that
 * comes up makes a class more demanding, so no choice before that was for too many parts. */
static enum status find_parts(const struct range_question *question, const struct stop *stop,
                              struct range_answer *answer, struct error *error)
{
    for (bool more = true; more; answer->rounds++) {
        double asked;
        TRY(range_cover(question, answer, &asked, error));
        if (answer->without) {
            answer->cut_short = stop_due(stop);
            return STATUS_OK;
        }
        TRY(range_climb(question, asked, answer, error));
        TRY(range_cover(question, answer, &asked, error));
        more = false;
        enum status status = range_prove(question, stop, asked, answer, &more, error);
        answer->cut_short = status == STATUS_STOPPED;
        if (status != STATUS_OK)
            return answer->cut_short ? STATUS_OK : status;
    }
    return STATUS_OK;
}

enum status range_find(const struct range_question *question, struct range_answer *answer,
                       struct error *error)
{
    double limit_s = question->job->time_limit_s;
    struct stop stop = {.told = question->stop,
                        .deadline_ns = limit_s > 0 ? stop_after_s(limit_s) : 0};
    struct timespec started;
    clock_gettime(CLOCK_MONOTONIC, &started);
    memset(answer, 0, sizeof *answer);
    TRY(range_make_classes(question, answer, error));
    TRY(range_seed(question, &stop, answer, error));
    TRY(find_parts(question, &stop, answer, error));
    tell_regrets(answer);
    answer->simulated += answer->transfer.simulated;
    answer->seconds = seconds_since(&started);
    return STATUS_OK;
}

void range_clear(struct range_answer *answer)
{
    if (answer->transfer.space)
        transfer_close(&answer->transfer);
    for (int c = 0; c < answer->class_count; c++)
        space_close(&answer->classes[c].space);
    free(answer->classes);
    free(answer->runs);
    free(answer->parts);
    free(answer->spaces);
    memset(answer, 0, sizeof *answer);
}

int64_t range_time_fs(const struct range_answer *answer, const struct range_part *part, int run)
{
    return answer->transfer.result[part->tiling][answer->runs[run].class].time_fs;
}
