/* Branch and bound (Land and Doig 1960) over prefixes of tilings, best-first with dives to whole
 * tilings in between: one heap of open prefixes a level, threads that split whole batches of them,
 * and a tally of what was left out by its bound.
 *
 * A heap is one in an array (Williams 1964), whose pops carry a hole instead of swapping. The tally
 * is a histogram whose intervals are the leading bits of a bound, as floating point has them: one
 * array for all of int64_t, and one atomic addition for each count. The shortest prefixes, roots,
 * are an array in order of index, counted by stretches: within one, prefixes that are alike follow
 * each other and are counted once. How many tilings are near the best is known from two sides: of
 * what was simulated surely, of what was not the bounds leave it open. */
#include "search/nested.h"

#include "core/array.h"
#include "core/stop.h"
#include "search/seeds.h"
#include "search/strategy.h"

#include <omp.h>
#include <stdlib.h>

/* ---- open prefixes ---- */

bool heap_push(struct heap *heap, struct open_node node)
{
    if (!array_reserve(&heap->items, heap->count, &heap->capacity, sizeof *heap->items))
        return false;
    int64_t at = heap->count++;
    for (; at > 0 && open_node_before(&node, &heap->items[(at - 1) / 2]); at = (at - 1) / 2)
        heap->items[at] = heap->items[(at - 1) / 2];
    heap->items[at] = node;
    return true;
}

struct open_node heap_pop(struct heap *heap)
{
    struct open_node first = heap->items[0], last = heap->items[--heap->count];
    int64_t at = 0, child = 1;
    for (; child < heap->count; at = child, child = 2 * at + 1) {
        if (child + 1 < heap->count &&
            open_node_before(&heap->items[child + 1], &heap->items[child]))
            child++;
        if (!open_node_before(&heap->items[child], &last))
            break;
        heap->items[at] = heap->items[child];
    }
    heap->items[at] = last;
    return first;
}

void heap_close(struct heap *heap)
{
    free(heap->items);
}

/* ---- what is no longer open, by its bound ---- */

enum {
    TALLY_BITS = 14, /* after the leading one, of each bound */
    TALLY_INTERVALS = (63 - TALLY_BITS + 1) << TALLY_BITS,
};

/* Its leading bits with their place: ascends with the bound. */
static int interval_of(int64_t bound_fs)
{
    int top = 63 - __builtin_clzll((uint64_t)bound_fs | 1);
    if (top < TALLY_BITS)
        return (int)bound_fs;
    return ((top - TALLY_BITS) << TALLY_BITS) + (int)(bound_fs >> (top - TALLY_BITS));
}

enum status tally_open(struct tally *tally, struct error *error)
{
    tally->count = calloc(TALLY_INTERVALS, sizeof *tally->count);
    return tally->count ? STATUS_OK : error_memory(error);
}

void tally_close(struct tally *tally)
{
    free(tally->count);
}

void tally_add(struct tally *tally, int64_t bound_fs, int64_t count)
{
    int64_t *sum = &tally->count[interval_of(bound_fs)];
#pragma omp atomic
    *sum += count;
}

int64_t tally_sum(const struct tally *tally, int64_t latest_fs)
{
    int64_t sum = 0;
    for (int i = 0; i <= interval_of(latest_fs); i++)
        sum += tally->count[i];
    return sum;
}

/* ---- the shortest prefixes, and how many leaves each has ---- */

struct root {
    int64_t index, leaves; /* leaves: -1 until they are counted */
};

struct roots {
    int64_t count, capacity;
    struct root *items; /* owned */
    int64_t leaves;     /* of all that are counted */
    bool counted;       /* these are all */
};

enum { STRETCH = 512 };

/* In order of index; false without memory. */
static bool roots_add(struct roots *roots, int64_t index)
{
    if (!array_reserve(&roots->items, roots->count, &roots->capacity, sizeof *roots->items))
        return false;
    roots->items[roots->count++] = (struct root){index, -1};
    return true;
}

static void roots_close(struct roots *roots)
{
    free(roots->items);
}

