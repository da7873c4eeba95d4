#include "validate/host_fit.h"

#include "costmodel/host_time.h"
#include "validate/simplex.h"

#include <gsl/gsl_sort.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

/* One number that is fitted: of a level, or of none (-1). */
struct unknown {
    size_t offset; /* in struct host_overlap */
    double start, step, most;
};

enum { MAX_UNKNOWNS = 2 * HOST_MAX_LEVELS + 1 };

struct fitting {
    struct host host; /* with the overlap that is tried */
    const struct host_timed *timed;
    const double *weights; /* one a timing; 0: not used */
    int count;
    int unknown_count;
    struct unknown unknowns[MAX_UNKNOWNS];
};

/* Where the search begins: a tenth of what comes from a cache shows, half of what from memory; and
 * of the latencies a few ns. */
static void find_unknowns(struct fitting *f)
{
    int last = f->host.level_count - 1;
    for (int l = 1; l <= last; l++) {
        f->unknowns[f->unknown_count++] =
            (struct unknown){offsetof(struct host_overlap, exposed) + (size_t)l * sizeof(double),
                             l == last ? 0.5 : 0.2, 0.1, 1};
        f->unknowns[f->unknown_count++] =
            (struct unknown){offsetof(struct host_overlap, jump_ns) + (size_t)l * sizeof(double),
                             l == 1 ? 1 : 10, l == 1 ? 1 : 10, 1000};
    }
    f->unknowns[f->unknown_count++] =
        (struct unknown){offsetof(struct host_overlap, walk_ns), 10, 10, 1000};
}

static double *number_of(struct fitting *f, int i)
{
    return (double *)(void *)((char *)&f->host.overlap + f->unknowns[i].offset);
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
    double sum = 0, outside = 0;
    for (int i = 0; i < f->unknown_count; i++) {
        *number_of(f, i) = fmin(fmax(at[i], 0), f->unknowns[i].most);
        outside += fabs(at[i] - *number_of(f, i)) / f->unknowns[i].step;
    }
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
    gsl_sort(scratch, 1, used);
    fit->median_error = (scratch[(used - 1) / 2] + scratch[used / 2]) / 2;
}

static enum status minimise(struct fitting *f, struct error *error)
{
    double at[MAX_UNKNOWNS], steps[MAX_UNKNOWNS], value;
    int count = f->unknown_count;
    for (int i = 0; i < count; i++) {
        at[i] = f->unknowns[i].start;
        steps[i] = f->unknowns[i].step;
    }
    struct simplex simplex = {.value = mean_log,
                              .context = f,
                              .count = count,
                              .steps = steps,
                              .size = 1e-5,
                              .gain = 1e-4,
                              .rounds = 20,
                              .steps_a_round = 400};
    enum simplex_end end;
    enum status status = count ? simplex_minimise(&simplex, at, &value, &end, error) : STATUS_OK;
    if (status == STATUS_OK)
        mean_log(f, at, &value); /* leaves the best point in f->host */
    return status;
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
    find_unknowns(&fitting);
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
