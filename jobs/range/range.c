/* Few tilings for a range of sizes, by classes, parts (range_parts.c) and proofs.
 *
 * Sizes of one class have the same representative (size_class in core/operator.h); neighbours of
 * one class are a run. Each class is opened once, as the problem of its first size.
 *
 * A few sizes are searched as ever, each twice as far along the range as the one before. What is
 * found for them gives every eighth class a time to begin with, below which branch and bound over
 * all these together (search/family.h) looks for better ones.
 *
 * What a part's tiling takes, less the regret, is a time that no tiling of the class may beat.
 * Where that is not known yet, branch and bound finds one that does, or proves that there is none.
 */
#include "jobs/range/range.h"

#include "core/array.h"
#include "search/clock.h"
#include "search/family.h"
#include "search/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ classes */

/* A class by its representative. */
struct known {
    int64_t represents;
    int class;
};

struct classes {
    const struct range_question *question;
    struct range_answer *answer;
    struct known *known; /* those of the last sizes, newest last; owned */
    int64_t known_count;
};

/* Representatives stand near their sizes: what was not seen for so many is not seen again. */
enum { LOOK_BACK = 64 };

static int find_class(const struct classes *classes, int64_t represents)
{
    int64_t least = classes->known_count > LOOK_BACK ? classes->known_count - LOOK_BACK : 0;
    for (int64_t i = classes->known_count; i > least; i--)
        if (classes->known[i - 1].represents == represents)
            return classes->known[i - 1].class;
    return -1;
}

static int64_t represents(const struct classes *classes, int64_t size)
{
    const struct job *job = classes->question->job;
    const struct operator_space *kind = job->space.kind;
    return kind->size_class
               ? kind->size_class(&job->space, &job->problem, classes->question->range.size, size)
               : size;
}

static enum status name_size(int64_t size, const struct error *why, struct error *error)
{
    return error_set(error, why->status, "--shape: size %lld of the range: %s", (long long)size,
                     why->text);
}

static enum status open_class(struct classes *classes, int64_t size, struct error *error)
{
    struct range_answer *answer = classes->answer;
    const struct job *job = classes->question->job;
    struct error why;
    if (answer->class_count == RANGE_MAX_CLASSES)
        return error_set(
            error, STATUS_TOO_LARGE,
            "--shape: more than %d sizes of the range mean different kernels, expected "
            "a shorter one",
            RANGE_MAX_CLASSES);
    if (!array_room(&answer->classes, answer->class_count, sizeof *answer->classes))
        return error_memory(error);
    struct range_class *added = &answer->classes[answer->class_count];
    *added = (struct range_class){.problem = job->problem, .best_fs = NOT_LEGAL};
    added->problem.size[classes->question->range.size] = size;
    enum status status = problem_settle(&added->problem, &why);
    if (status == STATUS_OK)
        status = space_open(&added->problem, /* by name: a large space may have a kind of its own */
                            operator_space_find(job->problem.op, job->space.kind->name), job->hw,
                            job->cores, &added->space, &why);
    if (status != STATUS_OK)
        return name_size(size, &why, error);
    answer->class_count++;
    return STATUS_OK;
}

/* Of a size behind all that were added. */
static enum status add_size(struct classes *classes, int64_t size, struct error *error)
{
    struct range_answer *answer = classes->answer;
    int64_t stands = represents(classes, size);
    int class = find_class(classes, stands);
    if (class < 0) {
        class = answer->class_count;
        TRY(open_class(classes, size, error));
        if (!array_room(&classes->known, classes->known_count, sizeof *classes->known))
            return error_memory(error);
        classes->known[classes->known_count++] = (struct known){stands, class};
    }
    if (answer->run_count && answer->runs[answer->run_count - 1].class == class) {
        answer->runs[answer->run_count - 1].to = size;
        return STATUS_OK;
    }
    if (!array_room(&answer->runs, answer->run_count, sizeof *answer->runs))
        return error_memory(error);
    answer->runs[answer->run_count++] = (struct range_run){size, size, class};
    return STATUS_OK;
}

static enum status list_spaces(struct range_answer *answer, struct error *error)
{
    answer->spaces = calloc((size_t)answer->class_count + 1, sizeof(struct space *));
    if (!answer->spaces)
        return error_memory(error);
    for (int c = 0; c < answer->class_count; c++)
        answer->spaces[c] = &answer->classes[c].space;
    return STATUS_OK;
}

/* Which sizes are one problem, and their spaces. */
static enum status range_make_classes(const struct range_question *question,
                                      struct range_answer *answer, struct error *error)
{
    struct classes classes = {.question = question, .answer = answer};
    enum status status = STATUS_OK;
    for (int64_t size = question->range.from; size <= question->range.to && status == STATUS_OK;
         size++)
        status = add_size(&classes, size, error);
    free(classes.known);
    return status == STATUS_OK ? list_spaces(answer, error) : status;
}

/* ------------------------------------------------------------------ tilings that may be good for
 * other sizes too */

