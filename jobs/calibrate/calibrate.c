/* Keeps the book of a calibration: every fitted number goes into the description with its source,
 * and into a list with the value that it replaces. One that curves and then kernels fit keeps the
 * value from before both. At the end the description gets the error of kernels that the fit has
 * not seen, and each number's relative standard error, by which --robust moves it. */
#include "jobs/calibrate/calibrate.h"
#include "formats/json.h"
#include "jobs/calibrate/calibrate_parts.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void calibration_chip(const char *name, char chip[CALIBRATION_CHIP_SIZE])
{
    static const char maker[] = "ascend";
    size_t length = 0;
    if (strncasecmp(name, maker, sizeof maker - 1) == 0)
        name += sizeof maker - 1;
    for (; *name && length < CALIBRATION_CHIP_SIZE - 1; name++)
        if (isalnum((unsigned char)*name))
            chip[length++] = (char)tolower((unsigned char)*name);
    chip[length] = '\0';
}

enum status calibration_open(const char *folders, const char *base,
                             const struct hardware_overrides *overrides, const char *chip,
                             struct calibration *calibration, struct error *error)
{
    memset(calibration, 0, sizeof *calibration);
    TRY(description_read(folders, base, overrides, &calibration->description, error));
    TRY(calibration_rebuild(calibration, error));
    calibration_chip(chip ? chip : calibration->hw.name, calibration->chip);
    return STATUS_OK;
}

void calibration_close(struct calibration *calibration)
{
    hardware_clear(&calibration->hw);
    if (calibration->description.tree.config)
        description_clear(&calibration->description);
}

enum status calibration_rebuild(struct calibration *calibration, struct error *error)
{
    hardware_clear(&calibration->hw);
    return description_build(&calibration->description, &calibration->hw, error);
}

double calibration_rounded(double value)
{
    char text[32];
    snprintf(text, sizeof text, "%.5g", value);
    return strtod(text, NULL);
}

static struct parameter *find_parameter(struct calibration *calibration, const char *key)
{
    for (int i = 0; i < calibration->parameter_count; i++)
        if (strcasecmp(calibration->parameters[i].key, key) == 0)
            return &calibration->parameters[i];
    return NULL;
}

enum status calibration_note(struct calibration *calibration, const struct parameter *parameter,
                             double before, struct error *error)
{
    struct parameter *place = find_parameter(calibration, parameter->key);
    if (!place && calibration->parameter_count == CALIBRATION_MAX_PARAMETERS)
        return error_set(error, STATUS_TOO_LARGE, "more than %d numbers to fit",
                         CALIBRATION_MAX_PARAMETERS);
    if (place)
        before = place->before;
    else
        place = &calibration->parameters[calibration->parameter_count++];
    *place = *parameter;
    place->before = before;
    return STATUS_OK;
}

enum status calibration_set(struct calibration *calibration, const struct parameter *parameter,
                            struct error *error)
{
    char source[512];
    struct parameter noted = *parameter;
    double before = NAN;
    noted.value = calibration_rounded(parameter->value);
    if (!description_get(&calibration->description, parameter->key, &before))
        before = NAN;
    int length = snprintf(
        source, sizeof source, "measured on %s: fitted to %d points of %s, median error %.3g %%",
        calibration->chip, parameter->points, parameter->from, 100 * parameter->median_error);
    if (isfinite(parameter->r_squared))
        snprintf(source + length, sizeof source - (size_t)length, ", R2 %.5g",
                 parameter->r_squared);
    TRY(description_set(&calibration->description, parameter->key, noted.value, source, error));
    return calibration_note(calibration, &noted, before, error);
}

enum status calibration_set_bus(struct calibration *calibration, int bus, double first_gbps,
                                double cap_gbps, const char *source, struct error *error)
{
    const struct bus *b = &calibration->hw.buses[bus];
    char key[HARDWARE_KEY_SIZE];
    double first, last, total;
    snprintf(key, sizeof key, "buses.%s.total_gbps.1", b->name);
    bool found = description_get(&calibration->description, key, &first);
    snprintf(key, sizeof key, "buses.%s.total_gbps.%d", b->name, b->sharers);
    found = found && description_get(&calibration->description, key, &last);
    if (!found)
        return STATUS_OK;
    first = first_gbps > 0 ? calibration_rounded(first_gbps) : first;
    last = fmax(first, cap_gbps > 0 ? calibration_rounded(cap_gbps) : last);
    for (int n = 1; n <= b->sharers; n++) {
        snprintf(key, sizeof key, "buses.%s.total_gbps.%d", b->name, n);
        total = fmin(round(n * first * 1e6) * 1e-6, last);
        TRY(description_set(&calibration->description, key, total, source, error));
    }
    return STATUS_OK;
}

