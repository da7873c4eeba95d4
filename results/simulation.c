/* Writes the answer of `autotune simulate`. A timeline's numbers with what the program moved and
 * computed, which is counted once more from the program (core/work.h). A bus has no busy time of
 * its own: its share is the time that all bytes would take at its best rate. The trace says which
 * pipe did what when: events are kept as they are played and written in the Trace Event Format
 * (formats/chrome.h), a process a core, a track a pipe. For buses every move is two edges, +1 and
 * -1; sorted by time and added up they are the number of moves at once. */
#include "results/simulation.h"
#include "core/array.h"
#include "core/program_text.h"
#include "core/work.h"
#include "formats/chrome.h"
#include "formats/json.h"
#include "formats/text.h"

#include <math.h>
#include <stdlib.h>

/* Operations of a whole program by kind and element type: multiplications and additions of a matrix
 * instruction's blocks (2 each product), elements of a vector instruction, operations of a scalar
 * one. `counts` has an entry per enum dtype. As doubles: for rates and reports only. */
struct operation_counts {
    double matrix[DTYPE_COUNT], vector[DTYPE_COUNT], scalar;
};

static void count_operations(const struct hardware *hw, const struct instruction *in, double times,
                             struct operation_counts *counts)
{
    if (in->kind == INSTRUCTION_MATRIX) {
        const struct matrix_type *type = hardware_matrix_type(hw, in->type);
        counts->matrix[in->type] +=
            2.0 * type->block_m * type->block_k * type->block_n * (double)in->units * times;
    } else if (in->kind == INSTRUCTION_VECTOR) {
        counts->vector[in->type] += (double)in->elements * times;
    } else if (in->kind == INSTRUCTION_SCALAR) {
        counts->scalar += (double)in->count * times;
    }
}

static void sum_operations(const struct program *program, struct operation_counts *counts)
{
    struct repetition repetition = {.times = {1}};
    *counts = (struct operation_counts){0};
    for (int32_t i = 0; i < program->count; i++) {
        const struct instruction *in = &program->items[i];
        count_operations(program->hw, in, (double)repetition_step(&repetition, in), counts);
    }
}

struct path_bytes {
    char name[2 * HARDWARE_NAME_SIZE + 3];
    int64_t bytes; /* of one core */
};

/* Bytes per path, all its conversions together. */
static enum status sum_paths(const struct program *program,
                             struct path_bytes paths[HARDWARE_MAX_PATHS], struct error *error)
{
    const struct hardware *hw = program->hw;
    struct work_total totals[HARDWARE_MAX_PRICES];
    TRY(work_totals(program, totals, error));
    for (int p = 0; p < hw->path_count; p++) {
        hardware_path_name(hw, p, paths[p].name);
        paths[p].bytes = totals[hw->paths[p].price].units;
        for (int c = 0; c < hw->paths[p].cast_count; c++)
            paths[p].bytes += totals[hw->paths[p].casts[c].price].units;
    }
    return STATUS_OK;
}

/* The time that all working cores' bytes take on a bus at its best: its saturation is the share. */
static double bus_ns(const struct simulation *s, const struct path_bytes paths[], int bus)
{
    const struct hardware *hw = s->program->hw;
    const struct bus *b = &hw->buses[bus];
    uint32_t pipes = s->program->pipes;
    double bytes = 0;
    for (int p = 0; p < hw->path_count; p++)
        if (hw->paths[p].bus == bus)
            bytes +=
                (double)paths[p].bytes * s->cores * hardware_in_step(hw, pipes, hw->paths[p].pipe);
    return bytes * 1e9 / (double)b->total_bytes_per_s[b->sharers - 1];
}

static double bus_share(const struct simulation *s, const struct path_bytes paths[], int bus)
{
    double end_ns = (double)s->timeline->end_fs / FS_PER_NS;
    return end_ns > 0 ? bus_ns(s, paths, bus) / end_ns : 0;
}

static double busy_share(const struct simulation *s, int pipe)
{
    return s->timeline->end_fs ? (double)s->timeline->busy_fs[pipe] / (double)s->timeline->end_fs
                               : 0;
}