static int64_t largest_value(const struct space *space, int axis)
{
    int64_t largest = 0;
    for (int b = 0; b < space->block_count; b++) {
        const struct space_block *block = &space->blocks[b];
        int count = block->count[axis];
        if (count && block->values[axis][count - 1] > largest)
            largest = block->values[axis][count - 1];
    }
    return largest;
}

/* What is all of a size here is all of it elsewhere, and all cores that have work are all there
 * are. */
static bool may_be_all(const struct range_answer *answer, const struct space *space, int axis,
                       int64_t value)
{
    const struct axis *of = &space->axes[axis];
    return !of->value_names && value < answer->largest[axis] &&
           (of->counts_cores || value == largest_value(space, axis));
}

/* The tiling, and those in which one of the values that are all of something says so for all
 * classes, or each does. */
static enum status range_add_tiling(struct range_answer *answer, int class,
                                    const struct tiling *tiling, struct error *error)
{
    const struct space *space = answer->spaces[class];
    struct tiling list[SPACE_MAX_AXES + 2], all = *tiling;
    int count = 0;
    list[count++] = *tiling;
    for (int a = 0; a < space->axis_count; a++)
        if (may_be_all(answer, space, a, tiling->value[a])) {
            list[count] = *tiling;
            list[count++].value[a] = all.value[a] = answer->largest[a];
        }
    list[count++] = all;
    return transfer_add(&answer->transfer, list, count, error);
}

static void find_largest(struct range_answer *answer)
{
    for (int c = 0; c < answer->class_count; c++)
        for (int a = 0; a < answer->spaces[c]->axis_count; a++) {
            int64_t value = largest_value(answer->spaces[c], a);
            if (value > answer->largest[a])
                answer->largest[a] = value;
        }
}

/* ------------------------------------------------------------------ times to begin with */

/* Looks among the transfer's tilings for the fastest of a class, simulating in order of bound. */
static enum status range_find_best(struct range_answer *answer, int class, struct error *error)
{
    struct transfer *transfer = &answer->transfer;
    struct range_class *of = &answer->classes[class];
    for (;;) {
        int64_t next = -1, time_fs;
        for (int64_t t = 0; t < transfer->tilings; t++) {
            const struct transferred *result = &transfer->result[t][class];
            if (result->time_fs == 0 && result->bound_fs < of->best_fs &&
                (next < 0 || result->bound_fs < transfer_bound_fs(transfer, next, class)))
                next = t;
        }
        if (next < 0)
            return STATUS_OK;
        TRY(transfer_time(transfer, next, class, &time_fs, error));
        if (time_fs < of->best_fs)
            of->best_fs = time_fs;
    }
}

/* ------------------------------------------------------------------ branch and bound over some
 * classes */

static enum status take_member(struct range_answer *answer, const struct family_member *member,
                               int class, int64_t *faster, struct error *error)
{
    struct range_class *of = &answer->classes[class];
    struct tiling tiling;
    if (!member->best_fs) {
        of->least_fs = of->least_fs > member->below_fs ? of->least_fs : member->below_fs;
        return STATUS_OK;
    }
    ++*faster;
    of->best_fs = of->least_fs = member->best_fs;
    space_tiling(member->space, member->index, &tiling);
    return range_add_tiling(answer, class, &tiling, error);
}

/* Classes of larger problems, whose times are longer, come first. */
static int fill_members(const struct range_answer *answer, const int64_t below_fs[],
                        struct family_member *members, int *class_of)
{
    int count = 0;
    for (int c = answer->class_count - 1; c >= 0; c--)
        if (below_fs[c] && answer->classes[c].least_fs < below_fs[c]) {
            members[count] =
                (struct family_member){.space = answer->spaces[c], .below_fs = below_fs[c]};
            class_of[count++] = c;
        }
    return count;
}

static enum status search_members(const struct range_question *question, const struct stop *stop,
                                  struct family_member *members, const int *class_of, int count,
                                  struct range_answer *answer, int64_t *faster, struct error *error)
{
    struct family_effort effort = {0};
    enum status status = search_family(members, count, question->threads, stop, &effort, error);
    answer->bounded += effort.bounded;
    answer->simulated += effort.simulated;
    answer->taken_over += effort.taken_over;
    for (int m = 0; m < count && status == STATUS_OK; m++)
        status = take_member(answer, &members[m], class_of[m], faster, error);
    return status;
}

/* None of some classes has a tiling faster than below_fs[class], or its fastest is known then, and
 * proven. 0: it is not asked for. STATUS_STOPPED: nothing is known. */
static enum status range_search(const struct range_question *question, const struct stop *stop,
                                const int64_t below_fs[], struct range_answer *answer,
                                int64_t *faster, struct error *error)
{
    size_t room = (size_t)answer->class_count;
    struct family_member *members = calloc(room, sizeof *members);
    int *class_of = calloc(room, sizeof *class_of);
    enum status status = members && class_of ? STATUS_OK : error_memory(error);
    *faster = 0;
    if (status == STATUS_OK)
        status = search_members(question, stop, members, class_of,
                                fill_members(answer, below_fs, members, class_of), answer, faster,
                                error);
    free(members);
    free(class_of);
    return status;
}

