/* Judges a model by what was measured. Relative errors, Spearman's rank correlation (1904), and
 * regret: the time of the best among the model's first tilings over that of the best of all. Means
 * and worst cases over shapes go through a table of figures, each with what makes it bad. */
#include "validate/model_quality.h"

#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

static const struct model_quality unknown = {0, NAN, NAN, NAN, NAN, NAN, NAN, NAN};

/* The pairs that count, and room to sort them. */
struct pairs {
    size_t count;
    double *predicted, *measured, *ratios, *errors;
    double *work; /* of gsl_stats_spearman: 2 a pair */
    size_t *order;
};

static bool counts(double predicted, double measured)
{
    return isfinite(predicted) && isfinite(measured) && predicted > 0 && measured > 0;
}

static bool allocate(struct pairs *p, size_t count)
{
    size_t room = count ? count : 1;
    p->predicted = calloc(6 * room, sizeof *p->predicted);
    p->order = calloc(room, sizeof *p->order);
    p->measured = p->predicted + room;
    p->ratios = p->measured + room;
    p->errors = p->ratios + room;
    p->work = p->errors + room;
    return p->predicted && p->order;
}

static void take(struct pairs *p, const double predicted[], const double measured[], int count)
{
    for (int i = 0; i < count; i++) {
        if (!counts(predicted[i], measured[i]))
            continue;
        p->predicted[p->count] = predicted[i];
        p->measured[p->count] = measured[i];
        p->ratios[p->count++] = predicted[i] / measured[i];
    }
}

static bool spread(const double values[], size_t count)
{
    return gsl_stats_min(values, 1, count) < gsl_stats_max(values, 1, count);
}

static void fill_errors(const struct pairs *p, struct model_quality *q)
{
    for (size_t i = 0; i < p->count; i++)
        p->errors[i] = fabs(p->ratios[i] - 1);
    q->mean_error = gsl_stats_mean(p->errors, 1, p->count);
    q->worst_error = gsl_stats_max(p->errors, 1, p->count);
    q->median_error = gsl_stats_median(p->errors, 1, p->count); /* reorders */
    q->bias = gsl_stats_median(p->ratios, 1, p->count);
    q->spearman = spread(p->predicted, p->count) && spread(p->measured, p->count)
                      ? gsl_stats_spearman(p->predicted, 1, p->measured, 1, p->count, p->work)
                      : NAN;
}

/* The `picks` tilings that the model likes best; stable, so that ties go by index. */
static double best_of_picks(const struct pairs *p, int picks)
{
    double best = INFINITY;
    for (size_t i = 0; i < p->count && i < (size_t)picks; i++)
        best = fmin(best, p->measured[p->order[i]]);
    return best;
}

static void fill_regrets(const struct pairs *p, struct model_quality *q)
{
    double least = gsl_stats_min(p->measured, 1, p->count);
    for (size_t i = 0; i < p->count; i++)
        p->order[i] = i;
    for (size_t i = 1; i < p->count; i++) /* insertion: gsl_sort_index is not stable */
        for (size_t j = i; j > 0 && p->predicted[p->order[j]] < p->predicted[p->order[j - 1]];
             j--) {
            size_t swapped = p->order[j];
            p->order[j] = p->order[j - 1];
            p->order[j - 1] = swapped;
        }
    q->regret_first = best_of_picks(p, 1) / least;
    q->regret_top = best_of_picks(p, MODEL_QUALITY_TOP) / least;
}

static void fill_all(const struct pairs *p, struct model_quality *q)
{
    fill_errors(p, q);
    fill_regrets(p, q);
}

static enum status judge(const double predicted[], const double measured[], int count,
                         void (*fill)(const struct pairs *p, struct model_quality *q),
                         struct model_quality *quality, struct error *error)
{
    struct pairs pairs = {0};
    *quality = unknown;
    if (!allocate(&pairs, count > 0 ? (size_t)count : 0)) {
        free(pairs.predicted);
        free(pairs.order);
        return error_memory(error);
    }
    take(&pairs, predicted, measured, count);
    quality->count = (int)pairs.count;
    if (pairs.count > 0)
        fill(&pairs, quality);
    free(pairs.predicted);
    free(pairs.order);
    return STATUS_OK;
}

enum status model_quality(const double predicted[], const double measured[], int count,
                          struct model_quality *quality, struct error *error)
{
    return judge(predicted, measured, count, fill_all, quality, error);
}

enum status model_errors(const double predicted[], const double measured[], int count,
                         struct model_quality *quality, struct error *error)
{
    return judge(predicted, measured, count, fill_errors, quality, error);
}

/* ------------------------------------------------------------------ over shapes */

static double larger(double value)
{
    return value;
}

static double smaller(double value)
{
    return -value;
}

static double off(double value)
{
    return fabs(log(value));
}

/* The figures, and of which values the worst is the largest. */
static const struct figure {
    size_t offset;
    double (*badness)(double value);
} figures[] = {
    {offsetof(struct model_quality, mean_error), larger},
    {offsetof(struct model_quality, median_error), larger},
    {offsetof(struct model_quality, worst_error), larger},
    {offsetof(struct model_quality, bias), off},
    {offsetof(struct model_quality, spearman), smaller},
    {offsetof(struct model_quality, regret_first), larger},
    {offsetof(struct model_quality, regret_top), larger},
};

static double figure_of(const struct figure *figure, const struct model_quality *quality)
{
    return *(const double *)(const void *)((const char *)quality + figure->offset);
}

static int with_tilings(const struct model_quality shapes[], int count)
{
    int with = 0;
    for (int i = 0; i < count; i++)
        with += shapes[i].count > 0;
    return with;
}

static double mean_of(const struct figure *figure, const struct model_quality shapes[], int count)
{
    double sum = 0;
    int known = 0;
    for (int i = 0; i < count; i++) {
        double value = figure_of(figure, &shapes[i]);
        if (isnan(value))
            continue;
        sum += value;
        known++;
    }
    return known ? sum / known : NAN;
}

static double worst_of(const struct figure *figure, const struct model_quality shapes[], int count)
{
    double worst = NAN;
    for (int i = 0; i < count; i++) {
        double value = figure_of(figure, &shapes[i]);
        if (!isnan(value) && (isnan(worst) || figure->badness(value) > figure->badness(worst)))
            worst = value;
    }
    return worst;
}

static struct model_quality summarise(const struct model_quality shapes[], int count,
                                      double (*rule)(const struct figure *figure,
                                                     const struct model_quality shapes[],
                                                     int count))
{
    struct model_quality summary = unknown;
    summary.count = with_tilings(shapes, count);
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        *(double *)(void *)((char *)&summary + figures[i].offset) =
            rule(&figures[i], shapes, count);
    return summary;
}

struct model_quality model_quality_mean(const struct model_quality shapes[], int count)
{
    return summarise(shapes, count, mean_of);
}

struct model_quality model_quality_worst(const struct model_quality shapes[], int count)
{
    return summarise(shapes, count, worst_of);
}
