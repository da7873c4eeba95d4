/* A trial of the numbers that kernels are fitted by: the description with them, and how far off its
 * times are. */
#include "jobs/calibrate/calibrate_fit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char trial_source[] = "measured: a trial";

double kernel_fit_number(const struct variable *variable, double logarithm)
{
    return fmin(fmax(exp(logarithm), variable->candidate->low), variable->candidate->high);
}

static double path_gbps(const struct hardware *hw, int price)
{
    return (double)hw->prices[price].rate.units * 1e6 / (double)hw->prices[price].rate.fs;
}

/* A cast on the way keeps its ratio to the path: it moves as much at its narrower end. */
static enum status set_casts(struct kernel_fit *s, const struct variable *variable, double gbps,
                             const char *source)
{
    struct calibration *c = s->calibration;
    for (int p = 0; p < c->hw.path_count; p++) {
        const struct path *path = &c->hw.paths[p];
        char name[2 * HARDWARE_NAME_SIZE + 3], key[HARDWARE_KEY_SIZE];
        snprintf(key, sizeof key, "paths.%s.bandwidth_gbps", hardware_path_name(&c->hw, p, name));
        if (strcasecmp(key, variable->key) != 0)
            continue;
        for (int i = 0; i < path->cast_count; i++) {
            snprintf(key, sizeof key, "paths.%s.casts.%s:%s.bandwidth_gbps", name,
                     dtype_name(path->casts[i].from), dtype_name(path->casts[i].to));
            TRY(description_set(&c->description, key,
                                calibration_rounded(gbps * s->cast_ratio[p][i]), source, s->error));
        }
    }
    return STATUS_OK;
}

/* A move from behind the cache starts like one that hits, and its pieces cost the same: one fit,
 * written twice. */
static enum status set_behind(struct kernel_fit *s, const char *key, double value,
                              const char *source)
{
    struct calibration *c = s->calibration;
    const struct cache *cache = &c->hw.cache;
    char cached[HARDWARE_KEY_SIZE], behind[HARDWARE_KEY_SIZE];
    double before;
    if (cache->behind < 0)
        return STATUS_OK;
    int length = snprintf(cached, sizeof cached, "paths.%s->", c->hw.buffers[cache->buffer].name);
    if (strncasecmp(key, cached, (size_t)length) != 0)
        return STATUS_OK;
    snprintf(behind, sizeof behind, "paths.%s->%.100s", c->hw.buffers[cache->behind].name,
             key + length);
    if (!description_get(&c->description, behind, &before))
        return STATUS_OK;
    return description_set(&c->description, behind, value, source, s->error);
}

enum status kernel_fit_set(struct kernel_fit *s, const struct variable *variable, double value,
                           const char *source)
{
    struct calibration *c = s->calibration;
    value = calibration_rounded(value);
    if (variable->bus >= 0) {
        s->cap_gbps[variable->bus] = value;
        return STATUS_OK; /* kernel_fit_set_buses does it, since it needs all paths */
    }
    TRY(description_set(&c->description, variable->key, value, source, s->error));
    if (strstr(variable->key, ".bandwidth_gbps"))
        TRY(set_casts(s, variable, value, source));
    if (!strstr(variable->key, ".bandwidth_gbps"))
        TRY(set_behind(s, variable->key, value, source));
    return STATUS_OK;
}

/* The largest bandwidth among the fitted paths of a bus, or 0. */
static double fitted_gbps(const struct kernel_fit *s, int bus)
{
    const struct calibration *c = s->calibration;
    double most = 0, gbps;
    for (int v = 0; v < s->variable_count; v++)
        for (int p = 0; p < c->hw.path_count; p++) {
            char name[2 * HARDWARE_NAME_SIZE + 3], key[HARDWARE_KEY_SIZE];
            snprintf(key, sizeof key, "paths.%s.bandwidth_gbps",
                     hardware_path_name(&c->hw, p, name));
            if (c->hw.paths[p].bus == bus && strcasecmp(key, s->variables[v].key) == 0 &&
                description_get(&c->description, key, &gbps)) {
                most = fmax(most, gbps);
                for (int i = 0; i < c->hw.paths[p].cast_count; i++)
                    most = fmax(most, gbps * s->cast_ratio[p][i]);
            }
        }
    return most;
}

/* A bus must not keep a fitted path from what it can do alone: where the n-th total is n times the
 * first up to the last, so are those that are set here, with a first that may be higher. One with
 * totals of another form is left as it is, but for its last. */
enum status kernel_fit_set_buses(struct kernel_fit *s, const char *source)
{
    struct calibration *c = s->calibration;
    for (int b = 0; b < c->hw.bus_count; b++) {
        double first = s->proportional[b] ? fmax(s->first_gbps[b], fitted_gbps(s, b)) : 0;
        s->touched[b] = s->touched[b] || first > s->first_gbps[b] || s->cap_gbps[b] > 0;
        if (s->touched[b])
            TRY(calibration_set_bus(c, b, first, s->cap_gbps[b], source, s->error));
    }
    return STATUS_OK;
}

