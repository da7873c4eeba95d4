/* The trace of a search as Perfetto and chrome://tracing open it: a track a thread, and the best
 * time, the lower bound and what is left as counters.
 *
 *   search_log_open(&log); … search with options.trace = &log.trace …
 *   search_log_write(&log, "matmul 512x512x512", out, &error); search_log_close(&log) */
#ifndef AUTOTUNE_RESULTS_SEARCH_TRACE_WRITE_H
#define AUTOTUNE_RESULTS_SEARCH_TRACE_WRITE_H

#include "core/search_result.h"
#include "core/search_trace.h"
#include "core/status.h"

#include <stdbool.h>
#include <stdio.h>

/* Spans and counters that are kept, 64 and 40 bytes each; later ones are counted only, and the
 * trace says how many it lacks. */
enum { SEARCH_LOG_MAX = 500000 };

struct search_log {
    struct search_trace trace;
    int64_t span_count;        /* counts: seen, kept or not */
    struct search_span *spans; /* owned */
    int64_t counter_count;
    struct search_counters *counters; /* owned */
    int level_count;                  /* of a search by prefixes */
    struct search_level levels[SEARCH_MAX_LEVELS];
    bool failed; /* out of memory */
};

void search_log_open(struct search_log *log);
void search_log_close(struct search_log *log);

/* How many spans and counters were not kept. */
int64_t search_log_lost(const struct search_log *log);

enum status search_log_write(const struct search_log *log, const char *title, FILE *out,
                             struct error *error);

#endif
