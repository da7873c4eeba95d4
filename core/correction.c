/* Features are found by name: both lists are usually in the same order, so the search for one goes
 * on where the last one was found. Trees are symmetric (oblivious) ones as in CatBoost
 * (Prokhorenkova et al. 2018), summed in integers; the interval's ends are quantiles moved apart by
 * a margin (conformalised quantile regression, Romano, Patterson and Candès 2019). A problem's
 * number is FNV-1a (Fowler, Noll and Vo) of its sizes. */
#include "core/correction.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A file keeps nine digits of a range. */
static const double within = 1e-6;

int feature_bin(const struct trained_feature *feature, double value)
{
    int bin = 0;
    while (bin < feature->cut_count && value > feature->cuts[bin])
        bin++;
    return bin;
}

double forest_value(const struct forest *forest, const uint8_t bins[])
{
    int64_t sum = forest->start;
    for (int t = 0; t < forest->tree_count; t++) {
        const struct boosted_tree *tree = &forest->trees[t];
        unsigned leaf = 0;
        for (int d = 0; d < tree->depth; d++)
            leaf = leaf << 1 | (bins[tree->feature[d]] > tree->cut[d]);
        sum += tree->leaf[leaf];
    }
    return (double)sum * CORRECTION_LEAF;
}

void correction_clear(struct correction *correction)
{
    for (int f = 0; f < CORRECT_FORESTS; f++)
        free(correction->forests[f].trees);
    free(correction->features);
    free(correction->problems);
    free(correction->laws);
    *correction = (struct correction){0};
}

const struct trained_law *correction_law(const struct correction *correction, const char *kind)
{
    for (int i = 0; i < correction->law_count; i++)
        if (strcmp(correction->laws[i].kind, kind) == 0)
            return &correction->laws[i];
    return NULL;
}

/* The place of a name, searched from *next on and around; -1: there is none. */
static int place_of(const struct features *features, const char *name, int *next)
{
    for (int i = 0; i < features->count; i++) {
        int at = (*next + i) % features->count;
        if (strcmp(features->name[at], name) == 0) {
            *next = at + 1;
            return at;
        }
    }
    return -1;
}

static void note_outside(const char *name, double value, double low, double high,
                         struct corrected *corrected)
{
    double beyond = fmax(low - value, value - high);
    double distance = beyond / (high > low ? high - low : 1);
    if (distance > fmax(corrected->outside, within)) {
        corrected->outside = distance;
        snprintf(corrected->outside_by, sizeof corrected->outside_by, "%s", name);
    }
}

/* Looks the features up, and how far they lie outside; one that training did not know was 0
 * there. */
static void find_bins(const struct correction *correction, const struct features *features,
                      feature_bins bins, struct corrected *corrected)
{
    bool known[FEATURES_MAX] = {false};
    int next = 0;
    for (int f = 0; f < correction->feature_count; f++) {
        const struct trained_feature *trained = &correction->features[f];
        int at = place_of(features, trained->name, &next);
        double value = at < 0 ? 0 : features->value[at];
        if (at >= 0)
            known[at] = true;
        bins[f] = (uint8_t)feature_bin(trained, value);
        note_outside(trained->name, value, trained->low, trained->high, corrected);
    }
    for (int i = 0; i < features->count; i++)
        if (!known[i])
            note_outside(features->name[i], features->value[i], 0, 0, corrected);
}

void correction_apply(const struct correction *correction, const struct features *features,
                      double simulated_ns, struct corrected *corrected)
{
    feature_bins bins;
    double at[CORRECT_FORESTS];
    *corrected = (struct corrected){.simulated_ns = simulated_ns};
    find_bins(correction, features, bins, corrected);
    for (int f = 0; f < CORRECT_FORESTS; f++)
        at[f] = forest_value(&correction->forests[f], bins);
    double low = at[CORRECT_LOW] - correction->margin, high = at[CORRECT_HIGH] + correction->margin;
    corrected->corrected_ns = simulated_ns * exp(at[CORRECT_MIDDLE]);
    corrected->low_ns = simulated_ns * exp(fmin(low, at[CORRECT_MIDDLE]));
    corrected->high_ns = simulated_ns * exp(fmax(high, at[CORRECT_MIDDLE]));
}

uint32_t correction_problem(const int64_t sizes[], int count)
{
    uint32_t hash = 2166136261U;
    for (int i = 0; i < count; i++)
        for (int byte = 0; byte < 8; byte++)
            hash = (hash ^ (uint32_t)((uint64_t)sizes[i] >> 8 * byte & 0xff)) * 16777619U;
    return hash;
}

static int compare(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

bool correction_has_seen(const struct correction *correction, uint32_t problem)
{
    return correction->problem_count > 0 &&
           bsearch(&problem, correction->problems, (size_t)correction->problem_count,
                   sizeof *correction->problems, compare);
}
