/* What a job is called: its title, and the key under which a store has its result. */
#include "core/version.h"
#include "jobs/tune/job.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Appends to a text of `size`, cut where it is full. */
__attribute__((format(printf, 3, 4))) static void append(char *text, size_t size,
                                                         const char *format, ...)
{
    va_list list;
    size_t used = strlen(text);
    va_start(list, format);
    vsnprintf(text + used, size - used, format, list);
    va_end(list);
}

static void put_shape(const struct problem *problem, char *text, size_t size)
{
    for (int i = 0; i < problem->op->shape_sizes; i++)
        append(text, size, "%s%lld", i ? "x" : "", (long long)problem->size[i]);
}

/* Sizes and choices that are not the default: `mark` between name and value. */
static void put_options(const struct problem *problem, char mark, char *text, size_t size)
{
    const struct operator* op = problem->op;
    for (int i = op->shape_sizes; i < op->size_count; i++)
        if (problem->size[i] != op->options[i - op->shape_sizes].usual)
            append(text, size, " %s%c%lld", op->size_names[i], mark, (long long)problem->size[i]);
    for (int i = 0; i < op->choice_count; i++)
        if (problem->choice[i] > 0)
            append(text, size, " %s%c%s", op->choices[i].name, mark,
                   op->choices[i].values[problem->choice[i]]);
}

void job_title(const struct job *job, char *text, size_t size)
{
    snprintf(text, size, "%s ", job->problem.op->name);
    put_shape(&job->problem, text, size);
    put_options(&job->problem, ' ', text, size);
}

void job_hardware_name(const struct hardware *hw, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "%s", hw->name);
    for (size_t i = 0; i < hw->fact_count && used < size; i++)
        if (fact_is_override(&hw->facts[i]))
            used += (size_t)snprintf(text + used, size - used, ", %s=%s", hw->facts[i].key,
                                     hw->facts[i].value);
}

double job_fit_share(const struct job *job)
{
    return job->hw->fit.error > 0 ? expm1(job->hw->fit.error) : 0;
}

void job_key(const struct job *job, struct job_key_room *room, struct store_key *key)
{
    char options[sizeof room->options + 1] = "";
    char corner[FINGERPRINT_SIZE];
    room->shape[0] = 0;
    put_shape(&job->problem, room->shape, sizeof room->shape);
    put_options(&job->problem, '=', options, sizeof options);
    snprintf(room->options, sizeof room->options, "%s", options[0] ? options + 1 : "");
    snprintf(room->query, sizeof room->query, "strategy=%s top=%d", job->strategy, job->top);
    if (job->robust) {
        /* which numbers are uncertain is not in the chip's own fingerprint */
        hardware_fingerprint(&job->corner.hw, corner);
        append(room->query, sizeof room->query, " robust=%s", corner);
    }
    *key = (struct store_key){
        .kind = STORE_SIMULATED,
        .op = job->problem.op->name,
        .shape = room->shape,
        .options = room->options,
        .dtype = dtype_name(job->problem.type),
        .space = job->space.kind->name,
        .query = room->query,
        .hardware = job->chip->fingerprint,
        .cores = job->cores,
        .model_version = MODEL_VERSION,
    };
}
