/* First the store, then the work, then back into the store, for what is simulated and what is
 * measured alike. An answer that cannot be kept is still given: the error waits for the end. A job
 * does the measuring; here are its limit of time and its progress line. Of --count calls the two
 * searches about weights are the main one's anew, with its store and its time
 * limit each. */
#include "cli/tune_find.h"

#include "cli/progress.h"
#include "cli/signals.h"
#include "cli/threads.h"
#include "formats/json.h"
#include "search/clock.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------------ measuring */

void host_run_check(const struct task *task, const struct host_run *run)
{
    struct error error;
    if (!run->question.wanted)
        return;
    cli_require(host_job_check(&task->job, &run->question, &error), &error);
    (void)cli_threads(task->job.cores);
}

static void tell_measured(void *context, const char *phase, int64_t done, int64_t total)
{
    (void)context;
    progress_count(phase, done, total);
}

/* Looks into a store: run->from_store says whether it has the answer. */
static void host_run_recall(const struct task *task, struct store *store, struct host_run *run,
                            const char *db)
{
    struct error error;
    enum status status =
        host_job_recall(&task->job, &run->question, store, &run->from_store, &run->answer, &error);
    if (status != STATUS_OK)
        cli_die("%s: %s; --fresh measures again", db, error.text);
}

/* After the search: measures. `spent_s` of the time limit are over. */
static void host_run_measure(const struct task *task, const struct search_result *result,
                             double spent_s, struct host_run *run)
{
    struct error error;
    const struct host_control control = {
        .spent_s = spent_s,
        .stop = stop_over(),
        .progress = tell_measured,
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

/* ------------------------------------------------------------------ searching */

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

static void recall_all(struct tune_find *find, struct job_result *result)
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

static enum status put_record(struct tune_find *find, struct job_record *record)
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
    return status == STATUS_OK && worth ? put_record(find, &record) : status;
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
    return status == STATUS_OK && worth ? put_record(find, &record) : status;
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
    recall_all(find, result);
    if (!find->from_store)
        search_and_keep(find, &find->task->job, result);
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

/* ------------------------------------------------------------------ weights */

/* What it is worth to bring weights, which many calls share, into the matrix unit's blocks once:
 * the job with them in blocks and the kernel that brings them there, each with its best tiling.
 * Both jobs are made of the options of the one at hand: the product has another layout, the
 * conversion another kernel and shape. Which option and which kernel the operator says. A
 * conversion pays from the first number of calls on with which it and the faster calls take less
 * time together than the calls as they are. */
struct weights {
    struct job blocks, conversion; /* open; they use the chips and kernels of the job */
};

enum { WHY_SIZE = 256 };

/* Of a conversion: what says how to search, and on what. */
static bool is_of_any_job(const char *name)
{
    static const char *const names[] = {"hw", "cores", "strategy", "threads", "time-limit"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static enum status copy_options(const struct job *from, bool all, struct job *to,
                                struct error *error)
{
    job_init(to);
    to->kernels = from->kernels;
    for (int i = 0; i < from->option_count; i++)
        if (all || is_of_any_job(from->options[i].name))
            TRY(job_set(to, from->options[i].name, from->options[i].text, error));
    for (int i = 0; i < from->override_count; i++)
        TRY(job_set(to, "set-hw", from->overrides[i], error));
    return STATUS_OK;
}

static enum status open_blocks(const struct job *job, struct job *blocks, struct error *error)
{
    const struct operator_choice *layout =
        &job->problem.op->choices[job->problem.op->weights->choice];
    TRY(copy_options(job, true, blocks, error));
    TRY(job_set(blocks, layout->name, layout->values[1], error));
    blocks->corrected = job->corrected;
    TRY(job_open(blocks, job->chips, error));
    blocks->correcting = job->correcting;
    return STATUS_OK;
}

static enum status open_conversion(const struct job *job, const int64_t size[2],
                                   struct job *conversion, struct error *error)
{
    char shape[64];
    snprintf(shape, sizeof shape, "%lldx%lld", (long long)size[0], (long long)size[1]);
    TRY(copy_options(job, false, conversion, error));
    TRY(job_set(conversion, "kernel", job->problem.op->weights->kernel, error));
    TRY(job_set(conversion, "shape", shape, error));
    TRY(job_set(conversion, "dtype", dtype_name(job->problem.type), error));
    return job_open(conversion, job->chips, error);
}

static void weights_close(struct weights *weights)
{
    job_close(&weights->blocks);
    job_close(&weights->conversion);
}

/* *applies is false, and nothing is open, where there is nothing to compare: the operator has no
 * weights, or they lie in blocks, or not all products have the same; or the space or the chip has
 * no kernels with blocks, or none for the conversion, which *why says ("" otherwise). Weights
 * chosen by what was learned of the chip are chosen so here. */
static enum status weights_open(const struct job *job, struct weights *weights, bool *applies,
                                char why[WHY_SIZE], struct error *error)
{
    int64_t size[2];
    const struct operator_weights *of = job->problem.op->weights;
    *applies = false;
    *why = 0;
    job_init(&weights->blocks);
    job_init(&weights->conversion);
    if (!of || job->hw->host || job->problem.choice[of->choice] || !of->shape(&job->problem, size))
        return STATUS_OK;
    enum status status = open_blocks(job, &weights->blocks, error);
    if (status == STATUS_OK)
        status = open_conversion(job, size, &weights->conversion, error);
    *applies = status == STATUS_OK;
    if (status != STATUS_OK)
        weights_close(weights);
    if (status != STATUS_INVALID)
        return status;
    snprintf(why, WHY_SIZE, "%.*s", WHY_SIZE - 1, error->text);
    return STATUS_OK;
}

/* ------------------------------------------------------------------ the answer */

/* What `calls` calls of `now_ns` each are against those with blocks and one conversion. NULL where
 * one of the two has no legal tiling, or without memory. */
static json_t *weights_json(const struct weights *weights, int64_t calls, double now_ns,
                            const struct search_result *blocks,
                            const struct search_result *conversion)
{
    if (!blocks->count || !conversion->count)
        return NULL;
    const struct space *product = &weights->blocks.space, *once = &weights->conversion.space;
    double time_ns = found_ns(&blocks->best[0]), once_ns = found_ns(&conversion->best[0]);
    double saved_ns = now_ns - time_ns, all_ns = once_ns + (double)calls * time_ns;
    return json_pack("{s:f, s:f, s:f, s:o, s:f, s:b, s:b, s:o, s:o}", "time_ns", time_ns,
                     "saved_ns", saved_ns, "conversion_ns", once_ns, "pays_from_call",
                     saved_ns > 0 ? json_integer((json_int_t)floor(once_ns / saved_ns) + 1)
                                  : json_null(),
                     "total_ns", all_ns, "pays", all_ns < (double)calls * now_ns, "proven",
                     blocks->optimal && conversion->optimal, "tiling",
                     tiling_json(product->axes, product->axis_count, &blocks->best[0].tiling),
                     "conversion_tiling",
                     tiling_json(once->axes, once->axis_count, &conversion->best[0].tiling));
}

/* The model's answer to another job, from the same store; after tune_find_search. */
static void find_other(struct tune_find *find, const struct job *job, struct job_result *result)
{
    find->how = (struct job_run){.threads = find->how.threads}; /* trace and map are of the first */
    if (!recall_search(find, job, result))
        search_and_keep(find, job, result);
}

static double best_known_ns(const struct tune_answer *answer, const struct found *best)
{
    double measured_ns = tune_measured_ns(tune_measured_of(answer, best));
    return measured_ns > 0 ? measured_ns : found_ns(best);
}

static json_t *compare_weights(struct tune_find *find, const struct weights *weights, double now_ns)
{
    struct job_result blocks = {0}, conversion = {0};
    json_t *json = NULL;
    find_other(find, &weights->blocks, &blocks);
    if (!*stop_asked())
        find_other(find, &weights->conversion, &conversion);
    if (!*stop_asked())
        json = weights_json(weights, find->task->job.calls, now_ns, &blocks.search,
                            &conversion.search);
    job_result_clear(&blocks);
    job_result_clear(&conversion);
    return json;
}

void tune_calls_add(struct tune_find *find, struct tune_answer *answer)
{
    struct weights weights;
    struct error error;
    bool applies;
    char why[WHY_SIZE];
    const struct job *job = &find->task->job;
    const struct found *best = tune_best(answer);
    if (!best || !job_text(job, "count"))
        return;
    double now_ns = best_known_ns(answer, best);
    answer->details = answer->details ? answer->details : json_object();
    json_object_set_new(answer->details, "calls",
                        json_pack("{s:I, s:f}", "count", (json_int_t)job->calls, "total_ns",
                                  (double)job->calls * now_ns));
    cli_require(weights_open(job, &weights, &applies, why, &error), &error);
    if (*why && find->task->common.verbose)
        cli_note("weights in blocks: %s", why);
    if (!applies)
        return;
    json_t *json = *stop_asked() ? NULL : compare_weights(find, &weights, now_ns);
    json_object_set_new(answer->details, "weights_in_blocks", json ? json : json_null());
    weights_close(&weights);
}
