/* Kernels are simulated bank by bank, each on its chip, and become rows of one table. Its columns
 * are the features of all kernels by name, in the order in which they first appear; what a kernel
 * does not list is 0.
 *
 * Three forests are grown of all rows: of ln(measured / simulated) the quantile 0.40 as the middle,
 * which does better in relative errors than the median, and 0.10 and 0.90 as the ends of an
 * interval. How well that does is told by cross-validation: the problems are dealt out to five
 * folds, each fold's rows are predicted by forests that saw none of its problems, and these
 * predictions are judged. They also say by how much the interval has to be widened to hold four
 * fifths of the measured times (conformalised quantile regression, Romano, Patterson and Candès
 * 2019; across folds, Vovk 2015); whether it then does is told for each fold by the others. A ridge
 * line through the same features stands beside it. Only the chip's own rows are judged.
 *
 * The effective clock of a measuring campaign is the one at which the simulator is least wrong
 * about the kernels of it, in the mean of |ln(simulated / measured)|. The mean has small dents, and
 * nobody knows a clock better than to 10 MHz: so clocks from three quarters of the description's to
 * a twentieth above it are tried in coarse steps, and those around the best in fine ones. What else
 * a campaign had of its own (another driver, a throttled memory) goes into this one number too. */
#include "jobs/calibrate/learn.h"

#include "core/version.h"
#include "formats/json.h"
#include "hardware/fingerprint.h"
#include "hardware/load.h"
#include "kernels/operator_bank.h"
#include "kernels/registry.h"
#include "validate/boost.h"
#include "validate/model_quality.h"
#include "validate/random.h"
#include "validate/ridge.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ the table */

/* Every row with both times, bank by bank. */
struct learn_table {
    size_t count;
    int features;
    char (*names)[FEATURE_NAME_SIZE];
    double *x;       /* count × features */
    double *y;       /* ln(measured / simulated) */
    double *weights; /* in training; 1 of a row of the corrected chip */
    bool *own;
    uint32_t *problem;
    struct prediction *predictions;
    struct bank_row *rows;
};

/* Rows of other chips count less than those of the chip itself: what they have in common is learned
 * from both, what differs from its own. */
#define POOLED_WEIGHT 0.25

static void learn_table_clear(struct learn_table *table)
{
    free(table->names);
    free(table->x);
    free(table->y);
    free(table->weights);
    free(table->own);
    free(table->problem);
    free(table->predictions);
    free(table->rows);
    *table = (struct learn_table){0};
}

static enum status make_room(const struct learn_bank banks[], int count, struct learn_table *table,
                             struct error *error)
{
    size_t rows = 1;
    for (int b = 0; b < count; b++)
        rows += banks[b].count;
    table->names = calloc(FEATURES_MAX, sizeof *table->names);
    table->x = calloc(rows, FEATURES_MAX * sizeof *table->x);
    table->y = calloc(rows, sizeof *table->y);
    table->weights = calloc(rows, sizeof *table->weights);
    table->own = calloc(rows, sizeof *table->own);
    table->problem = calloc(rows, sizeof *table->problem);
    table->predictions = calloc(rows, sizeof *table->predictions);
    table->rows = calloc(rows, sizeof *table->rows);
    return table->names && table->x && table->y && table->weights && table->own && table->problem &&
                   table->predictions && table->rows
               ? STATUS_OK
               : error_memory(error);
}

/* The column of a feature, a new one where there is room; -1: there is none. */
static int column_of(struct learn_table *table, const char *name, int hint)
{
    for (int i = 0; i < table->features; i++) {
        int at = (hint + i) % table->features;
        if (strcmp(table->names[at], name) == 0)
            return at;
    }
    if (table->features == FEATURES_MAX)
        return -1;
    memcpy(table->names[table->features], name, FEATURE_NAME_SIZE);
    return table->features++;
}

static void add_table_row(struct learn_table *table, const struct bank_row *row,
                          const struct prediction *prediction, const struct features *features,
                          bool own)
{
    size_t r = table->count++;
    int column = 0;
    for (int f = 0; f < features->count; f++) {
        bool flag = strcmp(features->name[f], FEATURE_OWN_CHIP) == 0;
        column = column_of(table, features->name[f], column);
        if (column >= 0)
            table->x[r * FEATURES_MAX + (size_t)column] = flag ? own : features->value[f];
    }
    table->y[r] = log(row->measured_ns / prediction->campaign_ns);
    table->weights[r] = own ? 1 : POOLED_WEIGHT;
    table->own[r] = own;
    table->problem[r] = prediction->problem;
    table->predictions[r] = *prediction;
    table->rows[r] = *row;
}

