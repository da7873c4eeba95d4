/* Simulates measured kernels with the tilings that they ran with. A row becomes problem, tiling
 * and space; the tiling's program is generated and simulated. What was measured has run, so a
 * tiling may lie outside the space: only what breaks a limit of the chip is refused. Threads share
 * the rows out one by one, each with a simulator of its own, and a row that cannot be played keeps
 * the reason in place of its time.
 *
 * How far that is from what was measured: relative errors, bias, mean |ln| and Spearman's rank
 * correlation (1904), by GSL. Whether the tilings of one problem come in the right order: rows are
 * sorted by problem, and the pairs within each counted whose measured and predicted differences
 * have the same sign.
 *
 * Draws tilings of a problem without listing them: of those that are visited the n-th takes the
 * place of one that is kept with probability RANKING_DRAWN / n, which makes all sets equally likely
 * (the reservoir, algorithm R: Waterman, in Knuth 1981). Threads take whole problems, each with a
 * simulator of its own: draw, simulate what was drawn, and count what is predicted to be faster
 * than the recorded tiling. Counts are sums over rows in their order, so no answer depends on
 * threads. The measure is that of revealed preference (Samuelson 1938): what was chosen is at least
 * as good as what could have been. */
#include "jobs/evaluate/evaluate.h"

#include "core/stop.h"
#include "costmodel/features.h"
#include "formats/json.h"
#include "jobs/evaluate/evaluation.h"
#include "kernels/details.h"
#include "kernels/operator_bank.h"
#include "kernels/registry.h"
#include "validate/model_quality.h"
#include "validate/random.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
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
    struct problem problem = {0};
    struct tiling recorded;
    struct space space = {.kind = NULL};
    struct ranked *ranked = &r->ranked[row];
    const struct stop stop = {.told = r->options->stop};
    TRY(go_on(r, error));
    TRY(evaluate_open(&r->bank->rows[row], r->hw, &problem, &recorded, &space, error));
    assert(space.kind);
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

/* ------------------------------------------------------------------ playing rows */

enum status evaluate_tiling(struct tiling_simulator *simulator, const struct space *space,
                            const struct tiling *tiling, struct prediction *p, struct error *error)
{
    struct simulated simulated;
    p->cores_used = space->kind->cores_used(space, tiling, 0);
    program_reset(&simulator->program, space->hw);
    TRY(space->kind->generate(space, tiling, 0, &simulator->program, error));
    TRY(simulate_program(simulator, p->cores_used, &simulated, error));
    p->predicted_ns = simulated.time_ns;
    memcpy(p->busy_ns, simulated.busy_ns, sizeof p->busy_ns);
    memcpy(p->bus_bytes, simulated.bus_bytes, sizeof p->bus_bytes);
    return STATUS_OK;
}

/* What of a row is asked beside its time; `features` is the row's own place, or NULL. */
struct row_more {
    const struct hardware *chip;
    const struct correction *correction;
    struct features *features;
};

static void add_what_is_asked(const struct row_more *more, const struct problem *problem,
                              const struct space *space, const struct tiling *tiling,
                              const struct program *program, struct prediction *p)
{
    struct features own = {.count = 0}, *features = more->features ? more->features : &own;
    p->problem = correction_problem(problem->size, problem->op->size_count);
    p->campaign_ns = p->predicted_ns;
    if (!more->features && !more->correction)
        return;
    features_of(&(struct simulated_kernel){problem, space, tiling, program, p->cores_used,
                                           p->predicted_ns, p->busy_ns},
                features);
    if (more->correction)
        correction_apply(more->correction, features, p->predicted_ns, &p->corrected);
}

/* What was measured has run, in the space or outside. */
static enum status simulate_if_it_runs(struct tiling_simulator *simulator,
                                       const struct space *space, const struct tiling *tiling,
                                       struct prediction *p, struct error *error)
{
    struct violation violations[MAX_VIOLATIONS];
    int count = space->kind->violations(space, tiling, violations);
    for (int i = 0; i < count; i++)
        if (!violations[i].outside)
            return error_set(error, STATUS_INVALID, "illegal here: %s", violations[i].text);
    return evaluate_tiling(simulator, space, tiling, p, error);
}

enum status evaluate_open(const struct bank_row *row, const struct hardware *hw,
                          struct problem *problem, struct tiling *tiling, struct space *space,
                          struct error *error)
{
    if (row->unfit)
        return error_set(error, STATUS_INVALID, "%s", row->unfit);
    const struct operator* op;
    const struct operator_space *kind = operator_banked(&op);
    kind = kind->bank->spaces[row->format];
    TRY(kind->bank->problem(row, problem, error));
    TRY(kind->bank->tiling(row, problem, tiling, error));
    int64_t cores = tiling->value[kind->bank->cores_axis];
    if (cores > hw->cores)
        return error_set(error, STATUS_INVALID, "%lld cores of %d", (long long)cores, hw->cores);
    return space_open(problem, kind, hw, hw->cores, space, error);
}

