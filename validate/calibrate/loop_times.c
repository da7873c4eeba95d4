/* Times inner loops. Each loop runs with five numbers of steps; a line through the times has the
 * cost of a step as its slope and that of a call as its intercept (validate/linear_fit.h). Times
 * that do not lie on a line are taken again. The peak is that of independent chains of
 * multiply-adds in registers, enough of them to hide the latency of one. */
#include "validate/calibrate/loop_times.h"

#include "validate/calibrate/host_calibration.h"
#include "validate/calibrate/stream_rates.h"
#include "validate/linear_fit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROUNDS = 9,
    CALLS = 256, /* in a run, whose own costs are thus shared */
    PEAK_STEPS = 4096,
    ALIGNMENT = 64,
    MAX_SAMPLES = 64,
};

static const int step_counts[] = {8, 16, 32, 64, 128};
enum { STEP_COUNTS = sizeof step_counts / sizeof *step_counts };

/* No loop is so fast: what the samples show are calls alone. */
static const double least_step_ns = 1e-4;

/* Beyond so large an error or spread a loop is timed again. Some loops are no straight lines. */
static const double straight = 0.1;

static bool is_time(const struct loop_sample *sample)
{
    return isfinite(sample->ns) && sample->ns > 0 && isfinite(sample->steps) && sample->steps > 0;
}

enum status loop_fit(const struct loop_sample *samples, int count, struct loop_fit *fit,
                     struct error *error)
{
    double terms[2 * MAX_SAMPLES], times[MAX_SAMPLES], spreads[MAX_SAMPLES];
    struct linear_fit line;
    double least = INFINITY, most = 0;
    if (count > MAX_SAMPLES)
        return error_set(error, STATUS_TOO_LARGE, "%d samples, expected at most %d", count,
                         MAX_SAMPLES);
    double *term = terms;
    for (int i = 0; i < count; i++, term += 2) {
        if (!is_time(&samples[i]))
            return error_set(error, STATUS_INVALID, "%g ns for %g steps, expected times",
                             samples[i].ns, samples[i].steps);
        least = fmin(least, samples[i].steps);
        most = fmax(most, samples[i].steps);
        term[0] = samples[i].steps;
        term[1] = 1;
        times[i] = samples[i].ns;
        spreads[i] = samples[i].spread;
    }
    if (!(most >= 2 * least))
        return error_set(error, STATUS_INVALID, "%g to %g steps, expected twice as many", least,
                         most);
    TRY(linear_fit(terms, times, count, 2, &line, error));
    if (!(line.cost[0] > 0))
        return error_set(error, STATUS_INVALID, "more steps do not take longer");
    *fit = (struct loop_fit){.step_ns = line.cost[0],
                             .call_ns = line.cost[1],
                             .spread = middle_of(spreads, count).median,
                             .r_squared = line.r_squared,
                             .max_error = line.max_error};
    return STATUS_OK;
}

/* A loop with one number of steps. */
struct trial {
    const struct loop_family *family;
    int index;
    enum host_isa isa;
    int64_t asked, steps; /* of a call; a loop may do another number of its steps */
    void *data;
    int64_t bytes;
};

static void run_trial(void *context)
{
    const struct trial *trial = context;
    trial->family->run(trial->index, trial->isa, CALLS, trial->asked, trial->data, trial->bytes);
}

/* Finite numbers that do not grow when they are multiplied. */
static void fill_with_numbers(float *data, int64_t bytes)
{
    for (int64_t i = 0; i < bytes / (int64_t)sizeof *data; i++)
        data[i] = (float)(i % 7) / 16 - 0.1875F;
}

static enum status fit_loop(const struct trial *trials, const struct timing *timings,
                            struct calibrate_control *control, struct loop_fit *fit,
                            struct error *error)
{
    struct loop_sample samples[STEP_COUNTS];
    int count = 0;
    for (int i = 0; i < STEP_COUNTS; i++) {
        control->samples += timings[i].samples + timings[i].dropped;
        control->dropped += timings[i].dropped;
        if (trials[i].steps > 0)
            samples[count++] = (struct loop_sample){
                (double)trials[i].steps, timings[i].median_ns / CALLS, timings[i].spread};
    }
    return loop_fit(samples, count, fit, error);
}

/* Fills one trial for each number of steps; false where the loop does not run here. */
static bool plan_trials(struct trial *trials, const struct trial *form)
{
    for (int i = 0; i < STEP_COUNTS; i++) {
        trials[i] = *form;
        trials[i].asked = step_counts[i];
        trials[i].steps =
            form->family->run(form->index, form->isa, 1, step_counts[i], form->data, form->bytes);
        if (trials[i].steps <= 0)
            return false;
    }
    return true;
}

