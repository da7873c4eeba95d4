/* What an instruction takes is three columns of a line: that there is one, how many, and how much
 * work they do. The file's times are exact, so that the line goes through its points. */
#include "jobs/calibrate/calibrate_law.h"
#include "jobs/calibrate/calibrate_programs.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* What is left of a number that is 0, in ns: times are written in femtoseconds. */
static const double nothing_ns = 1e-4;

enum status program_laws_open(struct program_laws *laws)
{
    TRY(subjects_list(&laws->calibration->hw, &laws->list, laws->error));
    laws->laws = calloc((size_t)laws->list.count + 1, sizeof *laws->laws);
    if (!laws->laws)
        return error_memory(laws->error);
    for (int i = 0; i < laws->list.count; i++)
        laws->laws[i].curve = curves_find(laws->curves, laws->list.items[i].kind,
                                          laws->list.items[i].name, laws->calibration->chip);
    return STATUS_OK;
}

void program_laws_close(struct program_laws *laws)
{
    subjects_clear(&laws->list);
    free(laws->laws);
    laws->laws = NULL;
}

int program_subject(const struct program_laws *laws, enum curve_kind kind)
{
    for (int i = 0; i < laws->list.count; i++)
        if (laws->list.items[i].kind == kind && laws->laws[i].curve)
            return i;
    return -1;
}

static bool is_on_line(const struct curve_point *point, const int64_t base[], int dimension)
{
    for (int i = 0; i < CURVE_MAX_SIZES; i++)
        if (i != dimension && point->size[i] != base[i])
            return false;
    return true;
}

int64_t program_lot(const struct curve *curve, const int64_t base[CURVE_MAX_SIZES], int dimension)
{
    const struct curve_point *first = NULL; /* points are in order of size */
    int64_t lot = 0;
    for (int i = 0; i < curve->point_count; i++) {
        const struct curve_point *point = &curve->points[i];
        if (!is_on_line(point, base, dimension))
            continue;
        if (!first && point->size[dimension] != 1)
            return 0;
        first = first ? first : point;
        if (point->ns != first->ns)
            return lot;
        lot = point->size[dimension];
    }
    return 0;
}

/* How often the instruction stands in a program of one core; 0: it is not of one core. */
static int64_t times_of(enum curve_kind kind, const int64_t size[])
{
    if (kind == CURVE_MOVES)
        return size[0] == 1 ? size[1] : 0;
    return kind == CURVE_PRODUCTS ? size[0] : 1;
}

bool program_has_law(enum curve_kind kind)
{
    return kind == CURVE_MOVES || kind == CURVE_PRODUCTS || kind == CURVE_VECTORS ||
           kind == CURVE_SCALARS;
}

static enum status add_point(const struct program_laws *laws, const struct subject *subject,
                             const struct curve_point *point, struct samples *samples)
{
    struct instruction in;
    int64_t times = times_of(subject->kind, point->size);
    double ns = point->ns - laws->launch_ns - laws->launch_core_ns - laws->dispatch_ns;
    if (times == 0 || !(ns > 0))
        return STATUS_OK;
    struct error why;
    if (subject_instruction(&laws->calibration->hw, subject, point->size, &in, &why) != STATUS_OK)
        return error_at(laws->error, laws->file, point->line, "%s", why.text);
    double *row = samples->rows + (ptrdiff_t)samples->count * samples->terms;
    samples->times_ns[samples->count++] = ns;
    row[0] = 1;
    if (samples->terms == 3)
        row[1] = (double)times;
    row[samples->terms - 1] = (double)times * (double)in.paid_units;
    return STATUS_OK;
}

static enum status fit_law(const struct program_laws *laws, const struct subject *subject,
                           struct program_law *law)
{
    bool rows = subject->kind == CURVE_MOVES || subject->kind == CURVE_PRODUCTS;
    struct samples samples;
    struct linear_fit fit;
    struct error why;
    enum status status = STATUS_OK;
    if (!samples_open(&samples, law->curve->point_count, rows ? 3 : 2)) {
        samples_clear(&samples);
        return error_memory(laws->error);
    }
    for (int i = 0; i < law->curve->point_count && status == STATUS_OK; i++)
        status = add_point(laws, subject, &law->curve->points[i], &samples);
    if (status == STATUS_OK && linear_fit(samples.rows, samples.times_ns, samples.count,
                                          samples.terms, &fit, &why) == STATUS_OK) {
        law->known = true;
        law->latency_ns = rows ? fit.cost[0] : 0;
        law->each_ns = fit.cost[rows];
        law->unit_ns = fit.cost[samples.terms - 1];
        law->median_error = fit.median_error;
    }
    samples_clear(&samples);
    return status;
}

enum status program_laws_fit(struct program_laws *laws)
{
    for (int i = 0; i < laws->list.count; i++)
        laws->laws[i].known = false;
    for (int i = 0; i < laws->list.count; i++)
        if (laws->laws[i].curve && program_has_law(laws->list.items[i].kind))
            TRY(fit_law(laws, &laws->list.items[i], &laws->laws[i]));
    return STATUS_OK;
}

double program_shared_ns(const struct curve *curve, int64_t cores)
{
    const struct curve_point *first = NULL;
    for (int i = 0; i < curve->point_count; i++) {
        const struct curve_point *point = &curve->points[i];
        if (point->size[0] != cores || point->size[1] != 1)
            continue;
        if (first && point->size[2] > first->size[2])
            return (point->ns - first->ns) / (double)(point->size[2] - first->size[2]);
        first = point;
    }
    return NAN;
}

double program_expected_ns(const struct program_laws *laws, int subject,
                           const struct instruction *in)
{
    const struct program_law *law = &laws->laws[subject];
    return laws->launch_ns + laws->launch_core_ns + laws->dispatch_ns + law->latency_ns +
           law->each_ns + law->unit_ns * (double)in->paid_units;
}

enum status program_set(struct program_laws *laws, int subject, const char *key, const char *unit,
                        double value)
{
    const struct program_law *law = &laws->laws[subject];
    const char *slash = strrchr(laws->file, '/');
    struct parameter parameter = {.value = value < nothing_ns ? 0 : value,
                                  .error = NAN,
                                  .unit = unit,
                                  .points = law->curve->point_count,
                                  .median_error = law->median_error,
                                  .r_squared = NAN};
    snprintf(parameter.key, sizeof parameter.key, "%s", key);
    snprintf(parameter.from, sizeof parameter.from, "%.40s's %.50s", slash ? slash + 1 : laws->file,
             laws->list.items[subject].name);
    return calibration_set(laws->calibration, &parameter, laws->error);
}

enum status program_unknown(struct program_laws *laws, const char *key, const char *format, ...)
{
    struct calibration *calibration = laws->calibration;
    va_list arguments;
    for (int i = 0; i < calibration->unknown_count; i++)
        if (strcasecmp(calibration->unknowns[i].key, key) == 0)
            return STATUS_OK;
    if (calibration->unknown_count == CALIBRATION_MAX_PARAMETERS)
        return error_set(laws->error, STATUS_TOO_LARGE, "more than %d numbers that are not told",
                         CALIBRATION_MAX_PARAMETERS);
    struct unknown *unknown = &calibration->unknowns[calibration->unknown_count++];
    snprintf(unknown->key, sizeof unknown->key, "%s", key);
    va_start(arguments, format);
    vsnprintf(unknown->why, sizeof unknown->why, format, arguments);
    va_end(arguments);
    return STATUS_OK;
}
