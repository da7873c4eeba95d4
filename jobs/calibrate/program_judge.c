/* What a fit to times of programs has come to: how far off every program is on the fitted
 * description, and which of its numbers no program tells. */
#include "jobs/calibrate/calibrate_programs.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Numbers that no time of a program depends on, by the end of their keys, numbers of lists left
 * out. */
static const struct silent {
    const char *ending, *why;
} silent[] = {
    {"cores", "programs run on as many cores as they are told to"},
    {"clock_mhz", "what takes cycles shows in ns; the clock stays, and cycles follow it"},
    {"host_call_ns", "no part of a program's time"},
    {"flag_registers", "takes no time"},
    {"core_flags", "takes no time"},
    {"core_flag_ns", "the chip has no flags between kinds of core that cross in a program here"},
    {"capacity_bytes", "takes no time"},
    {"alignment_bytes", "takes no time"},
    {"per_core", "taken for known"},
    {"align_bytes", "pieces are timed by the classes that a description has"},
    {"up_to_bytes", "pieces are timed by the classes that a description has"},
    {"vector_repeat_bytes", "no vector operation takes longer for more"},
};

/* "a.up_to_bytes.3" ends in up_to_bytes. */
static bool ends_in(const char *key, const char *ending)
{
    size_t length = strlen(key), wanted = strlen(ending);
    while (length && strchr("0123456789", key[length - 1]))
        length--;
    if (length && key[length - 1] == '.')
        length--;
    return length >= wanted && strncasecmp(key + length - wanted, ending, wanted) == 0 &&
           (length == wanted || key[length - wanted - 1] == '.');
}

static const char *reason(const char *key)
{
    for (size_t i = 0; i < sizeof silent / sizeof *silent; i++)
        if (ends_in(key, silent[i].ending))
            return silent[i].why;
    return "the file has no programs that tell it";
}

static bool is_told(const struct calibration *calibration, const char *key)
{
    for (int i = 0; i < calibration->parameter_count; i++)
        if (strcasecmp(calibration->parameters[i].key, key) == 0)
            return true;
    return false;
}

enum status program_unknowns(struct program_laws *laws)
{
    const struct hardware *hw = &laws->calibration->hw;
    for (size_t f = 0; f < hw->fact_count; f++) {
        const char *key = hw->facts[f].key;
        if (strncmp(key, "fit.", 4) != 0 && !is_told(laws->calibration, key))
            TRY(program_unknown(laws, key, "%s", reason(key)));
    }
    return STATUS_OK;
}

static enum status judge_curve(struct program_laws *laws, struct subject_bench *bench, int subject,
                               double errors[])
{
    const struct program_law *law = &laws->laws[subject];
    struct calibration *calibration = laws->calibration;
    int count = law->curve->point_count;
    for (int i = 0; i < count; i++) {
        const struct curve_point *point = &law->curve->points[i];
        double ns;
        TRY(subject_time(bench, &laws->list.items[subject], point->size, &ns));
        errors[i] = fabs(ns / point->ns - 1);
    }
    if (calibration->curve_count == CALIBRATION_MAX_CURVES)
        return STATUS_OK;
    struct fitted_curve *report = &calibration->curves[calibration->curve_count++];
    gsl_sort(errors, 1, (size_t)count);
    *report = (struct fitted_curve){.points = count,
                                    .fixed_ns = law->latency_ns + law->each_ns,
                                    .rate = law->unit_ns > 0 ? 1 / law->unit_ns : 0,
                                    .median_error =
                                        gsl_stats_median_from_sorted_data(errors, 1, (size_t)count),
                                    .max_error = errors[count - 1],
                                    .r_squared = NAN};
    snprintf(report->name, sizeof report->name, "%.78s", laws->list.items[subject].name);
    return STATUS_OK;
}

enum status program_judge(struct program_laws *laws)
{
    struct subject_bench bench;
    double *errors = NULL;
    int most = 0;
    for (int i = 0; i < laws->list.count; i++)
        if (laws->laws[i].curve && laws->laws[i].curve->point_count > most)
            most = laws->laws[i].curve->point_count;
    errors = calloc((size_t)most + 1, sizeof *errors);
    if (!errors)
        return error_memory(laws->error);
    enum status status = subject_bench_open(&bench, &laws->calibration->hw, laws->error);
    for (int i = 0; i < laws->list.count && status == STATUS_OK; i++)
        if (laws->laws[i].curve)
            status = judge_curve(laws, &bench, i, errors);
    subject_bench_close(&bench);
    free(errors);
    return status;
}