static void note_bank(const struct learn_bank *bank, size_t rows, struct correction *correction)
{
    const char *slash = strrchr(bank->file, '/');
    struct trained_bank *noted = &correction->banks[correction->bank_count++];
    snprintf(noted->file, sizeof noted->file, "%.90s", slash ? slash + 1 : bank->file);
    snprintf(noted->chip, sizeof noted->chip, "%s", bank->hw->name);
    noted->rows = (int64_t)rows;
    noted->own = bank->own;
}

static enum status add_bank(const struct learn_bank *bank, const struct learn_options *options,
                            struct learn_table *table, struct correction *correction,
                            struct error *error)
{
    size_t before = table->count;
    struct prediction *predictions = calloc(bank->count + 1, sizeof *predictions);
    struct features *features = calloc(bank->count + 1, sizeof *features);
    const struct evaluate_more more = {.chip = bank->campaign, .features = features};
    enum status status = predictions && features ? STATUS_OK : error_memory(error);
    if (status == STATUS_OK)
        status = evaluate_rows_more(bank->rows, bank->count, bank->hw, options->threads,
                                    options->stop, &more, predictions, error);
    for (size_t i = 0; status == STATUS_OK && i < bank->count; i++)
        if (bank->rows[i].measured_ns > 0 && predictions[i].predicted_ns > 0)
            add_table_row(table, &bank->rows[i], &predictions[i], &features[i], bank->own);
    free(predictions);
    free(features);
    note_bank(bank, table->count - before, correction);
    return status;
}

/* Rows as wide as there are columns. */
static void close_ranks(struct learn_table *table)
{
    for (size_t r = 0; r < table->count; r++)
        memmove(table->x + r * (size_t)table->features, table->x + r * FEATURES_MAX,
                (size_t)table->features * sizeof *table->x);
}

/* Simulates all banks. The caller clears the table, after a failure too. */
static enum status learn_table_fill(const struct learn_bank banks[], int count,
                                    const struct learn_options *options, struct learn_table *table,
                                    struct correction *correction, struct error *error)
{
    *table = (struct learn_table){0};
    TRY(make_room(banks, count, table, error));
    for (int b = 0; b < count; b++)
        TRY(add_bank(&banks[b], options, table, correction, error));
    close_ranks(table);
    return STATUS_OK;
}

enum { FOLDS = 5, TRAININGS = (FOLDS + 1) * CORRECT_FORESTS };
#define COVERS        0.8
#define RIDGE_PENALTY 30

static const struct boost_options growth[CORRECT_FORESTS] = {
    [CORRECT_MIDDLE] = {0.40, 500, 5, 0.04, 0.8, 0.3, 1, 0},
    [CORRECT_LOW] = {0.10, 100, 4, 0.06, 0.7, 0.4, 5, 0},
    [CORRECT_HIGH] = {0.90, 100, 4, 0.06, 0.7, 0.4, 5, 0},
};

struct learner {
    const struct learn_options *options;
    struct learn_table table;
    struct correction *correction;
    uint8_t *bins, *fold;
    double *at[CORRECT_FORESTS]; /* of each row, by forests without its fold */
    double *line;
    double *beyond; /* how far the measured time lies outside the interval, of ln */
};

static bool is_stopped(const struct learner *l)
{
    return l->options->stop && *l->options->stop;
}

/* ------------------------------------------------------------------ folds */

