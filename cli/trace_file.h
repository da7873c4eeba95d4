/* Traces of simulations and searches, as files. */
#ifndef AUTOTUNE_CLI_TRACE_FILE_H
#define AUTOTUNE_CLI_TRACE_FILE_H

#include "cli/files.h"
#include "core/program.h"
#include "results/search_trace_write.h"
#include "results/simulation.h"

/* The files of the run have noted the path. */
enum status simulation_trace_write(const struct files *files, const char *path,
                                   const struct trace_log *log, const struct program *program,
                                   int cores, bool in_step, struct error *error);

/* Warns, unless `quiet`, when the trace lacks something. */
enum status search_trace_write(const struct files *files, const char *path,
                               const struct search_log *log, const char *title, bool quiet,
                               struct error *error);

#endif
