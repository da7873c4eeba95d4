/* Branch and bound (Land and Doig 1960) with a best-first order over prefixes of tilings: one heap
 * of open prefixes a level, threads that split whole batches of them, and a tally of what was
 * left out by its bound. */
#include "search/nested.h"

#include "core/array.h"
#include "search/listed.h"
#include "search/prefix.h"
#include "search/tally.h"
#include "search/walk.h"

#include <omp.h>
#include <stdlib.h>

enum { MANY = 4000000 }; /* open prefixes, from which on the longest come first */

struct nested {
    struct prefix_levels levels;
    struct heap open[PREFIX_MAX_LEVELS];
    struct tally tally; /* legal tilings that are no longer open, by their bound */
    int64_t feasible;
    bool uncounted;               /* it was stopped before all shortest prefixes were counted */
    int64_t most, counted;        /* counting alone: how far, and what there is so far */
    volatile sig_atomic_t enough; /* … that is more */
};

/* Who splits a prefix. */
struct splitter {
    struct search_run *run;
    struct nested *nested;
    struct piece *piece;
    int64_t limit_fs, tally_fs; /* bounds up to which prefixes stay open, and are counted */
    int64_t leaf_count;         /* of prefixes of the shortest length */
    struct leaf_counter counter;
    bool uncounted;
};

/* Bounds above this belong to no tiling that can be counted as within a share of the best. */
static int64_t tally_limit_fs(const struct search_run *run)
{
    double share = run->options->tolerance > ONE_PERCENT ? run->options->tolerance : ONE_PERCENT;
    if (run->options->best_only)
        return 0;
    return run->incumbents.count ? within_fs(run->incumbents.time_fs[0], share) : INT64_MAX;
}

static void add_longer(struct piece *piece, struct open_node node)
{
    if (array_reserve(&piece->longer, piece->count, &piece->capacity, sizeof *piece->longer))
        piece->longer[piece->count++] = node;
    else
        piece->failed = true;
}

static int64_t bound_of(const struct search_run *run, const struct tiling *tiling, int level)
{
    const struct nested *nested = run->pool;
    const struct operator_space *kind = run->space->kind;
    struct work work;
    if (prefix_is_tiling(&nested->levels, level))
        kind->summarise(run->space, tiling, &work);
    else
        kind->nesting->summarise(run->space, tiling, nested->levels.length[level], &work);
    return bounder_fs(&run->bounder, &work);
}

/* Where there is nothing to do but to count. */
static void note_count(struct nested *nested, int64_t leaf_count)
{
    int64_t counted;
#pragma omp atomic capture
    counted = nested->counted += leaf_count;
    if (counted > nested->most)
        nested->enough = 1;
}

/* A bound of a longer prefix that is less than the shorter one's says less: both hold. */
static void split_into(void *context, const struct tiling *tiling, int64_t index)
{
    struct splitter *splitter = context;
    const struct search_run *run = splitter->run;
    struct nested *nested = splitter->nested;
    struct piece *piece = splitter->piece;
    int level = piece->level + 1;
    int64_t bound_fs = bound_of(run, tiling, level), leaf_count = 0;
    piece->bounded++;
    if (!prefix_is_tiling(&nested->levels, level) && bound_fs < piece->candidate.bound_fs)
        bound_fs = piece->candidate.bound_fs;
    bool open = bound_fs <= splitter->limit_fs;
    bool count = level == 1 && !splitter->uncounted;
    if (count || (!open && bound_fs <= splitter->tally_fs)) {
        leaf_count =
            count ? leaf_counter_next(&splitter->counter, &nested->levels, run->space, tiling)
                  : prefix_leaf_count(&nested->levels, run->space, tiling, level);
        if (nested->most)
            note_count(nested, leaf_count);
        if (stop_due(run->space->stop)) { /* these may not be all: it stays open */
            splitter->uncounted = splitter->uncounted || level == 1;
            leaf_count = 0;
            count = false;
            open = true;
        }
    }
    splitter->leaf_count += leaf_count;
    if (count && leaf_count == 0)
        return;
    if (open)
        add_longer(piece, (struct open_node){bound_fs, index});
    else if (bound_fs <= splitter->tally_fs)
        tally_add(&nested->tally, bound_fs, leaf_count);
}

/* Takes the limits of now, which no batch changes: all of it see the same. */
static struct splitter splitter_of(struct search_run *run)
{
    return (struct splitter){.run = run,
                             .nested = run->pool,
                             .limit_fs = incumbents_limit_fs(&run->incumbents),
                             .tally_fs = tally_limit_fs(run)};
}

