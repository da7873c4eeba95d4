/* Tunes every problem of a bank and sets the best tiling against each recorded one. Rows are
 * sorted by problem, so that each problem is searched once, however many rows it has. Threads take
 * whole problems one by one, for they differ in cost by orders of magnitude. Of each recorded
 * tiling the axis is noted on which the space lacks its value: with that, or without a proof, it
 * may be faster than the best that was found.
 *
 * The answer says how often and by how much the best tiling wins, over all rows and by class; the
 * largest gains and the losses; each row. A loss must have one of two reasons, a limit of time that
 * struck or a recorded value that the space lacks, and both are counted, so that one without a
 * reason shows. */
#include "jobs/evaluate/against.h"

#include "formats/json.h"
#include "kernels/operator_bank.h"
#include "kernels/registry.h"
#include "search/search.h"
#include "validate/shrink.h"

#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A row that can be tuned. */
struct entry {
    struct problem problem;
    size_t row;
};

/* Rows of one problem: entries[first … first + count). */
struct group {
    size_t first, count;
};

struct against {
    const struct bank *bank;
    const struct operator_space *kind; /* whose tilings banks hold */
    const struct hardware *hw;
    const struct against_options *options;
    struct duel *duels;
    struct entry *entries;
    struct group *groups;
    size_t entry_count, group_count;
    int64_t done;
};

static int compare_problems(const struct problem *a, const struct problem *b)
{
    int order = memcmp(a->size, b->size, sizeof a->size);
    if (order == 0)
        order = memcmp(a->choice, b->choice, sizeof a->choice);
    return order ? order : (a->type > b->type) - (a->type < b->type);
}

static int compare_entries(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    int order = compare_problems(&x->problem, &y->problem);
    return order ? order : (x->row > y->row) - (x->row < y->row);
}

static enum status group_rows(struct against *a, const struct prediction predictions[],
                              struct error *error)
{
    a->entries = calloc(a->bank->count + 1, sizeof *a->entries);
    a->groups = calloc(a->bank->count + 1, sizeof *a->groups);
    if (!a->entries || !a->groups)
        return error_memory(error);
    for (size_t row = 0; row < a->bank->count; row++) {
        struct entry *entry = &a->entries[a->entry_count];
        struct error ignored;
        *entry = (struct entry){.row = row};
        if (predictions[row].predicted_ns > 0 &&
            a->kind->bank->problem(&a->bank->rows[row], &entry->problem, &ignored) == STATUS_OK)
            a->entry_count++;
    }
    qsort(a->entries, a->entry_count, sizeof *a->entries, compare_entries);
    for (size_t i = 0; i < a->entry_count; i++) {
        if (i == 0 || compare_problems(&a->entries[i - 1].problem, &a->entries[i].problem))
            a->groups[a->group_count++].first = i;
        a->groups[a->group_count - 1].count++;
    }
    return STATUS_OK;
}

/* The axis on which the space has no such value; -1: it has them all. */
static int off_axis_of(const struct space *space, const struct tiling *tiling)
{
    struct violation list[MAX_VIOLATIONS];
    int count = space->kind->violations(space, tiling, list);
    for (int i = 0; i < count; i++)
        if (list[i].outside)
            return space_axis(space, list[i].limit, (int)strlen(list[i].limit));
    return -1;
}

static void fill_duel(const struct against *a, const struct space *space, const struct entry *entry,
                      const struct search_result *result, bool first)
{
    struct duel *duel = &a->duels[entry->row];
    struct error ignored;
    if (a->kind->bank->tiling(&a->bank->rows[entry->row], &entry->problem, &duel->recorded,
                              &ignored) != STATUS_OK)
        return;
    duel->best_ns = found_ns(&result->best[0]);
    duel->best = result->best[0].tiling;
    duel->proven = result->optimal;
    duel->first = first;
    duel->even_grid = a->kind->bank->even_grid(space, a->hw->cores);
    duel->off_axis = off_axis_of(space, &duel->recorded);
}

