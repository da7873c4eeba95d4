/* Kernels are simulated bank by bank, each on its chip, and become rows of one table. Its columns
 * are the features of all kernels by name, in the order in which they first appear; what a kernel
 * does not list is 0. */
#include "jobs/calibrate/learn_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rows of other chips count less than those of the chip itself: what they have in common is learned
 * from both, what differs from its own. */
#define POOLED_WEIGHT 0.25

void learn_table_clear(struct learn_table *table)
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

static void add_row(struct learn_table *table, const struct bank_row *row,
                    const struct prediction *prediction, const struct features *features, bool own)
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
            add_row(table, &bank->rows[i], &predictions[i], &features[i], bank->own);
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

enum status learn_table_fill(const struct learn_bank banks[], int count,
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