/* Counts may exceed an integer. */
static const char *operation_count(double count, char text[TEXT_SIZE])
{
    if (count < 1e18)
        return text_count((int64_t)count, text);
    snprintf(text, TEXT_SIZE, "%.3g", count);
    return text;
}

static void put_operations(const char *unit, const char *what, const double counts[DTYPE_COUNT],
                           FILE *out)
{
    char text[TEXT_SIZE];
    for (int t = 0; t < DTYPE_COUNT; t++)
        if (counts[t] > 0)
            fprintf(out, "  %-6s %-5s %s %s\n", unit, dtype_name((enum dtype)t),
                    operation_count(counts[t], text), what);
}

static void put_deadlock(const struct simulation *s, const struct style *style, FILE *out)
{
    char line[TEXT_LINE_SIZE];
    char text[256];
    const struct instruction *in = &s->program->items[s->timeline->blocked];
    instruction_print(s->program, s->timeline->blocked, text, sizeof text);
    fprintf(out, "  %sdeadlock%s     %s:%d: pipe %s waits for ever in '%s'\n", style->warn,
            style->end, text_line(text_file_name(s->file), line), in->line,
            in->pipe >= 0 ? s->program->hw->pipes[in->pipe].name : "(all)", text);
}

enum status simulation_write_table(const struct simulation *s, const struct style *style, FILE *out,
                                   struct error *error)
{
    char line[TEXT_LINE_SIZE];
    const struct hardware *hw = s->program->hw;
    struct path_bytes paths[HARDWARE_MAX_PATHS];
    struct operation_counts counts;
    char text[TEXT_SIZE], bar[TEXT_SIZE];
    TRY(sum_paths(s->program, paths, error));
    fprintf(out, "%s%s%s on %s, %d core%s\n", style->bold, text_line(text_file_name(s->file), line),
            style->end, hw->name, s->cores,
            s->cores == 1 ? ""
            : s->in_step  ? "s in step"
                          : "s, each by itself");
    text_put_hardware(hw, style, out);
    if (s->timeline->blocked >= 0) {
        put_deadlock(s, style, out);
        return STATUS_OK;
    }
    fprintf(out, "  time         %s%s%s  (%.6f ns)\n\n  busy share of the time\n", style->bold,
            text_time((double)s->timeline->end_fs / FS_PER_NS, text), style->end,
            (double)s->timeline->end_fs / FS_PER_NS);
    for (int p = 0; p < hw->pipe_count; p++)
        fprintf(out, "  %-12s %s %5.1f %%  %s\n", hw->pipes[p].name,
                text_bar(busy_share(s, p), bar), 100 * busy_share(s, p),
                text_time((double)s->timeline->busy_fs[p] / FS_PER_NS, text));
    for (int b = 0; b < hw->bus_count; b++)
        fprintf(out, "  %-12s %s %5.1f %%  %s at its best rate\n", hw->buses[b].name,
                text_bar(bus_share(s, paths, b), bar), 100 * bus_share(s, paths, b),
                text_time(bus_ns(s, paths, b), text));
    if (s->program->count)
        fprintf(out, "\n  moved and computed by one core\n");
    for (int p = 0; p < hw->path_count; p++)
        if (paths[p].bytes)
            fprintf(out, "  %-12s %s bytes\n", paths[p].name, text_count(paths[p].bytes, text));
    sum_operations(s->program, &counts);
    put_operations("matrix", "operations", counts.matrix, out);
    put_operations("vector", "elements", counts.vector, out);
    if (counts.scalar > 0)
        fprintf(out, "  scalar       %s operation%s\n", operation_count(counts.scalar, text),
                counts.scalar > 1 ? "s" : "");
    return ferror(out) ? error_set(error, STATUS_IO, "cannot write the table") : STATUS_OK;
}