static enum status tune_group(const struct against *a, const struct group *group,
                              struct error *error)
{
    const struct entry *entries = a->entries + group->first;
    struct search_options how = {.threads = 1,
                                 .top = 1,
                                 .best_only = true,
                                 .time_limit_s = a->options->time_limit_s,
                                 .stop = a->options->stop};
    struct space space;
    struct search_result result;
    if (a->options->stop && *a->options->stop)
        return STATUS_OK;
    enum status status = space_open(&entries->problem, a->kind, a->hw, a->hw->cores, &space, error);
    if (status != STATUS_OK)
        return status;
    status = search(&space, &how, &result, error);
    for (size_t i = 0; status == STATUS_OK && result.count && i < group->count; i++)
        fill_duel(a, &space, &entries[i], &result, i == 0);
    if (status == STATUS_OK)
        search_result_clear(&result);
    space_close(&space);
    return status;
}

static void report_progress(struct against *a)
{
    a->done++;
    if (a->options->progress)
        a->options->progress(a->options->context, a->done, (int64_t)a->group_count);
}

static enum status tune_groups(struct against *a, struct error *error)
{
    enum status result = STATUS_OK;
#pragma omp parallel for num_threads(a->options->threads) schedule(dynamic, 1)
    for (size_t g = 0; g < a->group_count; g++) {
        struct error own = {0};
        enum status status = tune_group(a, &a->groups[g], &own);
#pragma omp critical
        {
            if (status != STATUS_OK && result == STATUS_OK) {
                result = status;
                *error = own;
            }
            report_progress(a);
        }
    }
    return result;
}

enum status against_tune(const struct bank *bank, const struct prediction predictions[],
                         const struct hardware *hw, const struct against_options *options,
                         struct duel duels[], struct error *error)
{
    const struct operator* op;
    struct against a = {
        .bank = bank, .kind = operator_banked(&op), .hw = hw, .options = options, .duels = duels};
    memset(duels, 0, bank->count * sizeof *duels);
    enum status status = group_rows(&a, predictions, error);
    if (status == STATUS_OK)
        status = tune_groups(&a, error);
    free(a.entries);
    free(a.groups);
    return status;
}

/* ------------------------------------------------------------------ the answer */

enum { SHOWN = 10 };

/* Problems whose size has a grid of equal blocks on all cores, those without, or both. */
enum grids { GRIDS_EVEN, GRIDS_UNEVEN, GRIDS_ALL };
static const char *const grid_names[] = {"there are", "there are none"};

/* What is compared, and which rows of it are meant; belongs = NULL, all. */
struct view {
    const struct bank *bank;
    const struct prediction *predictions;
    const struct duel *duels;
    row_filter *belongs;
    enum grids grids;
};

/* The share of the recorded tiling's time that the best one saves. */
static double gain_of(const struct view *v, size_t row)
{
    return 1 - v->duels[row].best_ns / v->predictions[row].predicted_ns;
}

static bool is_compared(const struct view *v, size_t row)
{
    enum grids grid = v->duels[row].even_grid ? GRIDS_EVEN : GRIDS_UNEVEN;
    return v->duels[row].best_ns > 0 && (v->grids == GRIDS_ALL || v->grids == grid) &&
           (!v->belongs || v->belongs(&v->bank->rows[row], &v->predictions[row]));
}

/* ------------------------------------------------------------------ how often, how much */

struct score {
    int64_t rows, better, equal, worse;
    double median, mean; /* of the gains; NAN: of none */
    double shrunk_median, shrunk_mean;
};

static enum status score_of(const struct view *v, struct score *score, struct error *error)
{
    double *gains = malloc((v->bank->count + 1) * sizeof *gains), sum = 0, shrunk_sum = 0;
    size_t count = 0;
    *score = (struct score){0};
    if (!gains)
        return error_memory(error);
    for (size_t row = 0; row < v->bank->count; row++) {
        if (!is_compared(v, row))
            continue;
        double gain = gain_of(v, row);
        gains[count++] = gain;
        sum += gain;
        shrunk_sum += shrunk_saving(gain);
        score->better += gain > 0;
        score->equal += gain == 0;
        score->worse += gain < 0;
    }
    score->rows = (int64_t)count;
    score->mean = count ? sum / (double)count : NAN;
    score->median = count ? gsl_stats_median(gains, 1, count) : NAN;
    score->shrunk_mean = count ? shrunk_sum / (double)count : NAN;
    for (size_t i = 0; i < count; i++)
        gains[i] = shrunk_saving(gains[i]);
    score->shrunk_median = count ? gsl_stats_median(gains, 1, count) : NAN;
    free(gains);
    return STATUS_OK;
}