/* ------------------------------------------------------------------ what is asked for */

/* The least time that is within the regret of no faster one. */
static int64_t needed_fs(int64_t time_fs, double asked)
{
    int64_t least = (int64_t)((double)time_fs / (1 + asked));
    while (within_fs(least, asked) < time_fs)
        least++;
    return least;
}

static void need_part(const struct range_answer *answer, const struct range_part *part,
                      double asked, int64_t below_fs[])
{
    for (int run = part->first; run <= part->last; run++) {
        int64_t *below = &below_fs[answer->runs[run].class],
                needed = needed_fs(range_time_fs(answer, part, run), asked);
        *below = needed > *below ? needed : *below;
    }
}

/* Looks for tilings that are faster than any part's by more than that regret, in the classes where
 * it is not proven that there are none. *more: there are, and the transfer has them. */
static enum status range_prove(const struct range_question *question, const struct stop *stop,
                               double asked, struct range_answer *answer, bool *more,
                               struct error *error)
{
    int64_t faster, *below_fs = calloc((size_t)answer->class_count, sizeof *below_fs);
    if (!below_fs)
        return error_memory(error);
    for (int p = 0; p < answer->part_count; p++)
        need_part(answer, &answer->parts[p], asked, below_fs);
    enum status status = range_search(question, stop, below_fs, answer, &faster, error);
    free(below_fs);
    *more = faster > 0;
    for (int c = 0; *more && c < answer->class_count && status == STATUS_OK; c++)
        status = range_find_best(answer, c, error);
    return status;
}

/* ------------------------------------------------------------------ seeds */

enum { SEEDS_TOP = 4, STRIDE = 8 };

/* What is not faster by so much is left to range_prove. */
#define WORTH_A_SEARCH 0.02

/* Limits and progress are those of the whole job. */
static enum status search_class(const struct range_question *question, const struct stop *stop,
                                struct range_answer *answer, int class, struct error *error)
{
    struct search_result result;
    struct space space = answer->classes[class].space;
    struct search_options options = {.threads = question->threads,
                                     .top = SEEDS_TOP,
                                     .best_only = true,
                                     .progress = question->progress,
                                     .context = question->context};
    space.stop = stop;
    TRY(search(&space, &options, &result, error));
    enum status status = STATUS_OK;
    for (int i = 0; status == STATUS_OK && i < result.count; i++)
        status = range_add_tiling(answer, class, &result.best[i].tiling, error);
    if (result.optimal)
        answer->classes[class].least_fs = result.best[0].timeline.end_fs;
    search_result_clear(&result);
    answer->searched++;
    return status;
}

static enum status search_seeds(const struct range_question *question, const struct stop *stop,
                                struct range_answer *answer, struct error *error)
{
    int last = answer->class_count - 1;
    for (int class = 0; class < last && !stop_due(stop); class = 2 * class + 1)
        TRY(search_class(question, stop, answer, class, error));
    return search_class(question, stop, answer, last, error);
}

static enum status find_all(struct range_answer *answer, struct error *error)
{
    for (int c = 0; c < answer->class_count; c++)
        TRY(range_find_best(answer, c, error));
    return STATUS_OK;
}

/* A class without a tiling is asked for any. */
static int64_t worth_fs(const struct range_class *class)
{
    return class->best_fs == NOT_LEGAL ? NOT_LEGAL
                                       : (int64_t)((double)class->best_fs / (1 + WORTH_A_SEARCH));
}

static enum status search_some(const struct range_question *question, const struct stop *stop,
                               struct range_answer *answer, struct error *error)
{
    size_t room = (size_t)answer->class_count;
    int64_t faster, *below_fs = room ? calloc(room, sizeof *below_fs) : NULL;
    if (!below_fs)
        return error_memory(error);
    for (int c = 0; c < answer->class_count; c++)
        if ((answer->class_count - 1 - c) % STRIDE == 0 || answer->classes[c].best_fs == NOT_LEGAL)
            below_fs[c] = worth_fs(&answer->classes[c]);
    enum status status = range_search(question, stop, below_fs, answer, &faster, error);
    free(below_fs);
    return status == STATUS_STOPPED ? STATUS_OK : status;
}

/* Tilings of some classes, which the transfer has then, and of every class the fastest of them. */
static enum status range_seed(const struct range_question *question, const struct stop *stop,
                              struct range_answer *answer, struct error *error)
{
    find_largest(answer);
    TRY(transfer_open(&answer->transfer, answer->spaces, answer->class_count, question->threads,
                      error));
    TRY(search_seeds(question, stop, answer, error));
    TRY(find_all(answer, error));
    TRY(search_some(question, stop, answer, error));
    return find_all(answer, error);
}

/* ------------------------------------------------------------------ all of it */

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
            least = fmax(class->space.kind->roofline_ns(&class->space), 0) * FS_PER_NS;
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
        TRY(range_climb(question, stop, asked, answer, error));
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
