/* A law is fitted for products and for all else, from these one for each family, from these one for
 * each kind: each level only as far from the one above as its rows can tell. Trees learn what is
 * left of ln(measured / law), at most a factor of three. Of products they learn the interval only:
 * what the library's tilings leave there does not come back with the next batch. All of it is done
 * again without each run, which is then predicted, and without each network; these predictions also
 * say how far intervals are moved apart (Romano, Patterson and Candès 2019), and what share of
 * them, added up, holds the sums. */
#include "jobs/calibrate/learn_network.h"

#include "core/version.h"
#include "hardware/fingerprint.h"
#include "jobs/calibrate/learn_runs.h"
#include "network/operator_time.h"
#include "validate/boost.h"
#include "validate/law_fit.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
static const struct trained_law *above(const struct run_table *t, size_t row, int level,
                                       const struct correction *c)
{
    return level + 1 < CALL_LEVELS ? correction_law(c, t->rows[row].kinds[level + 1]) : NULL;
}

static void lean(const struct run_table *t, const char used[], struct trained_law *law)
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
    const struct trained_law *from = above(t, row, level, c);
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
    lean(t, used, law);
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
static enum status describe(struct fold *f, const char seen[], struct correction *c,
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
static enum status grow(struct fold *f, struct correction *c, struct error *error)
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
static void predict(const struct fold *f, const char seen[], const struct correction *c,
                    struct run_prediction predictions[])
{
    feature_bins bins;
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

enum status run_train(const struct run_table *table, const struct learn_options *options,
                      const char seen[], struct correction *c, struct run_prediction predictions[],
                      struct error *error)
{
    struct fold fold;
    enum status status = fold_open(table, options, &fold, error);
    if (status == STATUS_OK)
        status = fit_laws(table, seen, c, error);
    if (status == STATUS_OK)
        status = describe(&fold, seen, c, error);
    if (status == STATUS_OK)
        status = grow(&fold, c, error);
    if (status == STATUS_OK)
        predict(&fold, seen, c, predictions);
    fold_close(&fold);
    return status;
}

/* ------------------------------------------------------------------ all of it */

static void name_it(const struct network runs[], int count, const struct hardware *hw,
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

static enum status learn_table(const struct run_table *table, const struct learn_options *options,
                               struct correction *c, struct error *error)
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
    name_it(runs, count, hw, options, learned);
    enum status status = run_table_fill(runs, count, hw, &table, error);
    if (status == STATUS_OK)
        status = learn_table(&table, options, learned, error);
    if (status != STATUS_OK)
        correction_clear(learned);
    run_table_clear(&table);
    return status;
}
