/* From a row's options to the jobs that it stands for. */
#include "jobs/sweep/sweep_rows.h"

#include "core/array.h"
#include "jobs/tune/host_job.h"

#include <string.h>

/* The kernel first: it says which others there are. */
static enum status set_options(const struct sweep_option *options, int count, struct job *job,
                               struct error *error)
{
    for (int i = 0; i < 2 * count; i++) {
        const struct sweep_option *option = &options[i % count];
        if ((strcmp(option->name, "kernel") == 0) == (i < count))
            TRY(job_set(job, option->name, option->text, error));
    }
    return STATUS_OK;
}

static enum status open_row(const struct sweep *sweep, const struct sweep_option *options,
                            int count, struct job *job, struct error *error)
{
    job_init(job);
    job->kernels = sweep->kernels;
    job->validate = 0; /* the model alone, unless the row says otherwise */
    enum status status = set_options(options, count, job, error);
    if (status == STATUS_OK)
        status = job_open(job, sweep->loaded, error);
    if (status != STATUS_OK)
        job_close(job);
    return status;
}

enum status sweep_open_job(const struct sweep *sweep, int64_t index, struct job *job,
                           struct error *error)
{
    const struct sweep_job *row = &sweep->jobs[index];
    return open_row(sweep, row->options, row->option_count, job, error);
}

/* The chip's number; added where it is new. -1 without memory. */
static int find_chip(struct sweep *sweep, const struct job *job)
{
    for (int64_t i = sweep->chip_count - 1; i >= 0; i--)
        if (sweep->chips[i].cores == job->cores &&
            strcmp(sweep->chips[i].fingerprint, job->chip->fingerprint) == 0)
            return (int)i;
    if (!array_room(&sweep->chips, sweep->chip_count, sizeof *sweep->chips))
        return -1;
    struct sweep_chip *chip = &sweep->chips[sweep->chip_count++];
    strcpy(chip->fingerprint, job->chip->fingerprint);
    job_hardware_name(job->hw, chip->name, sizeof chip->name);
    chip->cores = job->cores;
    chip->buffer_bytes = chip_buffer_bytes(job->hw);
    return (int)sweep->chip_count - 1;
}

/* A copy of the text, or that of the last job where it is the same. */
static const char *keep_text(struct sweep *sweep, int slot, const char *text)
{
    const char **last = &sweep->memory->last_text[slot];
    if (!*last || strcmp(*last, text) != 0)
        *last = sweep_copy(sweep, text);
    return *last;
}

static enum status check_room(const struct sweep *sweep, int line, struct error *error)
{
    return sweep->job_count < sweep->most_jobs
               ? STATUS_OK
               : error_set(error, STATUS_TOO_LARGE, "%s:%d: expected at most %lld jobs",
                           sweep->file, line, (long long)sweep->most_jobs);
}

/* Adds a row's job; texts of its key are copied. */
static enum status add_job(struct sweep *sweep, const struct job *job, struct sweep_job row,
                           struct error *error)
{
    bool measured = row.key.kind == STORE_MEASURED;
    TRY(check_room(sweep, row.line, error));
    if (!array_room(&sweep->jobs, sweep->job_count, sizeof *sweep->jobs))
        return error_memory(error);
    row.position = sweep->job_count;
    row.chip = find_chip(sweep, job);
    row.time_limit_s = job->time_limit_s;
    row.calls = job->calls;
    row.compared = job->baseline_ns > 0 ? job->calls : 0;
    row.baseline_ns = job->baseline_ns * (double)job->calls;
    sweep->has_calls |= job->calls > 1 || row.compared;
    row.key.options = keep_text(sweep, SWEEP_OPTIONS, row.key.options);
    row.key.shape = keep_text(sweep, SWEEP_SHAPE, row.key.shape);
    row.key.query =
        keep_text(sweep, measured ? SWEEP_MEASURED_QUERY : SWEEP_SIMULATED_QUERY, row.key.query);
    if (row.chip < 0 || !row.key.options || !row.key.query || !row.key.shape)
        return error_memory(error);
    sweep->jobs[sweep->job_count++] = row;
    return STATUS_OK;
}

/* What is asked of the model, and then of this machine. */
static enum status add_jobs(struct sweep *sweep, const struct job *job, struct sweep_job row,
                            struct error *error)
{
    struct job_key_texts texts;
    const struct host_question question = host_job_question(job);
    job_key(job, &texts, &row.key);
    row.cost = job_cost(job);
    enum status status = add_job(sweep, job, row, error);
    if (status != STATUS_OK || question.wanted <= 0)
        return status;
    host_job_key(job, &question, &texts, &row.key);
    row.cost = job_measuring_cost(question.wanted);
    return add_job(sweep, job, row, error);
}

enum status sweep_add(struct sweep *sweep, int line, const struct sweep_option *options, int count,
                      struct error *error)
{
    struct job job;
    struct error why;
    enum status status = check_room(sweep, line, error);
    if (status != STATUS_OK)
        return status;
    status = open_row(sweep, options, count, &job, &why);
    if (status == STATUS_NO_MEMORY)
        return error_memory(error);
    if (status != STATUS_OK)
        return sweep_add_fault(sweep, line, why.text, error);
    status = add_jobs(sweep, &job,
                      (struct sweep_job){.line = line, .option_count = count, .options = options},
                      error);
    job_close(&job);
    return status;
}
