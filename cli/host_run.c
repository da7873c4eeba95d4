#include "cli/host_run.h"

#include "cli/progress.h"
#include "cli/stop.h"
#include "cli/tune_answer.h"
#include "validate/calibrate_host.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

/* Tilings so much slower than the best are not worth all rounds. */
#define KEEP_WITHIN 1.25

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void host_run_check(const struct task *task, struct host_run *run)
{
    const struct hardware *hw = task->job.hw;
    char why[256];
    if (!hw->host && run->wanted != HOST_RUN_DEFAULT)
        cli_die("%s: expected --hw host: only this machine can be measured",
                run->is_sample ? "validate" : "--validate");
    if (!hw->host || run->wanted == 0) {
        run->wanted = 0;
        return;
    }
    if (!host_is_this_machine(hw->host, why, sizeof why))
        cli_die("%s: %s; expected %s", hw->name, why,
                run->is_sample ? "a description by `autotune calibrate --hw host`"
                               : "--validate 0, which asks the model alone");
    if (!host_runner_find(task->job.problem.op))
        cli_die("%s: nothing runs its tilings on this machine, expected --validate 0",
                task->job.problem.op->name);
}

/* ---- progress ---- */

struct watch {
    struct progress progress;
    double started_s;
};

static void draw(void *context, const char *phase, int64_t done, int64_t total)
{
    struct watch *watch = context;
    progress_count(&watch->progress, phase, done, total, now_s() - watch->started_s);
}

/* ---- rows ---- */

static void fill_measured(const struct task *task, const struct host_candidate *item,
                          struct tune_measured *row)
{
    struct error error;
    struct found found;
    const struct measured *m = &item->measured;
    cli_require(search_play(&task->job.space, &item->tiling, &found, &error), &error);
    tune_fill_row(task, &found, &row->row);
    row->rank = item->rank;
    row->measured_ns = m->timing.median_ns;
    row->spread = m->timing.spread;
    row->max_error = m->allowed_error > 0 ? m->max_error : NAN; /* or it was never checked */
    row->allowed_error = m->allowed_error;
    row->sampled = m->sampled;
    row->fell_out = m->timing.fell_out;
    row->samples = m->timing.samples;
    row->dropped = m->timing.dropped;
    row->quarantined = m->quarantine[0] ? m->quarantine : NULL;
}

static void fill_validation(struct host_run *run)
{
    const struct host_tune *tune = &run->tune;
    const struct model_quality *q = &tune->quality;
    run->validation = (struct tune_validation){
        .asked = run->asked,
        .measured = tune->measured,
        .left_out = tune->left_out,
        .mean_error = q->mean_error,
        .worst_error = q->worst_error,
        .bias = q->bias,
        .spearman = q->spearman,
        .regret_first = q->regret_first,
        .regret_top3 = q->regret_top,
        .noise = tune->noise.spread,
        .dropped = tune->noise.dropped,
        .noisy =
            tune->noise.spread > TIMING_NOISY_SPREAD || tune->noise.dropped > TIMING_NOISY_DROPPED,
        .seconds = run->seconds,
        .is_sample = run->is_sample,
        .seed = run->seed,
    };
}

/* ---- measuring ---- */

static int64_t *choose(const struct task *task, const struct search_result *result, double budget_s,
                       struct host_run *run)
{
    struct error error;
    bool given = run->wanted != HOST_RUN_DEFAULT;
    int count = given ? (int)run->wanted : HOST_TUNE_COUNT;
    int64_t *positions = calloc((size_t)count + MODEL_QUALITY_TOP, sizeof *positions);
    if (!positions)
        cli_die("out of memory");
    if (run->is_sample)
        cli_require(host_tune_sample(result, count, run->seed, positions, &run->asked, &error),
                    &error);
    else
        run->asked =
            host_tune_pick(&task->job.space, result, count, given ? 0 : budget_s, positions);
    return positions;
}

static void measure_positions(const struct task *task, const struct search_result *result,
                              const int64_t positions[], double budget_s, struct host_run *run)
{
    struct error error;
    struct watch watch = {.started_s = now_s()};
    struct measure_options options = {
        .timing = {.threads = task->job.cores,
                   .budget_s = budget_s,
                   .keep_within = run->is_sample ? 0 : KEEP_WITHIN},
        .seed = run->seed,
        .stop = stop_over(),
        .progress = draw,
        .context = &watch,
    };
    progress_open(&watch.progress, task->common.quiet);
    enum status status =
        host_tune_measure(&task->job.space, result, positions, run->asked, &host_meter,
                          host_runner_find(task->job.problem.op), &options, &run->tune, &error);
    progress_close(&watch.progress);
    cli_require(status, &error);
    run->seconds = now_s() - watch.started_s;
}

void host_run_measure(const struct task *task, const struct search_result *result, double spent_s,
                      struct host_run *run)
{
    double budget_s = HOST_TUNE_BUDGET_S;
    if (run->wanted == 0 || result->score_count == 0)
        return;
    if (run->time_limit_s > 0) {
        double left_s = fmax(run->time_limit_s - spent_s, 1e-6);
        budget_s = run->is_sample ? left_s : fmin(budget_s, left_s);
        stop_limit(fmin(left_s, 1e6));
    }
    int64_t *positions = choose(task, result, budget_s, run);
    measure_positions(task, result, positions, budget_s, run);
    free(positions);
    run->rows = calloc((size_t)run->tune.count + 1, sizeof *run->rows);
    if (!run->rows)
        cli_die("out of memory");
    for (int i = 0; i < run->tune.count; i++)
        fill_measured(task, &run->tune.items[i], &run->rows[i]);
    fill_validation(run);
}

void host_run_close(struct host_run *run)
{
    free(run->rows);
    host_tune_clear(&run->tune);
}
