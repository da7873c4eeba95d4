/* A few sizes are searched as ever, each twice as far along the range as the one before. What is
 * found for them gives every eighth class a time to begin with, below which branch and bound over
 * all these together looks for better ones. */
#include "jobs/range/range_parts.h"
#include "search/search.h"

#include <stdlib.h>

enum { SEEDS_TOP = 4, STRIDE = 8 };

/* What is not faster by so much is left to range_prove. */
#define WORTH_A_SEARCH 0.02

/* ---- tilings that may be good for other sizes too ------------------------------------------- */

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
enum status range_add_tiling(struct range_answer *answer, int class, const struct tiling *tiling,
                             struct error *error)
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

/* ---- times to begin with -------------------------------------------------------------------- */

/* By simulating in order of bound. */
enum status range_find_best(struct range_answer *answer, int class, struct error *error)
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

enum status range_seed(const struct range_question *question, const struct stop *stop,
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