static int compare_problems(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static enum status list_problems(struct learner *l, struct error *error)
{
    struct correction *c = l->correction;
    c->problems = malloc((l->table.count + 1) * sizeof *c->problems);
    if (!c->problems)
        return error_memory(error);
    memcpy(c->problems, l->table.problem, l->table.count * sizeof *c->problems);
    qsort(c->problems, l->table.count, sizeof *c->problems, compare_problems);
    for (size_t r = 0; r < l->table.count; r++)
        if (r == 0 || c->problems[r] != c->problems[c->problem_count - 1])
            c->problems[c->problem_count++] = c->problems[r];
    return STATUS_OK;
}

/* All kernels of a problem are in one fold. */
static enum status deal_folds(struct learner *l, struct error *error)
{
    const struct correction *c = l->correction;
    size_t count = (size_t)c->problem_count;
    gsl_rng *random = random_open(l->options->seed, error);
    size_t *order = malloc((count + 1) * 2 * sizeof *order), *place = order + count + 1;
    enum status status = random && order ? STATUS_OK : error_memory(error);
    for (size_t i = 0; status == STATUS_OK && i < count; i++)
        order[i] = i;
    if (status == STATUS_OK) {
        gsl_ran_shuffle(random, order, count, sizeof *order);
        for (size_t i = 0; i < count; i++)
            place[order[i]] = i;
    }
    for (size_t r = 0; status == STATUS_OK && r < l->table.count; r++) {
        const uint32_t *found = bsearch(&l->table.problem[r], c->problems, count,
                                        sizeof *c->problems, compare_problems);
        l->fold[r] = (uint8_t)(place[found - c->problems] % FOLDS);
    }
    if (random)
        gsl_rng_free(random);
    free(order);
    return status;
}

/* ------------------------------------------------------------------ training */

/* The weights without a fold's rows; FOLDS: of all. */
static double *weights_without(const struct learner *l, int fold)
{
    double *weights = malloc((l->table.count + 1) * sizeof *weights);
    for (size_t r = 0; weights && r < l->table.count; r++)
        weights[r] = l->fold[r] == fold ? 0 : l->table.weights[r];
    return weights;
}

static void predict_fold(const struct learner *l, int fold, const struct forest *forest,
                         double at[])
{
    feature_bins bins;
    for (size_t r = 0; r < l->table.count; r++) {
        if (l->fold[r] != fold)
            continue;
        for (int f = 0; f < l->table.features; f++)
            bins[f] = l->bins[(size_t)f * l->table.count + r];
        at[r] = forest_value(forest, bins);
    }
}

/* One forest without one fold, whose rows it then predicts; without none, the one that is kept. */
static enum status train_forest(const struct learner *l, int fold, int which, struct error *error)
{
    struct boost_options options = growth[which];
    struct forest forest = {0};
    double *weights = weights_without(l, fold);
    const struct boost_data data = {l->table.count, l->table.features, l->bins, l->table.y,
                                    weights};
    options.seed = l->options->seed + (uint64_t)(fold * CORRECT_FORESTS + which);
    enum status status =
        weights ? boost_train(&data, &options, &forest, error) : error_memory(error);
    free(weights);
    if (status != STATUS_OK)
        return status;
    if (fold == FOLDS) {
        l->correction->forests[which] = forest;
        return STATUS_OK;
    }
    predict_fold(l, fold, &forest, l->at[which]);
    free(forest.trees);
    return STATUS_OK;
}

static enum status train_all(const struct learner *l, struct error *error)
{
    enum status result = STATUS_OK;
#pragma omp parallel for schedule(dynamic, 1) num_threads(l->options->threads)
    for (int t = 0; t < TRAININGS; t++) {
        struct error own;
        bool stopped = l->options->stop && *l->options->stop;
        enum status status =
            stopped ? error_set(&own, STATUS_STOPPED, "interrupted")
                    : train_forest(l, FOLDS - t / CORRECT_FORESTS, t % CORRECT_FORESTS, &own);
        if (status == STATUS_OK)
            continue;
#pragma omp critical
        {
            result = status;
            *error = own;
        }
    }
    return result;
}

/* Few rows determine no line: its times are then unknown. */
static enum status draw_lines(const struct learner *l, struct error *error)
{
    for (int fold = 0; fold < FOLDS; fold++) {
        struct ridge ridge;
        double *weights = weights_without(l, fold);
        if (!weights)
            return error_memory(error);
        size_t seen = 0;
        for (size_t r = 0; r < l->table.count; r++)
            seen += weights[r] > 0;
        bool enough = seen > (size_t)l->table.features;
        enum status status = enough ? ridge_fit(l->table.x, l->table.y, weights, l->table.count,
                                                l->table.features, RIDGE_PENALTY, &ridge, error)
                                    : STATUS_OK;
        free(weights);
        TRY(status);
        for (size_t r = 0; r < l->table.count; r++)
            if (l->fold[r] == fold)
                l->line[r] =
                    enough ? ridge_value(&ridge, l->table.x + r * (size_t)l->table.features) : NAN;
    }
    return STATUS_OK;
}

/* ------------------------------------------------------------------ the interval */

/* What widens intervals so that they hold COVERS of rows like the chip's own, but for one fold's;
 * FOLDS: of all. */
static double margin_without(const struct learner *l, int fold, double *scratch)
{
    size_t count = 0;
    for (size_t r = 0; r < l->table.count; r++)
        if (l->table.own[r] && l->fold[r] != fold)
            scratch[count++] = l->beyond[r];
    gsl_sort(scratch, 1, count);
    double rank = ceil((double)(count + 1) * COVERS);
    return count ? scratch[rank > (double)count ? count - 1 : (size_t)rank - 1] : 0;
}

/* Afterwards l->beyond[r] > 0 where the interval, widened as the other folds say, does not hold
 * the row. */
static enum status widen_interval(struct learner *l, struct error *error)
{
    double margins[FOLDS], *scratch = malloc((l->table.count + 1) * sizeof *scratch);
    if (!scratch)
        return error_memory(error);
    for (size_t r = 0; r < l->table.count; r++)
        l->beyond[r] =
            fmax(l->at[CORRECT_LOW][r] - l->table.y[r], l->table.y[r] - l->at[CORRECT_HIGH][r]);
    for (int fold = 0; fold < FOLDS; fold++)
        margins[fold] = margin_without(l, fold, scratch);
    l->correction->margin = margin_without(l, FOLDS, scratch);
    l->correction->covers = COVERS;
    for (size_t r = 0; r < l->table.count; r++)
        l->beyond[r] -= margins[l->fold[r]];
    free(scratch);
    return STATUS_OK;
}

/* ------------------------------------------------------------------ how well it does */

static enum status fill_figures(const double *predicted, const double *measured, int count,
                                double figure[3], struct error *error)
{
    struct model_quality quality;
    TRY(model_errors(predicted, measured, count, &quality, error));
    figure[TRAINED_MEAN] = quality.mean_error;
    figure[TRAINED_MEDIAN] = quality.median_error;
    figure[TRAINED_SPEARMAN] = quality.spearman;
    return STATUS_OK;
}

/* `room` is for four numbers a row. */
static enum status judge_class(const struct learner *l, const char *name, row_filter *belongs,
                               double *room, struct error *error)
{
    struct trained_quality *q = &l->correction->qualities[l->correction->quality_count++];
    size_t rows = l->table.count;
    double *measured = room, *simulated = room + rows, *corrected = simulated + rows,
           *line = corrected + rows;
    int count = 0, held = 0;
    snprintf(q->rows, sizeof q->rows, "%s", name);
    for (size_t r = 0; r < rows; r++) {
        const struct prediction *p = &l->table.predictions[r];
        if (!l->table.own[r] || (belongs && !belongs(&l->table.rows[r], p)))
            continue;
        measured[count] = l->table.rows[r].measured_ns;
        simulated[count] = p->predicted_ns;
        corrected[count] = p->campaign_ns * exp(l->at[CORRECT_MIDDLE][r]);
        line[count++] = p->campaign_ns * exp(l->line[r]);
        held += l->beyond[r] <= 0;
    }
    q->used = count;
    q->covers = (double)held / count; /* NaN of none */
    TRY(fill_figures(simulated, measured, count, q->simulated, error));
    TRY(fill_figures(line, measured, count, q->line, error));
    return fill_figures(corrected, measured, count, q->corrected, error);
}

static enum status judge_classes(const struct learner *l, struct error *error)
{
    static const struct {
        const char *name;
        row_filter *belongs;
    } classes[] = {{"all", NULL},
                   {"10 us and more", row_is_ge_10us},
                   {"large plain", row_is_large_plain},
                   {"clean, 10 us and more", row_is_clean_ge_10us}};
    double *room = malloc((l->table.count + 1) * 4 * sizeof *room);
    enum status status = room ? STATUS_OK : error_memory(error);
    for (size_t c = 0; status == STATUS_OK && c < sizeof classes / sizeof *classes; c++)
        status = judge_class(l, classes[c].name, classes[c].belongs, room, error);
    free(room);
    return status;
}

/* ------------------------------------------------------------------ all of it */

static void name_correction(struct learner *l, const struct hardware *hw,
                            const struct hardware *campaign)
{
    const struct operator* op;
    struct correction *c = l->correction;
    const struct operator_space *kind = operator_banked(&op);
    snprintf(c->chip, sizeof c->chip, "%s", hw->name);
    snprintf(c->op, sizeof c->op, "%s", op->name);
    snprintf(c->space, sizeof c->space, "%s", kind->name);
    c->model_version = MODEL_VERSION;
    hardware_price_fingerprint(hw, c->fingerprint);
    c->clock_mhz = (double)(campaign ? campaign : hw)->clock_hz / 1e6;
    c->seed = l->options->seed;
}

static enum status prepare_learner(struct learner *l, struct error *error)
{
    struct learn_table *t = &l->table;
    struct correction *c = l->correction;
    size_t rows = t->count + 1;
    c->features = calloc((size_t)t->features + 1, sizeof *c->features);
    l->bins = malloc(rows * (size_t)(t->features + 1));
    l->fold = malloc(rows);
    l->beyond = malloc(rows * sizeof *l->beyond);
    l->line = malloc(rows * sizeof *l->line);
    bool fits = c->features && l->bins && l->fold && l->beyond && l->line;
    for (int f = 0; f < CORRECT_FORESTS; f++) {
        l->at[f] = malloc(rows * sizeof *l->at[f]);
        fits = fits && l->at[f];
    }
    if (!fits)
        return error_memory(error);
    c->feature_count = t->features;
    for (int f = 0; f < t->features; f++)
        memcpy(c->features[f].name, t->names[f], FEATURE_NAME_SIZE);
    TRY(boost_cuts(t->x, t->count, t->features, c->features, error));
    boost_bins(t->x, t->count, t->features, c->features, l->bins);
    TRY(list_problems(l, error));
    return deal_folds(l, error);
}

static enum status learn_from(struct learner *l, const struct learn_bank banks[], int count,
                              struct error *error)
{
    size_t own = 0;
    TRY(learn_table_fill(banks, count, l->options, &l->table, l->correction, error));
    if (is_stopped(l))
        return error_set(error, STATUS_STOPPED, "interrupted");
    for (size_t r = 0; r < l->table.count; r++)
        own += l->table.own[r];
    if (own < LEARN_LEAST)
        return error_set(error, STATUS_INVALID,
                         "%zu kernels of the chip with a measured and a simulated time, expected "
                         "at least %d to learn from",
                         own, LEARN_LEAST);
    TRY(prepare_learner(l, error));
    TRY(train_all(l, error));
    TRY(draw_lines(l, error));
    TRY(widen_interval(l, error));
    return judge_classes(l, error);
}

enum status learn(const struct learn_bank banks[], int count, const struct learn_options *options,
                  struct correction *correction, struct error *error)
{
    struct learner l = {.options = options, .correction = correction};
    *correction = (struct correction){0};
    for (int b = count - 1; b >= 0; b--)
        if (banks[b].own)
            name_correction(&l, banks[b].hw, banks[b].campaign);
    enum status status = learn_from(&l, banks, count, error);
    if (status != STATUS_OK)
        correction_clear(correction);
    for (int f = 0; f < CORRECT_FORESTS; f++)
        free(l.at[f]);
    free(l.bins);
    free(l.fold);
    free(l.line);
    free(l.beyond);
    learn_table_clear(&l.table);
    return status;
}

/* ------------------------------------------------------------------ what was learned, as two
 * tables */

/* A line for each of the models that the class of rows is judged by; lines and laws may be missing.
 */
static void append_figures(const struct correction *c, const struct trained_quality *q,
                           json_t *table)
{
    const struct {
        const char *name;
        const double *figures;
        double covers;
    } models[] = {{c->law_count ? "law" : "simulated", q->simulated, NAN},
                  {"line", q->line, NAN},
                  {"corrected", q->corrected, q->covers}};
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        if (c->law_count && isnan(models[m].figures[TRAINED_MEAN]))
            continue;
        json_array_append_new(
            table, json_pack("{s:s, s:I, s:s, s:o, s:o, s:o, s:o}", "rows", q->rows, "used",
                             (json_int_t)q->used, "times", models[m].name, "mean_relative_error",
                             json_number(models[m].figures[TRAINED_MEAN]), "median_relative_error",
                             json_number(models[m].figures[TRAINED_MEDIAN]), "spearman",
                             json_number(models[m].figures[TRAINED_SPEARMAN]),
                             "interval_covers_share", json_number(models[m].covers)));
    }
}

