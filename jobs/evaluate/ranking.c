/* Draws tilings of a problem without listing them: of those that are visited the n-th takes the
 * place of one that is kept with probability RANKING_DRAWN / n, which makes all sets equally likely
 * (the reservoir, algorithm R: Waterman, in Knuth 1981). Threads take whole problems, each with a
 * simulator of its own: draw, simulate what was drawn, and count what is predicted to be faster
 * than the recorded tiling. Counts are sums over rows in their order, so no answer depends on
 * threads. The measure is that of revealed preference (Samuelson 1938): what was chosen is at least
 * as good as what could have been. */
#include "jobs/evaluate/ranking.h"

#include "core/stop.h"
#include "formats/json.h"
#include "kernels/operator_bank.h"
#include "validate/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ------------------------------------------------------------------ drawing */

struct draw {
    gsl_rng *random;
    const struct space *space;
    const struct tiling *recorded; /* agreed */
    struct tiling *drawn;
    int64_t seen;
};

static void keep_by_chance(void *context, const struct tiling *tiling)
{
    struct draw *draw = context;
    size_t bytes = (size_t)draw->space->axis_count * sizeof *tiling->value;
    if (memcmp(tiling->value, draw->recorded->value, bytes) == 0)
        return;
    int64_t place = draw->seen++;
    if (place >= RANKING_DRAWN)
        place = random_below(draw->random, draw->seen);
    if (place < RANKING_DRAWN)
        draw->drawn[place] = *tiling;
}

