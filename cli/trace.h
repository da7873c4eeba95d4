/* Traces of simulations and searches, as files. */
#ifndef AUTOTUNE_CLI_TRACE_H
#define AUTOTUNE_CLI_TRACE_H

#include "core/program.h"
#include "results/search_trace.h"
#include "results/simulation.h"

enum status simulation_trace_write(const char *path, const struct trace_log *log,
                                   const struct program *program, int cores, bool in_step,
                                   struct error *error);

/* Warns, unless `quiet`, when the trace lacks something. */
enum status search_trace_write(const char *path, const struct search_log *log, const char *title,
                               bool quiet, struct error *error);

#endif
