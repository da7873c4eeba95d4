/* What only whole kernels determine: which numbers of a description, what a trial of them is (the
 * description with them, and how far off its times are), and the fit, by Nelder and Mead's simplex
 * on the numbers' logarithms. */
#include "jobs/calibrate/calibrate_parts.h"

#include "formats/bank_row.h"
#include "hardware/schema.h"
#include "validate/simplex.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_multifit.h>
#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

/* ------------------------------------------------------------------ a trial */

/* A number that kernels can be fitted by: where it stands, in which range it is physical, and where
 * a description that lacks it starts. */
struct candidate {
    const char *key;
    const char *unit;
    double low, high, start; /* start 0: only where the description has it */
    const char *determined_by;
};

struct variable {
    char key[HARDWARE_KEY_SIZE];
    const struct candidate *candidate;
    int bus;       /* whose totals it caps, or -1 */
    double start;  /* within the candidate's range */
    double before; /* as the description had it, with this source */
    char source[512];
};

struct kernel_fit {
    struct calibration *calibration;
    const struct kernel_options *options;
    struct error *error;
    enum status status;    /* of the trial that failed */
    struct bank_row *rows; /* those fitted to first */
    size_t fitted, count;
    struct prediction *predictions;
    double *logs; /* ln(predicted / measured) of the fitted rows; NaN where there is none */
    int variable_count;
    struct variable variables[SIMPLEX_MAX_VARIABLES];
    bool proportional[HARDWARE_MAX_BUSES]; /* totals of the form of calibration_set_bus */
    bool touched[HARDWARE_MAX_BUSES];
    double first_gbps[HARDWARE_MAX_BUSES];                     /* as it was */
    double cap_gbps[HARDWARE_MAX_BUSES];                       /* 0: as it was */
    double cast_ratio[HARDWARE_MAX_PATHS][HARDWARE_MAX_CASTS]; /* of its rate to its path's */
    double first, best;
    struct timespec began;
    bool searching; /* so that time must be left to see how well the numbers are known */
};

static const char trial_source[] = "measured: a trial";

/* A number by its logarithm, within its range. */
static double kernel_fit_number(const struct variable *variable, double logarithm)
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

/* One number, with all that follows it; buses once all numbers are set. */
static enum status kernel_fit_set(struct kernel_fit *s, const struct variable *variable,
                                  double value, const char *source)
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
static enum status kernel_fit_set_buses(struct kernel_fit *s, const char *source)
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

/* Brings the description to the point; *legal is false where its rules forbid it. */
static enum status kernel_fit_apply(struct kernel_fit *s, const double at[], bool *legal)
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

/* Plays the first `count` rows on the description as it stands. */
static enum status kernel_fit_play(struct kernel_fit *s, size_t count,
                                   const volatile sig_atomic_t *stop)
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

/* A point's value, as of validate/simplex.h; the context is the fit. */
static bool kernel_fit_try(void *context, const double at[], double *value)
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

/* What trials change and what they must know of before: once, first. */
static void kernel_fit_remember(struct kernel_fit *s)
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

/* ------------------------------------------------------------------ numbers */

/* What single instructions determine well (moves within a core) is not among them. A table of
 * bursts stands for all of its times. The clock is first: what stands in cycles is set by it. */
static const struct candidate candidates[] = {
    {"clock_mhz", "MHz", 1, 1e5, 0, "large kernels: the clock they ran at"},
    {"launch_ns", "ns", 1, 1e5, 0, "kernels that do little"},
    {"launch_core_ns", "ns", 0.01, 1e4, 30, "little kernels on few and on many cores"},
    {"matrix.f16.issue_ns", "ns", 0.01, 1e3, 1, "kernels of small L0 tiles"},
    {"paths.gm->l1.bandwidth_gbps", "GB/s", 1, 1e5, 0, "kernels on few cores"},
    {"paths.gm->l1.issue_ns", "ns", 0.01, 1e4, 10, "kernels of many small loads"},
    {"paths.gm->l1.latency_ns", "ns", 0.01, 1e4, 100, "kernels of few loads"},
    {"paths.gm->l1.bursts", "ns", 0.001, 1e3, 0, "operands in pieces"},
    {"paths.hbm->l1.bandwidth_gbps", "GB/s", 1, 1e5, 0, "kernels beyond the cache, few cores"},
    {"paths.l1->l0a.bandwidth_gbps", "GB/s", 1, 1e5, 0, "kernels of narrow results"},
    {"paths.l1->l0a.transposed_gbps", "GB/s", 1, 1e5, 0, "kernels of narrow results, A transposed"},
    {"paths.l1->l0b.bandwidth_gbps", "GB/s", 1, 1e5, 0, "kernels of flat results, B transposed"},
    {"paths.l1->l0b.transposed_gbps", "GB/s", 1, 1e5, 0, "kernels of flat results"},
    {"paths.l1->l0b.issue_ns", "ns", 0.01, 1e3, 1, "kernels of small L0 tiles"},
    {"paths.l0c->gm.bandwidth_gbps", "GB/s", 1, 1e5, 0, "kernels of little k"},
    {"paths.l0c->gm.issue_ns", "ns", 0.01, 1e4, 10, "kernels of many small results"},
    {"paths.l0c->gm.latency_ns", "ns", 0.01, 1e4, 50, "kernels of few results"},
    {"paths.l0c->gm.bursts", "ns", 0.001, 1e3, 0, "results in pieces"},
    {"buses.*.total_gbps", "GB/s", 1, 1e6, 0, "kernels on all cores"},
    {"cache.all_hit_bytes", "bytes", 1e5, 1e12, 0, "kernels about as large as the cache"},
    {"cache.all_miss_bytes", "bytes", 1e5, 1e12, 0, "kernels larger than the cache"},
};

