/* Fits the overlap to timed kernels. The mean of |ln(predicted / measured)|, every shape weighing
 * the same, is minimised by Nelder and Mead's simplex (1965). Absolute rather than squared
 * logarithms, so that a few disturbed timings bend nothing. Values outside their range count as
 * its end and cost something, which keeps the simplex inside without walls. */
#include "validate/host_fit.h"

#include "costmodel/host_time.h"
#include "validate/simplex.h"

#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

/* What is fitted. Beyond the second level too few kernels tell levels apart: they share what they
 * expose, and their latencies are as their rates. */
enum unknown { EXPOSED_NEAR, EXPOSED_FAR, JUMP_NEAR, JUMP_FAR, WALK, COPYING, UNKNOWNS };

static const struct range {
    double start, step, least, most;
} ranges[UNKNOWNS] = {
    [EXPOSED_NEAR] = {0.3, 0.1, 0, 1}, [EXPOSED_FAR] = {0.5, 0.1, 0, 1},
    [JUMP_NEAR] = {4, 1, 0, 100},      [JUMP_FAR] = {50, 15, 0, 1000},
    [WALK] = {12, 4, 0, 1000},         [COPYING] = {1.5, 0.3, 1, 10},
};

struct fitting {
    struct host host; /* with the overlap that is tried */
    const struct host_timed *timed;
    const double *weights; /* one a timing; 0: not used */
    int count;
};

static void set_overlap(const double at[UNKNOWNS], struct host *host)
{
    struct host_overlap *overlap = &host->overlap;
    for (int l = 1; l < host->level_count; l++) {
        double slower = l == 1 ? 1 : host->levels[2].read_gbps / host->levels[l].read_gbps;
        overlap->exposed[l] = at[l == 1 ? EXPOSED_NEAR : EXPOSED_FAR];
        overlap->jump_ns[l] = at[l == 1 ? JUMP_NEAR : JUMP_FAR] * slower;
    }
    overlap->walk_ns = at[WALK];
    overlap->copying = at[COPYING];
}

static bool usable(const struct host_timed *timed)
{
    return isfinite(timed->measured_ns) && timed->measured_ns > 0;
}

static double log_off(const struct fitting *f, int i)
{
    return fabs(log(host_time_ns(&f->host, &f->timed[i].work) / f->timed[i].measured_ns));
}

/* The weighted mean of |ln(predicted / measured)|, and something for leaving what makes sense. */
static bool mean_log(void *context, const double at[], double *value)
{
    struct fitting *f = context;
    double sum = 0, outside = 0, within[UNKNOWNS];
    for (int i = 0; i < UNKNOWNS; i++) {
        within[i] = fmin(fmax(at[i], ranges[i].least), ranges[i].most);
        outside += fabs(at[i] - within[i]) / ranges[i].step;
    }
    set_overlap(within, &f->host);
    for (int i = 0; i < f->count; i++)
        if (f->weights[i] > 0)
            sum += f->weights[i] * log_off(f, i);
    *value = sum + outside;
    return true;
}

/* Every shape weighs 1 / shapes; returns how many there are. */
static int weigh(const struct host_timed timed[], int count, double weights[], int *used)
{
    int shapes = 0;
    *used = 0;
    for (int i = 0; i < count; i++) {
        int same = 0, first = i;
        for (int j = 0; j < count; j++) {
            bool counts = usable(&timed[j]) && timed[j].shape == timed[i].shape;
            same += counts;
            first = counts && j < first ? j : first;
        }
        weights[i] = usable(&timed[i]) ? 1.0 / same : 0;
        *used += usable(&timed[i]);
        shapes += usable(&timed[i]) && first == i;
    }
    for (int i = 0; i < count; i++)
        weights[i] /= shapes ? shapes : 1;
    return shapes;
}

static void judge(const struct fitting *f, double scratch[], struct host_fit *fit)
{
    size_t used = 0;
    fit->mean_error = fit->worst_error = fit->mean_log = 0;
    for (int i = 0; i < f->count; i++) {
        if (f->weights[i] <= 0)
            continue;
        double off = fabs(host_time_ns(&f->host, &f->timed[i].work) / f->timed[i].measured_ns - 1);
        scratch[used++] = off;
        fit->mean_error += f->weights[i] * off;
        fit->mean_log += f->weights[i] * log_off(f, i);
        fit->worst_error = fmax(fit->worst_error, off);
    }
    fit->median_error = gsl_stats_median(scratch, 1, used);
}

static enum status minimise(struct fitting *f, struct error *error)
{
    double at[UNKNOWNS], steps[UNKNOWNS], value;
    for (int i = 0; i < UNKNOWNS; i++) {
        at[i] = ranges[i].start;
        steps[i] = ranges[i].step;
    }
    struct simplex simplex = {.value = mean_log,
                              .context = f,
                              .count = UNKNOWNS,
                              .steps = steps,
                              .size = 1e-5,
                              .gain = 1e-4,
                              .rounds = 20,
                              .steps_a_round = 400};
    enum simplex_end end;
    TRY(simplex_minimise(&simplex, at, &value, &end, error));
    mean_log(f, at, &value); /* leaves the best point in f->host */
    return STATUS_OK;
}

enum status host_fit(struct host *host, const struct host_timed timed[], int count,
                     struct host_fit *fit, struct error *error)
{
    size_t room = count > 0 ? (size_t)count : 1;
    double *weights = calloc(2 * room, sizeof *weights);
    struct fitting fitting = {.host = *host, .timed = timed, .weights = weights, .count = count};
    if (!weights)
        return error_memory(error);
    struct host_fit found = {0};
    found.shapes = weigh(timed, count, weights, &found.used);
    enum status status =
        found.used < HOST_FIT_LEAST
            ? error_set(error, STATUS_INVALID, "%d timed kernels, expected at least %d", found.used,
                        HOST_FIT_LEAST)
            : minimise(&fitting, error);
    if (status == STATUS_OK) {
        judge(&fitting, weights + room, &found);
        host->overlap = fitting.host.overlap;
        *fit = found;
    }
    free(weights);
    return status;
}
