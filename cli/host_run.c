#include "cli/host_run.h"

#include "cli/busy.h"
#include "cli/progress.h"
#include "cli/signals.h"
#include "cli/threads.h"
#include "cli/tune_answer.h"
#include "search/clock.h"

#include <math.h>
#include <stdlib.h>

void host_run_check(const struct task *task, const struct host_run *run)
{
    struct error error;
    if (!run->question.wanted)
        return;
    cli_require(host_job_check(&task->job, &run->question, &error), &error);
    cli_require_threads(task->job.cores);
}

/* ---- progress ---- */

struct watch {
    struct progress progress;
    struct timespec started;
};

static void draw(void *context, const char *phase, int64_t done, int64_t total)
{
    struct watch *watch = context;
    progress_count(&watch->progress, phase, done, total, seconds_since(&watch->started));
}

/* ---- rows ---- */

static struct tune_measured measured_row(const struct task *task, const struct host_candidate *item)
{
    struct error error;
    struct found found;
    struct tune_measured row = host_measured(item);
    cli_require(search_play(&task->job.space, &item->tiling, &found, &error), &error);
    tune_fill_row(task, &found, &row.row);
    return row;
}

static void fill_rows(const struct task *task, struct host_run *run)
{
    const struct host_tune *tune = &run->answer.tune;
    run->rows = calloc((size_t)tune->count + 1, sizeof *run->rows);
    if (!run->rows)
        cli_die("out of memory");
    for (int i = 0; i < tune->count; i++)
        run->rows[i] = measured_row(task, &tune->items[i]);
    run->validation = host_validation(&run->question, &run->answer);
    run->validation.from_store = run->from_store;
}

/* ---- measuring ---- */

void host_run_recall(const struct task *task, struct store *store, struct host_run *run,
                     const char *db)
{
    struct error error;
    enum status status =
        host_job_recall(&task->job, &run->question, store, &run->from_store, &run->answer, &error);
    if (status != STATUS_OK)
        cli_die("%s: %s; --fresh measures again", db, error.text);
    if (run->from_store)
        fill_rows(task, run);
}

void host_run_measure(const struct task *task, const struct search_result *result, double spent_s,
                      struct host_run *run)
{
    struct error error;
    struct watch watch;
    const struct host_control control = {
        .spent_s = spent_s,
        .stop = stop_over(),
        .progress = draw,
        .context = &watch,
    };
    double limit_s = run->question.time_limit_s;
    busy_warn(task->job.cores, task->common.quiet);
    clock_gettime(CLOCK_MONOTONIC, &watch.started);
    if (limit_s > 0)
        stop_limit(fmin(fmax(limit_s - spent_s, 1e-6), 1e6));
    progress_open(&watch.progress, task->common.quiet);
    enum status status =
        host_job_measure(&task->job, &run->question, result, &control, &run->answer, &error);
    progress_close(&watch.progress);
    cli_require(status, &error);
    fill_rows(task, run);
}

void host_run_close(struct host_run *run)
{
    free(run->rows);
    host_answer_clear(&run->answer);
}
