/* A law is fitted for products and for all else, from these one for each family, from these one for
 * each kind: each level only as far from the one above as its rows can tell. Trees learn what is
 * left of ln(measured / law), at most a factor of three. Of products they learn the interval only:
 * what the library's tilings leave there does not come back with the next batch. All of it is done
 * again without each run, which is then predicted, and without each network; these predictions also
 * say how far intervals are moved apart (Romano, Patterson and Candès 2019), and what share of
 * them, added up, holds the sums. A left-out run's margin and share are those of the other runs, so
 * that what is said of its interval is of a run that nothing was learned from. Of sums of runs the
 * rank correlation means little and is given all the same. */
#include "jobs/calibrate/learn.h"

#include "core/version.h"
#include "hardware/fingerprint.h"
#include "network/operator_time.h"
#include "validate/boost.h"
#include "validate/law_fit.h"
#include "validate/model_quality.h"

#include <ctype.h>
#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Calls of left-out runs that an interval holds: a little more than the four fifths that are said
 * of it, since a network that was not learned from has fewer. */
#define RUN_COVERS 0.83

struct run_row {
    const struct operator_call *call;
    struct call_sizes sizes;
    char kinds[CALL_LEVELS][CALL_KIND_SIZE];
    const double *terms; /* of the table */
    int run, network;    /* each the first run of it */
};

/* Every measured call of all runs. */
struct run_table {
    size_t count;
    int runs;
    struct run_row *rows;
    double *terms; /* count × CALL_TERMS */
    double *times_us;
};

/* Of a row that was left out: the law's time and what the forests add to its logarithm. */
struct run_prediction {
    double law_us, at[CORRECT_FORESTS];
    bool knows_kind; /* it has a law of its own */
};

/* ------------------------------------------------------------------ the table */

/* "resnet50_16" and "resnet101" are one network: names count up to the first digit. */
static bool is_same_network(const char *a, const char *b)
{
    const char *start[2] = {strrchr(a, '/'), strrchr(b, '/')};
    const char *x = start[0] ? start[0] + 1 : a, *y = start[1] ? start[1] + 1 : b;
    while (*x && *x == *y && !isdigit((unsigned char)*x)) {
        x++;
        y++;
    }
    return (!*x || isdigit((unsigned char)*x)) && (!*y || isdigit((unsigned char)*y));
}

static void add_run(const struct network runs[], int run, const struct hardware *hw,
                    struct run_table *table)
{
    int network = 0;
    while (!is_same_network(runs[network].name, runs[run].name))
        network++;
    for (int64_t i = 0; i < runs[run].call_count; i++) {
        const struct operator_call *call = &runs[run].calls[i];
        if (!(call->measured_ns > 0) || call->uncovered)
            continue;
        struct run_row *row = &table->rows[table->count];
        double *terms = table->terms + table->count * CALL_TERMS;
        *row = (struct run_row){.call = call, .run = run, .network = network, .terms = terms};
        call_measure(call, hw, &row->sizes);
        call_fill_terms(call, &row->sizes, hw, terms);
        call_kinds(call, &row->sizes, row->kinds);
        table->times_us[table->count++] = call->measured_ns / 1e3;
    }
}

/* The caller clears the table, after a failure too. */
static enum status run_table_fill(const struct network runs[], int count, const struct hardware *hw,
                                  struct run_table *table, struct error *error)
{
    size_t room = 1;
    for (int i = 0; i < count; i++)
        room += (size_t)runs[i].call_count;
    *table = (struct run_table){.runs = count};
    table->rows = calloc(room, sizeof *table->rows);
    table->terms = calloc(room * CALL_TERMS, sizeof *table->terms);
    table->times_us = calloc(room, sizeof *table->times_us);
    if (!table->rows || !table->terms || !table->times_us)
        return error_memory(error);
    for (int i = 0; i < count; i++)
        add_run(runs, i, hw, table);
    return STATUS_OK;
}

static void run_table_clear(struct run_table *table)
{
    free(table->rows);
    free(table->terms);
    free(table->times_us);
}

/* How many rows' worth each level leans on the one above, the classes on what is expected. */
static const double shrink[CALL_LEVELS] = {1, 0.3, 3};
#define MOST_LEFT  1.2 /* of ln, that trees learn from */
#define LEAN_PRIOR 2   /* rows without any, for a kind's lean and spread */

