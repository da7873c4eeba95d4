/* Runs procedures. A point is a program, written anew and simulated: all of them are short. What a
 * writer finds missing on the chip ends its curve with the reason; so does an instruction that the
 * description has no price for. */
#include "jobs/probe/probe_parts.h"

#include "core/array.h"
#include "costmodel/simulate.h"

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ the list */

const struct probe *const probes[] = {
    &probe_vector_mask,
    &probe_vector_repeats,
    &probe_matrix_block,
    &probe_matrix_cycles,
    &probe_matrix_narrow,
    &probe_ub_width,
    &probe_l1_width,
    &probe_l0c_width,
    &probe_strides,
    &probe_gm_bursts,
    &probe_working_set,
    &probe_cores,
    &probe_vector_load,
    &probe_vector_density,
    &probe_break_even,
    &probe_matrix_load,
    NULL,
};

const struct probe *probe_find(const char *name)
{
    for (int p = 0; probes[p]; p++)
        if (strcmp(probes[p]->name, name) == 0)
            return probes[p];
    return NULL;
}

/* ------------------------------------------------------------------ writers */

void writer_lacks(struct probe_writer *w, const char *format, ...)
{
    va_list list;
    if (w->why[0])
        return;
    va_start(list, format);
    vsnprintf(w->why, sizeof w->why, format, list);
    va_end(list);
}

bool writer_ends(const struct probe_writer *w)
{
    return w->why[0] || w->beyond;
}

int writer_buffer(struct probe_writer *w, const char *name)
{
    int buffer = hardware_buffer(w->hw, name, (int)strlen(name));
    if (buffer < 0)
        writer_lacks(w, "it has no buffer %s", name);
    return buffer;
}

int writer_path(struct probe_writer *w, const char *source, const char *destination)
{
    int from = writer_buffer(w, source), to = writer_buffer(w, destination);
    int path = from < 0 || to < 0 ? -1 : hardware_path(w->hw, from, to);
    if (path < 0)
        writer_lacks(w, "it has no path %s->%s", source, destination);
    return path;
}

const struct matrix_type *writer_matrix(struct probe_writer *w, enum dtype type)
{
    const struct matrix_type *matrix = hardware_matrix_type(w->hw, type);
    if (!matrix)
        writer_lacks(w, "its matrix unit has no price for %s", dtype_name(type));
    return matrix;
}

bool writer_fits(struct probe_writer *w, const char *buffer, int64_t bytes)
{
    int place = writer_buffer(w, buffer);
    int64_t capacity = place < 0 ? 0 : w->hw->buffers[place].capacity_bytes;
    w->beyond = w->beyond || (capacity && bytes > capacity);
    return !writer_ends(w);
}

void writer_cores(struct probe_writer *w, const struct probe_curve *curve, const char *buffer)
{
    int place = writer_buffer(w, buffer);
    w->cores =
        curve->all_cores && place >= 0 ? hardware_cores_with(w->hw, 1U << (unsigned)place) : 1;
}

void writer_set(struct probe_writer *w, int from, int to, int reg)
{
    if (from != to && reg >= hardware_flags(w->hw, from, to))
        writer_lacks(w, "it has no %d flags from %s to %s", reg + 1, w->hw->pipes[from].name,
                     w->hw->pipes[to].name);
    else if (from != to)
        emit_set(&w->e, from, to, reg);
}

void writer_wait(struct probe_writer *w, int from, int to, int reg)
{
    if (from != to && reg < hardware_flags(w->hw, from, to))
        emit_wait(&w->e, from, to, reg);
}

/* ------------------------------------------------------------------ times */

struct bench {
    const struct hardware *hw;
    struct simulator *simulator;
    struct program program;
    struct error *error;
};

static enum status bench_open(struct bench *bench, const struct hardware *hw, struct error *error)
{
    *bench = (struct bench){.hw = hw, .simulator = simulator_new(), .error = error};
    return bench->simulator ? STATUS_OK : error_memory(error);
}

static void bench_close(struct bench *bench)
{
    program_clear(&bench->program);
    simulator_free(bench->simulator);
}

static double time_of(const struct timeline *timeline, const struct probe_writer *w,
                      enum probe_time time)
{
    int64_t fs = time == PROBE_LOADS     ? timeline->busy_fs[w->load_pipe]
                 : time == PROBE_VECTORS ? timeline->busy_fs[w->vector_pipe]
                                         : timeline->end_fs;
    return (double)fs / FS_PER_NS;
}

/* No instruction, on x cores. */
static void emit_nothing(struct probe_writer *w, const struct probe_curve *curve, int64_t x)
{
    (void)curve;
    w->cores = (int)x;
}