/* The kernels' error where they were fitted, else what the base knew; spreads of all numbers. */
static enum status set_fit(struct calibration *calibration, struct error *error)
{
    struct fit fit = {.error = calibration->hw.fit.error};
    char source[256];
    const struct accuracy *judged = &calibration->held_out.after;
    if (calibration->has_kernels && !judged->used)
        judged = &calibration->fitted_half.after;
    if (calibration->has_kernels)
        fit.error = calibration_rounded(judged->median_ape);
    for (int i = 0; i < calibration->parameter_count && fit.spread_count < HARDWARE_MAX_SPREADS;
         i++) {
        const struct parameter *p = &calibration->parameters[i];
        if (!(p->value > 0) || !isfinite(p->error))
            continue;
        struct spread *spread = &fit.spreads[fit.spread_count++];
        snprintf(spread->key, sizeof spread->key, "%s", p->key);
        spread->relative_error = calibration_rounded(fmin(p->error / p->value, 10));
    }
    if (calibration->has_kernels)
        snprintf(source, sizeof source,
                 "measured on %s: %lld kernels %s, median "
                 "|predicted / measured - 1|",
                 calibration->chip, (long long)judged->used,
                 judged == &calibration->held_out.after ? "that the fit has not seen"
                                                        : "that it was fitted to");
    else
        snprintf(source, sizeof source,
                 "measured on %s: standard errors of the fits; the error "
                 "for kernels is %s",
                 calibration->chip, fit.error > 0 ? "that of the description below" : "not known");
    return description_set_fit(&calibration->description, &fit, source, error);
}

enum status calibration_text(struct calibration *calibration, char **text, struct error *error)
{
    char heading[512];
    const char *slash = strrchr(calibration->description.file, '/');
    TRY(set_fit(calibration, error));
    TRY(calibration_rebuild(calibration, error));
    snprintf(heading, sizeof heading,
             "# %s: %.200s with numbers fitted to measurements (autotune calibrate).\n"
             "# Every number says where it comes from; those with a source of their own in braces "
             "are fitted.\n",
             calibration->hw.name, slash ? slash + 1 : calibration->description.file);
    return description_write(&calibration->description, heading, text, error);
}

static json_t *parameter_json(const struct parameter *p)
{
    return json_pack("{s:s, s:f, s:o, s:s, s:o, s:i, s:f, s:o, s:s}", "key", p->key, "value",
                     p->value, "standard_error", json_number(p->error), "unit", p->unit, "before",
                     json_number(p->before), "points", p->points, "median_relative_error",
                     p->median_error, "r_squared", json_number(p->r_squared), "from", p->from);
}

static json_t *curve_json(const struct fitted_curve *c)
{
    return json_pack("{s:s, s:i, s:f, s:f, s:f, s:o, s:o, s:o, s:i, s:s}", "curve", c->name,
                     "points", c->points, "fixed_ns", c->fixed_ns, "fixed_error_ns",
                     c->fixed_error_ns, "rate", c->rate, "median_relative_error",
                     json_number(c->median_error), "max_relative_error", json_number(c->max_error),
                     "r_squared", json_number(c->r_squared), "outliers", c->outlier_count, "note",
                     c->note);
}

static json_t *unknowns_json(const struct calibration *calibration)
{
    json_t *rows = calibration->unknown_count ? json_array() : NULL;
    for (int i = 0; i < calibration->unknown_count; i++)
        json_array_append_new(rows, json_pack("{s:s, s:s}", "key", calibration->unknowns[i].key,
                                              "why", calibration->unknowns[i].why));
    return rows;
}

static json_t *accuracy_json(const char *half, const char *when, const struct accuracy *a)
{
    return json_pack("{s:s, s:s, s:I, s:o, s:o, s:o, s:o, s:o}", "half", half, "when", when,
                     "kernels", (json_int_t)a->used, "mean_relative_error", json_number(a->mape),
                     "median_relative_error", json_number(a->median_ape), "mean_log_error",
                     json_number(a->mean_log), "bias_relative_error", json_number(a->bias),
                     "spearman", json_number(a->spearman));
}

static json_t *kernels_json(const struct calibration *calibration)
{
    json_t *rows = json_array();
    json_array_append_new(rows,
                          accuracy_json("fitted", "before", &calibration->fitted_half.before));
    json_array_append_new(rows, accuracy_json("fitted", "after", &calibration->fitted_half.after));
    json_array_append_new(rows, accuracy_json("held out", "before", &calibration->held_out.before));
    json_array_append_new(rows, accuracy_json("held out", "after", &calibration->held_out.after));
    return rows;
}

json_t *calibration_json(const struct calibration *calibration)
{
    json_t *parameters = json_array(), *curves = json_array();
    for (int i = 0; i < calibration->parameter_count; i++)
        json_array_append_new(parameters, parameter_json(&calibration->parameters[i]));
    for (int i = 0; i < calibration->curve_count; i++)
        json_array_append_new(curves, curve_json(&calibration->curves[i]));
    return json_pack(
        "{s:s, s:o, s:o, s:o*, s:i, s:i, s:o, s:I, s:s*}", "chip", calibration->chip, "parameters",
        parameters, "curves", curves, "not_identified", unknowns_json(calibration),
        "curves_without_path", calibration->curves_without_path, "rejected_points",
        calibration->rejected_points, "kernels",
        calibration->has_kernels ? kernels_json(calibration) : json_null(), "kernel_trials",
        (json_int_t)calibration->kernel_trials, "ended", calibration->ended);
}
