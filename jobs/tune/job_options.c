/* A job's options: which there are, what was set, and those that can be read alone. */
#include "core/number.h"
#include "hardware/load.h"
#include "jobs/tune/host_tune.h"
#include "jobs/tune/job_parts.h"
#include "kernels/registry.h"
#include "search/strategy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum status option_reader(struct job *job, const char *name, const char *text,
                                  struct error *error);
static option_reader read_strategy, read_top, read_threads, read_time_limit, read_validate,
    read_flag, read_calls, read_baseline;

/* What job_open reads once the operator is known has no reader of its own here. */
static const struct option_row {
    const char *name;
    option_reader *read;
} option_rows[] = {
    {"op", NULL},
    {"kernel", NULL},
    {"shape", NULL},
    {"dtype", NULL},
    {"space", NULL},
    {"hw", NULL},
    {"set-hw", NULL},
    {"cache", NULL},
    {"cores", NULL},
    {"strategy", read_strategy},
    {"top", read_top},
    {"threads", read_threads},
    {"time-limit", read_time_limit},
    {"validate", read_validate},
    {"robust", read_flag},
    {"compare", read_flag},
    {"count", read_calls},
    {"baseline", read_baseline},
};
enum { OPTION_ROWS = sizeof option_rows / sizeof *option_rows };

static const struct option_row *find_row(const char *name)
{
    for (int i = 0; i < OPTION_ROWS; i++)
        if (strcmp(option_rows[i].name, name) == 0)
            return &option_rows[i];
    return NULL;
}

bool job_is_operators(const char *name)
{
    return !find_row(name);
}

bool job_has_option(const char *name)
{
    struct operator_option option;
    if (find_row(name))
        return true;
    for (int i = 0; operator_option_at(i, &option); i++)
        if (strcmp(option.name, name) == 0)
            return true;
    return false;
}

struct suggestion job_option_like(const char *name)
{
    struct suggestion like = suggest_for(name, -1);
    for (int i = 0; i < OPTION_ROWS; i++)
        suggest_try(&like, option_rows[i].name);
    struct operator_option option;
    for (int i = 0; operator_option_at(i, &option); i++)
        suggest_try(&like, option.name);
    return like;
}

static enum status add_override(struct job *job, const char *key, const char *text,
                                struct error *error)
{
    char *copy;
    if (job->override_count == JOB_MAX_OVERRIDES)
        return error_set(error, STATUS_INVALID, "--set-hw: at most %d of them", JOB_MAX_OVERRIDES);
    if (asprintf(&copy, "%s%s", key, text) < 0)
        return error_memory(error);
    job->overrides[job->override_count++] = copy;
    return STATUS_OK;
}

enum status job_set(struct job *job, const char *name, const char *text, struct error *error)
{
    int i = 0;
    if (!job_has_option(name) && !job_text(job, "kernel"))
        return error_set(error, STATUS_INVALID,
                         "%.64s: expected an option of the main job, see `autotune --help`%s", name,
                         job_option_like(name).text);
    if (strcmp(name, "set-hw") == 0)
        return add_override(job, "", text, error);
    if (strcmp(name, "cache") == 0)
        return add_override(job, HARDWARE_CACHE, text, error);
    while (i < job->option_count && strcmp(job->options[i].name, name) != 0)
        i++;
    bool known = i < job->option_count;
    if (!known && i == JOB_MAX_OPTIONS)
        return error_set(error, STATUS_TOO_LARGE, "more than %d options", JOB_MAX_OPTIONS);
    char *copy = strdup(text), *key = known ? job->options[i].name : strdup(name);
    if (!copy || !key) {
        free(copy);
        if (!known)
            free(key);
        return error_memory(error);
    }
    if (known)
        free(job->options[i].text);
    else
        job->option_count++;
    job->options[i] = (struct job_option){key, copy};
    return STATUS_OK;
}

