/* Threads write their spans apart from each other; the first thread hands them on between parallel
 * regions, and says for the time between what each thread waited for. */
#include "search/recorder.h"

#include <omp.h>
#include <stdlib.h>
#include <time.h>

enum { FIRST = 0, NO_BATCH = -1 };

int64_t recorder_now(const struct recorder *recorder)
{
    struct timespec now;
    if (!recorder->trace)
        return 0;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

enum status recorder_open(struct recorder *recorder, const struct search_trace *trace, int threads,
                          struct error *error)
{
    *recorder = (struct recorder){.trace = trace, .threads = threads};
    if (!trace)
        return STATUS_OK;
    recorder->free_ns = calloc((size_t)threads, sizeof *recorder->free_ns);
    recorder->spans = calloc((size_t)threads, sizeof *recorder->spans);
    if (!recorder->free_ns || !recorder->spans)
        return error_memory(error);
    int64_t now_ns = recorder_now(recorder);
    for (int t = 0; t < threads; t++)
        recorder->free_ns[t] = now_ns;
    return STATUS_OK;
}

/* What a thread does until a time, since it has had nothing to do. */
static void idle(struct recorder *recorder, enum search_phase phase, int thread, int64_t until_ns)
{
    struct search_span span = {.phase = phase,
                               .thread = thread,
                               .start_ns = recorder->free_ns[thread],
                               .end_ns = until_ns,
                               .batch = NO_BATCH};
    if (span.end_ns > span.start_ns)
        recorder->trace->span(recorder->trace->context, &span);
    recorder->free_ns[thread] = until_ns;
}

void recorder_begin(struct recorder *recorder)
{
    if (!recorder->trace)
        return;
    int64_t now_ns = recorder_now(recorder);
    idle(recorder, PHASE_ORDERING, FIRST, now_ns);
    for (int t = FIRST + 1; t < recorder->threads; t++)
        idle(recorder, PHASE_WAITING, t, now_ns);
}

void recorder_fill(const struct recorder *recorder, enum search_phase phase, int64_t start_ns,
                   int64_t bounded, struct search_span *span)
{
    if (recorder->trace)
        *span = (struct search_span){.phase = phase,
                                     .thread = omp_get_thread_num(),
                                     .start_ns = start_ns,
                                     .end_ns = recorder_now(recorder),
                                     .bounded = bounded};
}

void recorder_keep(struct recorder *recorder, enum search_phase phase, int64_t start_ns,
                   int64_t bounded, int64_t simulated)
{
    if (!recorder->trace || bounded + simulated == 0)
        return;
    struct search_span *span = &recorder->spans[omp_get_thread_num()];
    recorder_fill(recorder, phase, start_ns, bounded, span);
    span->simulated = simulated;
}

static void emit(struct recorder *recorder, struct search_span *span)
{
    span->batch = recorder->batch;
    recorder->trace->span(recorder->trace->context, span);
    recorder->free_ns[span->thread] = span->end_ns;
}

void recorder_hand_on(struct recorder *recorder, struct search_span *span)
{
    if (recorder->trace && span->end_ns)
        emit(recorder, span);
    recorder->batch++;
}

void recorder_end(struct recorder *recorder)
{
    if (!recorder->trace)
        return;
    int64_t now_ns = recorder_now(recorder);
    bool any = false;
    for (int t = 0; t < recorder->threads; t++)
        if (recorder->spans[t].end_ns) {
            emit(recorder, &recorder->spans[t]);
            recorder->spans[t] = (struct search_span){0};
            any = true;
        }
    idle(recorder, PHASE_WAITING, FIRST, now_ns);
    recorder->batch += any;
}

void recorder_close(struct recorder *recorder)
{
    if (recorder->trace && recorder->free_ns && recorder->spans)
        recorder_begin(recorder);
    free(recorder->free_ns);
    free(recorder->spans);
}

void recorder_count(const struct recorder *recorder, struct search_counters counters)
{
    if (!recorder->trace)
        return;
    counters.at_ns = recorder_now(recorder);
    recorder->trace->counters(recorder->trace->context, &counters);
}