static const struct boost_options growth[CORRECT_FORESTS] = {
    [CORRECT_MIDDLE] = {0.45, 300, 6, 0.1, 0.8, 0.5, 3, 0},
    [CORRECT_LOW] = {0.10, 100, 4, 0.06, 0.7, 0.4, 5, 0},
    [CORRECT_HIGH] = {0.90, 100, 4, 0.06, 0.7, 0.4, 5, 0},
};

/* ------------------------------------------------------------------ laws */

static bool is_of(const struct run_table *t, size_t row, int level, const char *kind)
{
    return strcmp(t->rows[row].kinds[level], kind) == 0;
}

/* The law that one of this kind is shrunk to; NULL: what is expected. */
static const struct trained_law *law_above(const struct run_table *t, size_t row, int level,
                                           const struct correction *c)
{
    return level + 1 < CALL_LEVELS ? correction_law(c, t->rows[row].kinds[level + 1]) : NULL;
}

static void fill_lean(const struct run_table *t, const char used[], struct trained_law *law)
{
    double sum = 0, spread = 0;
    for (size_t r = 0; r < t->count; r++) {
        if (!used[r])
            continue;
        double us = law_value(t->rows[r].terms, law->costs_us, CALL_TERMS);
        double left = log(t->times_us[r] / fmax(us, CALL_LEAST_US));
        left = fmin(fmax(left, -MOST_LEFT), MOST_LEFT);
        sum += left;
        spread += fabs(left);
        law->rows++;
    }
    law->lean = sum / ((double)law->rows + LEAN_PRIOR);
    law->spread = spread / ((double)law->rows + LEAN_PRIOR);
}

static void add_law(const struct run_table *t, size_t row, int level, const char seen[],
                    char used[], struct correction *c)
{
    double expected[CALL_TERMS], most[CALL_TERMS];
    const char *kind = t->rows[row].kinds[level];
    const struct trained_law *from = law_above(t, row, level, c);
    struct trained_law *law = &c->laws[c->law_count];
    *law = (struct trained_law){.term_count = CALL_TERMS};
    snprintf(law->kind, sizeof law->kind, "%s", kind);
    for (size_t r = 0; r < t->count; r++)
        used[r] = (char)(seen[r] && is_of(t, r, level, kind));
    for (int i = 0; i < CALL_TERMS; i++) {
        expected[i] = from ? from->costs_us[i] : call_terms[i].expected_us;
        most[i] = call_terms[i].most_us;
    }
    const struct law_data data = {t->count, CALL_TERMS, t->terms, t->times_us, used};
    law_fit(&data, expected, most, shrink[level], law->costs_us);
    fill_lean(t, used, law);
    c->law_count++;
}

/* Classes first: a law is shrunk to one that is there. */
static enum status fit_laws(const struct run_table *t, const char seen[], struct correction *c,
                            struct error *error)
{
    char *used = malloc(t->count);
    c->laws = calloc(CORRECTION_MAX_LAWS, sizeof *c->laws);
    if (!used || !c->laws) {
        free(used);
        return error_memory(error);
    }
    for (int level = CALL_LEVELS - 1; level >= 0; level--)
        for (size_t r = 0; r < t->count && c->law_count < CORRECTION_MAX_LAWS; r++)
            if (seen[r] && !correction_law(c, t->rows[r].kinds[level]))
                add_law(t, r, level, seen, used, c);
    free(used);
    return STATUS_OK;
}

/* ------------------------------------------------------------------ trees */

struct fold {
    const struct run_table *table;
    const struct learn_options *options;
    double *x, *left, *weights, *law_us;
    uint8_t *bins;
    int features;
};

static enum status fold_open(const struct run_table *t, const struct learn_options *options,
                             struct fold *f, struct error *error)
{
    *f = (struct fold){.table = t, .options = options};
    f->x = malloc(t->count * FEATURES_MAX * sizeof *f->x);
    f->bins = malloc(t->count * FEATURES_MAX);
    f->left = malloc(t->count * sizeof *f->left);
    f->weights = malloc(t->count * sizeof *f->weights);
    f->law_us = malloc(t->count * sizeof *f->law_us);
    bool fits = f->x && f->bins && f->left && f->weights && f->law_us;
    return fits ? STATUS_OK : error_memory(error);
}

static void fold_close(struct fold *f)
{
    free(f->x);
    free(f->bins);
    free(f->left);
    free(f->weights);
    free(f->law_us);
}

