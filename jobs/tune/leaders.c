/* Two searches give the fastest tilings of either chip, each with its proof, and what else they
 * have simulated on the way is nearly as fast. From the fastest of it steps go to more even
 * tilings: a step changes one value so that a criterion is met which was not, even where another
 * one is lost, which the next round may mend (a local search from many starts, as in Aarts and
 * Lenstra 1997). Steps that by their lower bound are beyond the tolerance are left out, and of the
 * others so many kept as meet most criteria. All that is kept is simulated on both chips. Nothing
 * depends on the order in which threads do it. */
#include "jobs/tune/leaders.h"

#include "core/array.h"
#include "search/clock.h"
#include "search/workers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    STEP_ROUNDS = 3,
    STEPS_KEPT = 128, /* of each round */
};

/* The two chips and how far a leader may be behind. */
struct finding {
    const struct space *space, *other; /* with the limits of the search */
    const struct space *patient;       /* the other one without */
    const struct search_options *options;
    double share;
    int64_t latest_fs;
    struct leaders *leaders;
};

int even_count(unsigned even)
{
    int count = 0;
    for (; even; even &= even - 1)
        count++;
    return count;
}

static unsigned even_of(const struct space *space, const struct tiling *tiling)
{
    return space->kind->even ? space->kind->even(space, tiling) : 0;
}

/* ---- the pool ---- */

/* False without memory. */
static bool add_leader(const struct space *space, struct leaders *leaders, int64_t index,
                       int64_t time_fs)
{
    if (!array_reserve(&leaders->items, leaders->count, &leaders->capacity, sizeof *leaders->items))
        return false;
    struct leader *leader = &leaders->items[leaders->count++];
    *leader = (struct leader){.index = index, .time_fs = time_fs};
    space_tiling(space, index, &leader->tiling);
    leader->even = even_of(space, &leader->tiling);
    return true;
}

static struct leader *find_leader(const struct leaders *leaders, int64_t index)
{
    for (int64_t i = 0; i < leaders->count; i++)
        if (leaders->items[i].index == index)
            return &leaders->items[i];
    return NULL;
}

/* Simulates what has no time yet from leader `first` on, and drops what is too slow or was cut off.
 */
static enum status time_leaders(const struct finding *f, int64_t first, struct error *error)
{
    struct leaders *leaders = f->leaders;
    int64_t count = leaders->count - first, kept = first;
    struct candidate *items = calloc((size_t)count + 1, sizeof *items);
    if (!items)
        return error_memory(error);
    for (int64_t i = 0; i < count; i++)
        items[i] = (struct candidate){.index = leaders->items[first + i].index,
                                      .time_fs = leaders->items[first + i].time_fs};
    enum status status = search_several(f->space, items, count, f->options->threads, error);
    for (int64_t i = 0; i < count; i++) {
        struct leader leader = leaders->items[first + i];
        leader.time_fs = items[i].time_fs;
        if (leader.time_fs > 0 && leader.time_fs <= f->latest_fs)
            leaders->items[kept++] = leader;
    }
    leaders->count = kept;
    free(items);
    return status;
}

/* The same on the other chip, where the best one's time is always asked for. */
static enum status time_on_other(const struct finding *f, struct error *error)
{
    struct leaders *leaders = f->leaders;
    const struct found *best = &leaders->search.best[0];
    struct found found;
    int64_t kept = 0;
    TRY(search_simulate(f->patient, &best->tiling, &found, error));
    struct candidate *items = calloc((size_t)leaders->count + 1, sizeof *items);
    if (!items)
        return error_memory(error);
    for (int64_t i = 0; i < leaders->count; i++) {
        const struct leader *leader = &leaders->items[i];
        items[i] = (struct candidate){.index = leader->index, .time_fs = leader->other_fs};
        if (leader->index == best->index)
            items[i].time_fs = found.timeline.end_fs;
    }
    enum status status =
        search_several(f->other, items, leaders->count, f->options->threads, error);
    for (int64_t i = 0; i < leaders->count; i++)
        if (items[i].time_fs > 0 && items[i].time_fs < SIMULATE_LONGEST_FS) {
            leaders->items[kept] = leaders->items[i];
            leaders->items[kept++].other_fs = items[i].time_fs;
        }
    leaders->count = kept;
    free(items);
    return status;
}

/* ---- steps ---- */

/* A tiling one step from a leader. */
struct step {
    int64_t bound_fs, index;
    int even_count;
};

struct steps {
    int64_t count, capacity;
    struct step *items; /* owned */
};