static const struct probe_curve empty = {.emit = emit_nothing};

/* What cannot be priced or is too long to be simulated is no error: it ends the curve. */
static enum status end_curve_if_invalid(struct probe_writer *w, enum status status,
                                        struct error *error)
{
    bool is_end = status == STATUS_INVALID || status == STATUS_TOO_LARGE;
    if (is_end)
        writer_lacks(w, "%.*s", PROBE_WHY_SIZE - 1, error->text);
    return is_end ? STATUS_OK : status;
}

/* Writes and times one program. Where it ends the curve, *ns is NAN. */
static enum status time_point(struct bench *bench, const struct probe_curve *curve, int64_t x,
                              struct probe_writer *w, double *ns)
{
    struct timeline timeline;
    *w = (struct probe_writer){
        .e = {.program = &bench->program, .error = bench->error}, .hw = bench->hw, .cores = 1};
    *ns = NAN;
    program_reset(&bench->program, bench->hw);
    curve->emit(w, curve, x);
    if (writer_ends(w))
        return STATUS_OK;
    const struct simulate_options options = {.cores = w->cores};
    enum status status = emit_close(&w->e);
    if (status == STATUS_OK)
        status = simulate(bench->simulator, &bench->program, &options, &timeline, bench->error);
    if (status != STATUS_OK)
        return end_curve_if_invalid(w, status, bench->error);
    if (timeline.blocked >= 0)
        return error_set(bench->error, STATUS_INVALID, "a generated program deadlocks");
    *ns = time_of(&timeline, w, curve->time);
    return STATUS_OK;
}

/* With the time of an empty program on as many cores, which is the point's before where that ran on
 * as many. */
static enum status add_point(struct bench *bench, struct probe_series *series,
                             const struct probe_point *point)
{
    struct probe_writer w;
    if (!array_room(&series->points, series->count, sizeof *series->points))
        return error_memory(bench->error);
    struct probe_point *place = &series->points[series->count++];
    *place = *point;
    if (series->curve->time != PROBE_WHOLE)
        place->empty_ns = 0; /* no pipe is busy in it */
    else if (series->count > 1 && place[-1].cores == point->cores)
        place->empty_ns = place[-1].empty_ns;
    else
        TRY(time_point(bench, &empty, point->cores, &w, &place->empty_ns));
    return STATUS_OK;
}

int64_t probe_next_size(const struct probe_curve *curve, int64_t x)
{
    int64_t share = x / PROBE_SHARE;
    return curve->step ? x + curve->step : share ? x + share : x + 1;
}

static enum status run_curve(struct bench *bench, const struct probe_curve *curve,
                             struct probe_series *series)
{
    *series = (struct probe_series){.curve = curve};
    for (int64_t x = curve->from; x <= curve->to; x = probe_next_size(curve, x)) {
        struct probe_writer w;
        double ns;
        TRY(time_point(bench, curve, x, &w, &ns));
        if (isnan(ns) && !series->count)
            snprintf(series->why, sizeof series->why, "%s",
                     w.why[0] ? w.why : "its buffers do not hold the smallest");
        if (isnan(ns))
            return STATUS_OK;
        TRY(add_point(bench, series, &(struct probe_point){.x = x, .cores = w.cores, .ns = ns}));
    }
    return STATUS_OK;
}

static enum status run_curves(struct bench *bench, struct probe_answer *answer)
{
    for (int c = 0; c < answer->probe->curve_count; c++) {
        answer->series_count = c + 1;
        TRY(run_curve(bench, &answer->probe->curves[c], &answer->series[c]));
    }
    return STATUS_OK;
}

enum status probe_run(const struct probe *probe, const struct hardware *hw,
                      struct probe_answer *answer, struct error *error)
{
    struct bench bench;
    *answer = (struct probe_answer){.probe = probe, .hw = hw, .ghz = (double)hw->clock_hz / 1e9};
    if (hw->host)
        return probe_here(answer, error);
    enum status status = bench_open(&bench, hw, error);
    if (status == STATUS_OK)
        status = run_curves(&bench, answer);
    bench_close(&bench);
    if (status != STATUS_OK)
        probe_answer_clear(answer);
    return status;
}

void probe_answer_clear(struct probe_answer *answer)
{
    for (int s = 0; s < answer->series_count; s++)
        free(answer->series[s].points);
    answer->series_count = 0;
}

const char *probe_why(const struct probe_answer *answer)
{
    for (int s = 0; s < answer->series_count; s++)
        if (answer->series[s].count)
            return NULL;
    return answer->series[0].why;
}
