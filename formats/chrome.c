/* The JSON form of Google's Trace Event Format, written as it comes: M names, X lasts, i is a
 * moment, C counts. Microseconds are printed from integers, as a double would lose the last digits
 * of a long trace. */
#include "formats/chrome.h"

#include <inttypes.h>

enum { FS_PER_PS = 1000, PS_PER_US = 1000000, ASCII_END = 127 };

void chrome_open(struct chrome *chrome, FILE *out)
{
    *chrome = (struct chrome){.out = out};
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", out);
}

enum status chrome_close(struct chrome *chrome, struct error *error)
{
    fputs("\n]}\n", chrome->out);
    return ferror(chrome->out) ? error_set(error, STATUS_IO, "cannot write the trace") : STATUS_OK;
}

/* A JSON string; what is not ASCII becomes a question mark. */
static void put_string(FILE *out, const char *text)
{
    fputc('"', out);
    for (const unsigned char *c = (const unsigned char *)text; *c; c++)
        if (*c < ' ' || *c >= ASCII_END)
            fputc('?', out);
        else
            fprintf(out, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
    fputc('"', out);
}

static void put_us(FILE *out, int64_t fs)
{
    int64_t ps = fs / FS_PER_PS;
    fprintf(out, "%" PRId64 ".%06" PRId64, ps / PS_PER_US, ps % PS_PER_US);
}

static void begin(struct chrome *chrome, char phase, int process, const char *name)
{
    fprintf(chrome->out, "%s\n{\"ph\":\"%c\",\"pid\":%d,\"name\":", chrome->any ? "," : "", phase,
            process);
    put_string(chrome->out, name);
    chrome->any = true;
    chrome->any_argument = false;
}

static void open_arguments(struct chrome *chrome)
{
    fputs(",\"args\":{", chrome->out);
}

static void put_key(struct chrome *chrome, const char *name)
{
    if (chrome->any_argument)
        fputc(',', chrome->out);
    chrome->any_argument = true;
    put_string(chrome->out, name);
    fputc(':', chrome->out);
}

void chrome_process(struct chrome *chrome, int process, const char *name)
{
    begin(chrome, 'M', process, "process_name");
    open_arguments(chrome);
    chrome_text(chrome, "name", name);
    chrome_end(chrome);
}

void chrome_track(struct chrome *chrome, int process, int track, const char *name)
{
    begin(chrome, 'M', process, "thread_name");
    fprintf(chrome->out, ",\"tid\":%d", track);
    open_arguments(chrome);
    chrome_text(chrome, "name", name);
    chrome_end(chrome);
    begin(chrome, 'M', process, "thread_sort_index");
    fprintf(chrome->out, ",\"tid\":%d", track);
    open_arguments(chrome);
    chrome_integer(chrome, "sort_index", track);
    chrome_end(chrome);
}

void chrome_span(struct chrome *chrome, int process, int track, const char *category,
                 const char *name, int64_t start_fs, int64_t duration_fs)
{
    begin(chrome, 'X', process, name);
    fputs(",\"cat\":", chrome->out);
    put_string(chrome->out, category);
    fprintf(chrome->out, ",\"tid\":%d,\"ts\":", track);
    put_us(chrome->out, start_fs);
    fputs(",\"dur\":", chrome->out);
    put_us(chrome->out, duration_fs);
    open_arguments(chrome);
}

/* Without a track: of the whole process. */
static void put_moment(struct chrome *chrome, int64_t at_fs)
{
    fputs(",\"tid\":0,\"ts\":", chrome->out);
    put_us(chrome->out, at_fs);
    open_arguments(chrome);
}

void chrome_moment(struct chrome *chrome, int process, const char *name, int64_t at_fs)
{
    begin(chrome, 'i', process, name);
    fputs(",\"s\":\"p\"", chrome->out);
    put_moment(chrome, at_fs);
}

void chrome_counter(struct chrome *chrome, int process, const char *name, int64_t at_fs)
{
    begin(chrome, 'C', process, name);
    put_moment(chrome, at_fs);
}

void chrome_end(struct chrome *chrome)
{
    fputs("}}", chrome->out);
}

void chrome_text(struct chrome *chrome, const char *name, const char *text)
{
    put_key(chrome, name);
    put_string(chrome->out, text);
}

void chrome_integer(struct chrome *chrome, const char *name, int64_t value)
{
    put_key(chrome, name);
    fprintf(chrome->out, "%" PRId64, value);
}

void chrome_us(struct chrome *chrome, const char *name, int64_t fs)
{
    put_key(chrome, name);
    put_us(chrome->out, fs);
}