/* Samples that disagree with each other or with a line are taken anew; the straightest line counts.
 */
static enum status settle_loop(const struct trial *trials, const struct timing_subject *subjects,
                               struct calibrate_control *control, struct loop_fit *fit, bool *found,
                               struct error *error)
{
    const struct timing_options options = {.rounds = ROUNDS, .threads = 1};
    *found = false;
    for (int tries = 0; tries < SETTLE_TRIES && !calibrate_stopped(control); tries++) {
        struct timing timings[STEP_COUNTS];
        struct loop_fit now;
        struct error ignored;
        TRY(timing_measure(subjects, STEP_COUNTS, &options, timings, error));
        if (fit_loop(trials, timings, control, &now, &ignored) != STATUS_OK)
            continue;
        if (!*found || now.max_error < fit->max_error)
            *fit = now;
        *found = true;
        if (fit->max_error <= straight && now.spread <= straight)
            break;
    }
    return STATUS_OK;
}

static enum status time_loop(const struct trial *form, struct calibrate_control *control,
                             struct loop_times *times, struct error *error)
{
    struct trial trials[STEP_COUNTS];
    struct timing_subject subjects[STEP_COUNTS];
    struct loop_time *loop = &times->loops[times->count];
    bool found;
    times->left_out++;
    if (!plan_trials(trials, form))
        return STATUS_OK;
    for (int i = 0; i < STEP_COUNTS; i++)
        subjects[i] = (struct timing_subject){run_trial, &trials[i]};
    TRY(settle_loop(trials, subjects, control, &loop->fit, &found, error));
    if (!found || loop->fit.step_ns < least_step_ns)
        return STATUS_OK;
    snprintf(loop->name, sizeof loop->name, "%s %s", form->family->name,
             form->family->variant(form->index));
    loop->flops = form->family->flops ? form->family->flops(form->index, form->isa) : 0;
    times->count++;
    times->left_out--;
    return STATUS_OK;
}

static int count_loops(loop_family_finder *family_at)
{
    int count = 0;
    for (int f = 0; family_at(f); f++)
        count += family_at(f)->count;
    return count;
}

static enum status time_all(loop_family_finder *family_at, struct trial *form,
                            struct calibrate_control *control, struct loop_times *times,
                            struct error *error)
{
    int done = 0, total = count_loops(family_at);
    for (int f = 0; family_at(f); f++)
        for (int i = 0; i < family_at(f)->count && !calibrate_stopped(control); i++) {
            calibrate_progress(control, "loops", done++, total);
            if (times->count == HOST_MAX_LOOPS) {
                times->left_out++;
                continue;
            }
            form->family = family_at(f);
            form->index = i;
            fill_with_numbers(form->data, form->bytes);
            TRY(time_loop(form, control, times, error));
        }
    return STATUS_OK;
}

enum status loop_times_measure(loop_family_finder *family_at, enum host_isa isa, int64_t l1_bytes,
                               struct calibrate_control *control, struct loop_times *times,
                               struct error *error)
{
    struct trial form = {.isa = isa, .bytes = l1_bytes / 3 / ALIGNMENT * ALIGNMENT};
    memset(times, 0, sizeof *times);
    form.data = aligned_alloc(ALIGNMENT, (size_t)(form.bytes > 0 ? form.bytes : ALIGNMENT));
    if (!form.data)
        return error_memory(error);
    enum status status = time_all(family_at, &form, control, times, error);
    free(form.data);
    return status;
}

struct peak_trial {
    peak_loop *loop;
    float sink[64];
};

static void run_peak(void *context)
{
    struct peak_trial *trial = context;
    trial->loop(trial->sink, PEAK_STEPS);
}

enum status peak_measure(enum host_isa isa, struct calibrate_control *control, struct middle *peak,
                         struct error *error)
{
    struct peak_trial trial = {.loop = peak_find(isa)};
    const struct timing_subject subject = {run_peak, &trial};
    const struct timing_options options = {.threads = 1};
    struct timing timing;
    *peak = (struct middle){0, 0, 0};
    if (!trial.loop)
        return STATUS_OK;
    TRY(timing_measure(&subject, 1, &options, &timing, error));
    control->samples += timing.samples + timing.dropped;
    control->dropped += timing.dropped;
    peak->median = 2.0 * PEAK_CHAINS * peak_lanes(isa) * PEAK_STEPS / timing.median_ns;
    peak->spread = timing.spread;
    peak->count = timing.samples;
    return STATUS_OK;
}