static void put_score(json_t *object, const struct score *score)
{
    json_object_set_new(object, "rows", json_integer(score->rows));
    json_object_set_new(object, "better", json_integer(score->better));
    json_object_set_new(object, "equal", json_integer(score->equal));
    json_object_set_new(object, "worse", json_integer(score->worse));
    json_object_set_new(object, "median_gain_share", json_number(score->median));
    json_object_set_new(object, "mean_gain_share", json_number(score->mean));
    json_object_set_new(object, "median_shrunk_share", json_number(score->shrunk_median));
    json_object_set_new(object, "mean_shrunk_share", json_number(score->shrunk_mean));
}

/* Classes without rows are left out. */
static enum status add_class(const struct view *view, const char *by, const char *name,
                             json_t *list, struct error *error)
{
    struct score score;
    TRY(score_of(view, &score, error));
    json_t *row = json_pack("{s:s, s:s}", "by", by, "class", name);
    put_score(row, &score);
    if (score.rows > 0)
        json_array_append(list, row);
    json_decref(row);
    return STATUS_OK;
}

static enum status add_classes(const struct view *all, json_t *answer, struct error *error)
{
    json_t *list = json_array();
    struct view view = *all;
    json_object_set_new(answer, "classes", list);
    for (int g = GRIDS_EVEN; g < GRIDS_ALL; g++) {
        view.grids = (enum grids)g;
        TRY(add_class(&view, "equal blocks on all cores", grid_names[g], list, error));
    }
    view.grids = GRIDS_ALL;
    for (size_t i = 0; row_classes[i].by; i++) {
        view.belongs = row_classes[i].belongs;
        TRY(add_class(&view, row_classes[i].by, row_classes[i].name, list, error));
    }
    return STATUS_OK;
}

/* ------------------------------------------------------------------ rows */

/* Why the best that was found may be slower than what was recorded. */
static json_t *note_of(const struct space *space, const struct duel *duel)
{
    char value[24];
    if (duel->off_axis < 0)
        return duel->proven ? json_null() : json_string("the time limit struck");
    const struct axis *axis = &space->axes[duel->off_axis];
    return json_sprintf("the space has no %s = %s", axis->name,
                        axis_value_text(axis, duel->recorded.value[duel->off_axis], value));
}

static json_t *row_json(const struct view *v, const struct space *space, size_t row)
{
    const struct duel *duel = &v->duels[row];
    return json_pack("{s:i, s:o, s:f, s:f, s:f, s:f, s:b, s:o, s:o, s:o}", "row",
                     bank_row_name(&v->bank->rows[row]), "shape",
                     bank_row_shape(&v->bank->rows[row]), "recorded_ns",
                     v->predictions[row].predicted_ns, "best_ns", duel->best_ns, "gain_share",
                     gain_of(v, row), "shrunk_share", shrunk_saving(gain_of(v, row)), "optimal",
                     duel->proven, "note", note_of(space, duel), "recorded",
                     tiling_json(space->axes, space->axis_count, &duel->recorded), "best",
                     tiling_json(space->axes, space->axis_count, &duel->best));
}

struct gained {
    double gain;
    size_t row;
};