/* A count that was stopped in its midst says too little: it is not kept. */
static void count_stretch(struct roots *roots, const struct prefix_levels *levels,
                          const struct space *space, int64_t first)
{
    struct leaf_counter counter = {.any = false};
    for (int64_t i = first; i < first + STRETCH && i < roots->count; i++) {
        struct tiling tiling;
        space_tiling(space, roots->items[i].index, &tiling);
        int64_t leaves = leaf_counter_next(&counter, levels, space, &tiling);
#pragma omp atomic
        roots->leaves += leaves;
        if (stop_due(space->stop))
            return;
        roots->items[i].leaves = leaves;
    }
}

/* Counts what is not counted yet, on all threads, until space->stop ends it. */
static void roots_count(struct roots *roots, const struct prefix_levels *levels,
                        const struct space *space, int threads)
{
    bool counted = true;
    roots->leaves = 0;
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int64_t first = 0; first < roots->count; first += STRETCH)
        if (!stop_due(space->stop))
            count_stretch(roots, levels, space, first);
    for (int64_t i = 0; i < roots->count && counted; i++)
        counted = roots->items[i].leaves >= 0;
    roots->counted = counted;
}

static int by_index(const void *left, const void *right)
{
    const struct root *a = left, *b = right;
    return a->index < b->index ? -1 : a->index > b->index;
}

/* -1 where they are not counted. */
static int64_t roots_leaves(const struct roots *roots, int64_t index)
{
    const struct root key = {.index = index};
    const struct root *root = roots->count ? bsearch(&key, roots->items, (size_t)roots->count,
                                                     sizeof *roots->items, by_index)
                                           : NULL;
    return root ? root->leaves : -1;
}

/* ---- splitting ---- */

enum {
    MANY = 4000000,     /* open prefixes, from which on the longest come first */
    DIVE = 4,           /* prefixes at a time, where they do */
    DIVE_EVERY = 4,     /* batches: one of so many does in any case */
    COUNT_AFTER = 2048, /* batches */
};

struct nested {
    struct prefix_levels levels;
    struct heap open[PREFIX_MAX_LEVELS];
    struct search_level done[PREFIX_MAX_LEVELS];
    struct roots roots;
    int batches;        /* that were observed before the roots' leaves were counted */
    int64_t seeds;      /* that were simulated before anything was opened */
    struct tally tally; /* legal tilings that are no longer open, by their bound */
};

/* Who splits a prefix. */
struct splitter {
    struct search_run *run;
    struct nested *nested;
    struct piece *piece;
    int64_t limit_fs, tally_fs; /* bounds up to which prefixes stay open, and are counted */
};

/* Bounds above this belong to no tiling that can be counted as within a share of the best. */
static int64_t tally_limit_fs(const struct search_run *run)
{
    double share = run->options->tolerance > ONE_PERCENT ? run->options->tolerance : ONE_PERCENT;
    if (run->options->best_only || run->options->uncounted)
        return 0;
    return run->incumbents.count ? within_fs(run->incumbents.time_fs[0], share) : INT64_MAX;
}

static void keep_longer(struct piece *piece, struct open_node node)
{
    if (array_reserve(&piece->longer, piece->count, &piece->capacity, sizeof *piece->longer))
        piece->longer[piece->count++] = node;
    else
        piece->failed = true;
}

