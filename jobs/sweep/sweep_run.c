/* Workers search, the caller's thread keeps: it alone writes to the store, in short transactions,
 * so that others can write to it as well. A job is opened, searched or measured, and turned into
 * the row of a store within the worker that does it, so that nothing of the search outlives it. Its
 * time is that of all threads together. */
#include "jobs/sweep/sweep_rows.h"

#include "core/array.h"
#include "jobs/tune/host_job.h"
#include "search/clock.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ------------------------------------------------------------------ one job */

/* What comes of one job. */
struct outcome {
    struct outcome *next;
    int64_t job; /* of the sweep: given */
    enum status status;
    struct error error;
    double search_s; /* searching or measuring, of all its threads */
    bool worth;      /* keeping: record is filled */
    struct job_record record;
};

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

/* What was cut short by a signal is not worth keeping: it is done again. */
static void do_job(const struct sweep *sweep, int threads, const volatile sig_atomic_t *stop,
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

/* ------------------------------------------------------------------ workers */

/* What a commit takes may be so much of the time; between two of them at most a second. */
#define COMMIT_SHARE  0.02
#define COMMIT_MOST_S 1.0
#define TICK_S        0.05

struct run {
    const struct sweep *sweep;
    struct store *store;
    const struct sweep_options *options;
    struct sweep_counts *counts;
    struct timespec started;
    int64_t *todo; /* jobs that the store has no answer to */
    int64_t todo_count, cost_total, cost_done;
    int64_t nothing;                /* cut off by their time limit before any tiling was found */
    double last_commit_s, commit_s; /* when, and how long it took */
    volatile sig_atomic_t stop;     /* for workers: asked for, or the store fails */
    int threads_each;
    /* shared with workers */
    pthread_mutex_t lock;
    pthread_cond_t wake;
    int64_t next, end; /* of todo */
    int working;
    struct outcome *finished; /* newest first */
};

static bool is_measured(const struct run *run, int64_t job)
{
    return run->sweep->jobs[job].key.kind == STORE_MEASURED;
}

static bool is_stopped(const struct run *run)
{
    return run->stop || (run->options->stop && *run->options->stop);
}

/* The next job, or -1. */
static int64_t take_job(struct run *run)
{
    pthread_mutex_lock(&run->lock);
    int64_t job = run->next < run->end && !is_stopped(run) ? run->todo[run->next++] : -1;
    pthread_mutex_unlock(&run->lock);
    return job;
}

static void hand_over(struct run *run, struct outcome *outcome)
{
    pthread_mutex_lock(&run->lock);
    outcome->next = run->finished;
    run->finished = outcome;
    pthread_mutex_unlock(&run->lock);
}

static void *work_jobs(void *context)
{
    struct run *run = context;
    for (int64_t job = take_job(run); job >= 0; job = take_job(run)) {
        struct outcome *outcome = calloc(1, sizeof *outcome);
        if (!outcome) /* it stays undone, and is counted so */
            break;
        outcome->job = job;
        do_job(run->sweep, run->threads_each, &run->stop, outcome);
        hand_over(run, outcome);
    }
    pthread_mutex_lock(&run->lock);
    run->working--;
    pthread_cond_signal(&run->wake);
    pthread_mutex_unlock(&run->lock);
    return NULL;
}

/* ------------------------------------------------------------------ keeping */

static enum status note_fault(struct run *run, int64_t job, const char *text, struct error *error)
{
    struct sweep_counts *counts = run->counts;
    if (!array_room(&counts->faults, counts->fault_count, sizeof *counts->faults))
        return error_memory(error);
    struct sweep_fault *fault = &counts->faults[counts->fault_count++];
    fault->line = run->sweep->jobs[job].line;
    snprintf(fault->text, sizeof fault->text, "%s", text);
    return STATUS_OK;
}

static void count_row(struct sweep_counts *counts, const struct store_row *row)
{
    counts->infeasible += row->optimal && row->time_ns <= 0;
    counts->cut_off += row->key.kind == STORE_SIMULATED && !row->optimal;
}

static enum status keep_outcome(struct run *run, const struct outcome *outcome, struct error *error)
{
    int64_t cost = run->sweep->jobs[outcome->job].cost;
    run->cost_done += cost;
    run->counts->search_s += outcome->search_s;
    if (outcome->status != STATUS_OK)
        return note_fault(run, outcome->job, outcome->error.text, error);
    if (!outcome->worth) {
        run->nothing += !run->stop;
        return STATUS_OK;
    }
    ++*(is_measured(run, outcome->job) ? &run->counts->measured : &run->counts->searched);
    count_row(run->counts, &outcome->record.row);
    return job_record_put(run->store, &outcome->record, run->options->fresh, error);
}

static struct outcome *take_finished(struct run *run)
{
    pthread_mutex_lock(&run->lock);
    struct outcome *finished = run->finished;
    run->finished = NULL;
    pthread_mutex_unlock(&run->lock);
    return finished;
}

static void tell_progress(const struct run *run)
{
    const struct sweep_counts *counts = run->counts;
    if (!run->options->progress)
        return;
    struct sweep_progress progress = {
        .done = counts->searched + counts->measured + counts->from_store,
        .from_store = counts->from_store,
        .total = run->sweep->job_count,
        .faults = counts->fault_count + run->sweep->fault_count,
        .cost_done = run->cost_done,
        .cost_total = run->cost_total,
    };
    run->options->progress(run->options->context, &progress);
}

/* Writes what has been handed over, and makes it durable. */
static enum status commit_finished(struct run *run, struct error *error)
{
    enum status status = STATUS_OK;
    double before_s = seconds_since(&run->started);
    struct sweep_counts was = *run->counts;
    for (struct outcome *o = take_finished(run), *next; o; o = next) {
        next = o->next;
        if (status == STATUS_OK)
            status = keep_outcome(run, o, error);
        job_record_clear(&o->record);
        free(o);
    }
    if (status == STATUS_OK)
        status = store_commit(run->store, error);
    if (status != STATUS_OK) { /* nothing of it is on disk */
        run->counts->searched = was.searched;
        run->counts->measured = was.measured;
        run->counts->infeasible = was.infeasible;
        run->counts->cut_off = was.cut_off;
    }
    run->last_commit_s = seconds_since(&run->started);
    run->commit_s = run->last_commit_s - before_s;
    return status;
}

static bool commit_is_due(const struct run *run)
{
    double wait_s = fmin(COMMIT_MOST_S, run->commit_s / COMMIT_SHARE);
    return seconds_since(&run->started) - run->last_commit_s >= wait_s - TICK_S / 2;
}

/* Until the workers have ended: keeps, tells, and passes on the wish to stop. */
static enum status attend_workers(struct run *run, struct error *error)
{
    enum status status = STATUS_OK;
    bool over = false;
    while (!over) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += (long)(TICK_S * 1e9);
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_mutex_lock(&run->lock);
        if (run->working)
            pthread_cond_timedwait(&run->wake, &run->lock, &until);
        over = run->working == 0;
        pthread_mutex_unlock(&run->lock);
        double woke_s = seconds_since(&run->started);
        if (status == STATUS_OK && (over || commit_is_due(run)))
            status = commit_finished(run, error);
        if (status != STATUS_OK || is_stopped(run))
            run->stop = 1;
        tell_progress(run);
        run->counts->keep_s += seconds_since(&run->started) - woke_s;
    }
    return status;
}