static int by_index(const void *left, const void *right)
{
    const struct step *a = left, *b = right;
    return (a->index > b->index) - (a->index < b->index);
}

/* Most criteria first, then the least bound. */
static int by_promise(const void *left, const void *right)
{
    const struct step *a = left, *b = right;
    if (a->even_count != b->even_count)
        return b->even_count - a->even_count;
    if (a->bound_fs != b->bound_fs)
        return a->bound_fs < b->bound_fs ? -1 : 1;
    return by_index(left, right);
}

/* False without memory. */
static bool try_step(const struct finding *f, const struct bounder *bounder,
                     const struct leader *from, struct tiling to, struct steps *steps)
{
    const struct operator_space *kind = f->space->kind;
    if (kind->agree)
        kind->agree(f->space, &to);
    unsigned even = even_of(f->space, &to);
    if (!(even & ~from->even) || !kind->legal(f->space, &to))
        return true;
    struct step step = {.index = space_index(f->space, &to), .even_count = even_count(even)};
    step.bound_fs = step.index < 0 ? INT64_MAX : bounder_tiling_fs(bounder, f->space, &to);
    if (step.bound_fs > f->latest_fs)
        return true;
    if (!array_reserve(&steps->items, steps->count, &steps->capacity, sizeof *steps->items))
        return false;
    steps->items[steps->count++] = step;
    return true;
}

static bool step_from(const struct finding *f, const struct bounder *bounder,
                      const struct leader *from, struct steps *steps)
{
    const struct space_block *block = space_block_of(f->space, from->index);
    bool kept = true;
    for (int a = 0; a < f->space->axis_count; a++)
        for (int i = 0; i < block->count[a] && kept && !stop_due(f->space->stop); i++) {
            struct tiling to = from->tiling;
            to.value[a] = block->values[a][i];
            if (to.value[a] != from->tiling.value[a])
                kept = try_step(f, bounder, from, to, steps);
        }
    return kept;
}

/* The most promising of the steps that lead to something new. */
static bool keep_steps(const struct finding *f, struct steps *steps)
{
    int64_t fresh = 0;
    qsort(steps->items, (size_t)steps->count, sizeof *steps->items, by_index);
    for (int64_t i = 0; i < steps->count; i++)
        if ((fresh == 0 || steps->items[i].index != steps->items[fresh - 1].index) &&
            !find_leader(f->leaders, steps->items[i].index))
            steps->items[fresh++] = steps->items[i];
    qsort(steps->items, (size_t)fresh, sizeof *steps->items, by_promise);
    for (int64_t i = 0; i < fresh && i < STEPS_KEPT; i++)
        if (!add_leader(f->space, f->leaders, steps->items[i].index, 0))
            return false;
    return true;
}

/* Rounds of steps, each from what the one before it has kept. */
static enum status go_steps(const struct finding *f, const struct bounder *bounder,
                            struct error *error)
{
    int64_t from = 0;
    for (int round = 0; round < STEP_ROUNDS; round++) {
        struct steps steps = {0};
        int64_t first = f->leaders->count;
        bool kept = true;
        for (int64_t i = from; i < first && kept; i++)
            kept = step_from(f, bounder, &f->leaders->items[i], &steps);
        kept = kept && (steps.count == 0 || keep_steps(f, &steps));
        free(steps.items);
        if (!kept)
            return error_memory(error);
        TRY(time_leaders(f, first, error));
        from = first;
    }
    return STATUS_OK;
}

static enum status add_steps(const struct finding *f, struct error *error)
{
    struct bounder bounder;
    enum status status = bounder_open(&bounder, f->space, error);
    if (status == STATUS_OK)
        status = go_steps(f, &bounder, error);
    bounder_close(&bounder);
    return status;
}

/* ---- the searches ---- */

static struct search_options options_of(const struct search_options *options)
{
    struct search_options all = *options;
    all.top = LEADERS_PROVEN;
    all.keep_reached = true;
    return all;
}

