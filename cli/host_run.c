/* The job does the measuring; here are the limit of time, the progress line and the rows, each of
 * which is a measured time beside what the simulator says of the same tiling. */
#include "cli/host_run.h"

#include "cli/progress.h"
#include "cli/signals.h"
#include "cli/threads.h"
#include "search/clock.h"

#include <math.h>

void host_run_check(const struct task *task, const struct host_run *run)
{
    struct error error;
    if (!run->question.wanted)
        return;
    cli_require(host_job_check(&task->job, &run->question, &error), &error);
    cli_require_threads(task->job.cores);
}

/* ---- progress ---- */

static void tell(void *context, const char *phase, int64_t done, int64_t total)
{
    (void)context;
    progress_count(phase, done, total);
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
}

void host_run_measure(const struct task *task, const struct search_result *result, double spent_s,
                      struct host_run *run)
{
    struct error error;
    const struct host_control control = {
        .spent_s = spent_s,
        .stop = stop_over(),
        .progress = tell,
    };
    double limit_s = run->question.time_limit_s;
    busy_warn(task->job.cores, task->common.quiet);
    if (limit_s > 0)
        stop_limit(fmin(fmax(limit_s - spent_s, 1e-6), 1e6));
    enum status status =
        host_job_measure(&task->job, &run->question, result, &control, &run->answer, &error);
    progress_phase("answering");
    cli_require(status, &error);
}

void host_run_close(struct host_run *run)
{
    host_answer_clear(&run->answer);
}
