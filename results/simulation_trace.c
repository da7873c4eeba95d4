/* Writes which pipe did what when. Events are kept as they are played and written in the Trace
 * Event Format (formats/chrome.h), a process a core, a track a pipe. For buses every move is two
 * edges, +1 and -1; sorted by time and added up they are the number of moves at once. */
#include "core/array.h"
#include "core/program_text.h"
#include "formats/chrome.h"
#include "results/simulation.h"

#include <stdlib.h>

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
