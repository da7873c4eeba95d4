/* Chooses tilings of a job, has them timed, and makes an answer of it.
 *
 * The model's scores of all tilings come from a search that the caller has just done, or are
 * computed anew, for no store keeps them. Picks are made in four passes over the model's order: its
 * first few; those that differ from all picks by a name (kernel, loop order); those that differ by
 * a size; the next in order. So a model that is wrong about one choice cannot hide the others. As
 * many are kept as the time pays for. To judge the model itself, tilings are drawn with equal
 * chances instead, without repetition (Bentley and Floyd 1987). The key is the job's, with another
 * kind and with how many tilings were asked for. */
#include "jobs/tune/host_job.h"

#include "core/stop.h"
#include "search/clock.h"
#include "validate/calibrate/host_calibration.h"
#include "validate/random.h"

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

enum status host_tune_judge(struct host_tune *tune, struct error *error)
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

enum status host_tune_model(const struct space *space, int64_t index, struct host_candidate *item,
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
        TRY(host_tune_model(space, result->scores[item->rank - 1].index, item, error));
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
        status = host_tune_judge(tune, error);
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