/* Does an item of --fit's list name the key, or a group that has it? */
static bool item_names(const char *item, size_t length, const char *key)
{
    return strncasecmp(item, key, length) == 0 && (key[length] == '.' || !key[length]);
}

/* Is the key one of --fit's list? A list of none means all. */
static bool is_wanted(const char *keys, const char *key)
{
    for (const char *at = keys; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (item_names(at, strcspn(at, ","), key))
            return true;
    return !keys;
}

static void add_variable(struct kernel_fit *s, const struct candidate *candidate, const char *key,
                         int bus, double start)
{
    if (s->variable_count == SIMPLEX_MAX_VARIABLES || !is_wanted(s->options->keys, key))
        return;
    struct variable *variable = &s->variables[s->variable_count++];
    snprintf(variable->key, sizeof variable->key, "%s", key);
    variable->candidate = candidate;
    variable->bus = bus;
    variable->start = fmin(fmax(start, candidate->low), candidate->high);
    variable->before = start;
    const config_setting_t *number = twin_find(&s->calibration->description.tree, key);
    snprintf(variable->source, sizeof variable->source, "%.500s",
             number ? tree_source(number) : "assumed: no kernel here depends on it");
}

static void add_buses(struct kernel_fit *s, const struct candidate *candidate)
{
    const struct hardware *hw = &s->calibration->hw;
    for (int b = 0; b < hw->bus_count; b++) {
        char key[HARDWARE_KEY_SIZE];
        if (!s->proportional[b])
            continue;
        snprintf(key, sizeof key, "buses.%s.total_gbps", hw->buses[b].name);
        add_variable(s, candidate, key, b,
                     (double)hw->buses[b].total_bytes_per_s[hw->buses[b].sharers - 1] / 1e9);
    }
}

struct burst_target {
    struct kernel_fit *search;
    const struct candidate *candidate;
};

static bool add_burst(void *context, config_setting_t *number)
{
    const struct burst_target *table = (const struct burst_target *)context;
    char key[TREE_KEY_SIZE];
    struct number value;
    tree_key(number, key);
    if (strstr(key, ".ns.") && tree_number(number, &value))
        add_variable(table->search, table->candidate, key, -1, value.real);
    return true;
}

/* All times of a table of bursts that the description has. */
static void add_bursts(struct kernel_fit *s, const struct candidate *candidate)
{
    struct burst_target table = {s, candidate};
    config_setting_t *rows = tree_find_group(&s->calibration->description.tree, candidate->key);
    if (rows)
        tree_each_number(rows, add_burst, &table);
}

/* Does the description have the group of a key that it may lack? */
static bool has_group(const struct description *description, const char *key)
{
    char group[HARDWARE_KEY_SIZE];
    const char *point = strrchr(key, '.');
    snprintf(group, sizeof group, "%.*s", point ? (int)(point - key) : 0, key);
    return tree_find_group(&description->tree, group) != NULL;
}

/* The numbers that the description has and --fit names. */
static void kernel_fit_numbers(struct kernel_fit *s)
{
    const struct description *description = &s->calibration->description;
    for (size_t i = 0; i < sizeof candidates / sizeof *candidates; i++) {
        double start = candidates[i].start;
        if (strchr(candidates[i].key, '*'))
            add_buses(s, &candidates[i]);
        else if (strstr(candidates[i].key, ".bursts"))
            add_bursts(s, &candidates[i]);
        else if (description_get(description, candidates[i].key, &start) ||
                 (start > 0 && has_group(description, candidates[i].key)))
            add_variable(s, &candidates[i], candidates[i].key, -1, start);
    }
}

/* Every key of --fit must be one that this description can be fitted by. */
static enum status kernel_fit_check_keys(const struct kernel_fit *s)
{
    const char *at = s->options->keys;
    for (; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        size_t length = strcspn(at, ",");
        int v = 0;
        while (v < s->variable_count && !item_names(at, length, s->variables[v].key))
            v++;
        if (v == s->variable_count)
            return error_set(s->error, STATUS_INVALID,
                             "--fit: \"%.*s\" is no number that kernels can be fitted by here; "
                             "`autotune calibrate --help` has the list",
                             (int)(length < 80 ? length : 80), at);
    }
    if (!s->variable_count)
        return error_set(s->error, STATUS_INVALID,
                         "the description has no number that kernels can be fitted by");
    return STATUS_OK;
}

/* Of a number in the mean kernel: a permille of the time for twice the number cannot be told from
 * nothing. */
static const double least_sensitivity = 1e-3;

/* ---- how well the numbers are known ---- */

/* The logarithms of all rows at the point with one number changed by a factor of e^step. */
static bool logs_at(struct kernel_fit *s, const double at[], int v, double step, double logs[])
{
    double point[SIMPLEX_MAX_VARIABLES], value;
    memcpy(point, at, (size_t)s->variable_count * sizeof *point);
    point[v] += step;
    if (!kernel_fit_try(s, point, &value))
        return false;
    memcpy(logs, s->logs, s->fitted * sizeof *logs);
    return true;
}

/* rows × variables: d ln(predicted) / d ln(number), for rows with both times; *used of them. The
 * scratch has room for twice the rows. */
static bool sensitivities(struct kernel_fit *s, const double at[], double *matrix, double *scratch,
                          size_t *used)
{
    const double step = 0.05;
    double *up = scratch, *down = scratch + s->fitted;
    for (int v = 0; v < s->variable_count; v++) {
        if (!logs_at(s, at, v, step, up) || !logs_at(s, at, v, -step, down))
            return false;
        *used = 0;
        for (size_t i = 0; i < s->fitted; i++)
            if (isfinite(up[i]))
                matrix[(*used)++ * (size_t)s->variable_count + (size_t)v] =
                    (up[i] - down[i]) / (2 * step);
    }
    return s->variable_count == 0 || logs_at(s, at, 0, 0, up); /* s->logs as at the point */
}

/* Does half the number change anything? Limits that nothing reaches show only there. */
static bool matters_halved(struct kernel_fit *s, const double at[], int v, double *scratch)
{
    double sum = 0;
    if (!logs_at(s, at, v, 0, scratch) || !logs_at(s, at, v, -M_LN2, scratch + s->fitted))
        return false;
    for (size_t i = 0; i < s->fitted; i++)
        sum += isfinite(scratch[i]) ? fabs(scratch[i] - scratch[s->fitted + i]) : 0;
    return sum > least_sensitivity * (double)s->fitted;
}

/* Numbers that no kernel here depends on are again what they were before the trials. */
static enum status drop_undetermined(struct kernel_fit *s, double at[], const double *matrix,
                                     size_t used, double *scratch)
{
    bool keep[SIMPLEX_MAX_VARIABLES];
    enum status status = STATUS_OK;
    int count = s->variable_count, kept = 0;
    for (int v = 0; v < count; v++) {
        double sum = 0;
        for (size_t i = 0; i < used; i++)
            sum += fabs(matrix[i * (size_t)count + (size_t)v]);
        keep[v] = sum > least_sensitivity * (double)used || matters_halved(s, at, v, scratch);
    }
    for (int v = 0; v < count && status == STATUS_OK; v++) {
        const struct variable *variable = &s->variables[v];
        if (!keep[v]) {
            status = kernel_fit_set(s, variable, variable->before, variable->source);
            continue;
        }
        s->variables[kept] = *variable;
        at[kept++] = at[v];
    }
    s->variable_count = kept;
    return status;
}

/* Relative standard errors as of a fit of least absolute deviations: twice the median residual
 * times the square root of the diagonal of the inverse of JᵀJ. */
static bool standard_errors(const struct kernel_fit *s, const double *matrix, size_t used,
                            double errors[])
{
    size_t n = (size_t)s->variable_count;
    if (used <= n || used < 1)
        return false;
    double *residuals = malloc(used * sizeof *residuals), chi = 0;
    gsl_multifit_linear_workspace *workspace = gsl_multifit_linear_alloc(used, n);
    gsl_vector *logs = gsl_vector_alloc(used), *shift = gsl_vector_alloc(n);
    gsl_matrix *covariance = gsl_matrix_alloc(n, n);
    bool good = residuals && workspace && logs && shift && covariance;
    size_t next = 0;
    for (size_t i = 0; i < s->fitted && good; i++)
        if (isfinite(s->logs[i]) && next < used) {
            residuals[next] = fabs(s->logs[i]);
            gsl_vector_set(logs, next++, s->logs[i]);
        }
    if (good) {
        gsl_matrix_const_view view = gsl_matrix_const_view_array(matrix, used, n);
        good = gsl_multifit_linear(&view.matrix, logs, shift, covariance, &chi, workspace) ==
                   GSL_SUCCESS &&
               chi > 0;
        gsl_sort(residuals, 1, used);
    }
    double median = good ? residuals[used / 2] : 0;
    for (size_t v = 0; v < n && good; v++)
        errors[v] = 2 * median * sqrt(gsl_matrix_get(covariance, v, v) * (double)(used - n) / chi);
    if (workspace)
        gsl_multifit_linear_free(workspace);
    gsl_vector_free(logs);
    gsl_vector_free(shift);
    gsl_matrix_free(covariance);
    free(residuals);
    return good;
}

/* ---- halves ---- */

/* One number for all kernels of a shape, so that no shape is on both sides (splitmix64). */
static double shape_share(const struct bank_row *row)
{
    const int64_t sizes[] = {row->m, row->k, row->n, row->batch};
    uint64_t hash = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        hash += (uint64_t)sizes[i] + 0x9e3779b97f4a7c15u;
        hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9u;
        hash = (hash ^ (hash >> 27)) * 0x94d049bb133111ebu;
        hash ^= hash >> 31;
    }
    return (double)(hash >> 11) / 9007199254740992.0;
}

