/* Gradient boosting (Friedman 2001) of the pinball loss (Koenker and Bassett 1978) with symmetric
 * trees and histograms. A level's question is the one whose answers leave the largest
 * sum of G²/W over the leaves, G a leaf's sum of gradients and W its weight. A leaf's value is the
 * quantile of what is left of y in it, drawn towards 0 as if `prior` rows without any were there,
 * times the rate; it is rounded to the unit of forests, so that a forest that was kept in a file
 * says the same. Each tree sees some rows and some features only (Friedman 2002). */
#include "validate/boost.h"

#include "validate/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BINS = CORRECTION_MAX_CUTS + 1, MAX_LEAVES = 1 << CORRECTION_MAX_DEPTH };

/* ------------------------------------------------------------------ cuts */

static int compare_reals(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* To nine digits, which a file keeps. */
static double rounded(double value)
{
    char text[32];
    snprintf(text, sizeof text, "%.9g", value);
    return strtod(text, NULL);
}

/* Of ascending values. A cut lies between two that differ, also when rounded. */
static void cut(const double *sorted, size_t rows, struct trained_feature *feature)
{
    feature->low = rounded(sorted[0]);
    feature->high = rounded(sorted[rows - 1]);
    feature->cut_count = 0;
    size_t last = 0;
    for (int c = 1; c <= CORRECTION_MAX_CUTS; c++) {
        size_t at = rows * (size_t)c / (CORRECTION_MAX_CUTS + 1);
        while (at < rows && (at <= last || !(sorted[at] > sorted[at - 1])))
            at++;
        if (at >= rows)
            return;
        double between = rounded((sorted[at - 1] + sorted[at]) / 2);
        bool above = !feature->cut_count || between > feature->cuts[feature->cut_count - 1];
        if (above && between >= sorted[at - 1] && between < sorted[at])
            feature->cuts[feature->cut_count++] = between;
        last = at;
    }
}

enum status boost_cuts(const double *x, size_t rows, int count, struct trained_feature features[],
                       struct error *error)
{
    double *sorted = malloc(rows * sizeof *sorted);
    if (!sorted)
        return error_memory(error);
    for (int f = 0; f < count; f++) {
        for (size_t r = 0; r < rows; r++)
            sorted[r] = x[r * (size_t)count + (size_t)f];
        qsort(sorted, rows, sizeof *sorted, compare_reals);
        cut(sorted, rows, &features[f]);
    }
    free(sorted);
    return STATUS_OK;
}

void boost_bins(const double *x, size_t rows, int count, const struct trained_feature features[],
                uint8_t *bins)
{
    for (int f = 0; f < count; f++)
        for (size_t r = 0; r < rows; r++)
            bins[(size_t)f * rows + r] =
                (uint8_t)feature_bin(&features[f], x[r * (size_t)count + (size_t)f]);
}

/* ------------------------------------------------------------------ weighted quantiles */

struct weighted {
    double value, weight;
};

static int compare_weighted(const void *a, const void *b)
{
    const struct weighted *x = a, *y = b;
    return (x->value > y->value) - (x->value < y->value);
}

/* The least value at which the share of the weight is reached; 0 of none. */
static double quantile_of(struct weighted *items, size_t count, double share)
{
    double all = 0, sum = 0;
    qsort(items, count, sizeof *items, compare_weighted);
    for (size_t i = 0; i < count; i++)
        all += items[i].weight;
    for (size_t i = 0; i < count; i++) {
        sum += items[i].weight;
        if (sum >= share * all)
            return items[i].value;
    }
    return 0;
}

/* ------------------------------------------------------------------ one tree */

struct grower {
    const struct boost_data *data;
    const struct boost_options *options;
    gsl_rng *random;
    double *left;            /* of y */
    struct weighted *sorted; /* room for a leaf's rows */
    size_t *seen, seen_count;
    uint8_t *leaf; /* of each row */
    int drawn[FEATURES_MAX], drawn_count;
};

static void draw(struct grower *g)
{
    const struct boost_data *data = g->data;
    g->seen_count = 0;
    g->drawn_count = 0;
    for (size_t r = 0; r < data->rows; r++)
        if (gsl_rng_uniform(g->random) < g->options->row_share && data->weights[r] > 0)
            g->seen[g->seen_count++] = r;
    for (int f = 0; f < data->features; f++)
        if (gsl_rng_uniform(g->random) < g->options->feature_share)
            g->drawn[g->drawn_count++] = f;
    memset(g->leaf, 0, data->rows);
}

struct sums {
    double gradient, weight;
};

static double score(struct sums sums)
{
    return sums.gradient * sums.gradient / (sums.weight + 1);
}

/* The sums of all cells of a feature's histogram. */
static void fill(const struct grower *g, int feature, int leaves, struct sums cells[][BINS])
{
    const uint8_t *bins = g->data->bins + (size_t)feature * g->data->rows;
    double q = g->options->quantile;
    memset(cells, 0, (size_t)leaves * sizeof *cells);
    for (size_t i = 0; i < g->seen_count; i++) {
        size_t r = g->seen[i];
        double weight = g->data->weights[r];
        struct sums *cell = &cells[g->leaf[r]][bins[r]];
        cell->gradient += weight * (g->left[r] > 0 ? q : q - 1);
        cell->weight += weight;
    }
}

/* Adds to gains[cut] what one leaf gains by each cut. */
static void add_gains(const struct sums cells[BINS], double gains[BINS])
{
    struct sums all = {0, 0}, below = {0, 0};
    for (int b = 0; b < BINS; b++) {
        all.gradient += cells[b].gradient;
        all.weight += cells[b].weight;
    }
    for (int c = 0; c + 1 < BINS; c++) {
        below.gradient += cells[c].gradient;
        below.weight += cells[c].weight;
        struct sums above = {all.gradient - below.gradient, all.weight - below.weight};
        gains[c] += score(below) + score(above) - score(all);
    }
}

/* The question of one level; of equal ones the first. False: none tells rows apart. */
static bool find_question(const struct grower *g, int leaves, struct boosted_tree *tree)
{
    struct sums cells[MAX_LEAVES][BINS];
    double most = 1e-9;
    bool found = false;
    for (int i = 0; i < g->drawn_count; i++) {
        double gains[BINS] = {0};
        fill(g, g->drawn[i], leaves, cells);
        for (int l = 0; l < leaves; l++)
            add_gains((const struct sums *)cells[l], gains);
        for (int c = 0; c + 1 < BINS; c++)
            if (gains[c] > most) {
                most = gains[c];
                found = true;
                tree->feature[tree->depth] = (uint8_t)g->drawn[i];
                tree->cut[tree->depth] = (uint8_t)c;
            }
    }
    return found;
}

static void set_leaf(const struct grower *g, int leaf, struct boosted_tree *tree)
{
    size_t count = 0;
    double weight = 0;
    for (size_t i = 0; i < g->seen_count; i++) {
        size_t r = g->seen[i];
        if (g->leaf[r] != leaf)
            continue;
        g->sorted[count++] = (struct weighted){g->left[r], g->data->weights[r]};
        weight += g->data->weights[r];
    }
    double share = g->options->rate * weight / (weight + g->options->prior);
    double value = share * quantile_of(g->sorted, count, g->options->quantile);
    tree->leaf[leaf] = (int32_t)lround(value / CORRECTION_LEAF);
}

static void grow_tree(struct grower *g, struct boosted_tree *tree)
{
    const struct boost_data *data = g->data;
    *tree = (struct boosted_tree){0};
    draw(g);
    while (tree->depth < g->options->depth && find_question(g, 1 << tree->depth, tree)) {
        const uint8_t *bins = data->bins + (size_t)tree->feature[tree->depth] * data->rows;
        for (size_t r = 0; r < data->rows; r++)
            g->leaf[r] = (uint8_t)(g->leaf[r] << 1 | (bins[r] > tree->cut[tree->depth]));
        tree->depth++;
    }
    for (int l = 0; l < 1 << tree->depth; l++)
        set_leaf(g, l, tree);
    for (size_t r = 0; r < data->rows; r++)
        g->left[r] -= tree->leaf[g->leaf[r]] * CORRECTION_LEAF;
}

/* ------------------------------------------------------------------ the forest */

static void grow(struct grower *g, struct forest *forest)
{
    const struct boost_data *data = g->data;
    size_t count = 0;
    for (size_t r = 0; r < data->rows; r++)
        if (data->weights[r] > 0)
            g->sorted[count++] = (struct weighted){data->y[r], data->weights[r]};
    double start = quantile_of(g->sorted, count, g->options->quantile);
    forest->start = (int32_t)lround(start / CORRECTION_LEAF);
    for (size_t r = 0; r < data->rows; r++)
        g->left[r] = data->y[r] - forest->start * CORRECTION_LEAF;
    for (; forest->tree_count < g->options->trees; forest->tree_count++)
        grow_tree(g, &forest->trees[forest->tree_count]);
}

enum status boost_train(const struct boost_data *data, const struct boost_options *options,
                        struct forest *forest, struct error *error)
{
    struct grower g = {.data = data, .options = options};
    g.random = random_open(options->seed, error);
    g.left = malloc(data->rows * sizeof *g.left);
    g.sorted = malloc(data->rows * sizeof *g.sorted);
    g.seen = malloc(data->rows * sizeof *g.seen);
    g.leaf = malloc(data->rows);
    *forest = (struct forest){.quantile = options->quantile,
                              .trees = calloc((size_t)options->trees + 1, sizeof *forest->trees)};
    bool fits = g.random && g.left && g.sorted && g.seen && g.leaf && forest->trees;
    if (fits)
        grow(&g, forest);
    if (g.random)
        gsl_rng_free(g.random);
    free(g.left);
    free(g.sorted);
    free(g.seen);
    free(g.leaf);
    if (fits)
        return STATUS_OK;
    free(forest->trees);
    *forest = (struct forest){0};
    return error_memory(error);
}