static json_t *buses_json(const struct simulation *s, const struct path_bytes paths[])
{
    json_t *buses = json_array();
    for (int b = 0; b < s->program->hw->bus_count; b++)
        json_array_append_new(
            buses, json_pack("{s:s, s:f, s:f}", "name", s->program->hw->buses[b].name, "busy_ns",
                             bus_ns(s, paths, b), "share", bus_share(s, paths, b)));
    return buses;
}

static json_t *deadlock_json(const struct simulation *s)
{
    char text[256];
    if (s->timeline->blocked < 0)
        return json_null();
    const struct instruction *in = &s->program->items[s->timeline->blocked];
    instruction_print(s->program, s->timeline->blocked, text, sizeof text);
    return json_pack("{s:s, s:i, s:s}", "pipe",
                     in->pipe >= 0 ? s->program->hw->pipes[in->pipe].name : "all", "line", in->line,
                     "text", text);
}

static void add_operations(json_t *array, const char *unit, const double counts[DTYPE_COUNT])
{
    for (int t = 0; t < DTYPE_COUNT; t++)
        if (counts[t] > 0)
            json_array_append_new(array, json_pack("{s:s, s:s, s:f}", "unit", unit, "type",
                                                   dtype_name((enum dtype)t), "count", counts[t]));
}

enum status simulation_write_json(const struct simulation *s, const struct style *style, FILE *out,
                                  struct error *error)
{
    (void)style;
    const struct hardware *hw = s->program->hw;
    struct path_bytes path_list[HARDWARE_MAX_PATHS] = {0};
    struct operation_counts counts;
    TRY(sum_paths(s->program, path_list, error));
    json_t *pipes = json_array(), *paths = json_array(), *operations = json_array();
    for (int p = 0; p < hw->pipe_count; p++)
        json_array_append_new(pipes,
                              json_pack("{s:s, s:f, s:f}", "name", hw->pipes[p].name, "busy_ns",
                                        (double)s->timeline->busy_fs[p] / FS_PER_NS, "share",
                                        busy_share(s, p)));
    for (int p = 0; p < hw->path_count; p++)
        json_array_append_new(paths, json_pack("{s:s, s:I}", "name", path_list[p].name, "bytes",
                                               (json_int_t)path_list[p].bytes));
    sum_operations(s->program, &counts);
    add_operations(operations, "matrix", counts.matrix);
    add_operations(operations, "vector", counts.vector);
    double time_ns =
        s->timeline->blocked >= 0 ? (double)NAN : (double)s->timeline->end_fs / FS_PER_NS;
    return json_write(
        json_pack("{s:i, s:o, s:o, s:o, s:o, s:s, s:i, s:o, s:o, s:o, s:o, s:o, s:o}", "schema", 1,
                  "file", json_text(s->file), "hardware", json_text(hw->name), "hardware_file",
                  json_text(hw->file), "hardware_changes", overrides_json(hw), "cache",
                  hardware_cache_word(hw), "cores", s->cores, "time_ns", json_number(time_ns),
                  "pipes", pipes, "buses", buses_json(s, path_list), "paths", paths, "operations",
                  operations, "deadlock", deadlock_json(s)),
        out, error);
}

/* ------------------------------------------------------------------ the trace */

static void keep_event(void *context, int core, int pipe, int32_t instruction, int64_t start_fs,
                       int64_t end_fs)
{
    struct trace_log *log = context;
    if (log->count++ >= TRACE_MAX_EVENTS || log->failed)
        return;
    log->failed = !array_room(&log->events, log->count - 1, sizeof *log->events);
    if (!log->failed)
        log->events[log->count - 1] =
            (struct trace_event){start_fs, end_fs, instruction, (int16_t)core, (int8_t)pipe};
}

void trace_log_open(struct trace_log *log)
{
    *log = (struct trace_log){.trace = {.context = log, .event = keep_event}};
}

void trace_log_close(struct trace_log *log)
{
    free(log->events);
}

