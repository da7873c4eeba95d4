/* The driver (search/strategy.h): batches on all threads until the strategy is done or the limits
 * say so, then the answer from what is known.
 *
 * Threads write their spans apart from each other; the first thread hands them on between parallel
 * regions, and says for the time between what each thread waited for. */
#include "search/search.h"

#include "core/least.h"
#include "core/search_trace.h"
#include "core/status.h"
#include "core/work.h"
#include "search/prefix.h"
#include "search/strategy.h"

#include <math.h>
#include <omp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FIRST = 0, NO_BATCH = -1 };

int64_t recorder_now(const struct recorder *recorder)
{
    struct timespec now;
    if (!recorder->trace)
        return 0;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static enum status recorder_open(struct recorder *recorder, const struct search_trace *trace,
                                 int threads, struct error *error)
{
    *recorder = (struct recorder){.trace = trace, .threads = threads};
    if (!trace)
        return STATUS_OK;
    recorder->free_ns = calloc((size_t)threads, sizeof *recorder->free_ns);
    recorder->spans = calloc((size_t)threads, sizeof *recorder->spans);
    if (!recorder->free_ns || !recorder->spans)
        return error_memory(error);
    int64_t now_ns = recorder_now(recorder);
    for (int t = 0; t < threads; t++)
        recorder->free_ns[t] = now_ns;
    return STATUS_OK;
}

/* What a thread does until a time, since it has had nothing to do. */
static void idle(struct recorder *recorder, enum search_phase phase, int thread, int64_t until_ns)
{
    struct search_span span = {.phase = phase,
                               .thread = thread,
                               .start_ns = recorder->free_ns[thread],
                               .end_ns = until_ns,
                               .batch = NO_BATCH};
    if (span.end_ns > span.start_ns)
        recorder->trace->span(recorder->trace->context, &span);
    recorder->free_ns[thread] = until_ns;
}

void recorder_begin(struct recorder *recorder)
{
    if (!recorder->trace)
        return;
    int64_t now_ns = recorder_now(recorder);
    idle(recorder, PHASE_ORDERING, FIRST, now_ns);
    for (int t = FIRST + 1; t < recorder->threads; t++)
        idle(recorder, PHASE_WAITING, t, now_ns);
}

void recorder_fill(const struct recorder *recorder, enum search_phase phase, int64_t start_ns,
                   int64_t bounded, struct search_span *span)
{
    if (recorder->trace)
        *span = (struct search_span){.phase = phase,
                                     .thread = omp_get_thread_num(),
                                     .start_ns = start_ns,
                                     .end_ns = recorder_now(recorder),
                                     .bounded = bounded};
}

void recorder_keep(struct recorder *recorder, enum search_phase phase, int64_t start_ns,
                   int64_t bounded, int64_t simulated)
{
    if (!recorder->trace || bounded + simulated == 0)
        return;
    struct search_span *span = &recorder->spans[omp_get_thread_num()];
    recorder_fill(recorder, phase, start_ns, bounded, span);
    span->simulated = simulated;
}

static void emit(struct recorder *recorder, struct search_span *span)
{
    span->batch = recorder->batch;
    recorder->trace->span(recorder->trace->context, span);
    recorder->free_ns[span->thread] = span->end_ns;
}

void recorder_hand_on(struct recorder *recorder, struct search_span *span)
{
    if (recorder->trace && span->end_ns)
        emit(recorder, span);
    recorder->batch++;
}

void recorder_end(struct recorder *recorder)
{
    if (!recorder->trace)
        return;
    int64_t now_ns = recorder_now(recorder);
    bool any = false;
    for (int t = 0; t < recorder->threads; t++)
        if (recorder->spans[t].end_ns) {
            emit(recorder, &recorder->spans[t]);
            recorder->spans[t] = (struct search_span){0};
            any = true;
        }
    idle(recorder, PHASE_WAITING, FIRST, now_ns);
    recorder->batch += any;
}

static void recorder_close(struct recorder *recorder)
{
    if (recorder->trace && recorder->free_ns && recorder->spans)
        recorder_begin(recorder);
    free(recorder->free_ns);
    free(recorder->spans);
}

static void recorder_count(const struct recorder *recorder, struct search_counters counters)
{
    if (!recorder->trace)
        return;
    counters.at_ns = recorder_now(recorder);
    recorder->trace->counters(recorder->trace->context, &counters);
}

/* ---- batches ---- */

/* No tiling of the space is faster. */
static int64_t lower_bound_fs(const struct search_run *run, const struct proof *proof,
                              int64_t next_fs, int64_t best_fs)
{
    int64_t lower_fs = least_of(next_fs, best_fs);
    if (proof->bounded)
        return lower_fs;
    double roofline_fs = run->space->kind->roofline_ns(run->space) * FS_PER_NS;
    return roofline_fs < (double)lower_fs ? (int64_t)roofline_fs : lower_fs;
}

/* How many will have been simulated; 0 where bounds decide, or more may be opened. */
static int64_t known_total(const struct search_run *run, int64_t open)
{
    int64_t all = run->simulated + open;
    return run->more ? 0 : least_of(all, run->strategy->simulates);
}

static void report_progress(const struct search_run *run)
{
    struct proof proof;
    if (!run->options->progress && !run->options->trace)
        return;
    run->strategy->prove(run, &proof);
    int64_t best_fs = run->incumbents.count ? run->incumbents.time_fs[0] : 0;
    int64_t open = run->source->open_count(run);
    int64_t lower_fs = lower_bound_fs(run, &proof, proof.next_fs, best_fs ? best_fs : INT64_MAX);
    recorder_count(&run->recorder, (struct search_counters){.best_fs = best_fs,
                                                            .lower_bound_fs = lower_fs,
                                                            .simulated = run->simulated,
                                                            .open = open});
    if (!run->options->progress)
        return;
    struct search_progress progress = {
        .done = run->simulated,
        .total = known_total(run, open),
        .phase = "simulating",
        .best_fs = best_fs,
        .lower_bound_fs = lower_fs,
    };
    run->options->progress(run->options->context, &progress);
}

static void run_piece(struct search_run *run, struct piece *piece)
{
    if (stop_due(run->space->stop))
        return;
    if (piece->is_prefix)
        run->source->split(run, piece);
    else
        worker_simulate(&run->workers.items[omp_get_thread_num()], run->space, &piece->candidate);
}

/* Simulates tilings, and splits prefixes, on all threads. */
static enum status run_pieces(struct search_run *run, struct batch *batch, struct error *error)
{
    enum search_phase phase = PHASE_SPLITTING;
    for (int i = 0; i < batch->count; i++)
        phase = batch->items[i].is_prefix ? phase : PHASE_SIMULATING;
    recorder_begin(&run->recorder);
#pragma omp parallel num_threads(run->threads)
    {
        int64_t start_ns = recorder_now(&run->recorder), bounded = 0, simulated = 0;
#pragma omp for schedule(dynamic) nowait
        for (int i = 0; i < batch->count; i++) {
            run_piece(run, &batch->items[i]);
            bounded += batch->items[i].bounded;
            simulated += batch->items[i].candidate.time_fs != 0;
        }
        recorder_keep(&run->recorder, phase, start_ns, bounded, simulated);
#pragma omp atomic
        run->bounded += bounded;
    }
    recorder_end(&run->recorder);
    return workers_status(&run->workers, error);
}

/* What takes longer than this need not be known to the end: it is not among the best, nor counted
 * near them. 0: all is to be told. */
static int64_t enough_fs(const struct search_run *run)
{
    int64_t limit = incumbents_limit_fs(&run->incumbents);
    if (run->options->keep_reached || run->options->trace || limit == INT64_MAX)
        return 0;
    if (!run->incumbents.count)
        return limit;
    double share = run->options->tolerance > ONE_PERCENT ? run->options->tolerance : ONE_PERCENT;
    int64_t near_fs = within_fs(run->incumbents.time_fs[0], share);
    return limit > near_fs ? limit : near_fs;
}

static void limit_workers(struct search_run *run, int64_t limit_fs)
{
    for (int t = 0; t < run->workers.count; t++)
        run->workers.items[t].simulator.limit_fs = limit_fs;
}

static enum status run_batch(struct search_run *run, struct error *error)
{
    struct batch batch;
    limit_workers(run, enough_fs(run));
    batch.count = 0;
    batch.most = run->space == &run->hurry.space ? 1 : run->source->batch;
    run->strategy->next(run, &batch);
    enum status status = run->source->simulate ? run->source->simulate(run, &batch, error)
                                               : run_pieces(run, &batch, error);
    for (int i = 0; i < batch.count; i++)
        if (batch.items[i].candidate.time_fs)
            incumbents_note(&run->incumbents, batch.items[i].candidate.time_fs);
    enum status observed = run->strategy->observe(run, &batch, status == STATUS_OK ? error : NULL);
    report_progress(run);
    return status == STATUS_OK ? observed : status;
}

static enum status run_all(struct search_run *run, struct error *error)
{
    run->more = true;
    while (run->more) {
        TRY(run->strategy->refill(run, &run->more, error));
        while (!run->strategy->done(run) &&
               search_goes_on(&run->space, run->options, run->simulated > 0, &run->hurry))
            TRY(run_batch(run, error));
    }
    return STATUS_OK;
}

/* ---- the answer ---- */

static int by_time(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;
    if (a->time_fs != b->time_fs)
        return a->time_fs < b->time_fs ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

static void sum_bus_bytes(struct found *found, const struct program *program,
                          const struct work_total totals[])
{
    const struct hardware *hw = program->hw;
    uint32_t pipes = program->pipes;
    for (int p = 0; p < hw->price_count; p++)
        if (hw->prices[p].bus >= 0)
            found->bus_bytes[hw->prices[p].bus] += totals[p].units * found->cores_used *
                                                   hardware_in_step(hw, pipes, hw->prices[p].pipe);
}

/* Simulates found->tiling once more for all that an answer says of it. */
static enum status worker_fill(struct worker *worker, const struct space *space,
                               const struct bounder *bounder, struct found *found)
{
    struct work_total totals[HARDWARE_MAX_PRICES];
    found->bound_fs = bounder_tiling_fs(bounder, space, &found->tiling);
    found->cores_used = space->kind->cores_used(space, &found->tiling, 0);
    enum status status = tiling_simulator_run(&worker->simulator, space, &found->tiling, 0,
                                              &found->timeline, &worker->error);
    if (status != STATUS_OK || space->kind->ask)
        return status;
    status = work_totals(&worker->simulator.program, totals, &worker->error);
    if (status == STATUS_OK)
        sum_bus_bytes(found, &worker->simulator.program, totals);
    return status;
}

static enum status fill_one(struct search_run *run, const struct space *space,
                            const struct candidate *candidate, struct found *found,
                            struct error *error)
{
    struct worker *worker = run->workers.items;
    if (run->source->fill)
        return run->source->fill(run, space, candidate, found, error);
    enum status status = worker_fill(worker, space, &run->bounder, found);
    if (status != STATUS_OK && error)
        *error = worker->error;
    return status;
}

/* Sorts what was simulated. All of the first is said, and as much of the others as there is time
 * for.
 */
static enum status fill_best(struct search_run *run, struct search_result *result,
                             struct error *error)
{
    struct candidate *simulated = run->candidates.items;
    struct limited moment, whole;
    const struct space *until = search_moment(run->space, &moment);
    const struct space *now = search_until(run->space, (struct stop){.told = NULL}, &whole);
    if (run->simulated)
        qsort(simulated, (size_t)run->simulated, sizeof *simulated, by_time);
    result->best = calloc((size_t)run->incumbents.count + 1, sizeof *result->best);
    if (!result->best)
        return error_memory(error);
    enum status status = STATUS_OK;
    for (int i = 0; i < run->incumbents.count && status == STATUS_OK; i++) {
        if (i > 0 && simulated[i].time_fs == SIMULATE_LONGEST_FS)
            break;
        struct found *found = &result->best[i];
        bool sure; /* what takes too long to find out is no fault of the tiling's */
        found->index = simulated[i].index;
        space_tiling(run->space, found->index, &found->tiling);
        status = ask_content(until, &found->tiling, &sure, error);
        result->unsure |= !sure;
        if (status == STATUS_OK)
            status = fill_one(run, now, &simulated[i], found, error);
        result->count += status == STATUS_OK;
        now = until;
    }
    return status == STATUS_STOPPED ? STATUS_OK : status;
}

/* The least bound of those that were not simulated for they could outlast the clock: what is
 * proven ends there. INT64_MAX: none. */
static int64_t least_untimed_fs(const struct candidate simulated[], int64_t count)
{
    int64_t least_fs = INT64_MAX;
    for (int64_t i = 0; i < count; i++)
        if (simulated[i].time_fs == SIMULATE_LONGEST_FS && simulated[i].bound_fs < least_fs)
            least_fs = simulated[i].bound_fs;
    return least_fs;
}

static void fill_proof(const struct search_run *run, struct search_result *result)
{
    struct proof proof;
    run->strategy->prove(run, &proof);
    int64_t best = result->count ? result->best[0].timeline.end_fs : 0;
    int64_t untimed = least_untimed_fs(run->candidates.items, run->simulated);
    bool known = proof.counted || proof.feasible < 0;
    bool finished = known && untimed > best && run->strategy->done(run);
    result->candidates = run->space->candidates;
    result->simulated = run->simulated;
    result->feasible = proof.feasible;
    result->unasked = proof.unasked;
    result->pruned = finished && proof.feasible >= 0 ? proof.feasible - run->simulated : 0;
    memcpy(result->pruned_by, proof.pruned_by, sizeof result->pruned_by);
    result->optimal = finished && result->count > 0;
    result->lower_bound_fs = lower_bound_fs(run, &proof, least_of(proof.next_fs, untimed), best);
    result->gap = best ? (double)(best - result->lower_bound_fs) / (double)best : 0;
}

/* Of a processor's tilings the bounds are the times. */
static enum status fill_scores(const struct search_run *run, struct search_result *result,
                               struct error *error)
{
    const struct candidates *candidates = &run->candidates;
    result->scores = calloc((size_t)candidates->count + 1, sizeof *result->scores);
    if (!result->scores)
        return error_memory(error);
    result->score_count = candidates->count;
    for (int64_t i = 0; i < candidates->count; i++)
        result->scores[i] =
            (struct scored){candidates->items[i].bound_fs, candidates->items[i].index};
    return STATUS_OK;
}

static enum status answer(struct search_run *run, struct search_result *result, struct error *error)
{
    limit_workers(run, 0);
    recorder_begin(&run->recorder);
    int64_t start_ns = recorder_now(&run->recorder);
    enum status status = fill_best(run, result, error);
    if (status == STATUS_OK)
        fill_proof(run, result);
    if (status == STATUS_OK && run->space->kind->ask && run->options->keep_scores)
        status = fill_scores(run, result, error);
    if (status == STATUS_OK)
        status = run->strategy->tell(run, result, error);
    if (result->level_count && run->options->trace)
        run->options->trace->levels(run->options->trace->context, result->levels,
                                    result->level_count);
    recorder_keep(&run->recorder, PHASE_ANSWERING, start_ns, 0, result->count);
    recorder_end(&run->recorder);
    return status;
}

/* ---- the search ---- */

int search_threads(const struct space *space, int threads)
{
    return space->kind->ask ? 1 : threads;
}

enum status search_run_open(struct search_run *run, struct error *error)
{
    const struct search_source *source = run->source;
    run->pool = calloc(1, source->size + 1);
    TRY(run->pool ? STATUS_OK : error_memory(error));
    TRY(recorder_open(&run->recorder, run->options->trace, run->threads, error));
    if (!source->simulate)
        TRY(bounder_open(&run->bounder, run->space, error));
    if (!source->simulate)
        TRY(workers_open(&run->workers, run->threads, error));
    for (int t = 0; t < run->workers.count; t++)
        run->workers.items[t].defers_content = true;
    TRY(incumbents_open(&run->incumbents, run->options->top,
                        run->options->best_only ||
                            (source->best_only && run->space->candidates >= COUNTED_MOST),
                        error));
    if (source->open)
        TRY(source->open(run, error));
    return STATUS_OK;
}

void search_run_close(struct search_run *run)
{
    if (run->source && run->source->close && run->pool)
        run->source->close(run);
    if (run->strategy && run->strategy->free && run->state)
        run->strategy->free(run);
    workers_close(&run->workers);
    incumbents_close(&run->incumbents);
    recorder_close(&run->recorder);
    bounder_close(&run->bounder);
    free(run->candidates.items);
    free(run->state);
    free(run->pool);
}

static enum status init(struct search_run *run, struct error *error)
{
    run->state = calloc(1, run->strategy->size + 1);
    TRY(run->state ? run->strategy->init(run, error) : error_memory(error));
    if (run->options->progress)
        run->options->progress(
            run->options->context,
            &(struct search_progress){.phase = run->source->idle ? run->source->idle : "bounding"});
    return search_run_open(run, error);
}

enum status search(const struct space *space, const struct search_options *options,
                   struct search_result *result, struct error *error)
{
    struct limited limited;
    struct search_run run = {.space = search_limit(space, options, &limited),
                             .options = options,
                             .strategy = search_strategy_find(options->strategy),
                             .threads = search_threads(space, options->threads)};
    memset(result, 0, sizeof *result);
    if (!run.strategy)
        return error_set(error, STATUS_INVALID, "unknown strategy '%s'", options->strategy);
    clock_gettime(CLOCK_MONOTONIC, &run.started);
    enum status status = init(&run, error);
    if (status == STATUS_OK)
        status = run_all(&run, error);
    if (status == STATUS_OK && space->kind->roofline_ns && isnan(space->kind->roofline_ns(space)))
        status = error_memory(error); /* of what the answer is set against */
    if (status == STATUS_OK)
        status = answer(&run, result, error);
    if (status == STATUS_STOPPED) /* before there was anything to say */
        status = STATUS_OK;
    result->seconds = seconds_since(&run.started);
    search_run_close(&run);
    if (status != STATUS_OK)
        search_result_clear(result);
    return status;
}

enum status search_below(const struct space *space, struct search_below *below, struct error *error)
{
    const struct search_options options = {.threads = 1, .top = 1, .best_only = true};
    struct limited limited;
    struct search_run run = {.space = search_limit(space, &options, &limited),
                             .options = &options,
                             .strategy = search_strategy_find(NULL),
                             .threads = 1};
    enum status status = init(&run, error);
    run.incumbents.below_fs = below->below_fs;
    if (status == STATUS_OK)
        status = run_all(&run, error);
    below->bounded = run.bounded;
    below->simulated = run.simulated;
    below->time_fs = 0;
    for (int64_t i = 0; i < run.simulated; i++) {
        const struct candidate *one = &run.candidates.items[i];
        if (one->time_fs < below->below_fs &&
            (!below->time_fs || by_time(one, &(struct candidate){.time_fs = below->time_fs,
                                                                 .index = below->index}) < 0)) {
            below->time_fs = one->time_fs;
            below->index = one->index;
        }
    }
    if (status == STATUS_OK && below->time_fs) {
        struct tiling tiling;
        bool sure;
        space_tiling(run.space, below->index, &tiling);
        status = ask_content(run.space, &tiling, &sure, error);
    }
    search_run_close(&run);
    return status;
}

static void cut_to(int64_t *count, int64_t most)
{
    *count = least_of(*count, most);
}

void search_count(const struct space *space, int threads, struct search_result *result)
{
    if (result->feasible >= 0)
        return;
    result->feasible = space_count_legal(space, INT64_MAX, threads);
    result->pruned = result->optimal ? result->feasible - result->simulated : 0;
    cut_to(&result->within_1_percent.at_most, result->feasible);
    cut_to(&result->within_tolerance.at_most, result->feasible);
}

void search_result_clear(struct search_result *result)
{
    free(result->best);
    free(result->scores);
    free(result->reached);
    memset(result, 0, sizeof *result);
}

enum status search_simulate(const struct space *space, const struct tiling *tiling,
                            struct found *found, struct error *error)
{
    struct worker worker = {0};
    struct bounder bounder = {0};
    bool sure;
    if (space->kind->simulate)
        return space->kind->simulate(space, tiling, found, error);
    TRY(ask_content(space, tiling, &sure, error));
    memset(found, 0, sizeof *found);
    found->tiling = *tiling;
    found->index = -1;
    enum status status = bounder_open(&bounder, space, error);
    if (status == STATUS_OK)
        status = tiling_simulator_open(&worker.simulator, error);
    if (status == STATUS_OK) {
        status = worker_fill(&worker, space, &bounder, found);
        if (status != STATUS_OK && error)
            *error = worker.error;
    }
    bounder_close(&bounder);
    tiling_simulator_close(&worker.simulator);
    return status;
}
