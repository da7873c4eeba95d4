#include "core/program_text.h"
#include "results/simulation.h"

#include <jansson.h>
#include <stdlib.h>

static void keep_event(void *context, int core, int pipe, int32_t instruction, int64_t start_fs,
                       int64_t end_fs)
{
    struct trace_log *log = context;
    if (log->count++ >= TRACE_MAX_EVENTS || log->failed)
        return;
    if (log->count > log->capacity) {
        int64_t wanted = log->capacity ? 2 * log->capacity : 1024;
        struct trace_event *grown = realloc(log->events, (size_t)wanted * sizeof *grown);
        if (!grown) {
            log->failed = true;
            return;
        }
        log->events = grown;
        log->capacity = wanted;
    }
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

/* Microseconds as Chrome wants them, exact to the picosecond. */
static void put_us(FILE *out, int64_t fs)
{
    fprintf(out, "%lld.%06lld", (long long)(fs / 1000000000), (long long)(fs / 1000 % 1000000));
}

static void put_names(const struct program *program, int cores, bool in_step, FILE *out)
{
    const struct hardware *hw = program->hw;
    for (int c = 0; c < (in_step ? 1 : cores); c++) {
        fprintf(out, "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%d,\"args\":{\"name\":", c);
        if (in_step && cores > 1)
            fprintf(out, "\"each of %d cores in step\"}},\n", cores);
        else
            fprintf(out, "\"core %d\"}},\n", c);
        for (int p = 0; p < hw->pipe_count; p++)
            fprintf(out,
                    "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%d,\"tid\":%d,"
                    "\"args\":{\"name\":\"%s\"}},\n"
                    "{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":%d,\"tid\":%d,"
                    "\"args\":{\"sort_index\":%d}},\n",
                    c, p + 1, hw->pipes[p].name, c, p + 1, p);
    }
}

static void put_event(const struct program *program, const struct trace_event *event, FILE *out)
{
    const struct instruction *in = &program->items[event->instruction];
    char text[256];
    instruction_print(program, event->instruction, text, sizeof text);
    fprintf(out, "{\"ph\":\"X\",\"name\":\"%s\",\"cat\":\"%s\",\"pid\":%d,\"tid\":%d,\"ts\":",
            in->kind == INSTRUCTION_WAIT ? "wait" : text,
            in->kind == INSTRUCTION_WAIT ? "wait" : "work", event->core, event->pipe + 1);
    put_us(out, event->start_fs);
    fputs(",\"dur\":", out);
    put_us(out, event->end_fs - event->start_fs);
    fprintf(out, ",\"args\":{\"line\":%d,\"instruction\":\"%s\"}},\n", in->line, text);
}

enum status trace_log_write(const struct trace_log *log, const struct program *program, int cores,
                            bool in_step, FILE *out, struct error *error)
{
    if (log->failed)
        return error_memory(error);
    if (log->count > TRACE_MAX_EVENTS)
        return error_set(error, STATUS_TOO_LARGE,
                         "the trace has %lld events, expected at most %d; trace a smaller program",
                         (long long)log->count, TRACE_MAX_EVENTS);
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", out);
    put_names(program, cores, in_step, out);
    for (int64_t i = 0; i < log->count; i++)
        put_event(program, &log->events[i], out);
    fputs("{\"ph\":\"M\",\"name\":\"trace_end\",\"pid\":0}\n]}\n", out);
    return ferror(out) ? error_set(error, STATUS_IO, "cannot write the trace") : STATUS_OK;
}