static enum status split_rows(struct kernel_fit *s, const struct bank_row rows[], size_t count)
{
    s->rows = calloc(count + 1, sizeof *s->rows);
    s->predictions = calloc(count + 1, sizeof *s->predictions);
    s->logs = calloc(count + 1, sizeof *s->logs);
    if (!s->rows || !s->predictions || !s->logs)
        return error_memory(s->error);
    for (int half = 0; half < 2; half++) {
        for (size_t i = 0; i < count; i++)
            if (rows[i].measured_ns > 0 && !rows[i].unfit &&
                (shape_share(&rows[i]) < s->options->held_out) == (half == 1))
                s->rows[s->count++] = rows[i];
        s->fitted = half == 0 ? s->count : s->fitted;
    }
    return STATUS_OK;
}

/* Both halves on the description as it stands; before the fit, which `stop` may end, or after it:
 * what was fitted is judged even then. */
static enum status judge_halves(struct kernel_fit *s, const volatile sig_atomic_t *stop,
                                struct accuracy *fitted, struct accuracy *held_out)
{
    TRY(kernel_fit_play(s, s->count, stop));
    TRY(accuracy_of(s->rows, s->predictions, s->fitted, NULL, fitted, s->error));
    return accuracy_of(s->rows + s->fitted, s->predictions + s->fitted, s->count - s->fitted, NULL,
                       held_out, s->error);
}

