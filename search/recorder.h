/* Who does what in a search, for a trace: costs a look at a pointer where there is none, and
 * otherwise two looks at the clock a thread and batch.
 *
 *   recorder_open(&recorder, options->trace, threads, &error)
 *   recorder_begin(&recorder);                       before a parallel region
 *     start_ns = recorder_now(&recorder); … recorder_keep(&recorder, phase, start_ns, …)  in each
 *   recorder_end(&recorder);                         after it: what was kept is handed on
 *   recorder_close(&recorder)
 *
 * What lies between is one thread's "ordering" and the other threads' "waiting". */
#ifndef AUTOTUNE_SEARCH_RECORDER_H
#define AUTOTUNE_SEARCH_RECORDER_H

#include "core/search_trace.h"
#include "core/status.h"

#include <stdbool.h>

struct recorder {
    const struct search_trace *trace; /* NULL: nothing is recorded */
    int threads;                      /* that search */
    int64_t batch;                    /* the number of the current one */
    int64_t *free_ns;                 /* since when a thread has nothing to do; owned */
    struct search_span *spans;        /* of the current batch, by thread; owned */
};

void recorder_begin(struct recorder *recorder);
void recorder_end(struct recorder *recorder);

/* 0 where nothing is recorded. */
int64_t recorder_now(const struct recorder *recorder);

/* What the calling thread did in this batch, until now. */
void recorder_keep(struct recorder *recorder, enum search_phase phase, int64_t start_ns,
                   int64_t bounded, int64_t simulated);

/* Makes each of several pieces of a parallel region a batch of its own: the thread that did it
 * fills *span, and after the region one thread hands them on in order. */
void recorder_fill(const struct recorder *recorder, enum search_phase phase, int64_t start_ns,
                   int64_t bounded, struct search_span *span);
void recorder_hand_on(struct recorder *recorder, struct search_span *span);

#endif
