/* Finds the leaders, and weighs them by their worst cases, or by their corrected times.
 *
 * Two searches give the fastest tilings of either chip, each with its proof, and what else they
 * have simulated on the way is nearly as fast. From the fastest of it steps go to more even
 * tilings: a step changes one value so that a criterion is met which was not, even where another
 * one is lost, which the next round may mend (a local search from many starts, as in Aarts and
 * Lenstra 1997). Steps that by their lower bound are beyond the tolerance are left out, and of the
 * others so many kept as meet most criteria. All that is kept is simulated on both chips. Nothing
 * depends on the order in which threads do it.
 *
 * The worst case over a box of uncertain numbers is the first form of robust optimisation (Soyster
 * 1973); that it is asked only of tilings near the best, and what it costs there is told, is the
 * price of robustness (Bertsimas and Sim 2004). */
#include "jobs/tune/robust.h"

#include "core/array.h"
#include "formats/json.h"
#include "search/clock.h"
#include "search/workers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ leaders */

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

/* ------------------------------------------------------------------ choosing */

static double in_ns(int64_t fs)
{
    return (double)fs / FS_PER_NS;
}

/* What leaders are weighed with: on the chip as it is described. */
struct weighing {
    const struct problem *problem;
    const struct space *space;
    const struct choice *choice;
};

/* What *weighed says of one tiling, and its score: its worst or corrected time in ns. */
static enum status weigh(const struct weighing *w, const struct leader *leader,
                         struct robust *weighed, double *score, struct error *error)
{
    struct corrected c = {0};
    const struct choice *choice = w->choice;
    if (choice->correcting)
        TRY(correct_tiling(choice->correcting, w->problem, w->space, &leader->tiling, &c, error));
    *weighed = (struct robust){
        .worst_fs = leader->other_fs,
        .residual_factor =
            choice->correcting ? c.high_ns / c.simulated_ns : 1 + fit_share(&w->space->hw->fit),
        .corrected_ns = choice->corner ? 0 : c.corrected_ns,
        .even = even_count(leader->even),
    };
    *score = choice->corner ? in_ns(leader->other_fs) * weighed->residual_factor : c.corrected_ns;
    return STATUS_OK;
}

static enum status weigh_all(const struct weighing *w, struct leaders *leaders, struct error *error)
{
    struct robust weighed;
    for (int64_t i = 0; i < leaders->count; i++)
        TRY(weigh(w, &leaders->items[i], &weighed, &leaders->items[i].score, error));
    return STATUS_OK;
}

/* Of two whose scores cannot be told apart: the more even one, then that with the lesser score,
 * then the faster one; leaders come in order of time. */
static bool is_preferred(const struct leader *a, const struct leader *b)
{
    int evens = even_count(a->even) - even_count(b->even);
    return evens > 0 || (evens == 0 && a->score < b->score);
}

static const struct leader *choose_leader(const struct leaders *leaders, double resolution)
{
    const struct leader *chosen = NULL;
    double least = INFINITY;
    for (int64_t i = 0; i < leaders->count; i++)
        least = fmin(least, leaders->items[i].score);
    for (int64_t i = 0; i < leaders->count; i++) {
        const struct leader *leader = &leaders->items[i];
        if (leader->score <= least * (1 + resolution) && (!chosen || is_preferred(leader, chosen)))
            chosen = leader;
    }
    return chosen;
}

/* Puts the chosen one in the place of the fastest. */
static enum status take_choice(const struct weighing *w, struct leaders *leaders,
                               struct robust *robust, struct error *error)
{
    double score;
    struct found found;
    struct search_result *search = &leaders->search;
    TRY(weigh_all(w, leaders, error));
    const struct leader *chosen = choose_leader(leaders, w->choice->corner ? ROBUST_RESOLUTION : 0);
    if (!chosen)
        return error_set(error, STATUS_TOO_LARGE,
                         "no worst case can be simulated: all could outlast the clock");
    TRY(search_simulate(w->space, &chosen->tiling, &found, error));
    found.index = chosen->index;
    TRY(weigh(w, chosen, robust, &score, error));
    robust->weighed = leaders->count;
    robust->nominal_best = search->best[0];
    robust->nominal_optimal = search->optimal;
    robust->complete = leaders->complete;
    for (int64_t i = 0; i < leaders->count; i++)
        if (leaders->items[i].index == search->best[0].index) {
            robust->nominal_worst_fs = leaders->items[i].other_fs;
            robust->nominal_corrected_ns = w->choice->corner ? 0 : leaders->items[i].score;
        }
    search->best[0] = found;
    search->count = 1;
    return STATUS_OK;
}

static enum status search_choice(const struct weighing *w, const struct space *worst,
                                 const struct search_options *options, struct search_result *result,
                                 struct robust *robust, struct error *error)
{
    struct leaders leaders;
    double share = fmax(fit_share(&w->space->hw->fit), ROBUST_RESOLUTION);
    TRY(leaders_find(w->space, worst, options, share, &leaders, error));
    enum status status = leaders.search.count ? take_choice(w, &leaders, robust, error) : STATUS_OK;
    if (status == STATUS_OK) {
        *result = leaders.search;
        leaders.search = (struct search_result){.count = 0};
    }
    leaders_clear(&leaders);
    return status;
}

