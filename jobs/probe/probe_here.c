/* Times the points of a procedure on this computer, all of a curve in turns, so that what else the
 * machine does meanwhile meets all of them alike. */
#include "jobs/probe/probe_here.h"

#include "core/array.h"
#include "jobs/probe/probe_parts.h"
#include "validate/calibrate/host_calibration.h"
#include "validate/calibrate/levels.h"
#include "validate/timing.h"

#include <stdio.h>
#include <stdlib.h>

enum { MEMORY_BYTES = 256 << 20, LEAST_MEMORY_BYTES = 16 << 20, ROUNDS = 7 };

static const double sample_ns = 1e5, budget_s = 3; /* of a curve */

/* What is timed of one curve; both arrays grow together. */
struct stretch {
    int count;
    struct probe_run_here *runs;
    struct timing_subject *subjects;
    struct timing *timings;
};

static void stretch_clear(struct stretch *stretch)
{
    free(stretch->runs);
    free(stretch->subjects);
    free(stretch->timings);
}

static enum status add_run(struct stretch *stretch, const struct probe_run_here *run,
                           struct probe_series *series, int64_t x, struct error *error)
{
    if (!array_room(&stretch->runs, stretch->count, sizeof *stretch->runs) ||
        !array_room(&series->points, series->count, sizeof *series->points))
        return error_memory(error);
    stretch->runs[stretch->count++] = *run;
    series->points[series->count++] = (struct probe_point){.x = x, .cores = 1};
    return STATUS_OK;
}

static enum status prepare(struct stretch *stretch, const struct probe_run_here *form,
                           struct probe_series *series, struct error *error)
{
    const struct probe_curve *curve = series->curve;
    for (int64_t x = curve->from; x <= curve->to; x = probe_next_size(curve, x)) {
        struct probe_run_here run = *form;
        if (!curve->prepare(&run, curve, x))
            break;
        TRY(add_run(stretch, &run, series, x, error));
    }
    if (!series->count)
        snprintf(series->why, sizeof series->why, "it is not built for this processor");
    return STATUS_OK;
}

static enum status time_stretch(struct stretch *stretch, struct probe_series *series,
                                struct error *error)
{
    int threads = stretch->runs[stretch->count - 1].threads;
    const struct timing_options options = {.min_sample_ns = sample_ns,
                                           .rounds = ROUNDS,
                                           .threads = threads ? threads : 1,
                                           .budget_s = budget_s};
    size_t count = (size_t)stretch->count;
    stretch->subjects = calloc(count + 1, sizeof *stretch->subjects);
    stretch->timings = calloc(count + 1, sizeof *stretch->timings);
    if (!stretch->subjects || !stretch->timings)
        return error_memory(error);
    for (int i = 0; i < stretch->count; i++)
        stretch->subjects[i] = (struct timing_subject){stretch->runs[i].run, &stretch->runs[i]};
    TRY(timing_measure(stretch->subjects, stretch->count, &options, stretch->timings, error));
    for (int i = 0; i < stretch->count; i++)
        series->points[i].ns = stretch->timings[i].median_ns / stretch->runs[i].times;
    return STATUS_OK;
}

static enum status run_series(const struct probe_run_here *form, struct probe_series *series,
                              struct error *error)
{
    struct stretch stretch = {.count = 0};
    enum status status = prepare(&stretch, form, series, error);
    if (status == STATUS_OK && stretch.count)
        status = time_stretch(&stretch, series, error);
    stretch_clear(&stretch);
    return status;
}

static enum status run_all(const struct probe_run_here *form, struct probe_answer *answer,
                           struct error *error)
{
    for (int c = 0; c < answer->probe->curve_count; c++) {
        answer->series[c] = (struct probe_series){.curve = &answer->probe->curves[c]};
        answer->series_count = c + 1;
        TRY(run_series(form, &answer->series[c], error));
    }
    return STATUS_OK;
}

static void say_why(struct probe_answer *answer)
{
    answer->series_count = 1;
    answer->series[0] = (struct probe_series){.curve = answer->probe->curves};
    snprintf(answer->series[0].why, PROBE_WHY_SIZE, "%s", answer->probe->why_not_here);
}

/* Finite numbers that do not grow when they are multiplied, nor vanish. */
static void fill(char *memory, int64_t bytes)
{
    float *numbers = (float *)(void *)memory;
    for (int64_t i = 0; i < bytes / (int64_t)sizeof *numbers; i++)
        numbers[i] = (float)(i % 7) / 16 + 0.5F;
}

enum status probe_here(struct probe_answer *answer, struct error *error)
{
    char why[256];
    struct probe_run_here form = {.host = answer->hw->host, .times = 1};
    if (!answer->probe->here) {
        say_why(answer);
        return STATUS_OK;
    }
    if (!host_is_this_machine(answer->hw->host, why, sizeof why))
        return error_set(error, STATUS_INVALID,
                         "%.64s: %s; expected a description by `autotune calibrate --hw host`",
                         answer->hw->name, why);
    answer->probe = answer->probe->here;
    TRY(timing_clock_rate(&answer->ghz, error));
    form.memory = calibrate_memory(MEMORY_BYTES, LEAST_MEMORY_BYTES, &form.memory_bytes);
    if (!form.memory)
        return error_memory(error);
    fill(form.memory, form.memory_bytes);
    enum status status = run_all(&form, answer, error);
    free(form.memory);
    if (status != STATUS_OK)
        probe_answer_clear(answer);
    return status;
}
