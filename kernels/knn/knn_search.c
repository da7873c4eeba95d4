#include "kernels/knn/knn_search.h"

#include "kernels/knn/knn_found.h"
#include "search/clock.h"
#include "search/leaders.h"
#include "search/workers.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum {
    BATCH = 8,         /* tuning a distance tile takes long */
    AT_ONCE = 32,      /* distance tiles, where all are tuned */
    LOOK_EVERY = 1024, /* tilings, between two looks at the clock */
};

/* The search on one number of cores. */
struct part {
    struct knn_costs costs;
    bool profiled;          /* else its tilings were only counted */
    struct choices choices; /* those that may matter, by bound; the first `played` were played */
    int64_t played;
};

struct run {
    const struct space *space;
    const struct search_strategy *strategy;
    const struct search_options *options;
    struct timespec started;
    struct limited hurry;
    struct recorder recorder;
    struct leaders leaders;
    struct part *parts; /* one for each block of the space, owned */
    struct part *now;   /* that is searched */
    int64_t feasible, pruned[FATES], played, open, next_fs;
    bool complete;
};

static int by_time(const void *left, const void *right)
{
    const struct choice *a = left, *b = right;
    if (a->time_fs != b->time_fs)
        return a->time_fs < b->time_fs ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

/* What a thread sees of its rows. */
struct tally {
    int64_t seen, feasible, pruned[FATES];
    struct choices kept; /* the `most` of lowest bound that no inequality prunes, sorted when full;
                            or all at or below the limit */
    int64_t most, limit_fs;
    const struct stop *stop;
    bool failed, stopped;
    struct search_span span; /* who did it */
};

/* Is it time to end a row? Not before there is something in it. */
static bool is_over(struct tally *tally)
{
    if (tally->seen % LOOK_EVERY == 0 && tally->kept.count && stop_due(tally->stop))
        tally->stopped = true;
    return tally->failed || tally->stopped;
}

/* Keeps twice what is wanted, and drops the worse half when that is full. */
static bool count_choice(void *context, const struct choice *choice)
{
    struct tally *tally = context;
    tally->seen++;
    tally->feasible++;
    tally->pruned[choice->fate]++;
    if (choice->fate != FATE_LIVES)
        return !is_over(tally);
    if (tally->kept.count == 2 * tally->most) {
        choices_sort(&tally->kept);
        tally->kept.count = tally->most;
    }
    tally->failed = !choices_push(&tally->kept, choice);
    return !is_over(tally);
}

static bool keep_choice(void *context, const struct choice *choice)
{
    struct tally *tally = context;
    tally->seen++;
    if (choice->bound_fs <= tally->limit_fs)
        tally->failed = !choices_push(&tally->kept, choice);
    return !is_over(tally);
}

static bool append(struct choices *all, struct choices *more)
{
    bool appended = true;
    for (int64_t i = 0; i < more->count && appended; i++)
        appended = choices_push(all, &more->items[i]);
    free(more->items);
    *more = (struct choices){0};
    return appended;
}

static void visit_row(const struct run *run, choice_visitor *visit, int m1, struct tally *tally)
{
    int64_t start_ns = recorder_now(&run->recorder);
    if (visit)
        choices_visit(&run->now->costs, m1, run->strategy->prunes, visit, tally);
    else
        tally->feasible = choices_count(&run->now->costs, m1);
    recorder_fill(&run->recorder, PHASE_BOUNDING, start_ns, tally->seen, &tally->span);
}

/* Visits every row, or counts without a visitor, on all threads and gathers what was kept, sorted
 * by bound, so that the answer is the same for any number of threads. Rows that are left out when
 * the search has to stop, but not before a first tiling was found, make it incomplete. */
static enum status visit_all(struct run *run, choice_visitor *visit, int64_t most, int64_t limit_fs,
                             struct tally *total, struct error *error)
{
    bool failed = false, complete = true, any = run->leaders.count > 0;
    int rows = run->now->costs.m1_count;
    struct tally *tallies = calloc((size_t)rows + 1, sizeof *tallies);
    if (!tallies)
        return error_memory(error);
    recorder_begin(&run->recorder);
#pragma omp parallel for num_threads(run->options->threads) schedule(dynamic)
    for (int m1 = 0; m1 < rows; m1++) {
        bool found;
        tallies[m1] = (struct tally){.most = most, .limit_fs = limit_fs, .stop = run->space->stop};
#pragma omp atomic read
        found = any;
        if (found && stop_due(run->space->stop)) {
#pragma omp atomic write
            complete = false;
            continue;
        }
        visit_row(run, visit, m1, &tallies[m1]);
        if (tallies[m1].feasible) {
#pragma omp atomic write
            any = true;
        }
    }
    for (int m1 = 0; m1 < rows; m1++) {
        recorder_hand_on(&run->recorder, &tallies[m1].span);
        complete = complete && !tallies[m1].stopped;
        failed = failed || tallies[m1].failed || !append(&total->kept, &tallies[m1].kept);
        total->feasible += tallies[m1].feasible;
        for (int f = 0; f < FATES; f++)
            total->pruned[f] += tallies[m1].pruned[f];
        free(tallies[m1].kept.items);
    }
    recorder_end(&run->recorder);
    free(tallies);
    run->complete = run->complete && complete;
    if (failed)
        return error_memory(error);
    choices_sort(&total->kept);
    return STATUS_OK;
}

typedef enum status improver(struct knn_costs *costs, const int64_t *products, int64_t count,
                             struct error *error);

static int by_number(const void *left, const void *right)
{
    const int64_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

/* Improves what is known of the distance tiles of some choices, each once. */
static enum status improve(struct run *run, const struct choice *choices, int64_t count,
                           improver *act, struct error *error)
{
    int64_t *products = malloc(((size_t)count + 1) * sizeof *products), different = 0;
    if (!products)
        return error_memory(error);
    for (int64_t i = 0; i < count; i++)
        products[i] = choices[i].product;
    qsort(products, (size_t)count, sizeof *products, by_number);
    for (int64_t i = 0; i < count; i++)
        if (different == 0 || products[i] != products[different - 1])
            products[different++] = products[i];
    enum status status = act(&run->now->costs, products, different, error);
    free(products);
    return status;
}

/* Rooflines have chosen these; the bounds of all their MatMul tilings leave fewer. */
static enum status improve_bounds(struct run *run, struct error *error)
{
    struct choices *choices = &run->now->choices;
    enum status status = improve(run, choices->items, choices->count, knn_costs_bound, error);
    if (status == STATUS_STOPPED)
        status = STATUS_OK; /* those of some are */
    for (int64_t i = 0; i < choices->count; i++)
        choices->items[i].bound_fs = choice_time_fs(&run->now->costs, &choices->items[i]);
    choices_sort(choices);
    return status;
}

/* What an inequality has pruned and may still be among the best, or within one percent of them, is
 * played all the same. */
static struct choice revive(const struct run *run, const struct choice *choice)
{
    struct tiling tiling;
    if (choice->fate == FATE_LIVES)
        return *choice;
    space_tiling(run->space, choice->index, &tiling);
    return choice_of(&run->now->costs, &tiling, FATE_LIVES);
}

static enum status play_batch(struct run *run, struct choice *batch, int64_t count,
                              struct error *error)
{
    enum status status = improve(run, batch, count, knn_costs_tune, error);
    for (int64_t i = 0; i < count && status == STATUS_OK; i++) {
        run->pruned[batch[i].fate]--;
        batch[i] = revive(run, &batch[i]);
        batch[i].time_fs = choice_time_fs(&run->now->costs, &batch[i]);
        leaders_note(&run->leaders, batch[i].time_fs);
    }
    if (status != STATUS_OK)
        return status;
    run->now->played += count;
    run->played += count;
    run->open -= count;
    return status;
}

/* Of what a part still has to play; INT64_MAX: nothing. */
static int64_t next_bound_fs(const struct part *part)
{
    return part->played < part->choices.count ? part->choices.items[part->played].bound_fs
                                              : INT64_MAX;
}

static void report(const struct run *run, const char *phase)
{
    int64_t best_fs = run->leaders.count ? run->leaders.time_fs[0] : 0;
    int64_t lower_fs = run->now ? next_bound_fs(run->now) : 0;
    lower_fs = lower_fs > best_fs ? best_fs : lower_fs;
    recorder_count(&run->recorder, (struct search_counters){.best_fs = best_fs,
                                                            .lower_bound_fs = lower_fs,
                                                            .played = run->played,
                                                            .open = run->open});
    if (!run->options->progress)
        return;
    struct search_progress progress = {
        .done = run->played,
        .total = run->played + run->open,
        .phase = phase,
        .best_fs = best_fs,
        .lower_bound_fs = lower_fs,
        .seconds = seconds_since(&run->started),
    };
    run->options->progress(run->options->context, &progress);
}

static int64_t limit_fs(const struct run *run)
{
    return run->strategy->prunes ? leaders_limit_fs(&run->leaders) : INT64_MAX;
}

/* In order of bound, in batches of a fixed size, until no bound can matter. */
static enum status play_all(struct run *run, struct error *error)
{
    enum status status = STATUS_OK;
    struct part *part = run->now;
    struct choice *items = part->choices.items;
    while (status == STATUS_OK && next_bound_fs(part) <= limit_fs(run) &&
           part->played < part->choices.count &&
           search_goes_on(&run->space, run->options, run->played > 0, &run->hurry)) {
        int64_t count = 0, limit = limit_fs(run);
        int64_t most = run->space == &run->hurry.space ? 1 : BATCH;
        part->costs.space = run->space;
        while (count < most && part->played + count < part->choices.count &&
               items[part->played + count].bound_fs <= limit)
            count++;
        status = play_batch(run, items + part->played, count, error);
        if (status == STATUS_STOPPED)
            status = STATUS_OK;
        report(run, "simulating");
    }
    if (next_bound_fs(part) < run->next_fs)
        run->next_fs = next_bound_fs(part);
    return status;
}

/* The times of the `top` tilings of lowest bound, or of the best so far, say which of all can
 * matter. */
static enum status set_limit(struct run *run, struct choices *seeds, int64_t *limit,
                             struct error *error)
{
    struct leaders leaders;
    *limit = limit_fs(run);
    if (seeds->count == 0 || seeds->items[0].bound_fs > *limit)
        return STATUS_OK;
    enum status status = leaders_open(&leaders, run->options->top, run->options->best_only, error);
    for (int64_t i = 0; i < seeds->count && i < run->options->top && status == STATUS_OK; i++) {
        status = improve(run, &seeds->items[i], 1, knn_costs_tune, error);
        leaders_note(&leaders, choice_time_fs(&run->now->costs, &seeds->items[i]));
    }
    if (leaders_limit_fs(&leaders) < *limit)
        *limit = leaders_limit_fs(&leaders);
    leaders_close(&leaders);
    return status;
}

static enum status collect(struct run *run, struct error *error)
{
    struct tally seeds = {0}, chosen = {0};
    int64_t limit = INT64_MAX;
    enum status status = visit_all(run, count_choice, run->options->top, 0, &seeds, error);
    run->feasible += seeds.feasible;
    for (int f = 0; f < FATES; f++)
        run->pruned[f] += seeds.pruned[f];
    if (status == STATUS_OK && run->complete && run->strategy->prunes)
        status = set_limit(run, &seeds.kept, &limit, error);
    if (status == STATUS_STOPPED) {
        status = STATUS_OK;
        run->complete = false;
    }
    if (status == STATUS_OK && run->complete)
        status = visit_all(run, keep_choice, 0, limit, &chosen, error);
    bool all = status == STATUS_OK && run->complete;
    run->now->choices = all ? chosen.kept : seeds.kept;
    run->open += run->now->choices.count;
    free(all ? seeds.kept.items : chosen.kept.items);
    return status;
}

/* All that was played, on any number of cores, by time. */
static enum status gather_played(const struct run *run, struct choices *played, struct error *error)
{
    for (int b = 0; b < run->space->block_count; b++)
        for (int64_t i = 0; i < run->parts[b].played; i++)
            if (!choices_push(played, &run->parts[b].choices.items[i]))
                return error_memory(error);
    if (played->count)
        qsort(played->items, (size_t)played->count, sizeof *played->items, by_time);
    return STATUS_OK;
}

/* All of the first is said, and as much of the others as there is time for. */
static enum status fill_best(struct run *run, const struct choices *played,
                             struct search_result *result, struct error *error)
{
    struct limited moment, whole;
    const struct space *space = run->space, *until = search_moment(space, &moment);
    const struct space *now = search_until(space, (struct stop){.told = NULL}, &whole);
    result->best = calloc((size_t)run->leaders.count + 1, sizeof *result->best);
    if (!result->best)
        return error_memory(error);
    enum status status = STATUS_OK;
    for (int i = 0; played->items && i < run->leaders.count && status == STATUS_OK; i++) {
        const struct choice *choice = &played->items[i];
        struct part *part = &run->parts[space_block_of(space, choice->index) - space->blocks];
        part->costs.space = now;
        status = knn_found_fill(&part->costs, choice, &result->best[i], error);
        result->count += status == STATUS_OK;
        part->costs.space = space;
        now = until;
    }
    return status == STATUS_STOPPED ? STATUS_OK : status;
}

/* What was not played is beyond one percent, once the search has come to its end, and anything
 * otherwise. */
static void fill_within(const struct run *run, const struct choices *played,
                        struct search_result *result)
{
    const double shares[] = {ONE_PERCENT, run->options->tolerance};
    struct within *within[] = {&result->within_1_percent, &result->within_tolerance};
    for (int i = 0; i < 2 && result->count && played->items; i++) {
        int64_t latest_fs = within_fs(played->items[0].time_fs, shares[i]);
        for (int64_t c = 0; c < played->count; c++)
            within[i]->surely += played->items[c].time_fs <= latest_fs;
        bool all = result->optimal && !run->options->best_only && shares[i] <= ONE_PERCENT;
        within[i]->at_most = within[i]->surely + (all ? 0 : result->feasible - result->simulated);
    }
}

static void fill_proof(const struct run *run, struct search_result *result)
{
    int64_t best = result->count ? result->best[0].timeline.end_fs : 0;
    bool finished = run->complete && (run->next_fs == INT64_MAX || run->next_fs > limit_fs(run));
    result->candidates = run->space->candidates;
    result->feasible = run->feasible;
    result->simulated = run->played;
    result->pruned = finished ? run->feasible - run->played : 0;
    result->pruned_by[KNN_RULE_SELB] = run->pruned[FATE_SELB];
    result->pruned_by[KNN_RULE_HARMONIC] = run->pruned[FATE_HARMONIC];
    result->optimal = finished && result->count > 0;
    result->lower_bound_fs = run->next_fs < best ? run->next_fs : best;
    if (!run->complete) {
        double roofline_fs = run->space->kind->roofline_ns(run->space) * FS_PER_NS;
        if (roofline_fs < (double)result->lower_bound_fs)
            result->lower_bound_fs = (int64_t)roofline_fs;
    }
    result->gap = best ? (double)(best - result->lower_bound_fs) / (double)best : 0;
}

/* No time limit ends the first: without there is no answer. */
static enum status profile(struct run *run, struct error *error)
{
    struct limited patient;
    struct knn_costs *costs = &run->now->costs;
    if (run->played == 0)
        costs->space = search_patience(run->space, &patient);
    enum status status = knn_costs_profile(costs, error);
    costs->space = run->space;
    run->now->profiled = status == STATUS_OK;
    return status;
}

/* All legal tilings with their bounds, by one walk more, and the times of those that were played.
 */
static enum status keep_reached(struct run *run, const struct choices *played,
                                struct search_result *result, struct error *error)
{
    struct tally all = {0};
    bool complete = run->complete;
    enum status status = STATUS_OK;
    for (int b = 0; b < run->space->block_count && status == STATUS_OK; b++) {
        run->now = &run->parts[b];
        if (!run->now->profiled)
            status = profile(run, error);
        if (status == STATUS_OK)
            status = visit_all(run, keep_choice, 0, INT64_MAX, &all, error);
    }
    if (status == STATUS_STOPPED) {
        status = STATUS_OK;
        run->complete = false;
    }
    if (status == STATUS_OK)
        status = knn_reached_fill(&all.kept, played->items, played->count, result, error);
    result->reached_all = run->complete;
    run->complete = complete;
    free(all.kept.items);
    return status;
}

static enum status answer(struct run *run, struct search_result *result, struct error *error)
{
    struct choices played = {0};
    recorder_begin(&run->recorder);
    int64_t start_ns = recorder_now(&run->recorder);
    enum status status = gather_played(run, &played, error);
    if (status == STATUS_OK)
        status = fill_best(run, &played, result, error);
    if (status == STATUS_OK) {
        fill_proof(run, result);
        fill_within(run, &played, result);
    }
    if (status == STATUS_OK && run->options->keep_reached)
        status = keep_reached(run, &played, result, error);
    recorder_keep(&run->recorder, PHASE_ANSWERING, start_ns, 0, result->count);
    recorder_end(&run->recorder);
    free(played.items);
    return status;
}

static enum status tune_all(struct run *run, struct error *error)
{
    struct knn_costs *costs = &run->now->costs;
    int64_t count = (int64_t)costs->m1_count * costs->n1_count, products[AT_ONCE];
    enum status status = STATUS_OK;
    for (int64_t first = 0; first < count && status == STATUS_OK; first += AT_ONCE) {
        int64_t size = count - first < AT_ONCE ? count - first : AT_ONCE;
        for (int64_t i = 0; i < size; i++)
            products[i] = first + i;
        status = knn_costs_tune(costs, products, size, error);
    }
    return status == STATUS_STOPPED ? STATUS_OK : status;
}

/* Can no tiling on so many cores matter, whatever its tiles cost? */
static bool hopeless(const struct run *run)
{
    const struct knn_costs *costs = &run->now->costs;
    double least_fs = knn_share_roofline_ns(knn_space_of(run->space), costs->share) * FS_PER_NS;
    return least_fs * (1 - 1e-12) > (double)limit_fs(run);
}

/* All tilings on one number of cores. */
static enum status search_part(struct run *run, struct error *error)
{
    struct tally counted = {0};
    if (hopeless(run)) {
        enum status status = visit_all(run, NULL, 0, 0, &counted, error);
        run->feasible += counted.feasible;
        return status;
    }
    enum status status = profile(run, error);
    if (status == STATUS_OK && !run->strategy->prunes)
        status = tune_all(run, error);
    if (status == STATUS_OK)
        status = collect(run, error);
    if (status == STATUS_OK)
        status = improve_bounds(run, error);
    return status == STATUS_OK ? play_all(run, error) : status;
}

/* From most cores to fewest: most is best as a rule, and then the others are soon done with. */
static enum status search_parts(struct run *run, struct error *error)
{
    enum status status = STATUS_OK;
    run->parts = calloc((size_t)run->space->block_count + 1, sizeof *run->parts);
    if (!run->parts)
        return error_memory(error);
    for (int b = 0; b < run->space->block_count; b++)
        knn_costs_open(&run->parts[b].costs, run->space, &run->space->blocks[b], &run->recorder);
    for (int b = run->space->block_count - 1; b >= 0 && status == STATUS_OK; b--) {
        run->now = &run->parts[b];
        status = run->played && stop_due(run->space->stop)
                     ? error_set(error, STATUS_STOPPED, "stopped")
                     : search_part(run, error);
    }
    if (status != STATUS_STOPPED || run->played == 0)
        return status;
    run->complete = false;
    return STATUS_OK;
}

static void close_run(struct run *run)
{
    for (int b = 0; run->parts && b < run->space->block_count; b++) {
        knn_costs_close(&run->parts[b].costs);
        free(run->parts[b].choices.items);
    }
    free(run->parts);
    recorder_close(&run->recorder);
    leaders_close(&run->leaders);
}

enum status knn_search(const struct space *space, const struct search_strategy *strategy,
                       const struct search_options *options, struct search_result *result,
                       struct error *error)
{
    struct run run = {.space = space,
                      .strategy = strategy,
                      .options = options,
                      .next_fs = INT64_MAX,
                      .complete = true};
    clock_gettime(CLOCK_MONOTONIC, &run.started);
    report(&run, "profiling tiles");
    enum status status = recorder_open(&run.recorder, options->trace, options->threads, error);
    if (status == STATUS_OK)
        status = leaders_open(&run.leaders, options->top, options->best_only, error);
    if (status == STATUS_OK)
        status = search_parts(&run, error);
    if (status == STATUS_OK)
        status = answer(&run, result, error);
    if (status == STATUS_STOPPED) /* before there was anything to say */
        status = STATUS_OK;
    result->seconds = seconds_since(&run.started);
    close_run(&run);
    if (status != STATUS_OK)
        search_result_clear(result);
    return status;
}

enum status knn_search_play(const struct space *space, const struct tiling *tiling,
                            struct found *found, struct error *error)
{
    struct knn_costs costs;
    struct recorder recorder = {.threads = omp_get_max_threads()};
    const struct space_block *block = space_block_of(space, space_index(space, tiling));
    knn_costs_open(&costs, space, block, &recorder);
    enum status status = knn_costs_profile(&costs, error);
    memset(found, 0, sizeof *found);
    if (status == STATUS_OK) {
        struct choice choice = choice_of(&costs, tiling, FATE_LIVES);
        status = knn_costs_tune(&costs, &choice.product, 1, error);
        choice.time_fs = choice_time_fs(&costs, &choice);
        if (status == STATUS_OK)
            status = knn_found_fill(&costs, &choice, found, error);
    }
    knn_costs_close(&costs);
    return status;
}
