/* Paths and matrix unit from curves of single instructions. One line is fitted to a curve first.
 * Where it is off by more than 2 % on average, a knee is tried after every point that leaves enough
 * of them on both sides, with a line of its own for each side; the best knee counts if it halves
 * the mean error. The line of the long moves is the model then, the other is kept beside it. */
#include "jobs/calibrate/calibrate_parts.h"

#include "validate/linear_fit.h"

#include <ctype.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ laws */

enum { SHORT_POINTS = 4, LONG_POINTS = 8 }; /* at least, on either side of a knee */

/* A knee must explain this much of the mean error, and there must be one. */
static const double knee_gain = 0.5, knee_least_error = 0.02;

/* time = fixed + each · instructions + work · per_unit */
struct model {
    struct linear_fit fit;
    double mean_error; /* over all points */
    int long_from;     /* points before it follow the short law */
    struct linear_fit short_fit;
};

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

/* STATUS_INVALID where the points do not grow with the work, or are too few. */
static enum status model_fit(const struct samples *samples, bool may_have_knee, struct model *model,
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

/* ------------------------------------------------------------------ paths */

enum {
    REPEAT_BYTES = 1024, /* of each move in a row: the curves do not say, but with it those of
                            L1_TO_L0A and L1_TO_L0B by repeat and by size are the same */
    PREFIX_SIZE = 128,   /* of keys: a path with a cast */
};

/* What an instruction issued alone takes beside its work is issue and latency. Up to this many
 * times the known issue it is taken for issue, beyond for latency. */
static const double issue_at_most = 4.0;

/* What a path's points vary: the size of one move, how many there are, or in two curves both. */
enum law { BY_SIZE, BY_REPEAT, BY_BOTH };

static void add_moves(struct samples *samples, const struct curve *curve)
{
    for (int i = 0; curve && i < curve->point_count; i++) {
        bool repeated = curve->kind == CURVE_REPEAT;
        double moves = repeated ? (double)curve->points[i].size[0] : 1;
        double bytes = repeated ? moves * REPEAT_BYTES : (double)curve->points[i].size[0];
        double *row = samples->rows + (ptrdiff_t)samples->count * samples->terms;
        samples->times_ns[samples->count++] = bytes / curve->points[i].rate * 1e9;
        row[0] = 1;
        row[1] = samples->terms == 3 ? moves : bytes;
        row[samples->terms - 1] = bytes;
    }
}

/* The file without its folders. */
static const char *file_name(const char *file)
{
    const char *slash = strrchr(file, '/');
    return slash ? slash + 1 : file;
}

struct target {
    struct calibration *calibration;
    const char *file;
    char curve[CURVE_NAME_SIZE + 24]; /* for sources */
    struct error *error;
};

static enum status set_key(const struct target *t, const char *prefix, const char *name,
                           const char *unit, double value, double error,
                           const struct linear_fit *fit)
{
    struct parameter parameter = {.value = value,
                                  .error = error,
                                  .unit = unit,
                                  .points = fit->point_count,
                                  .median_error = fit->median_error,
                                  .r_squared = fit->r_squared};
    snprintf(parameter.key, sizeof parameter.key, "%s.%s", prefix, name);
    snprintf(parameter.from, sizeof parameter.from, "%.40s's %.50s", file_name(t->file), t->curve);
    return calibration_set(t->calibration, &parameter, t->error);
}

/* Issue and latency. Curves by size and by repeat tell them apart; those by repeat alone know the
 * latency, and take what a further move costs for its bytes; those by size alone know the sum. */
static enum status set_fixed(const struct target *t, const char *prefix, double known_issue_ns,
                             const struct linear_fit *fit, enum law law)
{
    double latency = fit->cost[0], latency_error = fit->error[0], issue = 0, issue_error = 0;
    bool has_issue = law != BY_SIZE;
    if (law == BY_BOTH) {
        issue = fit->cost[1];
        issue_error = fit->error[1];
    } else if (law == BY_SIZE && latency <= issue_at_most * known_issue_ns) {
        has_issue = true;
        issue = latency;
        issue_error = latency_error;
        latency = latency_error = 0;
    } else if (law == BY_SIZE) {
        latency -= known_issue_ns;
    }
    if (has_issue)
        TRY(set_key(t, prefix, "issue_ns", "ns", issue, issue_error, fit));
    return set_key(t, prefix, "latency_ns", "ns", latency, latency_error, fit);
}

/* A cast that moved as fast as its path still does. */
static enum status set_casts(const struct target *t, int path, const char *prefix, double old_gbps,
                             double gbps, double error, const struct linear_fit *fit)
{
    const struct path *p = &t->calibration->hw.paths[path];
    for (int c = 0; c < p->cast_count; c++) {
        char key[PREFIX_SIZE], full[HARDWARE_KEY_SIZE];
        double own;
        snprintf(key, sizeof key, "%.90s.casts.%s:%s", prefix, dtype_name(p->casts[c].from),
                 dtype_name(p->casts[c].to));
        snprintf(full, sizeof full, "%s.bandwidth_gbps", key);
        if (description_get(&t->calibration->description, full, &own) && own == old_gbps)
            TRY(set_key(t, key, "bandwidth_gbps", "GB/s", gbps, error, fit));
    }
    return STATUS_OK;
}

static double issue_ns_of(const struct calibration *calibration, int price)
{
    return (double)calibration->hw.prices[price].base_fs / FS_PER_NS;
}

/* What a bus lets one transfer do. */
static double first_gbps(const struct calibration *calibration, int bus)
{
    char key[HARDWARE_KEY_SIZE];
    double first = 0;
    snprintf(key, sizeof key, "buses.%s.total_gbps.1", calibration->hw.buses[bus].name);
    description_get(&calibration->description, key, &first);
    return first;
}

static enum status set_path(const struct target *t, int path, const struct model *model,
                            enum law law)
{
    int terms = law == BY_BOTH ? 3 : 2;
    struct calibration *calibration = t->calibration;
    const struct path *p = &calibration->hw.paths[path];
    const struct linear_fit *fit = &model->fit;
    char name[2 * HARDWARE_NAME_SIZE + 3], prefix[PREFIX_SIZE], key[HARDWARE_KEY_SIZE];
    double gbps = 1 / fit->cost[terms - 1], old_gbps = 0;
    double error = gbps * fit->error[terms - 1] / fit->cost[terms - 1];
    snprintf(prefix, sizeof prefix, "paths.%s", hardware_path_name(&calibration->hw, path, name));
    snprintf(key, sizeof key, "%s.bandwidth_gbps", prefix);
    description_get(&calibration->description, key, &old_gbps);
    TRY(set_fixed(t, prefix, issue_ns_of(calibration, p->price), fit, law));
    TRY(set_key(t, prefix, "bandwidth_gbps", "GB/s", gbps, error, fit));
    TRY(set_casts(t, path, prefix, old_gbps, gbps, error, fit));
    if (p->bus >= 0 && gbps > first_gbps(calibration, p->bus)) {
        char source[160];
        snprintf(source, sizeof source, "derived: as much as %s moves alone, %s", name,
                 "up to what all cores were known to move");
        TRY(calibration_set_bus(calibration, p->bus, gbps, 0, source, t->error));
    }
    return STATUS_OK;
}

/* ---- reports ---- */

static struct fitted_curve *add_report(struct calibration *calibration, const char *name,
                                       int points)
{
    if (calibration->curve_count == CALIBRATION_MAX_CURVES)
        return NULL;
    struct fitted_curve *report = &calibration->curves[calibration->curve_count++];
    *report = (struct fitted_curve){
        .points = points, .median_error = NAN, .max_error = NAN, .r_squared = NAN};
    snprintf(report->name, sizeof report->name, "%s", name);
    return report;
}

static void fill_report(struct fitted_curve *report, const struct samples *samples,
                        const struct model *model, double rate)
{
    if (!report)
        return;
    const struct linear_fit *fit = &model->fit;
    report->outlier_count = fit->outlier_count;
    report->fixed_ns = fit->cost[0] + (samples->terms == 3 ? fit->cost[1] : 0);
    report->fixed_error_ns = fit->error[0];
    report->rate = rate;
    report->median_error = fit->median_error;
    report->max_error = fit->max_error;
    report->r_squared = fit->r_squared;
    if (model->long_from)
        snprintf(
            report->note, sizeof report->note,
            "from %.0f bytes on; the %d shorter ones take %.4g ns and their bytes at %.4g GB/s",
            samples->rows[model->long_from * samples->terms + samples->terms - 1], model->long_from,
            model->short_fit.cost[0],
            model->short_fit.cost[1] > 0 ? 1 / model->short_fit.cost[1] : 0.0);
}

/* ---- what a chip's curves say ---- */

static enum status calibrate_path(const struct target *t, int path, const struct curve *single,
                                  const struct curve *repeated)
{
    struct samples samples;
    struct model model;
    struct error why;
    int count = (single ? single->point_count : 0) + (repeated ? repeated->point_count : 0);
    enum law law = single && repeated ? BY_BOTH : single ? BY_SIZE : BY_REPEAT;
    int terms = law == BY_BOTH ? 3 : 2;
    struct fitted_curve *report = add_report(t->calibration, t->curve, count);
    if (!samples_open(&samples, count, terms)) {
        samples_clear(&samples);
        return error_memory(t->error);
    }
    add_moves(&samples, single);
    add_moves(&samples, repeated);
    enum status status = model_fit(&samples, terms == 2, &model, &why);
    if (status == STATUS_OK) {
        fill_report(report, &samples, &model, 1 / model.fit.cost[terms - 1]);
        status = set_path(t, path, &model, law);
    } else if (status == STATUS_INVALID) {
        if (report)
            snprintf(report->note, sizeof report->note, "not used: %.140s", why.text);
        status = STATUS_OK;
    } else {
        status = error_memory(t->error);
    }
    samples_clear(&samples);
    return status;
}

/* "GM_TO_L1" */
static void curve_name(const struct hardware *hw, const struct path *path, char name[])
{
    int length = snprintf(name, CURVE_NAME_SIZE, "%s_TO_%s", hw->buffers[path->source].name,
                          hw->buffers[path->destination].name);
    for (int i = 0; i < length && i < CURVE_NAME_SIZE; i++)
        name[i] = (char)toupper((unsigned char)name[i]);
}

static enum status calibrate_paths(struct target *t, const struct curves *curves, int *used)
{
    struct calibration *calibration = t->calibration;
    for (int p = 0; p < calibration->hw.path_count; p++) {
        char name[CURVE_NAME_SIZE];
        curve_name(&calibration->hw, &calibration->hw.paths[p], name);
        const struct curve *single = curves_find(curves, CURVE_MOVE, name, calibration->chip);
        const struct curve *repeated = curves_find(curves, CURVE_REPEAT, name, calibration->chip);
        snprintf(t->curve, sizeof t->curve, "%s%s", name,
                 !repeated ? ""
                 : single  ? " (by size and by repeat)"
                           : " (by repeat)");
        if (single || repeated)
            TRY(calibrate_path(t, p, single, repeated));
        *used += (single != NULL) + (repeated != NULL);
    }
    return STATUS_OK;
}

/* Curves of matrix instructions: what stands for the element type in the description, and the
 * bytes of an element, which the unit of the rates counts beside multiplications. */
static const struct mmad {
    const char *curve;
    enum dtype type;
} mmads[] = {
    {"MMAD_FP16_FP16_FP32_1_core", DTYPE_F16},
};

static int64_t blocks_of(const struct matrix_type *type, const int64_t size[3])
{
    int block[3] = {type->block_m, type->block_k, type->block_n};
    int64_t blocks = 1;
    for (int i = 0; i < 3; i++)
        blocks *= (size[i] + block[i] - 1) / block[i];
    return blocks;
}

static void add_mmads(struct samples *samples, const struct hardware *hw,
                      const struct matrix_type *type, const struct curve *curve)
{
    double cycle_ns = 1e9 / (double)hw->clock_hz;
    for (int i = 0; i < curve->point_count; i++) {
        const struct curve_point *point = &curve->points[i];
        double operations = (double)point->size[0] * (double)point->size[1] *
                            (double)point->size[2] * dtype_bytes((enum dtype)type->type);
        double *row = samples->rows + (ptrdiff_t)2 * i;
        row[0] = 1;
        row[1] = (double)blocks_of(type, point->size);
        samples->times_ns[i] = operations / point->rate * cycle_ns;
    }
    samples->count = curve->point_count;
}

static enum status calibrate_mmad(const struct target *t, const struct matrix_type *type,
                                  const struct curve *curve)
{
    struct calibration *calibration = t->calibration;
    struct samples samples;
    struct model model;
    struct error why;
    char prefix[PREFIX_SIZE], key[HARDWARE_KEY_SIZE];
    double block_flop = 0;
    struct fitted_curve *report = add_report(calibration, t->curve, curve->point_count);
    snprintf(prefix, sizeof prefix, "matrix.%s", dtype_name((enum dtype)type->type));
    snprintf(key, sizeof key, "%s.block_flop", prefix);
    description_get(&calibration->description, key, &block_flop);
    if (!samples_open(&samples, curve->point_count, 2)) {
        samples_clear(&samples);
        return error_memory(t->error);
    }
    add_mmads(&samples, &calibration->hw, type, curve);
    enum status status = model_fit(&samples, false, &model, &why);
    if (status == STATUS_OK) {
        double gflops = block_flop / model.fit.cost[1];
        fill_report(report, &samples, &model, gflops);
        status = set_fixed(t, prefix, issue_ns_of(calibration, type->price), &model.fit, BY_SIZE);
        if (status == STATUS_OK)
            status = set_key(t, prefix, "gflops", "GFLOP/s", gflops,
                             gflops * model.fit.error[1] / model.fit.cost[1], &model.fit);
    } else if (report) {
        snprintf(report->note, sizeof report->note, "not used: %.140s", why.text);
        status = status == STATUS_NO_MEMORY ? error_memory(t->error) : STATUS_OK;
    }
    samples_clear(&samples);
    return status;
}

static enum status calibrate_mmads(struct target *t, const struct curves *curves, int *used)
{
    for (size_t i = 0; i < sizeof mmads / sizeof *mmads; i++) {
        const struct matrix_type *type = hardware_matrix_type(&t->calibration->hw, mmads[i].type);
        const struct curve *curve =
            curves_find(curves, CURVE_MMAD, mmads[i].curve, t->calibration->chip);
        snprintf(t->curve, sizeof t->curve, "%s", mmads[i].curve);
        if (!type || !curve)
            continue;
        TRY(calibrate_mmad(t, type, curve));
        ++*used;
    }
    return STATUS_OK;
}

/* "910b1, 910b3" */
static void list_chips(const struct curves *curves, char *text, size_t size)
{
    text[0] = '\0';
    for (int i = 0; i < curves->curve_count; i++) {
        const char *chip = curves->curves[i].chip;
        size_t length = strlen(text);
        if (!strstr(text, chip) && length + strlen(chip) + 3 < size)
            snprintf(text + length, size - length, "%s%s", length ? ", " : "", chip);
    }
}

static int count_chip(const struct curves *curves, const char *chip)
{
    int count = 0;
    for (int i = 0; i < curves->curve_count; i++)
        count += strcasecmp(curves->curves[i].chip, chip) == 0;
    return count;
}

static void note_rejected(struct calibration *calibration, const char *file,
                          const struct curves *curves)
{
    if (curves->rejected && !calibration->rejected_points) {
        calibration->first_rejected_line = curves->first_rejected_line;
        snprintf(calibration->first_rejected_file, sizeof calibration->first_rejected_file, "%s",
                 file);
        snprintf(calibration->first_rejected_reason, sizeof calibration->first_rejected_reason,
                 "%s", curves->first_reason);
    }
    calibration->rejected_points += curves->rejected;
}

enum status calibrate_curves(struct calibration *calibration, const char *file, struct error *error)
{
    struct curves curves;
    struct target target = {.calibration = calibration, .file = file, .error = error};
    int used = 0;
    enum status status = curves_read(file, &curves, error);
    if (status != STATUS_OK)
        return status;
    int present = count_chip(&curves, calibration->chip);
    char chips[160];
    list_chips(&curves, chips, sizeof chips);
    if (!present)
        status = error_at(error, file, curves.curves[0].points[0].line,
                          "no curve of chip %s, expected one of %s (--chip says which)",
                          calibration->chip, chips);
    if (status == STATUS_OK)
        status = calibrate_paths(&target, &curves, &used);
    if (status == STATUS_OK)
        status = calibrate_mmads(&target, &curves, &used);
    if (status == STATUS_OK)
        status = calibrate_programs(calibration, &curves, file, &used, error);
    if (status == STATUS_OK && !used)
        status = error_at(error, file, curves.curves[0].points[0].line,
                          "no curve of chip %s fits a path or the matrix unit of %s",
                          calibration->chip, calibration->hw.name);
    note_rejected(calibration, file, &curves);
    calibration->curves_without_path += present - used;
    curves_clear(&curves);
    return status == STATUS_OK ? calibration_rebuild(calibration, error) : status;
}
