/* Chooses tilings of a job, has them timed, makes an answer of it and of what a store has.
 *
 * The model's scores of all tilings come from a search that the caller has just done, or are
 * computed anew, for no store keeps them. Picks are made in four passes over the model's order: its
 * first few; those that differ from all picks by a name (kernel, loop order); those that differ by
 * a size; the next in order. So a model that is wrong about one choice cannot hide the others. As
 * many are kept as the time pays for. To judge the model itself, tilings are drawn with equal
 * chances instead, without repetition (Bentley and Floyd 1987).
 *
 * A store keeps the members that an answer shows ("measured" and "validation"), the number of each
 * tiling, and the machine. Its key is the job's, with another kind and with how many tilings were
 * asked for. */
#include "jobs/tune/host_job.h"

#include "core/host.h"
#include "core/stop.h"
#include "core/utf8.h"
#include "results/tune.h"
#include "search/clock.h"
#include "validate/calibrate/host_calibration.h"
#include "validate/random.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A pick costs its check and at least three rounds, each with a run to warm up. */
#define LEAST_RUNS 7.0

/* Numbers at least so much apart are another tile size rather than a neighbour … */
#define APART 1.5

/* … and what the model finds so much slower than its first is not worth its turn for being
 * different. */
#define HOPELESS 1.5

enum { LOOKED_AT = 100000 };

const struct host_meter host_meter = {measure, timing_noise};

/* ------------------------------------------------------------------ which to measure */

struct picker {
    const struct space *space;
    const struct search_result *result;
    int count, most;
    int64_t *positions;
};

/* The same names on every axis and, unless names alone count, sizes that are not APART? */
static bool is_close(const struct space *space, const struct tiling *a, const struct tiling *b,
                     bool by_names_only)
{
    for (int i = 0; i < space->axis_count; i++) {
        double x = (double)a->value[i], y = (double)b->value[i];
        if (space->axes[i].value_names ? a->value[i] != b->value[i]
                                       : !by_names_only && fmax(x, y) >= APART * fmin(x, y))
            return false;
    }
    return true;
}

typedef bool picks(const struct picker *picker, int64_t position);

static bool has_close(const struct picker *picker, int64_t position, bool by_names_only)
{
    struct tiling tiling, other;
    space_tiling(picker->space, picker->result->scores[position].index, &tiling);
    for (int i = 0; i < picker->count; i++) {
        space_tiling(picker->space, picker->result->scores[picker->positions[i]].index, &other);
        if (is_close(picker->space, &tiling, &other, by_names_only))
            return true;
    }
    return false;
}

static bool is_among_first(const struct picker *picker, int64_t position)
{
    (void)picker;
    return position < MODEL_QUALITY_TOP;
}

static bool is_named_otherwise(const struct picker *picker, int64_t position)
{
    return !has_close(picker, position, true);
}

static bool is_apart(const struct picker *picker, int64_t position)
{
    return !has_close(picker, position, false);
}

static bool is_any(const struct picker *picker, int64_t position)
{
    (void)picker;
    (void)position;
    return true;
}

static bool is_picked(const struct picker *picker, int64_t position)
{
    for (int i = 0; i < picker->count; i++)
        if (picker->positions[i] == position)
            return true;
    return false;
}

static void pick_wanted(struct picker *picker, picks *wanted, double within)
{
    const struct scored *scores = picker->result->scores;
    int64_t end = picker->result->score_count;
    end = end < LOOKED_AT ? end : LOOKED_AT;
    for (int64_t p = 0; p < end && picker->count < picker->most; p++) {
        if (stop_due(picker->space->stop))
            return;
        if ((double)scores[p].time_fs > within * (double)scores[0].time_fs)
            return;
        if (!is_picked(picker, p) && wanted(picker, p))
            picker->positions[picker->count++] = p;
    }
}