/* ---- the fit ---- */

static enum status note_variable(struct kernel_fit *s, int v, double at, double relative_error)
{
    const struct variable *variable = &s->variables[v];
    struct calibration *c = s->calibration;
    double value = calibration_rounded(kernel_fit_number(variable, at));
    struct parameter parameter = {.value = value,
                                  .error = value * relative_error,
                                  .unit = variable->candidate->unit,
                                  .points = (int)c->fitted_half.after.used,
                                  .median_error = c->fitted_half.after.median_ape,
                                  .r_squared = NAN};
    snprintf(parameter.from, sizeof parameter.from, "%.95s", s->options->from);
    char source[512];
    snprintf(source, sizeof source,
             "measured on %s: fitted to %d kernels of %s by %s, median error %.3g %%", c->chip,
             parameter.points, parameter.from, variable->candidate->determined_by,
             100 * parameter.median_error);
    TRY(kernel_fit_set(s, variable, value, source));
    if (variable->bus >= 0 || strstr(variable->key, ".bandwidth_gbps"))
        TRY(kernel_fit_set_buses(s, source));
    if (variable->bus >= 0) /* the number that stands for the list: its last */
        snprintf(parameter.key, sizeof parameter.key, "buses.%s.total_gbps.%d",
                 c->hw.buses[variable->bus].name, c->hw.buses[variable->bus].sharers);
    else
        snprintf(parameter.key, sizeof parameter.key, "%s", variable->key);
    return calibration_note(c, &parameter, variable->start, s->error);
}