/* A step of SplitMix64 (Steele, Lea and Flood 2014). */
static uint64_t mixed(uint64_t hash, uint64_t value)
{
    uint64_t z = (hash ^ value) + 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static uint64_t seed_of(const struct problem *problem, uint64_t seed)
{
    uint64_t hash = mixed(seed, (uint64_t)problem->type);
    for (int i = 0; i < OPERATOR_MAX_SIZES; i++)
        hash = mixed(hash, (uint64_t)problem->size[i]);
    for (int i = 0; i < OPERATOR_MAX_CHOICES; i++)
        hash = mixed(hash, (uint64_t)problem->choice[i]);
    return hash;
}

int ranking_draw_one(const struct space *space, const struct problem *problem,
                     const struct bank_row *row, const struct tiling *recorded, uint64_t seed,
                     struct tiling drawn[], int64_t *others, struct error *error)
{
    struct tiling agreed = *recorded;
    struct draw draw = {random_open(seed_of(problem, seed), error), space, &agreed, drawn, 0};
    if (!draw.random)
        return -1;
    double cores = space->kind->cores_used(space, recorded, 0);
    space->kind->agree(space, &agreed);
    space->kind->bank->even_tilings(space, row, (int64_t)ceil(RANKING_CORES * cores),
                                    keep_by_chance, &draw);
    gsl_rng_free(draw.random);
    *others = draw.seen;
    return draw.seen < RANKING_DRAWN ? (int)draw.seen : RANKING_DRAWN;
}

/* ------------------------------------------------------------------ simulating what was drawn */

struct ranking {
    const struct bank *bank;
    const struct prediction *predictions;
    const struct hardware *hw;
    const struct ranking_options *options;
    struct ranked *ranked;
    int64_t done, total;
};

/* One thread's tools. */
struct player {
    struct tiling_simulator simulator;
    struct tiling drawn[RANKING_DRAWN];
};

static enum status go_on(const struct ranking *r, struct error *error)
{
    bool stopped = r->options->stop && *r->options->stop;
    return stopped ? error_set(error, STATUS_STOPPED, "interrupted") : STATUS_OK;
}

static bool is_asked(const struct ranking *r, size_t row)
{
    return r->predictions[row].predicted_ns > 0 &&
           r->bank->rows[row].measured_ns >= RANKING_LEAST_NS;
}

/* By every score; 0 of one that there is not. */
static void times_of(const struct ranking *r, size_t row, const struct space *space,
                     const struct tiling *tiling, const struct prediction *p,
                     double ns[RANKING_SCORES])
{
    const struct ranking_options *o = r->options;
    ns[RANKING_SIMULATED] = p->predicted_ns;
    ns[RANKING_CORRECTED] =
        o->corrected_ns ? o->corrected_ns(o->correction, &r->bank->rows[row], space, tiling, p) : 0;
}

static enum status count_faster(const struct ranking *r, size_t row, struct player *player,
                                const struct space *space, const struct tiling *recorded, int drawn,
                                struct error *error)
{
    struct ranked *ranked = &r->ranked[row];
    double recorded_ns[RANKING_SCORES], ns[RANKING_SCORES];
    times_of(r, row, space, recorded, &r->predictions[row], recorded_ns);
    for (int i = 0; i < drawn; i++) {
        struct prediction p = {0};
        TRY(go_on(r, error));
        TRY(evaluate_tiling(&player->simulator, space, &player->drawn[i], &p, error));
        times_of(r, row, space, &player->drawn[i], &p, ns);
        for (int s = 0; s < RANKING_SCORES; s++)
            ranked->faster[s] += ns[s] < recorded_ns[s];
    }
    ranked->drawn = drawn;
    return STATUS_OK;
}

static enum status rank_row(const struct ranking *r, size_t row, struct player *player,
                            struct error *error)
{
    struct problem problem;
    struct tiling recorded;
    struct space space;
    struct ranked *ranked = &r->ranked[row];
    const struct stop stop = {.told = r->options->stop};
    TRY(go_on(r, error));
    TRY(evaluate_open(&r->bank->rows[row], r->hw, &problem, &recorded, &space, error));
    space.stop = &stop;
    int drawn = ranking_draw_one(&space, &problem, &r->bank->rows[row], &recorded, r->options->seed,
                                 player->drawn, &ranked->others, error);
    enum status status = drawn < 0 ? STATUS_NO_MEMORY : go_on(r, error);
    if (status == STATUS_OK && drawn == 0)
        status = error_set(error, STATUS_INVALID,
                           "no other even tiling on %.0f %% of its cores or more is legal",
                           100 * RANKING_CORES);
    if (status == STATUS_OK)
        status = count_faster(r, row, player, &space, &recorded, drawn, error);
    space_close(&space);
    return status;
}

static void report_progress(struct ranking *r)
{
    r->done++;
    if (r->options->progress)
        r->options->progress(r->options->context, r->done, r->total);
}

/* One thread's rows, unless it could not begin. Only what is no fault of the row is an error. */
static enum status rank_rows(struct ranking *r, struct player *player, enum status opened,
                             struct error *error)
{
    enum status result = opened;
#pragma omp for schedule(dynamic, 1)
    for (size_t row = 0; row < r->bank->count; row++) {
        struct ranked *ranked = &r->ranked[row];
        *ranked = (struct ranked){0};
        if (result != STATUS_OK || !is_asked(r, row))
            continue;
        enum status status = rank_row(r, row, player, error);
        if (status != STATUS_OK)
            snprintf(ranked->reason, sizeof ranked->reason, "%.190s", error->text);
        if (status == STATUS_NO_MEMORY)
            result = status;
#pragma omp critical
        report_progress(r);
    }
    return result;
}

enum status ranking_draw(const struct bank *bank, const struct prediction predictions[],
                         const struct hardware *hw, const struct ranking_options *options,
                         struct ranked ranked[], struct error *error)
{
    enum status result = STATUS_OK;
    struct ranking r = {bank, predictions, hw, options, ranked, 0, 0};
    for (size_t row = 0; row < bank->count; row++)
        r.total += is_asked(&r, row);
#pragma omp parallel num_threads(options->threads)
    {
        struct error own = {0};
        struct player player;
        enum status status = tiling_simulator_open(&player.simulator, &own);
        status = rank_rows(&r, &player, status, &own);
        tiling_simulator_close(&player.simulator);
#pragma omp critical
        if (status != STATUS_OK) {
            result = status;
            *error = own;
        }
    }
    return result;
}

/* ------------------------------------------------------------------ the answer */

struct view {
    const struct bank *bank;
    const struct prediction *predictions;
    const struct ranked *ranked;
};

struct shares {
    int64_t problems, drawn, faster, best_1, best_5;
};

static struct shares shares_of(const struct view *v, row_filter *belongs, enum ranking_score by)
{
    struct shares shares = {0};
    for (size_t row = 0; row < v->bank->count; row++) {
        const struct ranked *ranked = &v->ranked[row];
        if (!ranked->drawn || (belongs && !belongs(&v->bank->rows[row], &v->predictions[row])))
            continue;
        int64_t hundredfold = INT64_C(100) * ranked->faster[by], all = ranked->drawn + 1;
        shares.problems++;
        shares.drawn += ranked->drawn;
        shares.faster += ranked->faster[by];
        shares.best_1 += hundredfold < 1 * all;
        shares.best_5 += hundredfold < 5 * all;
    }
    return shares;
}

static json_t *fraction(int64_t part, int64_t whole)
{
    return json_number(whole ? (double)part / (double)whole : NAN);
}

static void put_shares(json_t *object, const struct shares *s)
{
    json_object_set_new(object, "problems", json_integer(s->problems));
    json_object_set_new(object, "predicted_faster", fraction(s->faster, s->drawn));
    json_object_set_new(object, "recorded_in_best_1_percent", fraction(s->best_1, s->problems));
    json_object_set_new(object, "recorded_in_best_5_percent", fraction(s->best_5, s->problems));
}

/* The shares of rows that belong, the corrected ones beside them; false: there are no such rows. */
static bool put_scores(const struct view *v, row_filter *belongs, bool corrected, json_t *object)
{
    struct shares shares = shares_of(v, belongs, RANKING_SIMULATED);
    put_shares(object, &shares);
    if (corrected) {
        json_t *beside = json_object();
        struct shares by = shares_of(v, belongs, RANKING_CORRECTED);
        put_shares(beside, &by);
        json_object_set_new(object, "corrected", beside);
    }
    return shares.problems > 0;
}

static json_t *classes_json(const struct view *v, bool corrected)
{
    json_t *list = json_array();
    for (size_t i = 0; row_classes[i].by; i++) {
        json_t *row =
            json_pack("{s:s, s:s}", "by", row_classes[i].by, "class", row_classes[i].name);
        if (put_scores(v, row_classes[i].belongs, corrected, row))
            json_array_append(list, row);
        json_decref(row);
    }
    return list;
}

static void add_rows(const struct view *v, bool corrected, json_t *answer)
{
    json_t *left_out = json_array(), *each = json_array();
    for (size_t row = 0; row < v->bank->count; row++) {
        const struct ranked *ranked = &v->ranked[row];
        int name = bank_row_name(&v->bank->rows[row]);
        if (ranked->reason[0])
            json_array_append_new(left_out, json_pack("{s:i, s:o}", "row", name, "reason",
                                                      json_text(ranked->reason)));
        if (!ranked->drawn)
            continue;
        json_t *one =
            json_pack("{s:i, s:I, s:i, s:i}", "row", name, "others", (json_int_t)ranked->others,
                      "drawn", ranked->drawn, "faster", ranked->faster[RANKING_SIMULATED]);
        if (corrected)
            json_object_set_new(one, "corrected_faster",
                                json_integer(ranked->faster[RANKING_CORRECTED]));
        json_array_append_new(each, one);
    }
    json_object_set_new(answer, "left_out", left_out);
    json_object_set_new(answer, "each", each);
}

enum status ranking_make(const struct bank *bank, const struct prediction predictions[],
                         const struct ranked ranked[], const struct ranking_options *options,
                         json_t **answer, struct error *error)
{
    struct view view = {bank, predictions, ranked};
    bool corrected = options->corrected_ns != NULL;
    *answer =
        json_pack("{s:I, s:i}", "seed", (json_int_t)options->seed, "drawn_at_most", RANKING_DRAWN);
    if (!*answer)
        return error_memory(error);
    put_scores(&view, NULL, corrected, *answer);
    json_object_set_new(*answer, "classes", classes_json(&view, corrected));
    add_rows(&view, corrected, *answer);
    return STATUS_OK;
}
