/* Weighs the leaders by their worst cases, or by their corrected times. The worst case over a box
 * of uncertain numbers is the first form of robust optimisation (Soyster 1973); that it is asked
 * only of tilings near the best, and what it costs there is told, is the price of robustness
 * (Bertsimas and Sim 2004). */
#include "jobs/tune/robust.h"

#include "formats/json.h"
#include "jobs/tune/leaders.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------------ choosing */

static double ns(int64_t fs)
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
    *score = choice->corner ? ns(leader->other_fs) * weighed->residual_factor : c.corrected_ns;
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

static const struct leader *choose(const struct leaders *leaders, double resolution)
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
    const struct leader *chosen = choose(leaders, w->choice->corner ? ROBUST_RESOLUTION : 0);
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
                     ns(over->time_fs), "claimed", over->gain.claimed, "shrunk", over->gain.gain,
                     "shrunk_within", over->gain.low, over->gain.high);
}

json_t *robust_json(const struct robust *robust, const struct space *space,
                    const struct corner *corner, const struct found *chosen,
                    const struct robust_over *over)
{
    const struct found *fastest = &robust->nominal_best;
    json_t *nominal = json_pack("{s:o, s:f, s:f, s:b}", "tiling",
                                tiling_json(space->axes, space->axis_count, &fastest->tiling),
                                "time_ns", found_ns(fastest), "worst_time_ns",
                                ns(robust->nominal_worst_fs), "optimal", robust->nominal_optimal);
    json_t *answer =
        json_pack("{s:s, s:i, s:i, s:b, s:I}", "verdict", "chosen", "keys", corner->keys,
                  "standard_errors", CORNER_STANDARD_ERRORS, "corner_is_worst",
                  corner_is_worst_of(corner, space), "weighed", (json_int_t)robust->weighed);
    json_object_update_new(
        answer,
        json_pack("{s:f, s:f, s:f, s:f, s:f, s:f}", "time_ns", found_ns(chosen), "worst_time_ns",
                  ns(robust->worst_fs), "residual_factor", robust->residual_factor, "worst_ns",
                  ns(robust->worst_fs) * robust->residual_factor, "best_ns", found_ns(fastest),
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
static void flatten(json_t *answer, const char *member)
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
    flatten(answer, "nominal_best");
    flatten(answer, "over");
}
