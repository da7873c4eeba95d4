/* One job: its options, opening, its names, running, closing. Opening goes from what needs nothing
 * to what needs all: options that can be read alone, operator, space by name, sizes, chip, element
 * type, space, what the answer adds, and the corner of --robust. The first mistake is the error,
 * which lists the choices and the likeliest one meant. Closing undoes what was opened, in whatever
 * state. */
#include "jobs/tune/job.h"

#include "core/number.h"
#include "core/suggest.h"
#include "core/version.h"
#include "hardware/load.h"
#include "jobs/correct/correct.h"
#include "jobs/tune/host_job.h"
#include "kernels/operator_bank.h"
#include "kernels/registry.h"
#include "results/format.h"
#include "search/strategy.h"
#include "validate/calibrate/topology.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void job_init(struct job *job)
{
    memset(job, 0, sizeof *job);
}

/* ------------------------------------------------------------------ options that stand alone */

enum { LIST_SIZE = 256 };

/* Appends a word to what is expected, cut where the list is full. */
static void list_word(char list[LIST_SIZE], const char *separator, const char *word)
{
    size_t used = strlen(list);
    snprintf(list + used, LIST_SIZE - used, "%s%s", used ? separator : "", word);
}

static enum status read_strategy(struct job *job, const char *name, const char *text,
                                 struct error *error)
{
    char list[LIST_SIZE] = "";
    const struct search_strategy *strategy = search_strategy_find(text);
    if (strategy) {
        job->strategy = strategy->name;
        return STATUS_OK;
    }
    struct suggestion like = suggest_for(text, -1);
    for (const struct search_strategy *const *s = search_strategies; *s; s++) {
        list_word(list, " or ", (*s)->name);
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

/* A whole number from 1 to `largest`. */
static enum status read_int(const char *name, const char *text, int largest, int *number,
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
    return read_int(name, text, JOB_MAX_TOP, &job->top, error);
}

static enum status read_threads(struct job *job, const char *name, const char *text,
                                struct error *error)
{
    return read_int(name, text, JOB_MAX_THREADS, &job->threads, error);
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

/* ------------------------------------------------------------------ which there are */

typedef enum status option_reader(struct job *job, const char *name, const char *text,
                                  struct error *error);

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

static const struct option_row *find_option_row(const char *name)
{
    for (int i = 0; i < OPTION_ROWS; i++)
        if (strcmp(option_rows[i].name, name) == 0)
            return &option_rows[i];
    return NULL;
}

/* A size, choice or request, if it is any option. */
static bool is_operators_option(const char *name)
{
    return !find_option_row(name);
}

bool job_has_option(const char *name)
{
    struct operator_option option;
    if (find_option_row(name))
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

/* All options that need to know neither operator nor chip, and defaults of those not given. */
static enum status read_alone(struct job *job, struct error *error)
{
    job->strategy = search_strategies[0]->name;
    job->top = 1;
    job->validate = JOB_VALIDATE_DEFAULT;
    job->calls = 1;
    for (int i = 0; i < job->option_count; i++) {
        const struct option_row *row = find_option_row(job->options[i].name);
        if (row && row->read)
            TRY(row->read(job, row->name, job->options[i].text, error));
    }
    return STATUS_OK;
}

/* ------------------------------------------------------------------ the problem */

static struct hardware_overrides overrides_of(const struct job *job)
{
    return (struct hardware_overrides){(const char *const *)job->overrides,
                                       (size_t)job->override_count};
}

static const char *hardware_name(const struct job *job)
{
    const char *name = job_text(job, "hw");
    return name ? name : CHIP_DEFAULT;
}

/* Texts may differ with the chip. What is wrong about it set_chip says. */
static bool cores_apart(const struct job *job)
{
    const struct chip *chip;
    struct error ignored;
    struct hardware_overrides changes = overrides_of(job);
    if (chips_get(job->chips, hardware_name(job), &changes, &chip, &ignored) != STATUS_OK)
        return false;
    bool apart = hardware_cores_apart(&chip->hw);
    chips_put(job->chips, chip);
    return apart;
}

/* A kernel's sizes have options beside those that every job has. */
static enum status find_kernel(const struct job *job, const char *name, const struct operator** op,
                               struct error *error)
{
    TRY(kernels_get(job->kernels, name, cores_apart(job), op, error));
    for (int i = (*op)->shape_sizes; i < (*op)->size_count; i++)
        if (!is_operators_option((*op)->size_names[i]))
            return error_set(error, STATUS_INVALID,
                             "--kernel %.64s: its size %s would be an option that jobs have, "
                             "expected another name",
                             name, (*op)->size_names[i]);
    return STATUS_OK;
}

static enum status find_operator(const struct job *job, const struct operator** op,
                                 struct error *error)
{
    char list[LIST_SIZE] = "";
    const char *name = job_text(job, "op"), *kernel = job_text(job, "kernel");
    if (kernel && name)
        return error_set(error, STATUS_INVALID,
                         "--kernel %.64s: expected it or --op %.64s, not both", kernel, name);
    if (kernel)
        return find_kernel(job, kernel, op, error);
    *op = name ? operator_find(name) : NULL;
    if (*op)
        return STATUS_OK;
    struct suggestion like = suggest_for(name ? name : "", -1);
    for (int i = 0; operators[i]; i++) {
        list_word(list, ", ", operators[i]->name);
        suggest_try(&like, operators[i]->name);
    }
    if (!name)
        return error_set(error, STATUS_INVALID, "--op is missing, expected one of %s; or --kernel",
                         list);
    return error_set(error, STATUS_INVALID, "--op %.64s: expected one of %s%s", name, list,
                     like.text);
}

/* Without a name that of the chip, once it is known: *space is NULL. */
static enum status find_space(const struct job *job, const struct operator* op,
                              const struct operator_space **space, struct error *error)
{
    char list[LIST_SIZE] = "";
    const char *name = job_text(job, "space");
    *space = name ? operator_space_find(op, name) : NULL;
    if (*space || !name)
        return STATUS_OK;
    struct suggestion like = suggest_for(name, -1);
    for (int i = 0; op->spaces[i]; i++) {
        list_word(list, ", ", op->spaces[i]->name);
        suggest_try(&like, op->spaces[i]->name);
    }
    return error_set(error, STATUS_INVALID, "--space %.64s: expected one of %s%s", name, list,
                     like.text);
}

static enum status set_sizes(struct job *job, struct error *error)
{
    for (int i = 0; i < job->option_count; i++)
        if (is_operators_option(job->options[i].name))
            TRY(problem_set(&job->problem, job->options[i].name, job->options[i].text, error));
    return problem_settle(&job->problem, error);
}

static enum status set_problem(struct job *job, const struct operator* op, struct error *error)
{
    const char *shape = job_text(job, "shape");
    if (!shape && op->shape_sizes)
        return error_set(error, STATUS_INVALID, "--shape is missing, expected %s", op->shape_form);
    return problem_parse(op, shape ? shape : "", &job->problem, error);
}

/* ------------------------------------------------------------------ the chip */

/* What is to be measured runs on the processors that this process may use, and on no more. */
static enum status limit_cores(struct job *job, int64_t asked, struct error *error)
{
    int allowed = topology_processors(NULL);
    if (asked > allowed)
        return error_set(error, STATUS_INVALID,
                         "--cores %lld: expected at most %d, the processors that this process may "
                         "use",
                         (long long)asked, allowed);
    job->cores = job->cores < allowed ? job->cores : allowed;
    return STATUS_OK;
}

static enum status set_chip(struct job *job, struct error *error)
{
    int64_t cores = 0;
    const char *asked = job_text(job, "cores");
    struct hardware_overrides changes = overrides_of(job);
    enum status status =
        asked ? number_count("--cores", asked, 1, INT32_MAX, &cores, error) : STATUS_OK;
    if (status == STATUS_OK)
        status = chips_get(job->chips, hardware_name(job), &changes, &job->chip, error);
    if (status != STATUS_OK)
        return status;
    job->hw = &job->chip->hw;
    const struct operator* op = job->problem.op;
    int most = op && op->most_cores ? op->most_cores(op, job->hw) : job->hw->cores;
    status = chip_cores(job->hw, most, cores, &job->cores, error);
    return status == STATUS_OK && job->hw->host && job->validate ? limit_cores(job, cores, error)
                                                                 : status;
}

/* Kernels of a processor are in f32. */
static enum status set_type(struct job *job, struct error *error)
{
    const char *name = job_text(job, "dtype");
    const struct operator* op = job->problem.op;
    if (op->has_own_type && name)
        return error_set(error, STATUS_INVALID,
                         "--dtype %.64s: %s has types of its own, expected its text to say dtype",
                         name, op->name);
    if (op->has_own_type)
        return STATUS_OK;
    int type = job->hw->host ? DTYPE_F32 : DTYPE_F16;
    if (name)
        type = dtype_find(name, (int)strlen(name));
    if (type < 0) {
        char expected[DTYPE_LIST_SIZE];
        dtype_expected(name, -1, expected);
        return error_set(error, STATUS_INVALID, "--dtype %.64s: expected %s", name, expected);
    }
    if (job->hw->host && type != DTYPE_F32)
        return error_set(error, STATUS_INVALID,
                         "--dtype %.64s: expected f32, as kernels of a processor are", name);
    problem_set_type(&job->problem, (enum dtype)type);
    return STATUS_OK;
}

static enum status set_space(struct job *job, const struct operator_space *space,
                             struct error *error)
{
    if (!space)
        space = operator_default_space(job->problem.op, job->hw);
    if (space && space->bank && job->form && !job_text(job, "space"))
        space = space->bank->spaces[job->form->rows];
    if (!space)
        return error_set(error, STATUS_INVALID, "%s has no kernels for a processor, and %s is one",
                         job->problem.op->name, job->hw->name);
    return space_open(&job->problem, space, job->hw, job->cores, &job->space, error);
}

/* ------------------------------------------------------------------ what the answer adds */

/* A request about programs of chips, or NULL. */
static const char *answer_request(const struct problem *problem)
{
    for (int i = 0; i < problem->op->request_count; i++)
        if (problem->request[i] && problem->op->requests[i].of_answers)
            return problem->op->requests[i].name;
    return NULL;
}

/* An option that says nothing about the operator at hand is a mistake. */
static enum status check_details(const struct job *job, struct error *error)
{
    const char *request = answer_request(&job->problem);
    if (job->hw->host && (job->compare || request))
        return error_set(error, STATUS_INVALID,
                         "--%s: it is about programs of chips, and %s is a processor",
                         job->compare ? "compare" : request, job->hw->name);
    if (!job->hw->host && job_text(job, "validate"))
        return error_set(error, STATUS_INVALID,
                         "--validate: expected --hw host: only this machine can be measured");
    if (job->compare && !job->space.kind->compares)
        return error_set(error, STATUS_INVALID, "--compare: %s has none", job->problem.op->name);
    return STATUS_OK;
}

/* What is asked of leaders; and the chip on which every uncertain number costs most. */
static enum status set_choice(struct job *job, struct error *error)
{
    struct hardware_overrides changes = overrides_of(job);
    struct error why;
    if (job->corrected && job->robust)
        return error_set(error, STATUS_INVALID, "--corrected: expected it or --robust, not both");
    if (job_chooses(job) && job->top > 1)
        return error_set(error, STATUS_INVALID, "--%s: one tiling is the answer, expected no --top",
                         job->robust ? "robust" : "corrected");
    if (!job->robust)
        return STATUS_OK;
    if (job->hw->host)
        return error_set(error, STATUS_INVALID,
                         "--robust: %s was measured, not fitted: expected a chip", job->hw->name);
    if (job->space.kind->costs)
        return error_set(error, STATUS_INVALID,
                         "--robust: a tiling of %s is several programs, each with a worst case of "
                         "its own",
                         job->problem.op->name);
    if (corner_make(chips_folders(job->chips), hardware_name(job), &changes, job->hw, &job->corner,
                    &why) != STATUS_OK)
        return error_set(error, why.status, "--robust: %s", why.text);
    return STATUS_OK;
}

/* ------------------------------------------------------------------ open and close */

static void close_opened(struct job *job)
{
    space_close(&job->space);
    hardware_clear(&job->corner.hw);
    if (job->chips)
        chips_put(job->chips, job->chip);
    if (job->owns_chips)
        chips_close(job->chips);
    if (job->owns_kernels) {
        kernels_close(job->kernels);
        job->kernels = NULL;
    }
    /* the options stay */
    job->chips = NULL;
    job->owns_chips = job->owns_kernels = false;
    job->chip = NULL;
    job->hw = NULL;
    job->compare = false;
    job->robust = job->corrected = false;
    job->correcting = NULL;
    job->threads = 0;
    job->time_limit_s = 0;
}

static enum status open_all(struct job *job, struct error *error)
{
    const struct operator* op = NULL;
    const struct operator_space *space = NULL;
    TRY(read_alone(job, error));
    TRY(find_operator(job, &op, error));
    if (op)
        TRY(find_space(job, op, &space, error));
    if (op)
        TRY(set_problem(job, op, error));
    TRY(set_chip(job, error));
    TRY(set_type(job, error));
    TRY(set_sizes(job, error));
    TRY(set_space(job, space, error));
    TRY(check_details(job, error));
    return set_choice(job, error);
}

enum status job_open(struct job *job, struct chips *chips, struct error *error)
{
    enum status status = STATUS_OK;
    job->owns_chips = !chips;
    job->chips = chips;
    if (!chips)
        status = chips_open(NULL, &job->chips, error);
    job->owns_kernels = !job->kernels;
    if (!job->kernels && status == STATUS_OK)
        status = kernels_open(NULL, &job->kernels, error);
    if (status == STATUS_OK)
        status = open_all(job, error);
    if (status != STATUS_OK)
        close_opened(job);
    return status;
}

void job_close(struct job *job)
{
    close_opened(job);
    for (int i = 0; i < job->option_count; i++) {
        free(job->options[i].name);
        free(job->options[i].text);
    }
    for (int i = 0; i < job->override_count; i++)
        free(job->overrides[i]);
    job_init(job);
}

/* ------------------------------------------------------------------ running */

enum status job_run(const struct job *job, const struct job_run *run, struct job_result *result,
                    struct error *error)
{
    struct search_options how = {
        .strategy = job->strategy,
        .threads = run->threads,
        .top = job->top,
        .time_limit_s = job->time_limit_s,
        .keep_scores = run->keep_scores,
        .keep_reached = run->keep_reached,
        .uncounted = run->uncounted,
        .trace = run->trace,
        .tolerance = fit_share(&job->hw->fit),
        .stop = run->stop,
        .progress = run->progress,
        .context = run->context,
    };
    memset(result, 0, sizeof *result);
    const struct choice choice = {job->robust ? &job->corner : NULL, job->correcting};
    return job_chooses(job) ? robust_search(&job->problem, &job->space, job->cores, &choice, &how,
                                            &result->search, &result->robust, error)
                            : search(&job->space, &how, &result->search, error);
}

void job_result_clear(struct job_result *result)
{
    search_result_clear(&result->search);
    memset(result, 0, sizeof *result);
}

bool job_is_complete(const struct job *job, const struct job_result *result, bool stopped)
{
    const struct search_result *search = &result->search;
    bool late = job->time_limit_s > 0 && search->seconds >= job->time_limit_s;
    if (search->count == 0)
        return !stopped && !late;
    return search->optimal && (!job_chooses(job) || result->robust.complete);
}

/* ------------------------------------------------------------------ names */

void job_hardware_name(const struct hardware *hw, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "%s", hw->name);
    if (hw->cache.is_cold)
        used += (size_t)snprintf(text + used, size - used, ", cold cache");
    for (size_t i = 0; i < hw->fact_count && used < size; i++)
        if (fact_is_override(&hw->facts[i]))
            used += (size_t)snprintf(text + used, size - used, ", %s=%s", hw->facts[i].key,
                                     hw->facts[i].value);
}

void job_key(const struct job *job, struct job_key_texts *texts, struct store_key *key)
{
    problem_shape(&job->problem, texts->shape, sizeof texts->shape);
    problem_options(&job->problem, texts->options, sizeof texts->options);
    int used =
        snprintf(texts->query, sizeof texts->query, "strategy=%s top=%d", job->strategy, job->top);
    if (job_chooses(job)) {
        char by[FINGERPRINT_SIZE] = "corrected";
        /* neither which numbers are uncertain nor what was learned is in the chip's fingerprint */
        if (job->robust)
            hardware_fingerprint(&job->corner.hw, by);
        used +=
            snprintf(texts->query + used, sizeof texts->query - (size_t)used, " chosen=%s%s%s", by,
                     job->correcting ? ":" : "", job->correcting ? job->correcting->content : "");
    }
    if (job->problem.op->fingerprint)
        snprintf(texts->query + used, sizeof texts->query - (size_t)used, " kernel=%s",
                 job->problem.op->fingerprint);
    *key = (struct store_key){
        .kind = STORE_SIMULATED,
        .op = job->problem.op->name,
        .shape = texts->shape,
        .options = texts->options,
        .dtype = dtype_name(job->problem.type),
        .space = job->space.kind->name,
        .query = texts->query,
        .hardware = job->chip->fingerprint,
        .cores = job->cores,
        .model_version = MODEL_VERSION,
    };
}