/* A bound of a longer prefix that is less than the shorter one's says less: both hold. */
static void split_into(void *context, const struct tiling *tiling, int64_t index)
{
    struct splitter *splitter = context;
    const struct search_run *run = splitter->run;
    struct nested *nested = splitter->nested;
    struct piece *piece = splitter->piece;
    int level = piece->level + 1;
    int64_t bound_fs = prefix_bound_fs(&nested->levels, run->space, &run->bounder, tiling, level);
    piece->bounded++;
    if (!prefix_is_tiling(&nested->levels, level) && bound_fs < piece->candidate.bound_fs)
        bound_fs = piece->candidate.bound_fs;
    /* of the shortest all are kept, to be counted */
    bool left_out = level > 1 && bound_fs > splitter->limit_fs;
    if (left_out && bound_fs <= splitter->tally_fs) {
        int64_t leaf_count = prefix_leaf_count(&nested->levels, run->space, tiling, level);
        left_out = !stop_due(run->space->stop); /* else these may not be all: it stays open */
        tally_add(&nested->tally, bound_fs, left_out ? leaf_count : 0);
    }
    if (left_out ||
        (prefix_is_tiling(&nested->levels, level) && seeds_have(run, nested->seeds, index)))
        return;
    keep_longer(piece, (struct open_node){bound_fs, index});
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

static void note_level(struct nested *nested, const struct piece *piece)
{
    struct search_level *done = nested->done;
    done[piece->level].split += piece->ran;
    done[piece->level].simulated += piece->candidate.time_fs != 0;
    if (piece->bounded)
        done[piece->level + 1].bounded += piece->bounded;
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

/* Those of one value of a block's first axis. */
static bool open_root(struct nested *nested, struct piece *piece)
{
    bool kept = !piece->failed;
    for (int64_t i = 0; i < piece->count && kept; i++)
        kept = roots_add(&nested->roots, piece->longer[i].index);
    note_level(nested, piece);
    return open_longer(nested, piece) && kept;
}

/* The prefixes of the shortest length, all of them whatever the time: they bound the space. */
static enum status open_roots(struct search_run *run, struct error *error)
{
    int64_t count = space_roots(run->space);
    struct piece *pieces = calloc((size_t)count + 1, sizeof *pieces);
    bool kept = pieces != NULL;
    struct limited whole;
    const struct space *all = search_until(run->space, (struct stop){.told = NULL}, &whole);
    if (!pieces)
        return error_memory(error);
    recorder_begin(&run->recorder);
#pragma omp parallel num_threads(run->threads)
    {
        int64_t start_ns = recorder_now(&run->recorder), bounded = 0;
#pragma omp for schedule(dynamic) nowait
        for (int64_t i = 0; i < count; i++) {
            struct splitter splitter = splitter_of(run);
            pieces[i].candidate.index = space_root(run->space, i);
            split_by(&splitter, all, &pieces[i]);
            bounded += pieces[i].bounded;
        }
        recorder_keep(&run->recorder, PHASE_BOUNDING, start_ns, bounded, 0);
    }
    recorder_end(&run->recorder);
    for (int64_t i = 0; i < count; i++)
        kept = open_root(run->pool, &pieces[i]) && kept;
    free(pieces);
    return kept ? STATUS_OK : error_memory(error);
}

static enum status refill(struct search_run *run, bool all, bool *more, struct error *error)
{
    struct nested *nested = run->pool;
    (void)all;
    *more = false;
    recorder_begin(&run->recorder);
    int64_t start_ns = recorder_now(&run->recorder);
    TRY(seeds_find(run, error));
    nested->seeds = run->simulated;
    recorder_keep(&run->recorder, PHASE_SEEDING, start_ns, 0, nested->seeds);
    recorder_end(&run->recorder);
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

/* The level whose first prefix comes next, the longer one where they are equal; with `dive` the
 * longest. -1: nothing is open up to the limit. */
static int next_level(const struct nested *nested, int64_t limit_fs, bool dive)
{
    int best = -1;
    for (int l = nested->levels.count - 1; l >= 0; l--) {
        const struct heap *heap = &nested->open[l];
        if (heap->count && heap->items[0].bound_fs <= limit_fs &&
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
    int level = next_level(nested, INT64_MAX, false);
    return level < 0 ? NOTHING_OPEN : nested->open[level].items[0].bound_fs;
}

static void take(struct search_run *run, int64_t limit_fs, struct batch *batch)
{
    struct nested *nested = run->pool;
    bool none = run->incumbents.count < run->incumbents.top;
    bool dive = none || nested->batches % DIVE_EVERY == 0 || open_count(run) > MANY;
    int level = next_level(nested, limit_fs, dive), first = level;
    int most = dive && batch->most > DIVE && level < nested->levels.count - 1 ? DIVE : batch->most;
    while (batch->count < most && level >= 0) {
        struct open_node node = heap_pop(&nested->open[level]);
        batch->items[batch->count++] =
            (struct piece){.level = level,
                           .is_prefix = !prefix_is_tiling(&nested->levels, level),
                           .candidate = {.bound_fs = node.bound_fs, .index = node.index}};
        level = next_level(nested, limit_fs, dive);
        if (dive && level != first)
            break;
    }
}

/* Takes in what a piece gave; one that did not run is open again. */
static bool close_piece(struct search_run *run, struct piece *piece)
{
    struct nested *nested = run->pool;
    struct open_node node = {piece->candidate.bound_fs, piece->candidate.index};
    note_level(nested, piece);
    if (piece->candidate.time_fs) {
        run->simulated++;
        return candidates_push(&run->candidates, piece->candidate);
    }
    if (piece->ran)
        return open_longer(nested, piece);
    free(piece->longer);
    return heap_push(&nested->open[piece->level], node);
}

static void count_roots(struct search_run *run)
{
    struct nested *nested = run->pool;
    recorder_begin(&run->recorder);
    int64_t start_ns = recorder_now(&run->recorder);
    roots_count(&nested->roots, &nested->levels, run->space, run->threads);
    recorder_keep(&run->recorder, PHASE_COUNTING, start_ns, nested->roots.count, 0);
    recorder_end(&run->recorder);
}

/* Counts once all is known, or after a while, as far as there is time. */
static enum status observe(struct search_run *run, struct batch *batch, struct error *error)
{
    struct nested *nested = run->pool;
    bool kept = true;
    for (int i = 0; i < batch->count; i++)
        kept = close_piece(run, &batch->items[i]) && kept;
    bool done = next_level(nested, incumbents_limit_fs(&run->incumbents), false) < 0;
    nested->batches++;
    if (!run->options->uncounted && !nested->roots.leaves &&
        (done || nested->batches == COUNT_AFTER))
        count_roots(run);
    return kept ? STATUS_OK : error_memory(error);
}

/* Where nothing is open and nothing could be left out, all that is legal was simulated. */
static void prove(const struct search_run *run, struct proof *proof)
{
    const struct nested *nested = run->pool;
    int64_t leaves = nested->roots.leaves;
    *proof = (struct proof){
        .feasible = leaves > run->simulated ? leaves : run->simulated,
        .next_fs = next_fs(run),
        .counted = nested->roots.counted,
        .bounded = true,
    };
    if (proof->next_fs == NOTHING_OPEN && run->incumbents.count < run->incumbents.top)
        proof->counted = true;
    else if (run->options->uncounted)
        proof->feasible = -1;
}

/* How many tilings an open prefix adds that may be within a time; none that is known to be
 * outside. */
static int64_t open_within(const struct nested *nested, const struct space *space, int level,
                           struct open_node node, int64_t latest_fs)
{
    struct tiling tiling;
    if (node.bound_fs > latest_fs)
        return 0;
    int64_t leaves = level == 1 ? roots_leaves(&nested->roots, node.index) : -1;
    if (leaves >= 0)
        return leaves;
    space_tiling(space, node.index, &tiling);
    return prefix_leaf_count(&nested->levels, space, &tiling, level);
}

/* All legal tilings are simulated, or in the tally, or open, or beyond what either may count; an
 * uncounted search has no tally. Where the search was stopped, what is open is counted for a moment
 * at most: then it may be all there is. */
static void count_within(const struct search_run *run, struct within *within, double share,
                         int64_t best_fs)
{
    const struct nested *nested = run->pool;
    int64_t latest_fs = within_fs(best_fs, share);
    struct proof proof;
    run->source->prove(run, &proof);
    int64_t all = proof.counted ? proof.feasible : run->space->candidates;
    struct limited moment;
    const struct space *space = search_moment(run->space, &moment);
    for (int64_t i = 0; i < run->simulated; i++)
        within_note(within, &run->candidates.items[i], best_fs, share);
    if (run->options->uncounted) {
        within->at_most = all;
        return;
    }
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
        struct proof proof;
        prove(run, &proof);
        result->reached_all = proof.counted && run->simulated == proof.feasible;
        list_keep(run, result);
    }
    result->level_count = nested->levels.count;
    for (int l = 0; l < nested->levels.count; l++) {
        result->levels[l] = nested->done[l];
        result->levels[l].values = nested->levels.length[l];
        result->levels[l].open = nested->open[l].count;
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
    roots_close(&nested->roots);
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