static enum status play_row(struct tiling_simulator *simulator, const struct bank_row *row,
                            const struct hardware *hw, const struct row_more *more,
                            struct prediction *p, struct error *error)
{
    struct problem problem;
    struct tiling tiling;
    struct space space;
    TRY(evaluate_open(row, hw, &problem, &tiling, &space, error));
    enum status status = simulate_if_it_runs(simulator, &space, &tiling, p, error);
    if (status == STATUS_OK)
        add_what_is_asked(more, &problem, &space, &tiling, &simulator->program, p);
    space_close(&space);
    return status;
}

/* On the chip, and where more is asked for of it as it was in another campaign, there too. */
static enum status evaluate_row(struct tiling_simulator *simulator, const struct bank_row *row,
                                const struct hardware *hw, const struct row_more *more,
                                struct prediction *p, struct error *error)
{
    static const struct row_more nothing = {NULL, NULL, NULL};
    struct prediction there = {0};
    if (!more->chip || more->chip == hw)
        return play_row(simulator, row, hw, more, p, error);
    TRY(play_row(simulator, row, hw, &nothing, p, error));
    TRY(play_row(simulator, row, more->chip, more, &there, error));
    p->campaign_ns = there.campaign_ns;
    p->corrected = there.corrected;
    return STATUS_OK;
}

/* One row; only what is no fault of the row is an error. */
static enum status predict_row(struct tiling_simulator *simulator, const struct bank_row *row,
                               const struct hardware *hw, const struct row_more *more,
                               const volatile sig_atomic_t *stop, struct prediction *p,
                               struct error *error)
{
    *p = (struct prediction){0};
    if (stop && *stop) {
        snprintf(p->reason, sizeof p->reason, "interrupted");
        return STATUS_OK;
    }
    enum status status = evaluate_row(simulator, row, hw, more, p, error);
    if (status != STATUS_OK)
        snprintf(p->reason, sizeof p->reason, "%.190s", error->text);
    return status == STATUS_NO_MEMORY ? status : STATUS_OK;
}

enum status evaluate_rows_more(const struct bank_row rows[], size_t count,
                               const struct hardware *hw, int threads,
                               const volatile sig_atomic_t *stop, const struct evaluate_more *more,
                               struct prediction predictions[], struct error *error)
{
    enum status result = STATUS_OK;
#pragma omp parallel num_threads(threads)
    {
        struct tiling_simulator simulator;
        struct error own = {0};
        enum status status = tiling_simulator_open(&simulator, &own);
#pragma omp for schedule(dynamic, 1)
        for (size_t i = 0; i < count; i++) {
            const struct row_more of_row = {more->chip, more->correction,
                                            more->features ? &more->features[i] : NULL};
            if (status == STATUS_OK)
                status =
                    predict_row(&simulator, &rows[i], hw, &of_row, stop, &predictions[i], &own);
        }
        tiling_simulator_close(&simulator);
#pragma omp critical
        if (status != STATUS_OK) {
            result = status;
            *error = own;
        }
    }
    return result;
}

enum status evaluate_rows(const struct bank_row rows[], size_t count, const struct hardware *hw,
                          int threads, const volatile sig_atomic_t *stop,
                          struct prediction predictions[], struct error *error)
{
    static const struct evaluate_more nothing = {NULL, NULL, NULL};
    return evaluate_rows_more(rows, count, hw, threads, stop, &nothing, predictions, error);
}

/* ------------------------------------------------------------------ distance from what was
 * measured */

#define LEAST_LARGE_NS 10e3 /* below, launch conditions decide: kernels repeat within 1.3 to 2 */
enum { LEAST_PLAIN = 128 };

bool row_is_ge_10us(const struct bank_row *row, const struct prediction *prediction)
{
    (void)prediction;
    return row->measured_ns >= LEAST_LARGE_NS;
}

bool row_is_large_plain(const struct bank_row *row, const struct prediction *prediction)
{
    return row_is_ge_10us(row, prediction) && row->m >= LEAST_PLAIN && row->n >= LEAST_PLAIN &&
           row->k >= LEAST_PLAIN && (row->batch_type == 0 || row->batch_type == 2);
}

/* The largest power of two, up to ROW_CLEAN_BYTES, that a pitch is a multiple of. */
static int64_t multiple_bytes(int64_t elements, enum dtype type)
{
    int64_t pitch_bytes = elements * dtype_bytes(type);
    int64_t multiple = 1;
    while (multiple < ROW_CLEAN_BYTES && pitch_bytes % (2 * multiple) == 0)
        multiple *= 2;
    return multiple;
}

int row_pitch_multiple_bytes(const struct bank_row *row)
{
    const struct {
        bool blocks;
        int64_t pitch;
        enum dtype type;
    } operands[] = {{row->nz_a, row->transpose_a ? row->m : row->k, row->type},
                    {row->nz_b, row->transpose_b ? row->k : row->n, row->type},
                    {row->nz_c, row->n, row->out_type}};
    int64_t least = 0;
    for (int i = 0; i < 3; i++) {
        int64_t multiple =
            operands[i].blocks ? 0 : multiple_bytes(operands[i].pitch, operands[i].type);
        if (multiple && (!least || multiple < least))
            least = multiple;
    }
    return (int)least;
}