static int by_candidate_time(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;
    if (a->time_fs != b->time_fs)
        return a->time_fs < b->time_fs ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

/* Puts those that were simulated first, by time, and cuts the list down to as many as may lead. */
static void keep_fastest(struct search_result *result, int64_t latest_fs)
{
    int64_t count = 0;
    for (int64_t i = 0; i < result->reached_count; i++)
        if (result->reached[i].time_fs > 0 && result->reached[i].time_fs <= latest_fs)
            result->reached[count++] = result->reached[i];
    if (count)
        qsort(result->reached, (size_t)count, sizeof *result->reached, by_candidate_time);
    result->reached_count = count < LEADERS_SEARCHED ? count : LEADERS_SEARCHED;
}

/* What is fastest on the other chip is a leader if it is fast enough on this one. */
static enum status add_others(const struct finding *f, double seconds, struct error *error)
{
    struct search_options rest = options_of(f->options);
    struct search_result result;
    bool kept = true;
    rest.best_only = true;
    rest.keep_scores = false;
    if (rest.time_limit_s > 0)
        rest.time_limit_s = fmax(rest.time_limit_s - seconds, 1e-9);
    TRY(search(f->patient, &rest, &result, error));
    f->leaders->complete = f->leaders->complete && result.optimal;
    keep_fastest(&result, SIMULATE_LONGEST_FS - 1);
    for (int64_t i = 0; i < result.reached_count && kept; i++) {
        struct leader *leader = find_leader(f->leaders, result.reached[i].index);
        kept = leader || add_leader(f->space, f->leaders, result.reached[i].index, 0);
        if (kept && !leader)
            leader = &f->leaders->items[f->leaders->count - 1];
        if (kept)
            leader->other_fs = result.reached[i].time_fs;
    }
    search_result_clear(&result);
    return kept ? STATUS_OK : error_memory(error);
}

static int by_time(const void *left, const void *right)
{
    const struct leader *a = left, *b = right;
    if (a->time_fs != b->time_fs)
        return a->time_fs < b->time_fs ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

/* Where the caller wants all that was reached, the list stays as it is. */
static enum status add_searched(const struct finding *f, struct error *error)
{
    struct search_result *search = &f->leaders->search;
    struct search_result list = {.reached_count = search->reached_count};
    bool kept = true;
    list.reached = malloc(((size_t)list.reached_count + 1) * sizeof *list.reached);
    if (!list.reached)
        return error_memory(error);
    if (list.reached_count)
        memcpy(list.reached, search->reached, (size_t)list.reached_count * sizeof *list.reached);
    keep_fastest(&list, f->latest_fs);
    for (int64_t i = 0; i < list.reached_count && kept; i++)
        kept = add_leader(f->space, f->leaders, list.reached[i].index, list.reached[i].time_fs);
    free(list.reached);
    if (!f->options->keep_reached) {
        free(search->reached);
        search->reached = NULL;
        search->reached_count = 0;
        search->reached_all = false;
    }
    return kept ? STATUS_OK : error_memory(error);
}

static enum status find_all(struct finding *f, struct error *error)
{
    struct leaders *leaders = f->leaders;
    const struct search_result *first = &leaders->search;
    f->latest_fs = within_fs(first->best[0].timeline.end_fs, f->share);
    TRY(add_searched(f, error));
    if (f->other)
        TRY(add_others(f, first->seconds, error));
    TRY(time_leaders(f, 0, error));
    if (f->space->kind->even)
        TRY(add_steps(f, error));
    if (f->other)
        TRY(time_on_other(f, error));
    qsort(leaders->items, (size_t)leaders->count, sizeof *leaders->items, by_time);
    leaders->complete = leaders->complete && !stop_due(f->space->stop);
    return STATUS_OK;
}

enum status leaders_find(const struct space *space, const struct space *other,
                         const struct search_options *options, double share,
                         struct leaders *leaders, struct error *error)
{
    struct search_options all = options_of(options);
    struct limited limits[2];
    struct timespec started;
    struct finding f = {.patient = other, .options = options, .share = share, .leaders = leaders};
    *leaders = (struct leaders){.count = 0};
    if (space->kind->costs || space->kind->ask)
        return error_set(error, STATUS_INVALID,
                         "a tiling of the space %s is not one program, so that it has no leaders",
                         space->kind->name);
    f.space = search_limit(space, options, &limits[0]);
    f.other = other ? search_limit(other, options, &limits[1]) : NULL;
    clock_gettime(CLOCK_MONOTONIC, &started);
    TRY(search(space, &all, &leaders->search, error));
    leaders->complete = leaders->search.optimal;
    enum status status = leaders->search.count ? find_all(&f, error) : STATUS_OK;
    leaders->search.seconds = seconds_since(&started);
    if (status != STATUS_OK)
        leaders_clear(leaders);
    return status;
}

void leaders_clear(struct leaders *leaders)
{
    search_result_clear(&leaders->search);
    free(leaders->items);
    *leaders = (struct leaders){.count = 0};
}