/* Splits a prefix; it did not run where it was stopped before that was done. */
static void split_by(struct splitter *splitter, const struct space *space, struct piece *piece)
{
    const int *length = &splitter->nested->levels.length[piece->level];
    splitter->piece = piece;
    piece->ran =
        space_walk(space, piece->candidate.index, length[0], length[1], split_into, splitter);
}

static void split(struct search_run *run, struct piece *piece)
{
    struct splitter splitter = splitter_of(run);
    split_by(&splitter, run->space, piece);
}

/* Opens what a prefix was split into. */
static bool open_longer(struct nested *nested, struct piece *piece)
{
    bool kept = !piece->failed;
    for (int64_t i = 0; i < piece->count && kept; i++)
        kept = heap_push(&nested->open[piece->level + 1], piece->longer[i]);
    free(piece->longer);
    return kept;
}

/* The prefixes of the shortest length, all of them whatever the time: they bound the space. They
 * also say how much there is, as far as there is time. */
static enum status open_roots(struct search_run *run, struct error *error)
{
    struct nested *nested = run->pool;
    int64_t count = space_roots(run->space), feasible = 0;
    struct piece *pieces = calloc((size_t)count + 1, sizeof *pieces);
    bool kept = pieces != NULL, uncounted = false;
    struct limited whole;
    const struct space *all = search_until(run->space, (struct stop){.told = NULL}, &whole);
    if (!pieces)
        return error_memory(error);
    recorder_begin(&run->recorder);
#pragma omp parallel num_threads(run->threads)
    {
        int64_t start_ns = recorder_now(&run->recorder), bounded = 0;
#pragma omp for schedule(dynamic) nowait reduction(+ : feasible) reduction(|| : uncounted)
        for (int64_t i = 0; i < count; i++) {
            struct splitter splitter = splitter_of(run);
            pieces[i].candidate.index = space_root(run->space, i);
            split_by(&splitter, all, &pieces[i]);
            uncounted = splitter.uncounted || uncounted;
            feasible += splitter.leaf_count;
            bounded += pieces[i].bounded;
        }
        recorder_keep(&run->recorder, PHASE_BOUNDING, start_ns, bounded, 0);
    }
    recorder_end(&run->recorder);
    for (int64_t i = 0; i < count; i++)
        kept = open_longer(nested, &pieces[i]) && kept;
    free(pieces);
    nested->feasible = feasible;
    nested->uncounted = uncounted;
    return kept ? STATUS_OK : error_memory(error);
}

static enum status refill(struct search_run *run, bool all, bool *more, struct error *error)
{
    (void)all;
    *more = false;
    return open_roots(run, error);
}

static int64_t open_count(const struct search_run *run)
{
    const struct nested *nested = run->pool;
    int64_t count = 0;
    for (int l = 0; l < nested->levels.count; l++)
        count += nested->open[l].count;
    return count;
}

/* The level whose first prefix has the least bound, the longer one where they are equal; with
 * `dive` the longest. -1: nothing is open. */
static int next_level(const struct nested *nested, bool dive)
{
    int best = -1;
    for (int l = nested->levels.count - 1; l >= 0; l--) {
        const struct heap *heap = &nested->open[l];
        if (heap->count &&
            (best < 0 || heap->items[0].bound_fs < nested->open[best].items[0].bound_fs))
            best = l;
        if (best >= 0 && dive)
            break;
    }
    return best;
}

static int64_t next_fs(const struct search_run *run)
{
    const struct nested *nested = run->pool;
    int level = next_level(nested, false);
    return level < 0 ? NOTHING_OPEN : nested->open[level].items[0].bound_fs;
}

static void take(struct search_run *run, int64_t limit_fs, struct batch *batch)
{
    struct nested *nested = run->pool;
    bool dive = run->incumbents.count < run->incumbents.top || open_count(run) > MANY;
    int level = next_level(nested, dive), first = level;
    while (batch->count < batch->most && level >= 0 &&
           nested->open[level].items[0].bound_fs <= limit_fs) {
        struct open_node node = heap_pop(&nested->open[level]);
        batch->items[batch->count++] =
            (struct piece){.level = level,
                           .is_prefix = !prefix_is_tiling(&nested->levels, level),
                           .candidate = {.bound_fs = node.bound_fs, .index = node.index}};
        level = next_level(nested, dive);
        if (dive && level != first)
            break;
    }
}

