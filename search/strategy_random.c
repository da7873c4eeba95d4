/* Legal tilings drawn at random, each as likely as any other and none twice: what to hold other
 * strategies against, and a first answer where bounds say little, for it asks for none.
 *
 * Drawing is by rank. All legal tilings are counted in order, under the values of each block's
 * first axis; ranks are drawn (Matsumoto and Nishimura 1998, by gsl_rng) until there are as many
 * different ones as are wanted; and the walk that has counted goes once more, into those prefixes
 * only that hold a rank. Where prefixes can say how many tilings continue them (struct
 * operator_nesting), none of these is listed. In other spaces of more than 2^20 tilings any point
 * is drawn, and what is not legal is drawn again, as often as MOST_TRIED. One thread draws from one
 * seed: the same tilings for any number of threads. */
#include "search/prefix.h"
#include "search/strategy.h"

#include <gsl/gsl_rng.h>
#include <stdlib.h>

enum {
    MOST_DRAWN = 1000, /* `title` says it */
    MOST_TRIED = 10000000,
    SEED = 1,
};

struct draw {
    int64_t rank;  /* among all legal tilings, in order of index */
    int64_t index; /* the tiling's; -1 until it is found */
    int place;     /* in the order in which they were drawn */
};

struct lottery {
    struct prefix_levels levels;
    int64_t roots, *first; /* [root] the rank of its first tiling; [roots] the sum; owned */
    int64_t feasible;
    bool counted, all; /* every legal tiling was counted; … and drawn */
    int count;
    struct draw draws[MOST_DRAWN]; /* in order of rank */
};

/* ---- counting ---- */

/* Who walks the prefixes of one level, and at which rank. */
struct ranker {
    const struct lottery *lottery;
    const struct space *space;
    int level;
    int64_t at;
    struct leaf_counter counter;
    struct draw *next, *end; /* draws that are still to be found */
};

static int64_t leaf_count(struct ranker *ranker, const struct tiling *tiling)
{
    const struct prefix_levels *levels = &ranker->lottery->levels;
    return ranker->level == 1 ? leaf_counter_next(&ranker->counter, levels, ranker->space, tiling)
                              : prefix_leaf_count(levels, ranker->space, tiling, ranker->level);
}

static void count_ranks(void *context, const struct tiling *tiling, int64_t index)
{
    struct ranker *ranker = context;
    (void)index;
    ranker->at += leaf_count(ranker, tiling);
}

static bool walk_root(struct search_run *run, int64_t root, walk_visit *visit,
                      struct ranker *ranker)
{
    ranker->lottery = run->state;
    ranker->space = run->space;
    ranker->level = 1;
    return space_walk(run->space, space_root(run->space, root), 1,
                      ranker->lottery->levels.length[1], visit, ranker);
}

/* False: told to stop before all were counted. */
static bool count_all(struct search_run *run)
{
    struct lottery *lottery = run->state;
    bool counted = true;
#pragma omp parallel for num_threads(run->threads) schedule(dynamic) reduction(&& : counted)
    for (int64_t r = 0; r < lottery->roots; r++) {
        struct ranker ranker = {.at = 0};
        counted = walk_root(run, r, count_ranks, &ranker) && !stop_due(run->space->stop) && counted;
        lottery->first[r + 1] = ranker.at;
    }
    for (int64_t r = 0; r < lottery->roots; r++)
        lottery->first[r + 1] += lottery->first[r];
    lottery->feasible = lottery->first[lottery->roots];
    return counted;
}

/* ---- drawing ---- */

/* 64 bits of a generator of 32, and none of them more likely than others. */
static int64_t draw_below(gsl_rng *rng, int64_t end)
{
    uint64_t range = (uint64_t)end, excess = -range % range, bits;
    do
        bits = (uint64_t)gsl_rng_get(rng) << 32 | gsl_rng_get(rng);
    while (bits < excess);
    return (int64_t)(bits % range);
}

static bool is_drawn(const struct lottery *lottery, int64_t rank)
{
    for (int d = 0; d < lottery->count; d++)
        if (lottery->draws[d].rank == rank)
            return true;
    return false;
}

