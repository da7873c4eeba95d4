/* Chooses tilings of a job, has them timed, and makes an answer of it. The model's scores of all
 * tilings come from a search that the caller has just done, or are computed anew, for no store
 * keeps them. From them tilings are chosen (host_tune.h) and timed with what is left of the time
 * limit. The key is the job's, with another kind and with how many tilings were asked for. */
#include "jobs/tune/host_job.h"

#include "search/clock.h"
#include "validate/calibrate/host_calibration.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Tilings so much slower than the best are not worth all rounds. */
#define KEEP_WITHIN 1.25

#define LEAST_S 1e-6

struct host_question host_job_question(const struct job *job)
{
    return (struct host_question){
        .wanted = job->hw->host ? job->validate : 0,
        .seed = 1,
        .time_limit_s = job->time_limit_s,
    };
}

void host_job_key(const struct job *job, const struct host_question *question,
                  struct job_key_texts *texts, struct store_key *key)
{
    job_key(job, texts, key);
    key->kind = STORE_MEASURED;
    if (question->is_sample)
        snprintf(texts->query, sizeof texts->query, "sample=%lld seed=%llu",
                 (long long)question->wanted, (unsigned long long)question->seed);
    else if (question->wanted == JOB_VALIDATE_DEFAULT)
        snprintf(texts->query, sizeof texts->query, "validate=default");
    else
        snprintf(texts->query, sizeof texts->query, "validate=%lld", (long long)question->wanted);
}

enum status host_job_check(const struct job *job, const struct host_question *question,
                           struct error *error)
{
    char why[256];
    if (!host_is_this_machine(job->hw->host, why, sizeof why))
        return error_set(error, STATUS_INVALID, "%.64s: %s; expected %s", job->hw->name, why,
                         question->is_sample ? "a description by `autotune calibrate --hw host`"
                                             : "--validate 0, which asks the model alone");
    if (!job->problem.op->runner)
        return error_set(error, STATUS_INVALID,
                         "%s: nothing runs its tilings on this machine, expected --validate 0",
                         job->problem.op->name);
    return STATUS_OK;
}

/* ------------------------------------------------------------------ measuring */

/* A sample takes all of the time that is left, picks no more than without a limit. */
static double budget_s(const struct host_question *question, double spent_s)
{
    if (question->time_limit_s <= 0)
        return HOST_TUNE_BUDGET_S;
    double left_s = fmax(question->time_limit_s - spent_s, LEAST_S);
    return question->is_sample ? left_s : fmin(HOST_TUNE_BUDGET_S, left_s);
}

static enum status choose(const struct space *space, const struct host_question *question,
                          const struct search_result *search, double within_s, int64_t positions[],
                          int *picked, struct error *error)
{
    bool given = question->wanted != JOB_VALIDATE_DEFAULT;
    int count = given ? (int)question->wanted : HOST_TUNE_COUNT;
    if (question->is_sample)
        return host_tune_sample(search, count, question->seed, positions, picked, error);
    *picked = host_tune_pick(space, search, count, given ? 0 : within_s, positions);
    return STATUS_OK;
}

static enum status measure_scored(const struct job *job, const struct host_question *question,
                                  const struct search_result *search,
                                  const struct host_control *control, struct host_answer *answer,
                                  struct error *error)
{
    double within_s = budget_s(question, control->spent_s);
    struct limited limited;
    const struct space *space =
        search_until(&job->space, (struct stop){.told = control->stop}, &limited);
    int64_t most = question->wanted > 0 ? question->wanted : HOST_TUNE_COUNT;
    int64_t *positions = calloc((size_t)most + MODEL_QUALITY_TOP, sizeof *positions);
    const struct measure_options options = {
        .timing = {.threads = job->cores,
                   .budget_s = within_s,
                   .keep_within = question->is_sample ? 0 : KEEP_WITHIN},
        .seed = question->seed,
        .stop = control->stop,
        .progress = control->progress,
        .context = control->context,
    };
    if (!positions)
        return error_memory(error);
    enum status status =
        choose(space, question, search, within_s, positions, &answer->asked, error);
    if (status == STATUS_OK && answer->asked)
        status = host_tune_measure(&job->space, search, positions, answer->asked,
                                   control->meter ? control->meter : &host_meter,
                                   job->problem.op->runner, &options, &answer->tune, error);
    free(positions);
    return status;
}

/* The model's order of all tilings, which no store keeps. */
static enum status score(const struct job *job, const struct host_control *control,
                         struct search_result *result, struct error *error)
{
    const struct search_options how = {
        .threads = 1,
        .top = 1,
        .keep_scores = true,
        .best_only = true,
        .stop = control->stop,
    };
    return search(&job->space, &how, result, error);
}

enum status host_job_measure(const struct job *job, const struct host_question *question,
                             const struct search_result *search, const struct host_control *control,
                             struct host_answer *answer, struct error *error)
{
    struct search_result scored = {0};
    enum status status = STATUS_OK;
    struct timespec started;
    clock_gettime(CLOCK_MONOTONIC, &started);
    *answer = (struct host_answer){0};
    if (!search || !search->score_count) {
        status = score(job, control, &scored, error);
        search = &scored;
    }
    if (status == STATUS_OK)
        status = measure_scored(job, question, search, control, answer, error);
    search_result_clear(&scored);
    answer->seconds = seconds_since(&started);
    return status;
}

void host_answer_clear(struct host_answer *answer)
{
    host_tune_clear(&answer->tune);
    *answer = (struct host_answer){0};
}