/* Features of all rows, and their names. */
static enum status fill_features(struct fold *f, const char seen[], struct correction *c,
                                 struct error *error)
{
    struct features features;
    const struct run_table *t = f->table;
    c->features = calloc(FEATURES_MAX, sizeof *c->features);
    if (!c->features)
        return error_memory(error);
    for (size_t r = 0; r < t->count; r++) {
        const struct run_row *row = &t->rows[r];
        const struct trained_law *known;
        f->law_us[r] = call_law_us(row->call, &row->sizes, c, row->terms, &known);
        call_features(row->call, &row->sizes, row->terms, f->law_us[r], known, &features);
        f->features = features.count;
        memcpy(f->x + r * (size_t)f->features, features.value, (size_t)f->features * sizeof *f->x);
        double left = log(t->times_us[r] / f->law_us[r]);
        f->left[r] = fmin(fmax(left, -MOST_LEFT), MOST_LEFT);
        f->weights[r] = seen[r] ? 1 : 0;
    }
    c->feature_count = f->features;
    for (int i = 0; i < f->features; i++)
        memcpy(c->features[i].name, features.name[i], FEATURE_NAME_SIZE);
    return STATUS_OK;
}

/* The middle is the last, since products are left out of it. */
static enum status grow_forests(struct fold *f, struct correction *c, struct error *error)
{
    const struct run_table *t = f->table;
    const struct boost_data data = {t->count, f->features, f->bins, f->left, f->weights};
    TRY(boost_cuts(f->x, t->count, f->features, c->features, error));
    boost_bins(f->x, t->count, f->features, c->features, f->bins);
    for (int which = CORRECT_FORESTS; which-- > 0;) {
        struct boost_options options = growth[which];
        for (size_t r = 0; r < t->count && which == CORRECT_MIDDLE; r++)
            if (t->rows[r].sizes.product.m > 0)
                f->left[r] = 0;
        options.seed = f->options->seed + (uint64_t)which;
        TRY(boost_train(&data, &options, &c->forests[which], error));
    }
    return STATUS_OK;
}

/* What the forests say of the rows that they have not seen. */
static void predict_unseen(const struct fold *f, const char seen[], const struct correction *c,
                           struct run_prediction predictions[])
{
    feature_bins bins = {0};
    for (size_t r = 0; r < f->table->count && predictions; r++) {
        if (seen[r])
            continue;
        for (int i = 0; i < f->features; i++)
            bins[i] = f->bins[(size_t)i * f->table->count + r];
        predictions[r].law_us = f->law_us[r];
        predictions[r].knows_kind = correction_law(c, f->table->rows[r].kinds[0]) != NULL;
        for (int which = 0; which < CORRECT_FORESTS; which++)
            predictions[r].at[which] = forest_value(&c->forests[which], bins);
    }
}

/* Learns from the rows that `seen` tells, and predicts the others; with NULL it does not. */
static enum status run_train(const struct run_table *table, const struct learn_options *options,
                             const char seen[], struct correction *c,
                             struct run_prediction predictions[], struct error *error)
{
    struct fold fold;
    enum status status = fold_open(table, options, &fold, error);
    if (status == STATUS_OK)
        status = fit_laws(table, seen, c, error);
    if (status == STATUS_OK)
        status = fill_features(&fold, seen, c, error);
    if (status == STATUS_OK)
        status = grow_forests(&fold, c, error);
    if (status == STATUS_OK)
        predict_unseen(&fold, seen, c, predictions);
    fold_close(&fold);
    return status;
}

/* ------------------------------------------------------------------ leaving out */

struct judging {
    const struct run_table *table;
    const struct learn_options *options;
    bool networks; /* are left out, and not runs */
    struct run_prediction *predictions;
    double *margins, *unknown, *shares; /* of each run, by the others */
    double *room;                       /* three numbers a row or run */
};

static int group_of(const struct judging *j, size_t row)
{
    const struct run_row *r = &j->table->rows[row];
    return j->networks ? r->network : r->run;
}