static bool is_proportional(const struct bus *bus)
{
    int64_t first = bus->total_bytes_per_s[0], last = bus->total_bytes_per_s[bus->sharers - 1];
    for (int n = 1; n <= bus->sharers; n++)
        if (llabs(bus->total_bytes_per_s[n - 1] - (n * first < last ? n * first : last)) > n)
            return false;
    return true;
}

enum status kernel_fit_apply(struct kernel_fit *s, const double at[], bool *legal)
{
    enum status status = STATUS_OK;
    for (int v = 0; v < s->variable_count && status == STATUS_OK; v++)
        status = kernel_fit_set(s, &s->variables[v], kernel_fit_number(&s->variables[v], at[v]),
                                trial_source);
    if (status == STATUS_OK)
        status = kernel_fit_set_buses(s, trial_source);
    if (status != STATUS_OK)
        return status;
    struct hardware hw;
    struct error broken;
    status = description_build(&s->calibration->description, &hw, &broken);
    *legal = status == STATUS_OK;
    if (!*legal) {
        if (status == STATUS_INVALID)
            return STATUS_OK;
        *s->error = broken;
        return status;
    }
    hardware_clear(&s->calibration->hw);
    s->calibration->hw = hw;
    return STATUS_OK;
}

static bool time_is_up(const struct kernel_fit *s)
{
    struct timespec now;
    if (s->options->stop && *s->options->stop)
        return true;
    clock_gettime(CLOCK_MONOTONIC, &now);
    double seconds =
        (double)(now.tv_sec - s->began.tv_sec) + 1e-9 * (double)(now.tv_nsec - s->began.tv_nsec);
    double trials = (double)s->calibration->kernel_trials;
    double left = s->searching ? 2.0 * s->variable_count + 2 : 0;
    seconds += trials > 0 ? left * seconds / trials : 0;
    return s->options->time_limit_s > 0 && seconds >= s->options->time_limit_s;
}

enum status kernel_fit_play(struct kernel_fit *s, size_t count, const volatile sig_atomic_t *stop)
{
    return evaluate_rows(s->rows, count, &s->calibration->hw, s->options->threads, stop,
                         s->predictions, s->error);
}

/* The mean of |ln(predicted / measured)| over the rows fitted to. */
static double mean_log(struct kernel_fit *s)
{
    double sum = 0;
    size_t used = 0;
    for (size_t i = 0; i < s->fitted; i++) {
        bool both = s->predictions[i].predicted_ns > 0 && s->rows[i].measured_ns > 0;
        s->logs[i] = both ? log(s->predictions[i].predicted_ns / s->rows[i].measured_ns) : NAN;
        sum += both ? fabs(s->logs[i]) : 0;
        used += both;
    }
    return used ? sum / (double)used : NAN;
}

/* How far outside its range a point is: the simplex must find back in. */
static double excess(const struct kernel_fit *s, const double at[])
{
    double sum = 0;
    for (int v = 0; v < s->variable_count; v++)
        sum += fabs(at[v] - log(kernel_fit_number(&s->variables[v], at[v])));
    return sum > 1e-9 ? sum : 0;
}

bool kernel_fit_try(void *context, const double at[], double *value)
{
    struct kernel_fit *s = context;
    bool legal = false;
    if (time_is_up(s))
        return false;
    s->status = kernel_fit_apply(s, at, &legal);
    if (s->status == STATUS_OK && legal)
        s->status = kernel_fit_play(s, s->fitted, s->options->stop);
    if (s->status != STATUS_OK || (s->options->stop && *s->options->stop))
        return false;
    *value = legal ? mean_log(s) + 10 * excess(s, at) : 1e3;
    s->best = fmin(s->best, *value);
    s->calibration->kernel_trials++;
    if (s->options->progress)
        s->options->progress(s->options->context, s->calibration->kernel_trials, s->first, s->best);
    return true;
}

void kernel_fit_remember(struct kernel_fit *s)
{
    struct calibration *c = s->calibration;
    for (int b = 0; b < c->hw.bus_count; b++) {
        s->proportional[b] = is_proportional(&c->hw.buses[b]);
        s->first_gbps[b] = (double)c->hw.buses[b].total_bytes_per_s[0] / 1e9;
    }
    for (int p = 0; p < c->hw.path_count; p++)
        for (int i = 0; i < c->hw.paths[p].cast_count; i++)
            s->cast_ratio[p][i] = path_gbps(&c->hw, c->hw.paths[p].casts[i].price) /
                                  path_gbps(&c->hw, c->hw.paths[p].price);
}