/* Does todo[first … end) with so many workers. */
static enum status run_phase(struct run *run, int64_t end, int workers, int threads_each,
                             struct error *error)
{
    pthread_t *threads = calloc((size_t)workers, sizeof *threads);
    int started = 0;
    if (!threads)
        return error_memory(error);
    run->end = end;
    run->threads_each = threads_each;
    run->working = workers;
    while (started < workers && pthread_create(&threads[started], NULL, work_jobs, run) == 0)
        started++;
    pthread_mutex_lock(&run->lock);
    run->working -= workers - started;
    pthread_mutex_unlock(&run->lock);
    enum status status = started ? attend_workers(run, error)
                                 : error_set(error, STATUS_NO_MEMORY, "no thread can be started");
    for (int i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    free(threads);
    return status;
}

/* ------------------------------------------------------------------ the whole */

/* Of what the store has nothing is searched again. */
static enum status look_up_jobs(struct run *run, struct error *error)
{
    enum status status = STATUS_OK;
    for (int64_t j = 0; j < run->sweep->job_count && status == STATUS_OK; j++) {
        const struct sweep_job *job = &run->sweep->jobs[j];
        struct store_row row;
        bool found = false;
        if (!run->options->fresh)
            status = store_get(run->store, &job->key, &found, &row, error);
        if (found && job_is_answered(&row, job->time_limit_s)) {
            run->counts->from_store++;
            count_row(run->counts, &row);
        } else {
            run->todo[run->todo_count++] = j;
            run->cost_total += job->cost;
        }
    }
    return status;
}

/* How many of the jobs to do are not to be measured: the first ones. */
static int64_t count_searches(const struct run *run)
{
    int64_t count = 0;
    while (count < run->todo_count && !is_measured(run, run->todo[count]))
        count++;
    return count;
}

static enum status run_all(struct run *run, struct error *error)
{
    int threads = run->options->threads;
    int64_t searches = count_searches(run);
    int64_t last = searches < threads - 1 ? searches : threads - 1;
    int64_t many = searches - last;
    int workers = many < threads ? (int)many : threads;
    if (many)
        TRY(run_phase(run, many, workers, 1, error));
    if ((last || run->todo_count > searches) && !is_stopped(run))
        TRY(run_phase(run, run->todo_count, 1, threads, error));
    return STATUS_OK;
}

enum status sweep_missing(const struct sweep *sweep, struct store *store, int64_t **missing,
                          int64_t *count, struct error *error)
{
    struct sweep_counts counts = {0};
    const struct sweep_options options = {.threads = 1};
    struct run run = {.sweep = sweep, .store = store, .options = &options, .counts = &counts};
    run.todo = calloc((size_t)sweep->job_count + 1, sizeof *run.todo);
    enum status status = run.todo ? look_up_jobs(&run, error) : error_memory(error);
    if (status != STATUS_OK) {
        free(run.todo);
        return status;
    }
    *missing = run.todo;
    *count = run.todo_count;
    return STATUS_OK;
}

static int by_line(const void *left, const void *right)
{
    const struct sweep_fault *a = left, *b = right;
    return a->line != b->line ? (a->line < b->line ? -1 : 1) : strcmp(a->text, b->text);
}

static void finish_run(struct run *run)
{
    struct sweep_counts *counts = run->counts;
    for (struct outcome *o = run->finished, *next; o; o = next) {
        next = o->next;
        job_record_clear(&o->record);
        free(o);
    }
    if (counts->fault_count)
        qsort(counts->faults, (size_t)counts->fault_count, sizeof *counts->faults, by_line);
    counts->cut_off += run->nothing;
    counts->unfinished = run->sweep->job_count - counts->searched - counts->measured -
                         counts->from_store - counts->fault_count - run->nothing;
    counts->seconds = seconds_since(&run->started);
    pthread_mutex_destroy(&run->lock);
    pthread_cond_destroy(&run->wake);
    free(run->todo);
}

enum status sweep_run(const struct sweep *sweep, struct store *store,
                      const struct sweep_options *options, struct sweep_counts *counts,
                      struct error *error)
{
    struct run run = {.sweep = sweep, .store = store, .options = options, .counts = counts};
    memset(counts, 0, sizeof *counts);
    clock_gettime(CLOCK_MONOTONIC, &run.started);
    run.todo = calloc((size_t)sweep->job_count + 1, sizeof *run.todo);
    if (!run.todo)
        return error_memory(error);
    pthread_mutex_init(&run.lock, NULL);
    pthread_cond_init(&run.wake, NULL);
    enum status status = look_up_jobs(&run, error);
    tell_progress(&run);
    counts->keep_s = seconds_since(&run.started);
    if (status == STATUS_OK)
        status = run_all(&run, error);
    finish_run(&run);
    return status;
}

void sweep_counts_clear(struct sweep_counts *counts)
{
    free(counts->faults);
    memset(counts, 0, sizeof *counts);
}