/* As many of the picks, which are in order of worth, as the time suffices for. */
static int fit_budget(const struct picker *picker, double budget_s)
{
    double left_ns = budget_s * 1e9;
    int fit = 0;
    for (; fit < picker->count; fit++) {
        left_ns -=
            LEAST_RUNS * (double)picker->result->scores[picker->positions[fit]].time_fs / FS_PER_NS;
        if (left_ns < 0 && fit >= MODEL_QUALITY_TOP)
            break;
    }
    return fit;
}

static int ascending(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return a < b ? -1 : a > b;
}

int host_tune_pick(const struct space *space, const struct search_result *result, int count,
                   double budget_s, int64_t positions[])
{
    struct picker picker = {
        .space = space, .result = result, .most = count, .positions = positions};
    pick_wanted(&picker, is_among_first, INFINITY);
    pick_wanted(&picker, is_named_otherwise, HOPELESS);
    pick_wanted(&picker, is_apart, HOPELESS);
    pick_wanted(&picker, is_any, INFINITY);
    if (budget_s > 0)
        picker.count = fit_budget(&picker, budget_s);
    qsort(positions, (size_t)picker.count, sizeof *positions, ascending);
    return picker.count;
}

/* Floyd's sample: of the numbers from `first` to `end` - 1, `count` different ones, every set of
 * them equally likely. */
static void draw_sample(gsl_rng *random, int64_t first, int64_t end, int count, int64_t positions[])
{
    for (int i = 0; i < count; i++) {
        int64_t last = end - count + i;
        int64_t drawn = first + random_below(random, last - first + 1);
        for (int seen = 0; seen < i; seen++)
            if (positions[seen] == drawn)
                drawn = last; /* nobody before had it to draw */
        positions[i] = drawn;
    }
}

enum status host_tune_sample(const struct search_result *result, int count, uint64_t seed,
                             int64_t positions[], int *picked, struct error *error)
{
    gsl_rng *random = random_open(seed, error);
    int64_t end = result->score_count;
    int first = end < MODEL_QUALITY_TOP ? (int)end : MODEL_QUALITY_TOP;
    if (!random)
        return STATUS_NO_MEMORY;
    count = end - first < count ? (int)(end - first) : count;
    for (int i = 0; i < first; i++)
        positions[i] = i;
    draw_sample(random, first, end, count, positions + first);
    gsl_rng_free(random);
    *picked = first + count;
    qsort(positions, (size_t)*picked, sizeof *positions, ascending);
    return STATUS_OK;
}

/* ------------------------------------------------------------------ running them */

/* Measured before not, then by time; equal times as the model has them. */
static int by_measured(const void *left, const void *right)
{
    const struct host_candidate *a = left, *b = right;
    double x = a->measured.timing.median_ns, y = b->measured.timing.median_ns;
    if ((x > 0) != (y > 0))
        return x > 0 ? -1 : 1;
    if (x < y || x > y)
        return x < y ? -1 : 1;
    return a->rank < b->rank ? -1 : a->rank > b->rank;
}

static int by_rank(const void *left, const void *right)
{
    const struct host_candidate *a = left, *b = right;
    return a->rank < b->rank ? -1 : a->rank > b->rank;
}

/* Those whose turn never came are no part of the answer. */
static void leave_out(struct host_tune *tune)
{
    int kept = 0;
    for (int i = 0; i < tune->count; i++)
        if (!tune->items[i].measured.left_out)
            tune->items[kept++] = tune->items[i];
    tune->left_out = tune->count - kept;
    tune->count = kept;
}

/* From the items' ranks and times the rest: how many were measured, the model's quality, the order
 * of the items. */
static enum status judge_measured(struct host_tune *tune, struct error *error)
{
    size_t count = (size_t)tune->count + 1;
    double *times = calloc(2 * count, sizeof *times);
    if (!times)
        return error_memory(error);
    tune->measured = 0;
    qsort(tune->items, (size_t)tune->count, sizeof *tune->items, by_rank);
    for (int i = 0; i < tune->count; i++) { /* in the model's order: it decides between equals */
        times[i] = found_ns(&tune->items[i].model);
        times[count + (size_t)i] = tune->items[i].measured.timing.median_ns;
        tune->measured += tune->items[i].measured.timing.median_ns > 0;
    }
    enum status status = model_quality(times, times + count, tune->count, &tune->quality, error);
    qsort(tune->items, (size_t)tune->count, sizeof *tune->items, by_measured);
    free(times);
    return status;
}