enum status robust_search(const struct problem *problem, const struct space *space, int cores,
                          const struct choice *choice, const struct search_options *options,
                          struct search_result *result, struct robust *robust, struct error *error)
{
    struct space worst;
    const struct weighing weighing = {problem, space, choice};
    *robust = (struct robust){.worst_fs = 0};
    *result = (struct search_result){.count = 0};
    if (space->kind->costs)
        return error_set(error, STATUS_INVALID,
                         "a tiling of the space %s is several programs, of which each has a worst "
                         "case of its own",
                         space->kind->name);
    if (!choice->corner)
        return search_choice(&weighing, NULL, options, result, robust, error);
    TRY(space_open(problem, space->kind, &choice->corner->hw, cores, &worst, error));
    enum status status = search_choice(&weighing, &worst, options, result, robust, error);
    space_close(&worst);
    return status;
}

enum status robust_over(const struct space *space, const struct tiling *tiling,
                        const struct found *chosen, struct robust_over *over, struct error *error)
{
    struct found found;
    TRY(search_simulate(space, tiling, &found, error));
    *over = (struct robust_over){found.tiling, found.timeline.end_fs,
                                 shrunk_gain(found_ns(&found) / found_ns(chosen) - 1)};
    return STATUS_OK;
}

/* ------------------------------------------------------------------ the answer */

static json_t *over_json(const struct robust_over *over, const struct space *space)
{
    return json_pack("{s:o, s:f, s:f, s:f, s:[f, f]}", "tiling",
                     tiling_json(space->axes, space->axis_count, &over->tiling), "time_ns",
                     in_ns(over->time_fs), "claimed", over->gain.claimed, "shrunk", over->gain.gain,
                     "shrunk_within", over->gain.low, over->gain.high);
}

json_t *robust_json(const struct robust *robust, const struct space *space,
                    const struct corner *corner, const struct found *chosen,
                    const struct robust_over *over)
{
    const struct found *fastest = &robust->nominal_best;
    json_t *nominal = json_pack(
        "{s:o, s:f, s:f, s:b}", "tiling",
        tiling_json(space->axes, space->axis_count, &fastest->tiling), "time_ns", found_ns(fastest),
        "worst_time_ns", in_ns(robust->nominal_worst_fs), "optimal", robust->nominal_optimal);
    json_t *answer =
        json_pack("{s:s, s:i, s:i, s:b, s:I}", "verdict", "chosen", "keys", corner->keys,
                  "standard_errors", CORNER_STANDARD_ERRORS, "corner_is_worst",
                  corner_is_worst_of(corner, space), "weighed", (json_int_t)robust->weighed);
    json_object_update_new(
        answer,
        json_pack("{s:f, s:f, s:f, s:f, s:f, s:f}", "time_ns", found_ns(chosen), "worst_time_ns",
                  in_ns(robust->worst_fs), "residual_factor", robust->residual_factor, "worst_ns",
                  in_ns(robust->worst_fs) * robust->residual_factor, "best_ns", found_ns(fastest),
                  "cost", found_ns(chosen) / found_ns(fastest) - 1));
    if (space->kind->even)
        json_object_update_new(
            answer, json_pack("{s:i, s:i}", "even", robust->even, "most_even", space->kind->evens));
    json_object_set_new(answer, "complete", json_boolean(robust->complete));
    json_object_set_new(answer, "nominal_best", nominal);
    if (over)
        json_object_set_new(answer, "over", over_json(over, space));
    return answer;
}

json_t *by_corrected_json(const struct robust *robust, const struct space *space,
                          const struct found *chosen)
{
    const struct found *fastest = &robust->nominal_best;
    return json_pack("{s:s, s:I, s:f, s:f, s:f, s:f, s:f, s:b, s:{s:o, s:f, s:b}}", "verdict",
                     "chosen", "weighed", (json_int_t)robust->weighed, "time_ns", found_ns(chosen),
                     "corrected_ns", robust->corrected_ns, "best_ns", found_ns(fastest),
                     "best_corrected_ns", robust->nominal_corrected_ns, "cost",
                     found_ns(chosen) / found_ns(fastest) - 1, "complete", robust->complete,
                     "nominal_best", "tiling",
                     tiling_json(space->axes, space->axis_count, &fastest->tiling), "time_ns",
                     found_ns(fastest), "optimal", robust->nominal_optimal);
}

/* For people shares are percentages, which their names say, and tilings stand by themselves. */
static void flatten_member(json_t *answer, const char *member)
{
    char name[48];
    const char *key;
    json_t *value, *object = json_incref(json_object_get(answer, member));
    json_object_del(answer, member);
    json_object_foreach(object, key, value)
    {
        bool is_tiling = strcmp(key, "tiling") == 0;
        bool is_share = strcmp(key, "claimed") == 0 || strncmp(key, "shrunk", 6) == 0;
        snprintf(name, sizeof name, "%s%s%s%s", member, is_tiling ? "" : "_", is_tiling ? "" : key,
                 is_share ? "_share" : "");
        json_object_set(answer, name, value);
    }
    json_decref(object);
}

void robust_shorten(json_t *answer)
{
    char text[48];
    json_object_set(answer, "cost_share", json_object_get(answer, "cost"));
    json_object_del(answer, "cost");
    json_object_del(answer, "verdict");
    json_object_del(answer, "time_ns");
    json_object_del(answer, "best_ns");
    if (json_is_true(json_object_get(answer, "complete")))
        json_object_del(answer, "complete");
    if (json_object_get(answer, "even")) {
        snprintf(text, sizeof text, "%lld of %lld",
                 json_integer_value(json_object_get(answer, "even")),
                 json_integer_value(json_object_get(answer, "most_even")));
        json_object_set_new(answer, "even", json_string(text));
        json_object_del(answer, "most_even");
    }
    flatten_member(answer, "nominal_best");
    flatten_member(answer, "over");
}
