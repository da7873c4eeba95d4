/* k-NN's tilings as candidates: one block of the space (a number of working cores) after the other,
 * each with costs of its own. What a block opens is what its costs, the inequalities and the times
 * of its first tilings leave; to simulate one is to tune its distance tile. A block's tilings are
 * walked a row (one m1) at a time on any thread: each row keeps what it finds, and rows are added
 * up in their order.
 *
 * The inequalities are theorems (docs/knn.md), and nothing rests on them: what they rule out but
 * might, by its bound, still be among the best or within one percent of them is simulated all the
 * same, and no longer counted as ruled out. They spare the sums of the rest. */
#include "core/array.h"
#include "kernels/knn/knn_costs.h"
#include "search/strategy.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* Growing list; items are owned by whoever holds it. */
struct choices {
    int64_t count, capacity;
    struct choice *items;
};

static bool choices_push(struct choices *choices, const struct choice *choice)
{
    if (!array_reserve(&choices->items, choices->count, &choices->capacity, sizeof *choices->items))
        return false;
    choices->items[choices->count++] = *choice;
    return true;
}

static int by_bound(const void *left, const void *right)
{
    const struct choice *a = left, *b = right;
    if (a->bound_fs != b->bound_fs)
        return a->bound_fs < b->bound_fs ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

/* By bound, then index. */
static void choices_sort(struct choices *choices)
{
    if (choices->count)
        qsort(choices->items, (size_t)choices->count, sizeof *choices->items, by_bound);
}

/* Starts as zero. */
struct gathered {
    int64_t feasible, pruned[FATES];
    struct choices kept; /* by bound, then index; the caller frees its items */
};

/* ---- walks over the tilings of one number of cores ------------------------------------------- */

enum { LOOK_EVERY = 1024 }; /* tilings, between two looks at the clock */

/* What is gathered of a row, and how. */
struct row {
    struct gathered found;
    int64_t seen, most, limit_fs;
    const struct stop *stop;
    bool failed, stopped;
    struct search_span span; /* who did it */
};

/* How all rows are visited; counted without a visitor. */
struct gathering {
    const struct knn_costs *costs;
    bool prune;
    choice_visitor *visit;
    int64_t most, limit_fs;
};

/* Is it time to end a row? Not before there is something in it. */
static bool row_is_over(struct row *row)
{
    if (row->seen % LOOK_EVERY == 0 && row->found.kept.count && stop_due(row->stop))
        row->stopped = true;
    return row->failed || row->stopped;
}

/* Keeps twice what is wanted, and drops the worse half when that is full. */
static bool count_choice(void *context, const struct choice *choice)
{
    struct row *row = context;
    row->seen++;
    row->found.feasible++;
    row->found.pruned[choice->fate]++;
    if (choice->fate != FATE_LIVES)
        return !row_is_over(row);
    if (row->found.kept.count == 2 * row->most) {
        choices_sort(&row->found.kept);
        row->found.kept.count = row->most;
    }
    row->failed = !choices_push(&row->found.kept, choice);
    return !row_is_over(row);
}

static bool keep_choice(void *context, const struct choice *choice)
{
    struct row *row = context;
    row->seen++;
    if (choice->bound_fs <= row->limit_fs)
        row->failed = !choices_push(&row->found.kept, choice);
    return !row_is_over(row);
}

static bool append_choices(struct choices *all, struct choices *more)
{
    bool appended = true;
    for (int64_t i = 0; i < more->count && appended; i++)
        appended = choices_push(all, &more->items[i]);
    free(more->items);
    *more = (struct choices){0};
    return appended;
}

static void visit_row(const struct search_run *run, const struct gathering *how, int m1,
                      struct row *row)
{
    int64_t start_ns = recorder_now(&run->recorder);
    if (how->visit)
        choices_visit(how->costs, m1, how->prune, how->visit, row);
    else
        row->found.feasible = choices_count(how->costs, m1);
    recorder_fill(&run->recorder, PHASE_BOUNDING, start_ns, row->seen, &row->span);
}

/* Adds what was found in each row, in their order; false without memory. */
static bool add_rows(struct search_run *run, struct row *rows, int count, struct gathered *total)
{
    bool added = true;
    for (int m1 = 0; m1 < count; m1++) {
        struct gathered *found = &rows[m1].found;
        recorder_hand_on(&run->recorder, &rows[m1].span);
        run->candidates.complete = run->candidates.complete && !rows[m1].stopped;
        added = !rows[m1].failed && append_choices(&total->kept, &found->kept) && added;
        total->feasible += found->feasible;
        for (int f = 0; f < FATES; f++)
            total->pruned[f] += found->pruned[f];
        free(found->kept.items);
    }
    return added;
}

/* Visits every row on all threads; what was kept is sorted by bound, so that the answer is the same
 * for any number of threads. Rows are left out where the search has to stop, but not before a first
 * tiling was found. */
static enum status gather_rows(struct search_run *run, const struct gathering *how,
                               struct gathered *total, struct error *error)
{
    bool complete = true, any = run->incumbents.count > 0;
    int count = how->costs->m1_count;
    struct row *rows = calloc((size_t)count + 1, sizeof *rows);
    if (!rows)
        return error_memory(error);
    recorder_begin(&run->recorder);
#pragma omp parallel for num_threads(run->threads) schedule(dynamic)
    for (int m1 = 0; m1 < count; m1++) {
        bool found;
        rows[m1] =
            (struct row){.most = how->most, .limit_fs = how->limit_fs, .stop = run->space->stop};
#pragma omp atomic read
        found = any;
        if (found && stop_due(run->space->stop)) {
#pragma omp atomic write
            complete = false;
            continue;
        }
        visit_row(run, how, m1, &rows[m1]);
        if (rows[m1].found.feasible) {
#pragma omp atomic write
            any = true;
        }
    }
    run->candidates.complete = run->candidates.complete && complete;
    bool added = add_rows(run, rows, count, total);
    recorder_end(&run->recorder);
    free(rows);
    if (!added)
        return error_memory(error);
    choices_sort(&total->kept);
    return STATUS_OK;
}

/* How many are legal, for which nothing need be profiled. */
static enum status gather_count(struct search_run *run, const struct knn_costs *costs,
                                struct gathered *total, struct error *error)
{
    return gather_rows(run, &(struct gathering){.costs = costs}, total, error);
}

/* … and what happens to each; keeps at least the `most` of lowest bound that live, and of no row
 * more than twice as many. */
static enum status gather_best(struct search_run *run, const struct knn_costs *costs, bool prune,
                               int64_t most, struct gathered *total, struct error *error)
{
    struct gathering how = {costs, prune, count_choice, .most = most};
    return gather_rows(run, &how, total, error);
}

/* Keeps all whose bound does not exceed the limit; counts nothing. */
static enum status gather_up_to(struct search_run *run, const struct knn_costs *costs, bool prune,
                                int64_t limit_fs, struct gathered *total, struct error *error)
{
    struct gathering how = {costs, prune, keep_choice, .limit_fs = limit_fs};
    return gather_rows(run, &how, total, error);
}

/* ---- candidates ------------------------------------------------------------------------------ */

enum {
    BATCH = 8,    /* tuning a distance tile takes long */
    AT_ONCE = 32, /* distance tiles, where all are tuned */
};

/* The tilings on one number of cores. */
struct part {
    struct knn_costs costs;
    bool profiled; /* else its tilings were only counted */
};

struct stages {
    struct part *parts; /* one for each block of the space, owned */
    int left;           /* of them, in the order from the last to the first */
    struct part *now;   /* that is opened */
    bool all;           /* nothing is ruled out */
    int64_t feasible, pruned[FATES];
};

typedef enum status improver(struct knn_costs *costs, const int64_t *products, int64_t count,
                             struct error *error);

static int by_number(const void *left, const void *right)
{
    const int64_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

/* Improves what is known of the distance tiles of some choices, each once. */
static enum status improve_products(struct knn_costs *costs, const struct choice *choices,
                                    int64_t count, improver *act, struct error *error)
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
    enum status status = act(costs, products, different, error);
    free(products);
    return status;
}

/* Rooflines have chosen these; the bounds of all their MatMul tilings leave fewer. */
static enum status improve_bounds(struct knn_costs *costs, struct choices *choices,
                                  struct error *error)
{
    enum status status =
        improve_products(costs, choices->items, choices->count, knn_costs_bound, error);
    for (int64_t i = 0; i < choices->count; i++)
        choices->items[i].bound_fs = choice_time_fs(costs, &choices->items[i]);
    return status == STATUS_STOPPED ? STATUS_OK : status; /* those of some are */
}

static int64_t limit_fs(const struct search_run *run)
{
    const struct stages *stages = run->pool;
    return stages->all ? INT64_MAX : incumbents_limit_fs(&run->incumbents);
}

/* The times of the `top` tilings of lowest bound, or of the best so far, say which of all can
 * matter. */
static enum status set_limit(struct search_run *run, struct choices *seeds, int64_t *limit,
                             struct error *error)
{
    const struct stages *stages = run->pool;
    struct knn_costs *costs = &stages->now->costs;
    struct incumbents incumbents;
    *limit = limit_fs(run);
    if (seeds->count == 0 || seeds->items[0].bound_fs > *limit)
        return STATUS_OK;
    enum status status =
        incumbents_open(&incumbents, run->options->top, run->options->best_only, error);
    for (int64_t i = 0; i < seeds->count && i < run->options->top && status == STATUS_OK; i++) {
        status = improve_products(costs, &seeds->items[i], 1, knn_costs_tune, error);
        incumbents_note(&incumbents, choice_time_fs(costs, &seeds->items[i]));
    }
    if (incumbents_limit_fs(&incumbents) < *limit)
        *limit = incumbents_limit_fs(&incumbents);
    incumbents_close(&incumbents);
    return status;
}

/* Those that may matter; where the search has to stop, some of them. */
static enum status collect_choices(struct search_run *run, struct choices *choices,
                                   struct error *error)
{
    struct stages *stages = run->pool;
    struct gathered seeds = {0}, chosen = {0};
    const struct knn_costs *costs = &stages->now->costs;
    bool *complete = &run->candidates.complete;
    int64_t limit = INT64_MAX;
    enum status status = gather_best(run, costs, !stages->all, run->options->top, &seeds, error);
    stages->feasible += seeds.feasible;
    for (int f = 0; f < FATES; f++)
        stages->pruned[f] += seeds.pruned[f];
    if (status == STATUS_OK && *complete && !stages->all)
        status = set_limit(run, &seeds.kept, &limit, error);
    if (status == STATUS_STOPPED) {
        status = STATUS_OK;
        *complete = false;
    }
    if (status == STATUS_OK && *complete)
        status = gather_up_to(run, costs, !stages->all, limit, &chosen, error);
    bool all = status == STATUS_OK && *complete;
    *choices = all ? chosen.kept : seeds.kept;
    free(all ? seeds.kept.items : chosen.kept.items);
    return status;
}

/* No time limit ends the first: without there is no answer. */
static enum status profile_part(struct search_run *run, struct part *part, struct error *error)
{
    struct limited patient;
    part->costs.space = run->simulated ? run->space : search_patience(run->space, &patient);
    enum status status = knn_costs_profile(&part->costs, error);
    part->costs.space = run->space;
    part->profiled = status == STATUS_OK;
    return status;
}

static enum status tune_all(struct knn_costs *costs, struct error *error)
{
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
static bool is_hopeless(const struct search_run *run, const struct knn_costs *costs)
{
    double least_fs = knn_share_roofline_ns(knn_space_of(run->space), costs->share) * FS_PER_NS;
    return least_fs * (1 - 1e-12) > (double)limit_fs(run);
}

static enum status open_choices(struct search_run *run, const struct choices *choices,
                                struct error *error)
{
    for (int64_t i = 0; i < choices->count; i++)
        if (!candidates_push(&run->candidates,
                             (struct candidate){.bound_fs = choices->items[i].bound_fs,
                                                .index = choices->items[i].index}))
            return error_memory(error);
    candidates_sort(&run->candidates, run->simulated);
    return STATUS_OK;
}

/* All tilings on one number of cores. */
static enum status open_part(struct search_run *run, struct error *error)
{
    struct stages *stages = run->pool;
    struct knn_costs *costs = &stages->now->costs;
    struct gathered counted = {0};
    struct choices choices = {0};
    if (is_hopeless(run, costs)) {
        enum status status = gather_count(run, costs, &counted, error);
        stages->feasible += counted.feasible;
        return status;
    }
    enum status status = profile_part(run, stages->now, error);
    if (status == STATUS_OK && stages->all)
        status = tune_all(costs, error);
    if (status == STATUS_OK)
        status = collect_choices(run, &choices, error);
    if (status == STATUS_OK)
        status = improve_bounds(costs, &choices, error);
    if (status == STATUS_OK)
        status = open_choices(run, &choices, error);
    free(choices.items);
    return status;
}

/* From most cores to fewest: most is best as a rule, and then the others are soon done with. */
static enum status refill_candidates(struct search_run *run, bool all, bool *more,
                                     struct error *error)
{
    struct stages *stages = run->pool;
    stages->all = all;
    stages->now = &stages->parts[--stages->left];
    *more = stages->left > 0;
    enum status status = run->simulated && stop_due(run->space->stop)
                             ? error_set(error, STATUS_STOPPED, "stopped")
                             : open_part(run, error);
    if (status != STATUS_STOPPED || run->simulated == 0)
        return status;
    run->candidates.complete = *more = false;
    return STATUS_OK;
}

static struct part *part_of(const struct search_run *run, int64_t index)
{
    const struct stages *stages = run->pool;
    return &stages->parts[space_block_of(run->space, index) - run->space->blocks];
}

/* The time of an open tiling whose distance tile is tuned already; INT64_MAX of another. */
static int64_t tuned_fs(const struct search_run *run, int64_t index)
{
    const struct knn_costs *costs = &part_of(run, index)->costs;
    struct tiling tiling;
    space_tiling(run->space, index, &tiling);
    struct choice choice = choice_of(costs, &tiling);
    return costs->products[choice.product].known == TUNED ? choice_time_fs(costs, &choice)
                                                          : INT64_MAX;
}

/* Moves the fastest of these to the front, if there are any: a search that has to end simulates one
 * tiling, and these need no time. */
static void bring_tuned(struct search_run *run)
{
    struct candidate *items = run->candidates.items, tuned;
    int64_t first = run->simulated, best = -1, best_fs = INT64_MAX;
    for (int64_t i = first; i < run->candidates.count; i++) {
        int64_t time_fs = tuned_fs(run, items[i].index);
        if (time_fs < best_fs) {
            best_fs = time_fs;
            best = i;
        }
    }
    if (best < 0)
        return;
    tuned = items[best];
    memmove(items + first + 1, items + first, (size_t)(best - first) * sizeof *items);
    items[first] = tuned;
}

static void take_batch(struct search_run *run, int64_t limit_fs, struct batch *batch)
{
    if (run->space == &run->hurry.space)
        bring_tuned(run);
    list_take(run, limit_fs, batch);
}

/* Simulates those of a batch that are of one part. What an inequality has pruned and may still be
 * among the best, or within one percent of them, is simulated all the same. */
static enum status simulate_part(struct search_run *run, struct part *part, struct batch *batch,
                                 struct error *error)
{
    struct stages *stages = run->pool;
    struct choice choices[SEARCH_BATCH];
    struct candidate *simulated[SEARCH_BATCH];
    int count = 0;
    part->costs.space = run->space;
    for (int i = 0; i < batch->count; i++) {
        struct candidate *candidate = &batch->items[i].candidate;
        struct tiling tiling;
        if (part_of(run, candidate->index) != part)
            continue;
        enum status status = part->profiled ? STATUS_OK : profile_part(run, part, error);
        if (status != STATUS_OK)
            return status;
        space_tiling(run->space, candidate->index, &tiling);
        choices[count] = choice_of(&part->costs, &tiling);
        choices[count].fate = stages->all ? FATE_LIVES : choice_fate(&part->costs, &tiling);
        if (!candidate->bound_fs)
            candidate->bound_fs = choices[count].bound_fs;
        simulated[count++] = candidate;
    }
    enum status status =
        count ? improve_products(&part->costs, choices, count, knn_costs_tune, error) : STATUS_OK;
    for (int i = 0; i < count && status == STATUS_OK; i++) {
        stages->pruned[choices[i].fate]--;
        simulated[i]->time_fs = choice_time_fs(&part->costs, &choices[i]);
    }
    return status;
}

static enum status simulate_batch(struct search_run *run, struct batch *batch, struct error *error)
{
    const struct stages *stages = run->pool;
    enum status status = STATUS_OK;
    for (int b = 0; b < run->space->block_count && status == STATUS_OK; b++)
        status = simulate_part(run, &stages->parts[b], batch, error);
    return status == STATUS_STOPPED ? STATUS_OK : status;
}

static enum status fill_found(struct search_run *run, const struct space *space,
                              const struct candidate *candidate, struct found *found,
                              struct error *error)
{
    struct part *part = part_of(run, candidate->index);
    struct choice choice = choice_of(&part->costs, &found->tiling);
    part->costs.space = space;
    enum status status = knn_found_fill(&part->costs, &choice, found, error);
    part->costs.space = run->space;
    /* told to stop before anything that the clock holds was found */
    return status == STATUS_TOO_LARGE && stop_due(run->space->stop) ? STATUS_STOPPED : status;
}

static void prove_with_rules(const struct search_run *run, struct proof *proof)
{
    const struct stages *stages = run->pool;
    list_prove(run, proof);
    proof->feasible = stages->feasible;
    proof->pruned_by[KNN_RULE_SELB] = stages->pruned[FATE_SELB];
    proof->pruned_by[KNN_RULE_HARMONIC] = stages->pruned[FATE_HARMONIC];
}

/* What was not simulated is beyond one percent, once the search has come to its end, and anything
 * otherwise. */
static void count_within(const struct search_run *run, struct search_result *result)
{
    const double shares[] = {ONE_PERCENT, run->options->tolerance};
    struct within *within[] = {&result->within_1_percent, &result->within_tolerance};
    for (int i = 0; i < 2 && result->count; i++) {
        const struct candidate *simulated = run->candidates.items;
        int64_t latest_fs = within_fs(simulated->time_fs, shares[i]);
        for (int64_t c = 0; c < run->simulated; c++)
            within[i]->surely += simulated[c].time_fs <= latest_fs;
        bool all = result->optimal && !run->options->best_only && shares[i] <= ONE_PERCENT;
        within[i]->at_most = within[i]->surely + (all ? 0 : result->feasible - result->simulated);
    }
}

static int by_index(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;
    return (a->index > b->index) - (a->index < b->index);
}

/* Fills result->reached with all of `choices`, and the times of those of `simulated`. */
static enum status reached_fill(const struct choices *choices, const struct candidate *simulated,
                                int64_t simulated_count, struct search_result *result,
                                struct error *error)
{
    size_t count = (size_t)choices->count;
    result->reached = calloc(count + 1, sizeof *result->reached);
    if (!result->reached)
        return error_memory(error);
    result->reached_count = choices->count;
    for (size_t i = 0; i < count; i++)
        result->reached[i] = (struct candidate){.bound_fs = choices->items[i].bound_fs,
                                                .index = choices->items[i].index};
    qsort(result->reached, count, sizeof *result->reached, by_index);
    for (int64_t i = 0; i < simulated_count; i++) {
        struct candidate key = {.index = simulated[i].index};
        struct candidate *found = bsearch(&key, result->reached, count, sizeof key, by_index);
        if (found)
            found->time_fs = simulated[i].time_fs;
    }
    return STATUS_OK;
}

/* All legal tilings with their bounds, by one walk more, and the times of those that were
 * simulated.
 */
static enum status keep_reached(struct search_run *run, struct search_result *result,
                                struct error *error)
{
    struct stages *stages = run->pool;
    struct gathered all = {0};
    enum status status = STATUS_OK;
    for (int b = 0; b < run->space->block_count && status == STATUS_OK; b++) {
        stages->now = &stages->parts[b];
        if (!stages->now->profiled)
            status = profile_part(run, stages->now, error);
        if (status == STATUS_OK)
            status = gather_up_to(run, &stages->now->costs, !stages->all, INT64_MAX, &all, error);
    }
    result->reached_all = status == STATUS_OK && run->candidates.complete;
    if (status == STATUS_STOPPED)
        status = STATUS_OK;
    if (status == STATUS_OK)
        status = reached_fill(&all.kept, run->candidates.items, run->simulated, result, error);
    free(all.kept.items);
    return status;
}

static enum status tell_result(struct search_run *run, struct search_result *result,
                               struct error *error)
{
    count_within(run, result);
    return run->options->keep_reached ? keep_reached(run, result, error) : STATUS_OK;
}

static enum status open_parts(struct search_run *run, struct error *error)
{
    struct stages *stages = run->pool;
    const struct space *space = run->space;
    stages->parts = calloc((size_t)space->block_count + 1, sizeof *stages->parts);
    if (!stages->parts)
        return error_memory(error);
    for (int b = 0; b < space->block_count; b++)
        knn_costs_open(&stages->parts[b].costs, space, &space->blocks[b], &run->recorder);
    stages->left = space->block_count;
    run->candidates.complete = true;
    return STATUS_OK;
}

static void close_parts(struct search_run *run)
{
    const struct stages *stages = run->pool;
    for (int b = 0; stages->parts && b < run->space->block_count; b++)
        knn_costs_close(&stages->parts[b].costs);
    free(stages->parts);
}

const struct search_source knn_source = {
    .size = sizeof(struct stages),
    .batch = BATCH,
    .idle = "profiling tiles",
    .open = open_parts,
    .close = close_parts,
    .refill = refill_candidates,
    .next_fs = list_next_fs,
    .open_count = list_open_count,
    .take = take_batch,
    .observe = list_observe,
    .simulate = simulate_batch,
    .fill = fill_found,
    .prove = prove_with_rules,
    .tell = tell_result,
};

enum status knn_search_simulate(const struct space *space, const struct tiling *tiling,
                                struct found *found, struct error *error)
{
    struct knn_costs costs;
    struct recorder recorder = {.threads = omp_get_max_threads()};
    const struct space_block *block = space_block_of(space, space_index(space, tiling));
    knn_costs_open(&costs, space, block, &recorder);
    enum status status = knn_costs_profile(&costs, error);
    memset(found, 0, sizeof *found);
    if (status == STATUS_OK) {
        struct choice choice = choice_of(&costs, tiling);
        status = knn_costs_tune(&costs, &choice.product, 1, error);
        if (status == STATUS_OK)
            status = knn_found_fill(&costs, &choice, found, error);
    }
    knn_costs_close(&costs);
    return status;
}
