/* A trace is written to memory first, so that one that fails midway leaves the old file alone. */
#include "cli/trace_file.h"

#include "cli/options.h"
#include "core/text_stream.h"

#include <stdlib.h>

/* Memory that a trace is written to before it becomes a file. */
struct memory {
    FILE *stream;
    char *text;
    size_t length;
};

static enum status open_memory(struct memory *memory, struct error *error)
{
    *memory = (struct memory){0};
    memory->stream = text_stream_open(&memory->text, &memory->length);
    return memory->stream ? STATUS_OK : error_memory(error);
}

/* Replaces the file when all went well so far. */
static enum status close_memory(struct memory *memory, const struct files *files, const char *path,
                                enum status status, struct error *error)
{
    if (fclose(memory->stream) && status == STATUS_OK)
        status = error_memory(error);
    if (status == STATUS_OK)
        status = files_write(files, path, memory->text, memory->length, error);
    free(memory->text);
    return status;
}

enum status simulation_trace_write(const struct files *files, const char *path,
                                   const struct trace_log *log, const struct program *program,
                                   int cores, bool in_step, struct error *error)
{
    struct memory memory;
    enum status status = open_memory(&memory, error);
    if (status != STATUS_OK)
        return status;
    status = trace_log_write(log, program, cores, in_step, memory.stream, error);
    return close_memory(&memory, files, path, status, error);
}

enum status search_trace_write(const struct files *files, const char *path,
                               const struct search_log *log, const char *title, bool quiet,
                               struct error *error)
{
    struct memory memory;
    enum status status = open_memory(&memory, error);
    if (status != STATUS_OK)
        return status;
    status = search_log_write(log, title, memory.stream, error);
    status = close_memory(&memory, files, path, status, error);
    if (status == STATUS_OK && search_log_lost(log) && !quiet)
        cli_warn("%s: the trace is full; it lacks the last %lld events", path,
                 (long long)search_log_lost(log));
    if (status == STATUS_OK && log->span_count == 0 && !quiet)
        cli_warn("%s: nothing was searched, so the trace is empty; --fresh searches", path);
    return status;
}