/* What measuring takes and gives, in arrays of their own. */
struct measuring {
    struct tiling *tilings;
    struct measured *results;
    double *predicted_ns;
};

static enum status measure_items(const struct space *space, const struct host_meter *meter,
                                 const struct host_runner *runner,
                                 const struct measure_options *options, struct host_tune *tune,
                                 const struct measuring *all, struct error *error)
{
    for (int i = 0; i < tune->count; i++) {
        all->tilings[i] = tune->items[i].model.tiling;
        all->predicted_ns[i] = found_ns(&tune->items[i].model);
    }
    TRY(meter->measure(runner, space, all->tilings, all->predicted_ns, tune->count, options,
                       all->results, error));
    for (int i = 0; i < tune->count; i++)
        tune->items[i].measured = all->results[i];
    return STATUS_OK;
}

static enum status measure_all(const struct space *space, const struct host_meter *meter,
                               const struct host_runner *runner,
                               const struct measure_options *options, struct host_tune *tune,
                               struct error *error)
{
    size_t count = (size_t)tune->count + 1;
    struct measuring all = {calloc(count, sizeof *all.tilings), calloc(count, sizeof *all.results),
                            calloc(count, sizeof *all.predicted_ns)};
    enum status status = all.tilings && all.results && all.predicted_ns
                             ? measure_items(space, meter, runner, options, tune, &all, error)
                             : error_memory(error);
    free(all.tilings);
    free(all.results);
    free(all.predicted_ns);
    return status;
}

/* What the model says of the tiling with this index. */
static enum status model_item(const struct space *space, int64_t index, struct host_candidate *item,
                              struct error *error)
{
    struct tiling tiling = {0};
    space_tiling(space, index, &tiling);
    TRY(search_simulate(space, &tiling, &item->model, error));
    item->model.index = index;
    return STATUS_OK;
}

static enum status take_picks(const struct space *space, const struct search_result *result,
                              const int64_t positions[], int count, struct host_tune *tune,
                              struct error *error)
{
    *tune = (struct host_tune){.items = calloc((size_t)count + 1, sizeof *tune->items)};
    if (!tune->items)
        return error_memory(error);
    for (; tune->count < count; tune->count++) {
        struct host_candidate *item = &tune->items[tune->count];
        item->rank = positions[tune->count] + 1;
        TRY(model_item(space, result->scores[item->rank - 1].index, item, error));
    }
    return STATUS_OK;
}

enum status host_tune_measure(const struct space *space, const struct search_result *result,
                              const int64_t positions[], int count, const struct host_meter *meter,
                              const struct host_runner *runner,
                              const struct measure_options *options, struct host_tune *tune,
                              struct error *error)
{
    enum status status = take_picks(space, result, positions, count, tune, error);
    if (status == STATUS_OK)
        status = meter->noise(&tune->noise, error);
    struct load load = {.processors = 0};
    struct measure_options how = *options;
    how.load = &load;
    if (status == STATUS_OK)
        status = measure_all(space, meter, runner, &how, tune, error);
    if (status == STATUS_OK) {
        tune->noisy =
            timing_is_noisy(&tune->noise) || load_disturbs(&load, options->timing.threads);
        leave_out(tune);
        status = judge_measured(tune, error);
    }
    if (status != STATUS_OK)
        host_tune_clear(tune);
    return status;
}

void host_tune_clear(struct host_tune *tune)
{
    free(tune->items);
    memset(tune, 0, sizeof *tune);
}

/* ------------------------------------------------------------------ a job */

/* Tilings so much slower than the best are not worth all rounds. */
#define KEEP_WITHIN 1.25