/* Takes in what a piece gave; one that did not run is open again. */
static bool close_piece(struct search_run *run, struct piece *piece)
{
    struct nested *nested = run->pool;
    struct open_node node = {piece->candidate.bound_fs, piece->candidate.index};
    if (piece->candidate.time_fs) {
        run->simulated++;
        return candidates_push(&run->candidates, piece->candidate);
    }
    if (piece->ran)
        return open_longer(nested, piece);
    free(piece->longer);
    return heap_push(&nested->open[piece->level], node);
}

static enum status observe(struct search_run *run, struct batch *batch, struct error *error)
{
    bool kept = true;
    for (int i = 0; i < batch->count; i++)
        kept = close_piece(run, &batch->items[i]) && kept;
    return kept ? STATUS_OK : error_memory(error);
}

static void prove(const struct search_run *run, struct proof *proof)
{
    const struct nested *nested = run->pool;
    *proof = (struct proof){
        .feasible = nested->feasible > run->simulated ? nested->feasible : run->simulated,
        .next_fs = next_fs(run),
        .counted = !nested->uncounted,
        .bounded = true,
    };
}

/* How many tilings an open prefix adds that may be within a time; none that is known to be
 * outside. */
static int64_t open_within(const struct nested *nested, const struct space *space, int level,
                           struct open_node node, int64_t latest_fs)
{
    struct tiling tiling;
    if (node.bound_fs > latest_fs)
        return 0;
    space_tiling(space, node.index, &tiling);
    return prefix_leaf_count(&nested->levels, space, &tiling, level);
}

/* All legal tilings are simulated, or in the tally, or open, or beyond what either may count. Where
 * the search was stopped, what is open is counted for a moment at most: then it may be all there
 * is. */
static void count_within(const struct search_run *run, struct within *within, double share,
                         int64_t best_fs)
{
    const struct nested *nested = run->pool;
    int64_t latest_fs = within_fs(best_fs, share);
    int64_t all = nested->uncounted ? run->space->candidates : nested->feasible;
    struct limited moment;
    const struct space *space = search_moment(run->space, &moment);
    for (int64_t i = 0; i < run->simulated; i++)
        within_note(within, &run->candidates.items[i], best_fs, share);
    within->at_most += tally_sum(&nested->tally, latest_fs);
    for (int l = 1; l < nested->levels.count; l++)
        for (int64_t i = 0; i < nested->open[l].count; i++) {
            within->at_most += open_within(nested, space, l, nested->open[l].items[i], latest_fs);
            if (stop_due(space->stop)) {
                within->at_most = all;
                return;
            }
        }
    if (within->at_most > all)
        within->at_most = all;
}

static enum status tell(struct search_run *run, struct search_result *result, struct error *error)
{
    const struct nested *nested = run->pool;
    (void)error;
    if (result->count && !run->options->best_only) {
        int64_t best_fs = result->best[0].timeline.end_fs;
        count_within(run, &result->within_1_percent, ONE_PERCENT, best_fs);
        count_within(run, &result->within_tolerance, run->options->tolerance, best_fs);
    }
    if (run->options->keep_reached) {
        result->reached_all = run->simulated == nested->feasible && !nested->uncounted;
        list_keep(run, result);
    }
    return STATUS_OK;
}

static enum status open_levels(struct search_run *run, struct error *error)
{
    struct nested *nested = run->pool;
    prefix_levels_of(run->space, &nested->levels);
    return tally_open(&nested->tally, error);
}

static void close_levels(struct search_run *run)
{
    struct nested *nested = run->pool;
    for (int l = 0; l < nested->levels.count; l++)
        heap_close(&nested->open[l]);
    tally_close(&nested->tally);
}

const struct search_source nested_source = {
    .size = sizeof(struct nested),
    .batch = SEARCH_BATCH,
    .best_only = true,
    .open = open_levels,
    .close = close_levels,
    .refill = refill,
    .next_fs = next_fs,
    .open_count = open_count,
    .take = take,
    .observe = observe,
    .split = split,
    .prove = prove,
    .tell = tell,
};

enum status nested_count(const struct space *space, int64_t most, int threads, int64_t *count,
                         struct error *error)
{
    struct search_options options = {.top = 1, .best_only = true};
    struct search_run run = {
        .space = space, .options = &options, .source = &nested_source, .threads = threads};
    struct limited limited;
    enum status status = search_run_open(&run, error);
    *count = 0;
    if (status == STATUS_OK) {
        struct nested *nested = run.pool;
        nested->most = most;
        run.space = search_until(space, (struct stop){.told = &nested->enough, .also = space->stop},
                                 &limited);
        status = open_roots(&run, error);
        *count = nested->counted;
    }
    search_run_close(&run);
    return status;
}