static int compare_gained(const void *a, const void *b)
{
    const struct gained *x = a, *y = b;
    if (x->gain != y->gain)
        return x->gain > y->gain ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

/* The largest gains, and from the other end the largest losses. */
static enum status add_ranked(const struct view *v, const struct space *space, json_t *answer,
                              struct error *error)
{
    struct gained *ranked = malloc((v->bank->count + 1) * sizeof *ranked);
    json_t *largest = json_array(), *worst = json_array();
    size_t count = 0;
    json_object_set_new(answer, "largest_gains", largest);
    json_object_set_new(answer, "losses", worst);
    if (!ranked)
        return error_memory(error);
    for (size_t row = 0; row < v->bank->count; row++)
        if (is_compared(v, row))
            ranked[count++] = (struct gained){gain_of(v, row), row};
    qsort(ranked, count, sizeof *ranked, compare_gained);
    for (size_t i = 0; i < count && i < SHOWN && ranked[i].gain > 0; i++)
        json_array_append_new(largest, row_json(v, space, ranked[i].row));
    for (size_t i = 0; i < count && i < SHOWN && ranked[count - 1 - i].gain < 0; i++)
        json_array_append_new(worst, row_json(v, space, ranked[count - 1 - i].row));
    free(ranked);
    return STATUS_OK;
}

static void add_rows(const struct view *v, json_t *answer)
{
    json_t *rows = json_array();
    for (size_t row = 0; row < v->bank->count; row++)
        if (is_compared(v, row))
            json_array_append_new(
                rows, json_pack("{s:i, s:f, s:f, s:f, s:f, s:b}", "row",
                                bank_row_name(&v->bank->rows[row]), "recorded_ns",
                                v->predictions[row].predicted_ns, "best_ns", v->duels[row].best_ns,
                                "gain_share", gain_of(v, row), "shrunk_share",
                                shrunk_saving(gain_of(v, row)), "optimal", v->duels[row].proven));
    json_object_set_new(answer, "each", rows);
}

/* ------------------------------------------------------------------ all of it */

/* Worse may be only what the limit cut off, or a tiling that the space does not have. */
static void add_counts(const struct view *v, json_t *answer)
{
    int64_t problems = 0, cut_off = 0, no_points = 0, worse_no_point = 0, worse_cut_off = 0;
    int64_t left_out = 0;
    for (size_t row = 0; row < v->bank->count; row++) {
        const struct duel *duel = &v->duels[row];
        left_out += v->predictions[row].predicted_ns > 0 && !(duel->best_ns > 0);
        if (!(duel->best_ns > 0))
            continue;
        bool worse = gain_of(v, row) < 0;
        problems += duel->first;
        cut_off += duel->first && !duel->proven;
        no_points += duel->off_axis >= 0;
        worse_no_point += worse && duel->off_axis >= 0;
        worse_cut_off += worse && duel->off_axis < 0 && !duel->proven;
    }
    json_object_set_new(answer, "problems", json_integer(problems));
    json_object_set_new(answer, "problems_cut_off", json_integer(cut_off));
    json_object_set_new(answer, "rows_left_out", json_integer(left_out));
    json_object_set_new(answer, "recorded_outside_the_space", json_integer(no_points));
    json_object_set_new(answer, "worse_outside_the_space", json_integer(worse_no_point));
    json_object_set_new(answer, "worse_cut_off", json_integer(worse_cut_off));
}

/* A space for its axes' names: any problem's will do, in a type that the chip has. */
static enum status open_names(const struct hardware *hw, struct space *space, struct error *error)
{
    struct problem problem = {.op = NULL};
    const struct operator_space *kind = operator_banked(&problem.op);
    problem_set_type(&problem, (enum dtype)hw->matrix_types[0].type);
    for (int i = 0; i < problem.op->size_count; i++)
        problem.size[i] = 16;
    return space_open(&problem, kind, hw, hw->cores, space, error);
}

enum status against_make(const struct bank *bank, const struct prediction predictions[],
                         const struct hardware *hw, const struct duel duels[],
                         const struct against_options *options, json_t **answer,
                         struct error *error)
{
    struct view view = {bank, predictions, duels, NULL, GRIDS_ALL};
    struct score score;
    struct space space;
    *answer = NULL;
    enum status status = open_names(hw, &space, error);
    if (status != STATUS_OK)
        return status;
    *answer = json_object();
    json_object_set_new(*answer, "time_limit_s", json_real(options->time_limit_s));
    add_counts(&view, *answer);
    status = score_of(&view, &score, error);
    if (status == STATUS_OK) {
        put_score(*answer, &score);
        status = add_classes(&view, *answer, error);
    }
    if (status == STATUS_OK)
        status = add_ranked(&view, &space, *answer, error);
    if (status == STATUS_OK)
        add_rows(&view, *answer);
    space_close(&space);
    if (status == STATUS_OK)
        return STATUS_OK;
    json_decref(*answer);
    *answer = NULL;
    return status;
}