#define LEAST_S 1e-6

struct host_question host_job_question(const struct job *job)
{
    return (struct host_question){
        .wanted = job->hw->host ? job->validate : 0,
        .seed = 1,
        .time_limit_s = job->time_limit_s,
    };
}

void host_job_key(const struct job *job, const struct host_question *question,
                  struct job_key_texts *texts, struct store_key *key)
{
    job_key(job, texts, key);
    key->kind = STORE_MEASURED;
    if (question->is_sample)
        snprintf(texts->query, sizeof texts->query, "sample=%lld seed=%llu",
                 (long long)question->wanted, (unsigned long long)question->seed);
    else if (question->wanted == JOB_VALIDATE_DEFAULT)
        snprintf(texts->query, sizeof texts->query, "validate=default");
    else
        snprintf(texts->query, sizeof texts->query, "validate=%lld", (long long)question->wanted);
}

enum status host_job_check(const struct job *job, const struct host_question *question,
                           struct error *error)
{
    char why[256];
    if (!host_is_this_machine(job->hw->host, why, sizeof why))
        return error_set(error, STATUS_INVALID, "%.64s: %s; expected %s", job->hw->name, why,
                         question->is_sample ? "a description by `autotune calibrate --hw host`"
                                             : "--validate 0, which asks the model alone");
    if (!job->problem.op->runner)
        return error_set(error, STATUS_INVALID,
                         "%s: nothing runs its tilings on this machine, expected --validate 0",
                         job->problem.op->name);
    return STATUS_OK;
}

/* ------------------------------------------------------------------ measuring a job */

/* A sample takes all of the time that is left, picks no more than without a limit. */
static double budget_s(const struct host_question *question, double spent_s)
{
    if (question->time_limit_s <= 0)
        return HOST_TUNE_BUDGET_S;
    double left_s = fmax(question->time_limit_s - spent_s, LEAST_S);
    return question->is_sample ? left_s : fmin(HOST_TUNE_BUDGET_S, left_s);
}

static enum status choose_positions(const struct space *space, const struct host_question *question,
                                    const struct search_result *search, double within_s,
                                    int64_t positions[], int *picked, struct error *error)
{
    bool given = question->wanted != JOB_VALIDATE_DEFAULT;
    int count = given ? (int)question->wanted : HOST_TUNE_COUNT;
    if (question->is_sample)
        return host_tune_sample(search, count, question->seed, positions, picked, error);
    *picked = host_tune_pick(space, search, count, given ? 0 : within_s, positions);
    return STATUS_OK;
}

static enum status measure_scored(const struct job *job, const struct host_question *question,
                                  const struct search_result *search,
                                  const struct host_control *control, struct host_answer *answer,
                                  struct error *error)
{
    double within_s = budget_s(question, control->spent_s);
    struct limited limited;
    const struct space *space =
        search_until(&job->space, (struct stop){.told = control->stop}, &limited);
    int64_t most = question->wanted > 0 ? question->wanted : HOST_TUNE_COUNT;
    int64_t *positions = calloc((size_t)most + MODEL_QUALITY_TOP, sizeof *positions);
    const struct measure_options options = {
        .timing = {.threads = job->cores,
                   .budget_s = within_s,
                   .keep_within = question->is_sample ? 0 : KEEP_WITHIN},
        .seed = question->seed,
        .stop = control->stop,
        .progress = control->progress,
        .context = control->context,
    };
    if (!positions)
        return error_memory(error);
    enum status status =
        choose_positions(space, question, search, within_s, positions, &answer->asked, error);
    if (status == STATUS_OK && answer->asked)
        status = host_tune_measure(&job->space, search, positions, answer->asked,
                                   control->meter ? control->meter : &host_meter,
                                   job->problem.op->runner, &options, &answer->tune, error);
    free(positions);
    return status;
}

