/* Each problem is a job of the main command by its options (jobs/network/network_tune.h), so the
 * store's rows are those of `tune` and `sweep`, and calls of one problem share a row. */
#include "jobs/network/network_tune.h"

#include "jobs/tune/job_store.h"
#include "network/problem.h"
#include "search/clock.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Shorter searches than this say nothing. */
#define LEAST_S 0.05

static bool cache_is_given(const struct network_tune *tune)
{
    for (int i = 0; i < tune->override_count; i++)
        if (strncmp(tune->overrides[i], HARDWARE_CACHE, strlen(HARDWARE_CACHE)) == 0)
            return true;
    return false;
}

static enum status set_chip(const struct network_tune *tune, struct job *job, struct error *error)
{
    TRY(job_set(job, "hw", tune->hw_name, error));
    for (int i = 0; i < tune->override_count; i++)
        TRY(job_set(job, "set-hw", tune->overrides[i], error));
    return tune->hw->cache.behind >= 0 && !cache_is_given(tune)
               ? job_set(job, "cache", "cold", error)
               : STATUS_OK;
}

static enum status set_problem(const struct network_tune *tune, const struct call_problem *problem,
                               struct job *job, struct error *error)
{
    for (int i = 0; i < problem->setting_count; i++)
        TRY(job_set(job, problem->settings[i].name, problem->settings[i].text, error));
    return tune->space && strcmp(problem->settings[0].name, "op") == 0
               ? job_set(job, "space", tune->space, error)
               : STATUS_OK;
}

static enum status keep(const struct network_tune *tune, const struct job *job,
                        const struct job_result *result, struct error *error)
{
    struct job_record record;
    bool worth;
    TRY(job_record(job, result, *tune->stop != 0, &worth, &record, error));
    if (!worth)
        return STATUS_OK;
    enum status status = job_record_put(tune->store, &record, false, error);
    if (status == STATUS_OK)
        status = store_commit(tune->store, error);
    job_record_clear(&record);
    return status;
}

static enum status find_tiling(const struct network_tune *tune, const struct job *job,
                               struct call_tuned *found, struct network_tuned *tuned,
                               struct error *error)
{
    struct job_result result;
    const struct job_run how = {.threads = tune->threads, .stop = tune->stop};
    bool is_kept;
    TRY(job_recall(job, tune->store, &is_kept, &result, error));
    if (!is_kept) {
        TRY(job_run(job, &how, &result, error));
        enum status status = keep(tune, job, &result, error);
        if (status != STATUS_OK) {
            job_result_clear(&result);
            return status;
        }
    }
    if (result.search.count) {
        found->best_ns = found_ns(&result.search.best[0]);
        found->gap = result.search.optimal ? 0 : result.search.gap;
    }
    tuned->cut_off += !job_is_complete(job, &result, *tune->stop != 0);
    job_result_clear(&result);
    return STATUS_OK;
}

static enum status open_job(const struct network_tune *tune, const struct call_problem *problem,
                            double left_s, struct job *job, struct error *error)
{
    char seconds[32];
    TRY(set_chip(tune, job, error));
    TRY(set_problem(tune, problem, job, error));
    snprintf(seconds, sizeof seconds, "%.3f", left_s);
    if (tune->time_limit_s > 0)
        TRY(job_set(job, "time-limit", seconds, error));
    return job_open(job, tune->chips, error);
}

/* A problem that the chip has no tilings for is passed over, and says why. */
static enum status tune_problem(const struct network_tune *tune, const struct call_problem *problem,
                                double left_s, struct call_tuned *found,
                                struct network_tuned *tuned, struct error *why, struct error *error)
{
    struct job job;
    job_init(&job);
    enum status status = open_job(tune, problem, left_s, &job, why);
    if (status == STATUS_OK) {
        memcpy(tuned->fingerprint, job.chip->fingerprint, sizeof tuned->fingerprint);
        status = find_tiling(tune, &job, found, tuned, error);
        if (found->best_ns <= 0)
            error_set(why, STATUS_INVALID, "no tiling was found");
    } else if (status == STATUS_INVALID || status == STATUS_TOO_LARGE) {
        status = STATUS_OK;
    } else {
        error_set(error, status, "%s", why->text);
    }
    job_close(&job);
    return status;
}

static enum status tune_call(const struct network_tune *tune, const struct operator_call *call,
                             double left_s, struct call_tuned *found, struct network_tuned *tuned,
                             struct error *error)
{
    struct call_problem problem;
    struct error why = {0};
    if (!call_find_problem(call, &problem))
        return STATUS_OK;
    tuned->searched += problem.setting_count > 0;
    if (problem.setting_count == 0) {
        error_set(&why, STATUS_INVALID, "%s", problem.why);
    } else if (left_s < LEAST_S || *tune->stop) {
        tuned->left++;
        error_set(&why, STATUS_INVALID, "no time was left");
    } else {
        TRY(tune_problem(tune, &problem, left_s, found, tuned, &why, error));
    }
    found->why = *why.text ? strdup(why.text) : NULL;
    return *why.text && !found->why ? error_memory(error) : STATUS_OK;
}

enum status network_tune(const struct network_tune *tune, const struct network *network,
                         const int64_t *order, int64_t count, struct call_tuned *found,
                         struct network_tuned *tuned, struct error *error)
{
    struct timespec started;
    clock_gettime(CLOCK_MONOTONIC, &started);
    *tuned = (struct network_tuned){0};
    for (int64_t i = 0; i < count; i++) {
        double left_s = tune->time_limit_s > 0 ? tune->time_limit_s - seconds_since(&started) : 1;
        if (tune->progress)
            tune->progress(tune->context, i, count);
        TRY(tune_call(tune, &network->calls[order[i]], left_s, &found[order[i]], tuned, error));
    }
    return STATUS_OK;
}
