/* Writes what the threads of a search did when. Spans and counters are kept as the search reports
 * them, up to a limit; later ones are only counted, and the file says at its end how many it
 * lacks. Times count from the earliest span. The file is in the Trace Event Format
 * (formats/chrome.h). */
#include "results/search_trace_write.h"

#include "core/array.h"
#include "formats/chrome.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROCESS = 1, FS_PER_NS_INTEGER = 1000000 };

/* Makes room for item number `count`; false where it is not to be kept. */
static bool make_room(struct search_log *log, void *items, int64_t count, size_t size)
{
    if (count >= SEARCH_LOG_MAX || log->failed)
        return false;
    log->failed = !array_room(items, count, size);
    return !log->failed;
}

static void keep_span(void *context, const struct search_span *span)
{
    struct search_log *log = context;
    if (make_room(log, &log->spans, log->span_count, sizeof *log->spans))
        log->spans[log->span_count] = *span;
    log->span_count++;
}

static void keep_counters(void *context, const struct search_counters *counters)
{
    struct search_log *log = context;
    if (make_room(log, &log->counters, log->counter_count, sizeof *log->counters))
        log->counters[log->counter_count] = *counters;
    log->counter_count++;
}

static void keep_levels(void *context, const struct search_level *levels, int count)
{
    struct search_log *log = context;
    log->level_count = count;
    memcpy(log->levels, levels, (size_t)count * sizeof *levels);
}

void search_log_open(struct search_log *log)
{
    *log = (struct search_log){
        .trace = {
            .context = log, .span = keep_span, .counters = keep_counters, .levels = keep_levels}};
}

void search_log_close(struct search_log *log)
{
    free(log->spans);
    free(log->counters);
}

static int64_t kept(int64_t count)
{
    return count < SEARCH_LOG_MAX ? count : SEARCH_LOG_MAX;
}

int64_t search_log_lost(const struct search_log *log)
{
    return log->span_count - kept(log->span_count) + log->counter_count - kept(log->counter_count);
}

/* The beginning, from which the file counts. */
static int64_t start_ns(const struct search_log *log)
{
    int64_t start = log->span_count ? log->spans[0].start_ns : 0;
    for (int64_t i = 0; i < kept(log->span_count); i++)
        if (log->spans[i].start_ns < start)
            start = log->spans[i].start_ns;
    return start;
}

static void put_names(const struct search_log *log, const char *title, struct chrome *chrome)
{
    int threads = 1;
    for (int64_t i = 0; i < kept(log->span_count); i++)
        if (log->spans[i].thread >= threads)
            threads = log->spans[i].thread + 1;
    chrome_process(chrome, PROCESS, title);
    for (int t = 0; t < threads; t++) {
        char name[32];
        snprintf(name, sizeof name, "thread %d", t);
        chrome_track(chrome, PROCESS, t + 1, name);
    }
}

static void put_span(const struct search_span *span, int64_t origin_ns, struct chrome *chrome)
{
    chrome_span(chrome, PROCESS, span->thread + 1, span->phase == PHASE_WAITING ? "wait" : "work",
                search_phase_names[span->phase], (span->start_ns - origin_ns) * FS_PER_NS_INTEGER,
                (span->end_ns - span->start_ns) * FS_PER_NS_INTEGER);
    if (span->batch >= 0)
        chrome_integer(chrome, "batch", span->batch);
    if (span->bounded)
        chrome_integer(chrome, "bounded", span->bounded);
    if (span->simulated)
        chrome_integer(chrome, "played", span->simulated);
    chrome_end(chrome);
}

static void put_counters(const struct search_counters *counters, int64_t origin_ns,
                         struct chrome *chrome)
{
    int64_t at_fs = (counters->at_ns - origin_ns) * FS_PER_NS_INTEGER;
    if (counters->best_fs) {
        chrome_counter(chrome, PROCESS, "time (us)", at_fs);
        chrome_us(chrome, "best so far", counters->best_fs);
        chrome_end(chrome);
        chrome_counter(chrome, PROCESS, "lower bound (us)", at_fs);
        chrome_us(chrome, "lower bound", counters->lower_bound_fs);
        chrome_end(chrome);
    }
    chrome_counter(chrome, PROCESS, "played", at_fs);
    chrome_integer(chrome, "played", counters->simulated);
    chrome_end(chrome);
    chrome_counter(chrome, PROCESS, "open", at_fs);
    chrome_integer(chrome, "open", counters->open);
    chrome_end(chrome);
}

/* Of a search by prefixes, what was done with those of each length: at its end. */
static void put_levels(const struct search_log *log, int64_t origin_ns, struct chrome *chrome)
{
    static const char *const names[] = {"bounded", "split", "played", "open"};
    int64_t end_ns = origin_ns;
    for (int64_t i = 0; i < kept(log->span_count); i++)
        end_ns = log->spans[i].end_ns > end_ns ? log->spans[i].end_ns : end_ns;
    for (int l = 0; l < log->level_count; l++) {
        const struct search_level *level = &log->levels[l];
        const int64_t counts[] = {level->bounded, level->split, level->simulated, level->open};
        char name[40];
        snprintf(name, sizeof name, "prefixes of %d values", level->values);
        chrome_moment(chrome, PROCESS, name, (end_ns - origin_ns) * FS_PER_NS_INTEGER);
        for (int i = 0; i < 4; i++)
            chrome_integer(chrome, names[i], counts[i]);
        chrome_end(chrome);
    }
}

/* What did not fit is said at the end of what did. */
static void put_lost(const struct search_log *log, int64_t origin_ns, struct chrome *chrome)
{
    int64_t lost = search_log_lost(log);
    if (!lost)
        return;
    const struct search_span *last = &log->spans[kept(log->span_count) - 1];
    chrome_moment(chrome, PROCESS, "the trace is full",
                  (last->end_ns - origin_ns) * FS_PER_NS_INTEGER);
    chrome_integer(chrome, "events that it lacks", lost);
    chrome_end(chrome);
}

enum status search_log_write(const struct search_log *log, const char *title, FILE *out,
                             struct error *error)
{
    struct chrome chrome;
    if (log->failed)
        return error_memory(error);
    int64_t origin_ns = start_ns(log);
    chrome_open(&chrome, out);
    put_names(log, title, &chrome);
    for (int64_t i = 0; i < kept(log->span_count); i++)
        put_span(&log->spans[i], origin_ns, &chrome);
    for (int64_t i = 0; i < kept(log->counter_count); i++)
        put_counters(&log->counters[i], origin_ns, &chrome);
    put_levels(log, origin_ns, &chrome);
    put_lost(log, origin_ns, &chrome);
    return chrome_close(&chrome, error);
}
