/* Sizes of one class have the same representative (size_class in core/operator.h); neighbours of
 * one class are a run. Each class is opened once, as the problem of its first size. */
#include "core/array.h"
#include "jobs/range/range_parts.h"

#include <stdlib.h>
#include <string.h>

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

static int find(const struct classes *classes, int64_t represents)
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
    int class = find(classes, stands);
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

enum status range_make_classes(const struct range_question *question, struct range_answer *answer,
                               struct error *error)
{
    struct classes classes = {.question = question, .answer = answer};
    enum status status = STATUS_OK;
    for (int64_t size = question->range.from; size <= question->range.to && status == STATUS_OK;
         size++)
        status = add_size(&classes, size, error);
    free(classes.known);
    return status == STATUS_OK ? list_spaces(answer, error) : status;
}
