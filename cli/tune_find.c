/* First the store, then the work, then back into the store, for what is simulated and what is
 * measured alike. An answer that cannot be kept is still given: the error waits for the end. */
#include "cli/tune_find.h"

#include "cli/progress.h"
#include "cli/signals.h"
#include "search/clock.h"

static void run_search(const struct tune_find *find, const struct job *job,
                       struct job_result *result)
{
    struct error error;
    struct job_run how = find->how;
    how.keep_scores = find->run->question.wanted != 0;
    how.stop = stop_asked();
    how.progress = progress_search;
    enum status status = job_run(job, &how, result, &error);
    progress_phase("answering");
    cli_require(status, &error);
}

/* ------------------------------------------------------------------ from the store */

/* An answer that is damaged is no reason to search in silence: --fresh replaces it. */
static bool recall_search(const struct tune_find *find, const struct job *job,
                          struct job_result *result)
{
    bool found = false;
    struct error error;
    struct timespec started;
    clock_gettime(CLOCK_MONOTONIC, &started);
    if (!find->store || find->fresh)
        return false;
    if (job_recall(job, find->store, &found, result, &error) != STATUS_OK)
        cli_die("%s: %s; --fresh searches again", find->db, error.text);
    if (found)
        search_count(&job->space, find->how.threads, &result->search);
    if (found)
        result->search.seconds = seconds_since(&started);
    return found;
}

static void recall(struct tune_find *find, struct job_result *result)
{
    struct error error;
    if (!find->db)
        return;
    cli_require(store_open(find->db, STORE_WRITE, &find->store, &error), &error);
    find->from_store = recall_search(find, &find->task->job, result);
    if (!find->fresh && find->run->question.wanted)
        host_run_recall(find->task, find->store, find->run, find->db);
}

/* ------------------------------------------------------------------ into the store */

static enum status put(struct tune_find *find, struct job_record *record)
{
    enum status status = job_record_put(find->store, record, find->fresh, &find->error);
    if (status == STATUS_OK)
        status = store_commit(find->store, &find->error);
    job_record_clear(record);
    return status;
}

static enum status keep_search(struct tune_find *find, const struct job *job,
                               const struct job_result *result)
{
    struct job_record record;
    bool worth;
    enum status status = job_record(job, result, *stop_asked() != 0, &worth, &record, &find->error);
    return status == STATUS_OK && worth ? put(find, &record) : status;
}

/* What a signal has ended is half an answer, and to be measured again. */
static enum status keep_measured(struct tune_find *find)
{
    struct job_record record;
    const struct host_run *run = find->run;
    bool worth;
    if (*stop_asked())
        return STATUS_OK;
    enum status status = host_job_record(&find->task->job, &run->question, &run->answer, &worth,
                                         &record, &find->error);
    return status == STATUS_OK && worth ? put(find, &record) : status;
}

/* ------------------------------------------------------------------ both */

static void search_and_keep(struct tune_find *find, const struct job *job,
                            struct job_result *result)
{
    run_search(find, job, result);
    if (find->store && find->kept == STATUS_OK)
        find->kept = keep_search(find, job, result);
}

void tune_find_search(struct tune_find *find, struct job_result *result)
{
    stop_open();
    recall(find, result);
    if (!find->from_store)
        search_and_keep(find, &find->task->job, result);
}

void tune_find_other(struct tune_find *find, const struct job *job, struct job_result *result)
{
    find->how = (struct job_run){.threads = find->how.threads}; /* trace and map are of the first */
    if (!recall_search(find, job, result))
        search_and_keep(find, job, result);
}

void tune_find_measure(struct tune_find *find, const struct job_result *result)
{
    struct host_run *run = find->run;
    if (!run->question.wanted || run->from_store || result->search.count == 0)
        return;
    host_run_measure(find->task, &result->search, result->search.seconds, run);
    if (find->store && find->kept == STATUS_OK)
        find->kept = keep_measured(find);
}

void tune_find_close(struct tune_find *find)
{
    store_close(find->store);
    cli_require(find->kept, &find->error);
}