json_t *learned_json(const struct correction *c)
{
    json_t *banks = json_array(), *qualities = json_array();
    for (int b = 0; b < c->bank_count; b++)
        json_array_append_new(
            banks, json_pack("{s:o, s:o, s:I}", "file", json_text(c->banks[b].file), "chip",
                             json_text(c->banks[b].chip), "rows", (json_int_t)c->banks[b].rows));
    for (int q = 0; q < c->quality_count; q++)
        append_figures(c, &c->qualities[q], qualities);
    return json_pack("{s:f, s:o, s:o}", "clock_mhz", c->clock_mhz, "learned_from", banks,
                     "cross_validated", qualities);
}

/* ------------------------------------------------------------------ the clock */

enum { FINE_MHZ = 10, COARSE_MHZ = 50 };
#define LEAST_OF_CLOCK 0.75
#define MOST_OF_CLOCK  1.05

/* Adds a bank's rows at a clock to the sum of |ln|, and their count. */
static enum status add_bank_error(const struct learn_bank *bank, long mhz,
                                  const struct learn_options *options, double *sum, size_t *count,
                                  struct error *error)
{
    char change[64];
    struct hardware hw;
    snprintf(change, sizeof change, "clock_mhz=%ld", mhz);
    TRY(hardware_reload(bank->hw, change, &hw, error));
    struct prediction *predictions = calloc(bank->count + 1, sizeof *predictions);
    enum status status = predictions ? evaluate_rows(bank->rows, bank->count, &hw, options->threads,
                                                     options->stop, predictions, error)
                                     : error_memory(error);
    for (size_t i = 0; status == STATUS_OK && i < bank->count; i++)
        if (bank->rows[i].measured_ns > 0 && predictions[i].predicted_ns > 0) {
            *sum += fabs(log(predictions[i].predicted_ns / bank->rows[i].measured_ns));
            ++*count;
        }
    free(predictions);
    hardware_clear(&hw);
    return status;
}