const char *job_text(const struct job *job, const char *name)
{
    for (int i = 0; i < job->option_count; i++)
        if (strcmp(job->options[i].name, name) == 0)
            return job->options[i].text;
    return NULL;
}

/* ------------------------------------------------------------------ options that stand alone */

void job_list_word(char list[JOB_LIST_SIZE], const char *separator, const char *word)
{
    size_t used = strlen(list);
    snprintf(list + used, JOB_LIST_SIZE - used, "%s%s", used ? separator : "", word);
}

static enum status read_strategy(struct job *job, const char *name, const char *text,
                                 struct error *error)
{
    char list[JOB_LIST_SIZE] = "";
    const struct search_strategy *strategy = search_strategy_find(text);
    if (strategy) {
        job->strategy = strategy->name;
        return STATUS_OK;
    }
    struct suggestion like = suggest_for(text, -1);
    for (const struct search_strategy *const *s = search_strategies; *s; s++) {
        job_list_word(list, " or ", (*s)->name);
        suggest_try(&like, (*s)->name);
    }
    return error_set(error, STATUS_INVALID, "--%s %.64s: expected %s%s", name, text, list,
                     like.text);
}

static enum status read_count(const char *name, const char *text, int64_t largest, int64_t *count,
                              struct error *error)
{
    char option[32];
    snprintf(option, sizeof option, "--%s", name);
    return number_count(option, text, 1, largest, count, error);
}

enum status job_read_int(const char *name, const char *text, int largest, int *number,
                         struct error *error)
{
    int64_t count = *number;
    TRY(read_count(name, text, largest, &count, error));
    *number = (int)count;
    return STATUS_OK;
}

static enum status read_top(struct job *job, const char *name, const char *text,
                            struct error *error)
{
    return job_read_int(name, text, JOB_MAX_TOP, &job->top, error);
}

static enum status read_threads(struct job *job, const char *name, const char *text,
                                struct error *error)
{
    return job_read_int(name, text, JOB_MAX_THREADS, &job->threads, error);
}

static enum status read_time_limit(struct job *job, const char *name, const char *text,
                                   struct error *error)
{
    (void)name;
    return number_seconds("--time-limit", text, &job->time_limit_s, error);
}

static enum status read_validate(struct job *job, const char *name, const char *text,
                                 struct error *error)
{
    (void)name;
    return number_count("--validate", text, 0, HOST_TUNE_MOST, &job->validate, error);
}

static enum status read_calls(struct job *job, const char *name, const char *text,
                              struct error *error)
{
    return read_count(name, text, JOB_MAX_CALLS, &job->calls, error);
}

static enum status read_baseline(struct job *job, const char *name, const char *text,
                                 struct error *error)
{
    double us = number_real(text);
    if (!(us > 0 && us <= JOB_MAX_BASELINE_US))
        return error_set(error, STATUS_INVALID,
                         "--%s %.64s: expected microseconds, more than 0 and at most %.0e", name,
                         text, JOB_MAX_BASELINE_US);
    job->baseline_ns = us * 1e3;
    return STATUS_OK;
}

/* Options without a value: a command line gives "yes". */
static enum status read_flag(struct job *job, const char *name, const char *text,
                             struct error *error)
{
    bool yes = strcmp(text, "yes") == 0;
    if (!yes && strcmp(text, "no") != 0)
        return error_set(error, STATUS_INVALID, "--%s %.64s: expected yes or no", name, text);
    *(strcmp(name, "robust") == 0 ? &job->robust : &job->compare) = yes;
    return STATUS_OK;
}

enum status job_read_alone(struct job *job, struct error *error)
{
    job->strategy = search_strategies[0]->name;
    job->top = 1;
    job->validate = JOB_VALIDATE_DEFAULT;
    job->calls = 1;
    for (int i = 0; i < job->option_count; i++) {
        const struct option_row *row = find_row(job->options[i].name);
        if (row && row->read)
            TRY(row->read(job, row->name, job->options[i].text, error));
    }
    return STATUS_OK;
}
