/* Does one job of a sweep. A job is opened, searched or measured, and turned into the row of a
 * store within the worker that does it, so that nothing of the search outlives it. Its time is
 * that of all threads together. */
#include "jobs/sweep/sweep_outcome.h"

#include "jobs/tune/host_job.h"
#include "search/clock.h"

static void search_job(const struct job *job, int threads, const volatile sig_atomic_t *stop,
                       struct outcome *outcome)
{
    struct job_result result;
    const struct job_run how = {.threads = threads, .uncounted = true, .stop = stop};
    struct timespec started;
    clock_gettime(CLOCK_MONOTONIC, &started);
    outcome->status = job_run(job, &how, &result, &outcome->error);
    outcome->search_s = seconds_since(&started) * threads;
    if (outcome->status != STATUS_OK)
        return;
    if (!*stop)
        outcome->status =
            job_record(job, &result, false, &outcome->worth, &outcome->record, &outcome->error);
    job_result_clear(&result);
}

/* Where none could be measured: the first of the reasons. */
static enum status none_measured(const struct job *job, const struct host_answer *answer,
                                 struct error *error)
{
    char title[PROBLEM_TITLE_SIZE];
    const char *reason = answer->tune.count ? answer->tune.items[0].measured.quarantine : "no time";
    return error_set(error, STATUS_INVALID, "%.200s: none of %d tilings could be measured: %.160s",
                     problem_title(&job->problem, title), answer->asked, reason);
}

static enum status record_measured(const struct job *job, const struct host_question *question,
                                   const struct host_answer *answer, struct outcome *outcome)
{
    enum status status =
        host_job_record(job, question, answer, &outcome->worth, &outcome->record, &outcome->error);
    return status != STATUS_OK || outcome->worth ? status
                                                 : none_measured(job, answer, &outcome->error);
}

static void measure_job(const struct job *job, int threads, const volatile sig_atomic_t *stop,
                        struct outcome *outcome)
{
    const struct host_question question = host_job_question(job);
    const struct host_control control = {.stop = stop};
    struct host_answer answer;
    struct timespec started;
    clock_gettime(CLOCK_MONOTONIC, &started);
    outcome->status = host_job_check(job, &question, &outcome->error);
    if (outcome->status == STATUS_OK)
        outcome->status =
            host_job_measure(job, &question, NULL, &control, &answer, &outcome->error);
    outcome->search_s = seconds_since(&started) * threads;
    if (outcome->status != STATUS_OK)
        return;
    if (!*stop)
        outcome->status = record_measured(job, &question, &answer, outcome);
    host_answer_clear(&answer);
}

void sweep_do_job(const struct sweep *sweep, int threads, const volatile sig_atomic_t *stop,
                  struct outcome *outcome)
{
    struct job job;
    outcome->status = sweep_open_job(sweep, outcome->job, &job, &outcome->error);
    if (outcome->status != STATUS_OK)
        return;
    if (sweep->jobs[outcome->job].key.kind == STORE_MEASURED)
        measure_job(&job, threads, stop, outcome);
    else
        search_job(&job, threads, stop, outcome);
    job_close(&job);
}