/* Nothing is left out where a network is told by an earlier run. */
static enum status leave_out(const struct judging *j, int left_out, struct error *error)
{
    struct correction c = {0};
    size_t seen_count = 0;
    char *seen = calloc(j->table->count, 1);
    if (!seen)
        return error_memory(error);
    for (size_t r = 0; r < j->table->count; r++) {
        seen[r] = group_of(j, r) == left_out ? 0 : 1;
        seen_count += seen[r] ? 1 : 0;
    }
    enum status status = STATUS_OK;
    if (seen_count == 0)
        status = error_set(error, STATUS_INVALID, "all runs are of one network, expected two");
    else if (seen_count < j->table->count)
        status = run_train(j->table, j->options, seen, &c, j->predictions, error);
    correction_clear(&c);
    free(seen);
    return status;
}

static enum status leave_out_each(const struct judging *j, struct error *error)
{
    enum status result = STATUS_OK;
#pragma omp parallel for schedule(dynamic, 1) num_threads(j->options->threads)
    for (int g = 0; g < j->table->runs; g++) {
        struct error own;
        bool stopped = j->options->stop && *j->options->stop;
        enum status status =
            stopped ? error_set(&own, STATUS_STOPPED, "interrupted") : leave_out(j, g, &own);
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

/* ------------------------------------------------------------------ intervals */

static double ranked_value(double *values, size_t count)
{
    gsl_sort(values, 1, count);
    double rank = ceil((double)(count + 1) * RUN_COVERS);
    return count ? values[rank > (double)count ? count - 1 : (size_t)rank - 1] : 0;
}

/* How far a time lies outside its interval, of ln. */
static double beyond(const struct judging *j, size_t row)
{
    const struct run_prediction *p = &j->predictions[row];
    double left = log(j->table->times_us[row] / p->law_us);
    return fmax(p->at[CORRECT_LOW] - left, left - p->at[CORRECT_HIGH]);
}

/* Only where networks are left out are there kinds that were not seen. */
static bool gives_margin(const struct judging *j, size_t row)
{
    return j->networks ? !j->predictions[row].knows_kind : true;
}

/* The margin without the rows of one run, or of its network; -1: with all of them. `least`: where
 * there are none. */
static double margin_without(const struct judging *j, int left_out, double least)
{
    size_t count = 0;
    for (size_t r = 0; r < j->table->count; r++)
        if (group_of(j, r) != left_out && gives_margin(j, r))
            j->room[count++] = beyond(j, r);
    return count ? fmax(ranked_value(j->room, count), least) : least;
}

static double margin_of(const struct judging *j, size_t row)
{
    const struct run_row *r = &j->table->rows[row];
    bool unknown = j->networks && !j->predictions[row].knows_kind;
    return unknown ? j->unknown[r->network] : j->margins[r->run];
}

struct run_sum {
    double measured, predicted, law, below, above, errors;
};

static void sum_run(const struct judging *j, int run, bool l_only, struct run_sum *sum)
{
    *sum = (struct run_sum){0};
    for (size_t r = 0; r < j->table->count; r++) {
        const struct run_row *row = &j->table->rows[r];
        const struct run_prediction *p = &j->predictions[r];
        if (row->run != run || (l_only && !row->call->is_l_kind))
            continue;
        double weight = (double)row->call->count * p->law_us, middle = p->at[CORRECT_MIDDLE];
        double predicted = weight * exp(middle), margin = margin_of(j, r);
        double measured = (double)row->call->count * j->table->times_us[r];
        sum->measured += measured;
        sum->law += weight;
        sum->predicted += predicted;
        sum->errors += fabs(predicted - measured);
        sum->below += predicted - weight * exp(fmin(p->at[CORRECT_LOW] - margin, middle));
        sum->above += weight * exp(fmax(p->at[CORRECT_HIGH] + margin, middle)) - predicted;
    }
}

static int network_of(const struct run_table *t, int run)
{
    size_t r = 0;
    while (r + 1 < t->count && t->rows[r].run != run)
        r++;
    return t->rows[r].network;
}

/* The share of the added intervals that a run's sum needs. */
static double share_of(const struct run_sum *sum)
{
    double off = sum->measured - sum->predicted, width = off > 0 ? sum->above : sum->below;
    return width > 0 ? fmin(fabs(off) / width, 100) : 100;
}

/* The share that holds the sums of left-out networks, but for one run's network; -1: of all. */
static double together_without(const struct judging *j, int run)
{
    size_t count = 0;
    struct run_sum sum;
    for (int i = 0; i < j->table->runs; i++) {
        if (run >= 0 && network_of(j->table, i) == network_of(j->table, run))
            continue;
        sum_run(j, i, false, &sum);
        if (sum.measured > 0)
            j->room[count++] = share_of(&sum);
    }
    return ranked_value(j->room, count);
}

/* ------------------------------------------------------------------ figures */

typedef bool kind_filter(const struct run_row *row);

static bool is_matmul(const struct run_row *row)
{
    return strstr(row->call->op_type, "MatMul") != NULL;
}

static bool is_convolution(const struct run_row *row)
{
    return strstr(row->call->op_type, "Conv2D") || strstr(row->call->op_type, "FusedDbnDw");
}

static bool is_other(const struct run_row *row)
{
    return !is_matmul(row) && !is_convolution(row);
}

static struct trained_quality *add_quality(const struct judging *j, const char *name,
                                           struct correction *c)
{
    struct trained_quality *q = &c->qualities[c->quality_count++];
    *q = (struct trained_quality){.line = {NAN, NAN, NAN}, .covers = NAN};
    snprintf(q->rows, sizeof q->rows, "%s, %s left out", name, j->networks ? "network" : "run");
    return q;
}

static enum status fill_figures(const double *predicted, const double *measured, size_t count,
                                double figure[3], struct error *error)
{
    struct model_quality quality;
    TRY(model_errors(predicted, measured, (int)count, &quality, error));
    figure[TRAINED_MEAN] = quality.mean_error;
    figure[TRAINED_MEDIAN] = quality.median_error;
    figure[TRAINED_SPEARMAN] = quality.spearman;
    return STATUS_OK;
}

static enum status judge_rows(const struct judging *j, const char *name, kind_filter *belongs,
                              struct correction *c, struct error *error)
{
    const struct run_table *t = j->table;
    double *measured = j->room, *law = measured + t->count, *predicted = law + t->count;
    size_t count = 0, held = 0;
    for (size_t r = 0; r < t->count; r++) {
        if (belongs && !belongs(&t->rows[r]))
            continue;
        measured[count] = t->times_us[r];
        law[count] = j->predictions[r].law_us;
        predicted[count++] = j->predictions[r].law_us * exp(j->predictions[r].at[CORRECT_MIDDLE]);
        held += beyond(j, r) <= margin_of(j, r);
    }
    if (count == 0)
        return STATUS_OK;
    struct trained_quality *q = add_quality(j, name, c);
    q->used = (int64_t)count;
    q->covers = (double)held / (double)count;
    TRY(fill_figures(law, measured, count, q->simulated, error));
    return fill_figures(predicted, measured, count, q->corrected, error);
}

/* With `rows` the error is the sum of the rows' absolute errors. */
static enum status judge_sums(const struct judging *j, const char *name, bool l_only, bool rows,
                              struct correction *c, struct error *error)
{
    double *measured = j->room, *law = measured + j->table->runs, *predicted = law + j->table->runs;
    size_t count = 0, held = 0;
    for (int run = 0; run < j->table->runs; run++) {
        struct run_sum sum;
        sum_run(j, run, l_only, &sum);
        if (!(sum.measured > 0))
            continue;
        measured[count] = sum.measured;
        law[count] = sum.law;
        predicted[count++] = rows ? sum.measured + sum.errors : sum.predicted;
        held += share_of(&sum) <= j->shares[run];
    }
    if (count == 0)
        return STATUS_OK;
    struct trained_quality *q = add_quality(j, name, c);
    q->used = (int64_t)count;
    q->covers = rows ? NAN : (double)held / (double)count;
    TRY(fill_figures(law, measured, count, q->simulated, error));
    if (rows)
        q->simulated[TRAINED_MEAN] = q->simulated[TRAINED_MEDIAN] = NAN;
    return fill_figures(predicted, measured, count, q->corrected, error);
}

static enum status judge_all(const struct judging *j, struct correction *c, struct error *error)
{
    TRY(judge_rows(j, "calls", NULL, c, error));
    TRY(judge_rows(j, "MatMul", is_matmul, c, error));
    TRY(judge_rows(j, "Conv2D", is_convolution, c, error));
    TRY(judge_rows(j, "others", is_other, c, error));
    TRY(judge_sums(j, "sums", false, false, c, error));
    TRY(judge_sums(j, "L's sums", true, false, c, error));
    return judge_sums(j, "row errors", false, true, c, error);
}

/* A margin is that of left-out runs, and of kinds that are not known that of left-out networks, as
 * is the share: who asks for a step has a network that nothing was learned from. */
static void learn_intervals(const struct judging *runs, const struct judging *networks,
                            struct correction *c)
{
    c->margin = margin_without(runs, -1, -INFINITY);
    c->margin_unknown = margin_without(networks, -1, c->margin);
    for (int run = 0; run < runs->table->runs; run++) {
        runs->margins[run] = margin_without(runs, run, -INFINITY);
        runs->unknown[run] = margin_without(networks, run, c->margin);
    }
    for (int run = 0; run < runs->table->runs; run++)
        runs->shares[run] = together_without(networks, run);
    c->together = together_without(networks, -1);
}

static enum status judge_both(const struct judging *runs, const struct judging *networks,
                              struct correction *c, struct error *error)
{
    TRY(leave_out_each(runs, error));
    TRY(leave_out_each(networks, error));
    learn_intervals(runs, networks, c);
    TRY(judge_all(runs, c, error));
    return judge_all(networks, c, error);
}

/* Fills margin, together and the qualities, with each run and then each network left out. */
static enum status run_judge(const struct run_table *table, const struct learn_options *options,
                             struct correction *c, struct error *error)
{
    struct judging j = {.table = table, .options = options};
    size_t runs = (size_t)table->runs;
    j.predictions = calloc(2 * table->count, sizeof *j.predictions);
    j.margins = calloc(runs, sizeof *j.margins);
    j.unknown = calloc(runs, sizeof *j.unknown);
    j.shares = calloc(runs, sizeof *j.shares);
    j.room = calloc(3 * (table->count + runs), sizeof *j.room);
    bool fits = j.predictions && j.margins && j.unknown && j.shares && j.room;
    struct judging networks = j;
    networks.networks = true;
    networks.predictions += fits ? table->count : 0;
    enum status status = fits ? judge_both(&j, &networks, c, error) : error_memory(error);
    free(j.predictions);
    free(j.margins);
    free(j.unknown);
    free(j.shares);
    free(j.room);
    return status;
}

/* ------------------------------------------------------------------ all of it */

static void name_learned(const struct network runs[], int count, const struct hardware *hw,
                         const struct learn_options *options, struct correction *c)
{
    snprintf(c->chip, sizeof c->chip, "%s", hw->name);
    snprintf(c->op, sizeof c->op, "network");
    snprintf(c->space, sizeof c->space, "library");
    c->model_version = MODEL_VERSION;
    hardware_price_fingerprint(hw, c->fingerprint);
    c->clock_mhz = (double)hw->clock_hz / 1e6;
    c->seed = options->seed;
    c->covers = RUN_COVERS;
    c->bank_count = count;
    for (int i = 0; i < count; i++) {
        const char *slash = strrchr(runs[i].name, '/');
        struct trained_bank *bank = &c->banks[i];
        *bank = (struct trained_bank){.rows = runs[i].call_count, .own = true};
        snprintf(bank->file, sizeof bank->file, "%s", slash ? slash + 1 : runs[i].name);
        snprintf(bank->chip, sizeof bank->chip, "%s", hw->name);
    }
}

static enum status learn_from_table(const struct run_table *table,
                                    const struct learn_options *options, struct correction *c,
                                    struct error *error)
{
    if (table->count < LEARN_LEAST)
        return error_set(error, STATUS_INVALID,
                         "%zu measured calls, expected at least %d to learn from", table->count,
                         LEARN_LEAST);
    char *seen = malloc(table->count);
    if (!seen)
        return error_memory(error);
    memset(seen, 1, table->count);
    enum status status = run_train(table, options, seen, c, NULL, error);
    free(seen);
    return status == STATUS_OK ? run_judge(table, options, c, error) : status;
}

enum status learn_network(const struct network runs[], int count, const struct hardware *hw,
                          const struct learn_options *options, struct correction *learned,
                          struct error *error)
{
    struct run_table table;
    *learned = (struct correction){0};
    if (count < 2 || count > CORRECTION_MAX_BANKS)
        return error_set(error, STATUS_INVALID, "%d runs, expected 2 to %d", count,
                         CORRECTION_MAX_BANKS);
    name_learned(runs, count, hw, options, learned);
    enum status status = run_table_fill(runs, count, hw, &table, error);
    if (status == STATUS_OK)
        status = learn_from_table(&table, options, learned, error);
    if (status != STATUS_OK)
        correction_clear(learned);
    run_table_clear(&table);
    return status;
}