struct best_clock {
    long mhz; /* 0: none yet */
    double error;
};

static enum status try_clock(const struct learn_bank banks[], int count, long mhz,
                             const struct learn_options *options, struct best_clock *best,
                             struct error *error)
{
    double sum = 0;
    size_t rows = 0;
    for (int b = 0; b < count; b++)
        if (banks[b].own)
            TRY(add_bank_error(&banks[b], mhz, options, &sum, &rows, error));
    if (rows && (best->mhz == 0 || sum / (double)rows < best->error))
        *best = (struct best_clock){mhz, sum / (double)rows};
    return STATUS_OK;
}

static enum status try_clocks(const struct learn_bank banks[], int count, long from, long to,
                              long step, const struct learn_options *options,
                              struct best_clock *best, struct error *error)
{
    for (long mhz = from; mhz <= to; mhz += step) {
        if (options->stop && *options->stop)
            return error_set(error, STATUS_STOPPED, "interrupted");
        TRY(try_clock(banks, count, mhz, options, best, error));
    }
    return STATUS_OK;
}

enum status learn_clock(const struct learn_bank banks[], int count,
                        const struct learn_options *options, double *clock_mhz, struct error *error)
{
    struct best_clock best = {0, INFINITY};
    for (int b = 0; b < count; b++)
        if (banks[b].own)
            *clock_mhz = (double)banks[b].hw->clock_hz / 1e6;
    long least = lround(*clock_mhz * LEAST_OF_CLOCK / COARSE_MHZ) * COARSE_MHZ;
    long most = lround(*clock_mhz * MOST_OF_CLOCK);
    TRY(try_clocks(banks, count, least, most, COARSE_MHZ, options, &best, error));
    least = best.mhz - COARSE_MHZ + FINE_MHZ;
    most = best.mhz + COARSE_MHZ - FINE_MHZ;
    if (best.mhz > 0)
        TRY(try_clocks(banks, count, least, most, FINE_MHZ, options, &best, error));
    if (best.mhz > 0 && fabs((double)best.mhz / *clock_mhz - 1) >= CAMPAIGN_LEAST)
        *clock_mhz = (double)best.mhz;
    return STATUS_OK;
}