static int by_rank(const void *left, const void *right)
{
    const struct draw *a = left, *b = right;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

static void draw_ranks(struct lottery *lottery, gsl_rng *rng)
{
    while (lottery->count < MOST_DRAWN && lottery->count < lottery->feasible) {
        int64_t rank = draw_below(rng, lottery->feasible);
        if (is_drawn(lottery, rank))
            continue;
        lottery->draws[lottery->count] =
            (struct draw){.rank = rank, .index = -1, .place = lottery->count};
        lottery->count++;
    }
    qsort(lottery->draws, (size_t)lottery->count, sizeof *lottery->draws, by_rank);
}

/* A tiling's rank is its index here. */
static void draw_points(struct search_run *run, gsl_rng *rng)
{
    const struct space *space = run->space;
    struct lottery *lottery = run->state;
    for (int t = 0; t < MOST_TRIED && lottery->count < MOST_DRAWN && !stop_due(space->stop); t++) {
        int64_t index = draw_below(rng, space->candidates);
        struct tiling tiling;
        space_tiling(space, index, &tiling);
        if (!space->kind->possible(space, &tiling, space->axis_count) || is_drawn(lottery, index))
            continue;
        lottery->draws[lottery->count] =
            (struct draw){.rank = index, .index = index, .place = lottery->count};
        lottery->count++;
    }
}

/* ---- from ranks to tilings ---- */

static void find_drawn(void *context, const struct tiling *tiling, int64_t index)
{
    struct ranker *ranker = context;
    const struct prefix_levels *levels = &ranker->lottery->levels;
    if (ranker->next == ranker->end)
        return;
    int64_t end = ranker->at + leaf_count(ranker, tiling);
    if (ranker->next->rank < end && !prefix_is_tiling(levels, ranker->level)) {
        struct ranker longer = *ranker;
        const int *length = &levels->length[ranker->level];
        longer.level++;
        space_walk(ranker->space, index, length[0], length[1], find_drawn, &longer);
        while (ranker->next < ranker->end && ranker->next->rank < end)
            ranker->next++;
    } else if (ranker->next->rank < end) {
        ranker->next++->index = index;
    }
    ranker->at = end;
}

/* Where there is no more time some are not found. */
static void find_all(struct search_run *run)
{
    struct lottery *lottery = run->state;
#pragma omp parallel for num_threads(run->threads) schedule(dynamic)
    for (int64_t r = 0; r < lottery->roots; r++) {
        struct ranker ranker = {.at = lottery->first[r], .next = lottery->draws};
        ranker.end = lottery->draws + lottery->count;
        while (ranker.next < ranker.end && ranker.next->rank < lottery->first[r])
            ranker.next++;
        struct draw *end = ranker.next;
        while (end < ranker.end && end->rank < lottery->first[r + 1])
            end++;
        ranker.end = end;
        if (ranker.next < ranker.end)
            walk_root(run, r, find_drawn, &ranker);
    }
}

static int by_place(const void *left, const void *right)
{
    const struct draw *a = left, *b = right;
    return a->place - b->place;
}

/* In the order in which they were drawn, so that those that a time limit leaves are no others; on a
 * processor all are timed at once. */
static enum status open_drawn(struct search_run *run, struct error *error)
{
    struct lottery *lottery = run->state;
    qsort(lottery->draws, (size_t)lottery->count, sizeof *lottery->draws, by_place);
    for (int d = 0; d < lottery->count; d++) {
        struct tiling tiling;
        if (lottery->draws[d].index < 0)
            continue;
        space_tiling(run->space, lottery->draws[d].index, &tiling);
        if (!candidates_push(&run->candidates, candidate_of(&run->bounder, run->space, &tiling,
                                                            lottery->draws[d].index)))
            return error_memory(error);
    }
    if (run->space->kind->ask)
        candidates_sort(&run->candidates, 0);
    return STATUS_OK;
}

/* ---- the strategy ---- */

static bool is_countable(const struct space *space)
{
    const struct operator_space *kind = space->kind;
    return kind->nesting || kind->source || space->candidates <= LISTED_MOST;
}

static enum status init(struct search_run *run, struct error *error)
{
    const struct operator_space *kind = run->space->kind;
    struct lottery *lottery = run->state;
    prefix_levels_of(run->space, &lottery->levels);
    lottery->roots = space_roots(run->space);
    lottery->first = calloc((size_t)lottery->roots + 1, sizeof *lottery->first);
    run->source = kind->source ? kind->source : &listed_source;
    return lottery->first ? STATUS_OK : error_memory(error);
}

static void free_lottery(struct search_run *run)
{
    const struct lottery *lottery = run->state;
    free(lottery->first);
}

static enum status refill(struct search_run *run, bool *more, struct error *error)
{
    struct lottery *lottery = run->state;
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    *more = false;
    if (!rng)
        return error_memory(error);
    gsl_rng_set(rng, SEED);
    if (is_countable(run->space)) {
        lottery->counted = count_all(run);
        draw_ranks(lottery, rng);
        find_all(run);
    } else {
        draw_points(run, rng);
    }
    gsl_rng_free(rng);
    TRY(open_drawn(run, error));
    lottery->all = lottery->counted && run->candidates.count == lottery->feasible;
    run->candidates.complete = lottery->all;
    return list_take_first(run, error);
}

static bool done(const struct search_run *run)
{
    return list_open_count(run) == 0;
}

static void next(struct search_run *run, struct batch *batch)
{
    list_take(run, INT64_MAX, batch);
}

/* Nothing, unless all were drawn and simulated: what was not drawn has no bound but the roofline.
 */
static void prove(const struct search_run *run, struct proof *proof)
{
    const struct lottery *lottery = run->state;
    bool all = lottery->all && done(run);
    *proof = (struct proof){
        .feasible = lottery->feasible > run->simulated ? lottery->feasible : run->simulated,
        .next_fs = NOTHING_OPEN,
        .counted = all,
        .bounded = all,
    };
}

static enum status tell(struct search_run *run, struct search_result *result, struct error *error)
{
    const struct lottery *lottery = run->state;
    (void)error;
    list_tell_among(run, lottery->counted ? lottery->feasible : run->space->candidates, result);
    return STATUS_OK;
}

const struct search_strategy strategy_random = {
    .name = "random",
    .title = "simulate 1000 legal tilings drawn at random: a baseline, which proves nothing",
    .simulates = MOST_DRAWN,
    .size = sizeof(struct lottery),
    .init = init,
    .free = free_lottery,
    .refill = refill,
    .done = done,
    .next = next,
    .observe = list_observe,
    .prove = prove,
    .tell = tell,
};