bool row_is_clean(const struct bank_row *row)
{
    int multiple = row_pitch_multiple_bytes(row);
    return multiple == 0 || multiple == ROW_CLEAN_BYTES;
}

bool row_is_clean_ge_10us(const struct bank_row *row, const struct prediction *prediction)
{
    return row_is_ge_10us(row, prediction) && row_is_clean(row);
}

/* The times of the rows that have both and belong. */
static int take_measured(const struct bank_row rows[], const struct prediction predictions[],
                         size_t count, row_filter *belongs, double *predicted, double *measured)
{
    int taken = 0;
    for (size_t i = 0; i < count; i++) {
        bool both = rows[i].measured_ns > 0 && predictions[i].predicted_ns > 0;
        if (!both || (belongs && !belongs(&rows[i], &predictions[i])))
            continue;
        predicted[taken] = predictions[i].predicted_ns;
        measured[taken++] = rows[i].measured_ns;
    }
    return taken;
}

enum status accuracy_of(const struct bank_row rows[], const struct prediction predictions[],
                        size_t count, row_filter *belongs, struct accuracy *accuracy,
                        struct error *error)
{
    struct model_quality quality;
    double bias = 0, logs = 0, *predicted = calloc(count + 1, 2 * sizeof *predicted);
    if (!predicted)
        return error_memory(error);
    double *measured = predicted + count;
    int taken = take_measured(rows, predictions, count, belongs, predicted, measured);
    enum status status = model_errors(predicted, measured, taken, &quality, error);
    for (int i = 0; i < taken; i++) {
        bias += predicted[i] / measured[i] - 1;
        logs += fabs(log(predicted[i] / measured[i]));
    }
    *accuracy = (struct accuracy){.used = taken,
                                  .mape = quality.mean_error,
                                  .median_ape = quality.median_error,
                                  .bias = bias / taken, /* NaN of none */
                                  .mean_log = logs / taken,
                                  .spearman = quality.spearman};
    free(predicted);
    return status;
}

/* ------------------------------------------------------------------ order within a problem */

/* Equal for rows of one problem. What banks know of layouts differs between forms and is left
 * out. */
struct problem_key {
    int64_t sizes[4];
    int64_t kind[6];
};

struct keyed {
    struct problem_key key;
    size_t row;
};

static struct problem_key key_of(const struct bank_row *row)
{
    return (struct problem_key){
        {row->m, row->k, row->n, row->batch},
        {row->transpose_a, row->transpose_b, row->bias, row->type, row->out_type, row->batch_type}};
}

static int compare_keys(const struct problem_key *a, const struct problem_key *b)
{
    for (int i = 0; i < 4; i++)
        if (a->sizes[i] != b->sizes[i])
            return a->sizes[i] < b->sizes[i] ? -1 : 1;
    for (int i = 0; i < 6; i++)
        if (a->kind[i] != b->kind[i])
            return a->kind[i] < b->kind[i] ? -1 : 1;
    return 0;
}

static int compare_keyed(const void *a, const void *b)
{
    const struct keyed *x = a, *y = b;
    int order = compare_keys(&x->key, &y->key);
    return order ? order : (x->row > y->row) - (x->row < y->row);
}

static void count_pairs(const struct bank_row rows[], const struct prediction predictions[],
                        const struct keyed *group, size_t count, struct pairs *pairs)
{
    pairs->groups += count > 1;
    for (size_t i = 0; i < count; i++)
        for (size_t j = i + 1; j < count; j++) {
            double measured = rows[group[i].row].measured_ns - rows[group[j].row].measured_ns;
            double predicted =
                predictions[group[i].row].predicted_ns - predictions[group[j].row].predicted_ns;
            pairs->pairs += measured != 0;
            pairs->right += measured * predicted > 0;
        }
}

enum status pairs_of(const struct bank_row rows[], const struct prediction predictions[],
                     size_t count, struct pairs *pairs, struct error *error)
{
    struct keyed *list = malloc((count + 1) * sizeof *list);
    size_t used = 0;
    *pairs = (struct pairs){0};
    if (!list)
        return error_memory(error);
    for (size_t i = 0; i < count; i++)
        if (rows[i].measured_ns > 0 && predictions[i].predicted_ns > 0)
            list[used++] = (struct keyed){key_of(&rows[i]), i};
    qsort(list, used, sizeof *list, compare_keyed);
    for (size_t first = 0, last; first < used; first = last) {
        for (last = first + 1; last < used; last++)
            if (compare_keys(&list[first].key, &list[last].key) != 0)
                break;
        count_pairs(rows, predictions, list + first, last - first, pairs);
    }
    free(list);
    return STATUS_OK;
}
