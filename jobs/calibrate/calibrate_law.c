/* Fits one line to a curve, or two with a knee between them. One line is fitted first. Where it is
 * off by more than 2 % on average, a knee is tried after every point that leaves enough of them on
 * both sides, with a line of its own for each side; the best knee counts if it halves the mean
 * error. The line of the long moves is the model then, the other is kept beside it. */
#include "jobs/calibrate/calibrate_law.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { SHORT_POINTS = 4, LONG_POINTS = 8 }; /* at least, on either side of a knee */

/* A knee must explain this much of the mean error, and there must be one. */
static const double knee_gain = 0.5, knee_least_error = 0.02;

void samples_clear(struct samples *samples)
{
    free(samples->rows);
    free(samples->times_ns);
    memset(samples, 0, sizeof *samples);
}

bool samples_open(struct samples *samples, int capacity, int terms)
{
    *samples = (struct samples){0, terms, calloc((size_t)capacity, (size_t)terms * sizeof(double)),
                                calloc((size_t)capacity, sizeof(double))};
    return samples->rows && samples->times_ns;
}

static double mean_error(const struct samples *samples, int from, int to,
                         const struct linear_fit *fit)
{
    double sum = 0;
    for (int i = from; i < to; i++) {
        double fitted = 0;
        for (int j = 0; j < samples->terms; j++)
            fitted += samples->rows[i * samples->terms + j] * fit->cost[j];
        sum += fabs(fitted / samples->times_ns[i] - 1);
    }
    return sum;
}

static enum status fit_part(const struct samples *samples, int from, int to, struct linear_fit *fit,
                            struct error *error)
{
    return linear_fit(samples->rows + (ptrdiff_t)from * samples->terms, samples->times_ns + from,
                      to - from, samples->terms, fit, error);
}

/* Short moves may follow a law of their own: what stands in a queue or a cache line is as good as
 * done. A line through both would be wrong for either. */
static void find_knee(const struct samples *samples, struct model *model)
{
    double one_line = model->mean_error, best = knee_gain * one_line;
    for (int knee = SHORT_POINTS; knee + LONG_POINTS <= samples->count; knee++) {
        struct linear_fit below, above;
        struct error ignored;
        if (fit_part(samples, 0, knee, &below, &ignored) != STATUS_OK ||
            fit_part(samples, knee, samples->count, &above, &ignored) != STATUS_OK)
            continue;
        double mean = (mean_error(samples, 0, knee, &below) +
                       mean_error(samples, knee, samples->count, &above)) /
                      samples->count;
        if (mean >= best || above.cost[samples->terms - 1] <= 0)
            continue;
        best = mean;
        *model = (struct model){above, mean, knee, below};
    }
}

enum status model_fit(const struct samples *samples, bool may_have_knee, struct model *model,
                      struct error *error)
{
    memset(model, 0, sizeof *model);
    TRY(fit_part(samples, 0, samples->count, &model->fit, error));
    model->mean_error = mean_error(samples, 0, samples->count, &model->fit) / samples->count;
    if (may_have_knee && model->mean_error > knee_least_error)
        find_knee(samples, model);
    if (model->fit.cost[samples->terms - 1] > 0)
        return STATUS_OK;
    return error_set(error, STATUS_INVALID, "%d points that do not grow with the work",
                     samples->count);
}