static void put_names(const struct program *program, int cores, bool in_step, struct chrome *chrome)
{
    const struct hardware *hw = program->hw;
    char name[64];
    for (int c = 0; c < (in_step ? 1 : cores); c++) {
        snprintf(name, sizeof name, in_step && cores > 1 ? "each of %d cores in step" : "core %d",
                 in_step && cores > 1 ? cores : c);
        chrome_process(chrome, c, name);
        for (int p = 0; p < hw->pipe_count; p++)
            chrome_track(chrome, c, p + 1, hw->pipes[p].name);
    }
}

static void put_event(const struct program *program, const struct trace_event *event,
                      struct chrome *chrome)
{
    const struct instruction *in = &program->items[event->instruction];
    const char *wait = in->kind == INSTRUCTION_WAIT ? "wait" : NULL;
    char text[256];
    instruction_print(program, event->instruction, text, sizeof text);
    chrome_span(chrome, event->core, event->pipe + 1, wait ? wait : "work", wait ? wait : text,
                event->start_fs, event->end_fs - event->start_fs);
    chrome_integer(chrome, "line", in->line);
    chrome_text(chrome, "instruction", text);
    chrome_end(chrome);
}

/* ------------------------------------------------------------------ buses */

/* A move begins (1) or ends (-1) on a bus. */
struct edge {
    int64_t at_fs;
    int bus, step;
};

static int compare_edges(const void *left, const void *right)
{
    const struct edge *a = left, *b = right;
    if (a->at_fs != b->at_fs)
        return a->at_fs < b->at_fs ? -1 : 1;
    if (a->bus != b->bus)
        return a->bus - b->bus;
    return a->step - b->step;
}

static int64_t collect_edges(const struct trace_log *log, const struct program *program,
                             struct edge *edges)
{
    int64_t count = 0;
    for (int64_t i = 0; i < log->count; i++) {
        const struct trace_event *event = &log->events[i];
        const struct instruction *in = &program->items[event->instruction];
        int bus = in->kind == INSTRUCTION_WAIT ? -1 : program->hw->prices[in->price].bus;
        if (bus < 0)
            continue;
        edges[count++] = (struct edge){event->start_fs, bus, 1};
        edges[count++] = (struct edge){event->end_fs, bus, -1};
    }
    qsort(edges, (size_t)count, sizeof *edges, compare_edges);
    return count;
}

/* How many moves there are on each bus, of all cores, whenever that changes. */
static enum status put_buses(const struct trace_log *log, const struct program *program, int cores,
                             bool in_step, struct chrome *chrome, struct error *error)
{
    const struct hardware *hw = program->hw;
    int64_t moves[HARDWARE_MAX_BUSES] = {0}, each = in_step ? cores : 1;
    int process = in_step ? 1 : cores;
    struct edge *edges = malloc((2 * (size_t)log->count + 1) * sizeof *edges);
    if (!edges)
        return error_memory(error);
    int64_t count = collect_edges(log, program, edges);
    if (count)
        chrome_process(chrome, process, "buses");
    for (int64_t i = 0; i < count; i++) {
        const struct edge *edge = &edges[i], *next = edge + 1;
        moves[edge->bus] += edge->step * each;
        if (i + 1 < count && next->at_fs == edge->at_fs && next->bus == edge->bus)
            continue;
        chrome_counter(chrome, process, hw->buses[edge->bus].name, edge->at_fs);
        chrome_integer(chrome, "moves", moves[edge->bus]);
        chrome_end(chrome);
    }
    free(edges);
    return STATUS_OK;
}

enum status trace_log_write(const struct trace_log *log, const struct program *program, int cores,
                            bool in_step, FILE *out, struct error *error)
{
    struct chrome chrome;
    if (log->failed)
        return error_memory(error);
    if (log->count > TRACE_MAX_EVENTS)
        return error_set(error, STATUS_TOO_LARGE,
                         "the trace has %lld events, expected at most %d; trace a smaller program",
                         (long long)log->count, TRACE_MAX_EVENTS);
    chrome_open(&chrome, out);
    put_names(program, cores, in_step, &chrome);
    for (int64_t i = 0; i < log->count; i++)
        put_event(program, &log->events[i], &chrome);
    TRY(put_buses(log, program, cores, in_step, &chrome, error));
    return chrome_close(&chrome, error);
}