/* The model's order of all tilings, which no store keeps. */
static enum status score_space(const struct job *job, const struct host_control *control,
                               struct search_result *result, struct error *error)
{
    const struct search_options how = {
        .threads = 1,
        .top = 1,
        .keep_scores = true,
        .best_only = true,
        .stop = control->stop,
    };
    return search(&job->space, &how, result, error);
}

enum status host_job_measure(const struct job *job, const struct host_question *question,
                             const struct search_result *search, const struct host_control *control,
                             struct host_answer *answer, struct error *error)
{
    struct search_result scored = {0};
    enum status status = STATUS_OK;
    struct timespec started;
    clock_gettime(CLOCK_MONOTONIC, &started);
    *answer = (struct host_answer){0};
    if (!search || !search->score_count) {
        status = score_space(job, control, &scored, error);
        search = &scored;
    }
    if (status == STATUS_OK)
        status = measure_scored(job, question, search, control, answer, error);
    search_result_clear(&scored);
    answer->seconds = seconds_since(&started);
    return status;
}

void host_answer_clear(struct host_answer *answer)
{
    host_tune_clear(&answer->tune);
    *answer = (struct host_answer){0};
}

/* ------------------------------------------------------------------ writing */

static json_t *list_json(const struct space *space, const struct host_tune *tune)
{
    json_t *list = measured_json(space, tune);
    for (int i = 0; i < tune->count; i++)
        json_object_set_new(json_array_get(list, (size_t)i), "index",
                            json_integer(tune->items[i].model.index));
    return list;
}

static enum status encode_measured(const struct job *job, const struct host_question *question,
                                   const struct host_answer *answer, char **json,
                                   struct error *error)
{
    const struct host *host = job->hw->host;
    json_t *object = json_pack("{s:{s:o, s:s, s:i}, s:o, s:o}", "machine", "cpu",
                               json_text(host->cpu), "isa", host_isa_name(host->isa), "threads",
                               job->cores, "validation", validation_json(question, answer),
                               "measured", list_json(&job->space, &answer->tune));
    *json = object ? json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(object);
    return *json ? STATUS_OK : error_memory(error);
}

enum status host_job_record(const struct job *job, const struct host_question *question,
                            const struct host_answer *answer, bool *worth,
                            struct job_record *record, struct error *error)
{
    const struct host_tune *tune = &answer->tune;
    bool none_legal = answer->asked == 0;
    *worth = none_legal || tune->measured > 0;
    if (!*worth)
        return STATUS_OK;
    job_record_open(job, record);
    host_job_key(job, question, &record->texts, &record->row.key);
    record->row.key.hardware = record->fingerprint;
    if (tune->measured)
        job_record_best(job, &tune->items[0].model.tiling, tune->items[0].measured.timing.median_ns,
                        record);
    record->row.optimal = none_legal;
    record->row.limit_s = none_legal ? 0 : question->time_limit_s;
    TRY(encode_measured(job, question, answer, &record->answer, error));
    record->row.answer = record->answer;
    return STATUS_OK;
}

/* ------------------------------------------------------------------ reading */

/* The tiling is the one that the number names, and legal. */
static bool get_tiling(const struct space *space, const json_t *object, struct host_candidate *item)
{
    struct tiling tiling;
    int64_t index;
    if (!job_get_integer(object, "index", 0, &index) || index >= space->candidates)
        return false;
    space_tiling(space, index, &tiling);
    json_t *named = tiling_json(space->axes, space->axis_count, &tiling);
    bool same = named && json_equal(named, json_object_get(object, "tiling"));
    json_decref(named);
    return same && space->kind->legal(space, &tiling) &&
           model_item(space, index, item, NULL) == STATUS_OK;
}

/* A line that a terminal can show; "" where it is null. */
static bool get_reason(const json_t *object, char text[], size_t size)
{
    const json_t *member = json_object_get(object, "quarantined");
    const char *reason = json_string_value(member);
    text[0] = 0;
    if (json_is_null(member))
        return true;
    if (!reason || !*reason || strlen(reason) >= size)
        return false;
    if (!utf8_is_shown(reason))
        return false;
    strcpy(text, reason);
    return true;
}

