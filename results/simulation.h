/* The answer of `simulate`, for people and machines, and the trace that Perfetto opens. */
#ifndef AUTOTUNE_RESULTS_SIMULATION_H
#define AUTOTUNE_RESULTS_SIMULATION_H

#include "core/program.h"
#include "core/timeline.h"
#include "formats/text.h"

#include <stdio.h>

struct simulation {
    const char *file; /* of the program */
    const struct program *program;
    const struct timeline *timeline;
    int cores;
    bool in_step; /* one core stood for all */
};

enum status simulation_write_table(const struct simulation *simulation, const struct style *style,
                                   FILE *out, struct error *error);
enum status simulation_write_json(const struct simulation *simulation, const struct style *style,
                                  FILE *out, struct error *error);

/* Collects trace events; pass `trace` to the simulator and then write. At most
 * TRACE_MAX_EVENTS are kept: beyond that, writing fails with STATUS_TOO_LARGE. */
enum { TRACE_MAX_EVENTS = 2000000 };

struct trace_event {
    int64_t start_fs, end_fs;
    int32_t instruction;
    int16_t core;
    int8_t pipe;
};

struct trace_log {
    struct trace trace;
    int64_t count; /* seen, kept or not */
    struct trace_event *events;
    bool failed; /* out of memory */
};

void trace_log_open(struct trace_log *log);
void trace_log_close(struct trace_log *log);

/* Chrome's trace event format: a process a core, a track a pipe; and of each bus how many moves it
 * carries at a time, their issue included. */
enum status trace_log_write(const struct trace_log *log, const struct program *program, int cores,
                            bool in_step, FILE *out, struct error *error);

#endif