static enum status minimise_error(struct kernel_fit *s, double at[])
{
    static const char *const ends[] = {[SIMPLEX_CONVERGED] = "converged",
                                       [SIMPLEX_ROUNDS] = "all rounds done",
                                       [SIMPLEX_STOPPED] = "time or interrupt"};
    double steps[SIMPLEX_MAX_VARIABLES];
    for (int v = 0; v < s->variable_count; v++) /* a bus starts where it limits nothing */
        steps[v] = s->variables[v].bus >= 0 ? -0.5 : 0.25;
    const struct simplex simplex = {
        .value = kernel_fit_try,
        .context = s,
        .count = s->variable_count,
        .steps = steps,
        .size = 0.003,
        .gain = 0.002,
        .rounds = (int)s->options->rounds,
        .steps_a_round = 60 * s->variable_count,
    };
    double value;
    enum simplex_end end;
    s->searching = true;
    enum status status = simplex_minimise(&simplex, at, &value, &end, s->error);
    s->searching = false;
    s->calibration->ended = status == STATUS_OK ? ends[end] : NULL;
    return status == STATUS_OK ? s->status : status;
}

/* From `at`, which becomes the best point, to the numbers' errors; then all is set. */
static enum status fit_variables(struct kernel_fit *s, double at[], double *matrix, double *scratch)
{
    double errors[SIMPLEX_MAX_VARIABLES] = {0};
    size_t used = 0;
    bool legal, known = sensitivities(s, at, matrix, scratch, &used);
    if (s->status != STATUS_OK)
        return s->status;
    if (known)
        TRY(drop_undetermined(s, at, matrix, used, scratch));
    if (s->variable_count)
        TRY(minimise_error(s, at));
    known = s->variable_count && sensitivities(s, at, matrix, scratch, &used) &&
            standard_errors(s, matrix, used, errors);
    TRY(s->status == STATUS_OK ? kernel_fit_apply(s, at, &legal) : s->status);
    TRY(judge_halves(s, NULL, &s->calibration->fitted_half.after, &s->calibration->held_out.after));
    for (int v = 0; v < s->variable_count; v++)
        TRY(note_variable(s, v, at[v], known && errors[v] > 0 ? errors[v] : NAN));
    return STATUS_OK;
}

static enum status fit_rows(struct kernel_fit *s)
{
    double at[SIMPLEX_MAX_VARIABLES] = {0};
    struct calibration *c = s->calibration;
    kernel_fit_remember(s);
    kernel_fit_numbers(s);
    enum status status = kernel_fit_check_keys(s);
    for (int v = 0; v < s->variable_count; v++)
        at[v] = log(s->variables[v].start);
    if (status == STATUS_OK)
        status = judge_halves(s, s->options->stop, &c->fitted_half.before, &c->held_out.before);
    if (status == STATUS_OK && s->options->stop && *s->options->stop)
        status = error_set(s->error, STATUS_STOPPED, "stopped");
    if (status != STATUS_OK)
        return status;
    if (c->fitted_half.before.used <= s->variable_count)
        return error_set(s->error, STATUS_INVALID,
                         "%lld kernels that can be played, expected more than the %d numbers to "
                         "fit (the first that cannot: %.200s)",
                         (long long)c->fitted_half.before.used, s->variable_count,
                         s->count && *s->predictions[0].reason ? s->predictions[0].reason : "none");
    s->first = s->best = c->fitted_half.before.mean_log;
    double *matrix = calloc(s->fitted * (size_t)s->variable_count + 1, sizeof *matrix);
    double *scratch = calloc(2 * s->fitted + 1, sizeof *scratch);
    status = matrix && scratch ? fit_variables(s, at, matrix, scratch) : error_memory(s->error);
    free(matrix);
    free(scratch);
    return status;
}

enum status calibrate_kernels(struct calibration *calibration, const struct bank_row rows[],
                              size_t count, const struct kernel_options *options,
                              struct error *error)
{
    struct kernel_fit search = {
        .calibration = calibration, .options = options, .error = error, .status = STATUS_OK};
    gsl_error_handler_t *handler = gsl_set_error_handler_off(); /* GSL's own ends the process */
    clock_gettime(CLOCK_MONOTONIC, &search.began);
    enum status status = split_rows(&search, rows, count);
    if (status == STATUS_OK)
        status = fit_rows(&search);
    calibration->has_kernels = status == STATUS_OK;
    free(search.rows);
    free(search.predictions);
    free(search.logs);
    gsl_set_error_handler(handler);
    return status == STATUS_OK ? calibration_rebuild(calibration, error) : status;
}