static bool get_measured(const json_t *object, struct measured *m)
{
    struct timing *timing = &m->timing;
    return job_get_known(object, "time_ns", &timing->median_ns) &&
           job_get_known(object, "spread", &timing->spread) &&
           job_get_known(object, "max_error", &m->max_error) &&
           job_get_real(object, "allowed_error", &m->allowed_error) &&
           job_get_bool(object, "error_sampled", &m->sampled) &&
           job_get_bool(object, "fell_out", &timing->fell_out) &&
           job_get_count(object, "samples", INT32_MAX, &timing->samples) &&
           job_get_count(object, "dropped", INT32_MAX, &timing->dropped) &&
           get_reason(object, m->quarantine, sizeof m->quarantine) &&
           (timing->median_ns > 0) == !m->quarantine[0];
}

static bool get_item(const struct space *space, const json_t *object, struct host_candidate *item)
{
    double predicted_ns; /* the model says it again */
    return job_get_integer(object, "rank", 1, &item->rank) && item->rank <= space->candidates &&
           job_get_real(object, "predicted_ns", &predicted_ns) && predicted_ns > 0 &&
           get_tiling(space, object, item) && get_measured(object, &item->measured);
}

static bool get_validation(const json_t *object, struct host_answer *answer)
{
    struct host_tune *tune = &answer->tune;
    return job_get_count(object, "asked", HOST_TUNE_MOST + MODEL_QUALITY_TOP, &answer->asked) &&
           job_get_count(object, "left_out", answer->asked, &tune->left_out) &&
           job_get_real(object, "noise", &tune->noise.spread) &&
           job_get_real(object, "noise_dropped", &tune->noise.dropped) &&
           job_get_bool(object, "noisy", &tune->noisy) &&
           job_get_real(object, "seconds", &answer->seconds);
}

static bool get_items(const struct space *space, const json_t *list, struct host_tune *tune)
{
    for (; tune->count < (int)json_array_size(list); tune->count++)
        if (!get_item(space, json_array_get(list, (size_t)tune->count), &tune->items[tune->count]))
            return false;
    return true;
}

static enum status read_answer(const struct space *space, const json_t *object,
                               struct host_answer *answer, struct error *error)
{
    const json_t *list = json_object_get(object, "measured");
    bool whole = get_validation(json_object_get(object, "validation"), answer) &&
                 json_is_array(list) &&
                 json_array_size(list) == (size_t)(answer->asked - answer->tune.left_out);
    if (whole) {
        answer->tune.items = calloc(json_array_size(list) + 1, sizeof *answer->tune.items);
        if (!answer->tune.items)
            return error_memory(error);
    }
    if (!whole || !get_items(space, list, &answer->tune))
        return error_set(error, STATUS_INVALID, "what it has is no answer to this measurement");
    return judge_measured(&answer->tune, error);
}

enum status host_job_decode(const struct job *job, const char *json, struct host_answer *answer,
                            struct error *error)
{
    json_error_t where;
    json_t *object = json_loads(json, 0, &where);
    *answer = (struct host_answer){0};
    if (!object)
        return error_set(error, STATUS_INVALID, "its measurement is damaged: %s", where.text);
    enum status status = read_answer(&job->space, object, answer, error);
    json_decref(object);
    if (status != STATUS_OK)
        host_answer_clear(answer);
    return status;
}

enum status host_job_recall(const struct job *job, const struct host_question *question,
                            struct store *store, bool *found, struct host_answer *answer,
                            struct error *error)
{
    struct job_key_texts texts;
    struct store_key key;
    struct store_row row;
    *answer = (struct host_answer){0};
    host_job_key(job, question, &texts, &key);
    enum status status = store_get(store, &key, found, &row, error);
    if (status != STATUS_OK || !*found)
        return status;
    *found = job_is_answered(&row, question->time_limit_s);
    return *found ? host_job_decode(job, row.answer, answer, error) : STATUS_OK;
}
