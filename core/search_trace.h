/* What the threads of a search did and when: one span a thread and batch of work.
 *
 * All functions of a search_trace are called by one thread, between batches; the spans of one
 * thread come in order of time and do not overlap. Which batches there are, and how many candidates
 * each bounds and simulates, is the same for any number of threads; who did them, and when, is not.
 */
#ifndef AUTOTUNE_CORE_SEARCH_TRACE_H
#define AUTOTUNE_CORE_SEARCH_TRACE_H

#include <stdint.h>

struct search_level; /* core/search_result.h */

enum search_phase {
    PHASE_BOUNDING,   /* tilings are enumerated, checked and bounded, in one walk */
    PHASE_PROFILING,  /* k-NN: tiles of the selection are simulated */
    PHASE_SPLITTING,  /* prefixes of tilings into longer ones, which are bounded */
    PHASE_SEEDING,    /* a short search of a grid of few values, before all others */
    PHASE_COUNTING,   /* how many legal tilings begin with each of the shortest prefixes */
    PHASE_SIMULATING, /* whole tilings, and what is split among them; k-NN: distance tiles, each by
                         a search of its own */
    PHASE_ORDERING,   /* what only one thread does: the next batch is chosen */
    PHASE_ANSWERING,  /* all that is said of the best */
    PHASE_WAITING,    /* for another thread, within a batch or between two */
    SEARCH_PHASES
};

/* "bounding", … */
extern const char *const search_phase_names[SEARCH_PHASES];

struct search_span {
    enum search_phase phase;
    int thread;                 /* 0 … threads − 1 */
    int64_t start_ns, end_ns;   /* of the monotonic clock */
    int64_t batch;              /* its number in this search; -1: not of a batch */
    int64_t bounded, simulated; /* tilings, or their prefixes or tiles, by this thread */
};

/* What is known after a batch. */
struct search_counters {
    int64_t at_ns;
    int64_t best_fs, lower_bound_fs; /* 0: none yet */
    int64_t simulated, open;         /* open: could still be simulated */
};

struct search_trace {
    void *context;
    void (*span)(void *context, const struct search_span *span);
    void (*counters)(void *context, const struct search_counters *counters);
    /* Once, at the end of a search by prefixes. */
    void (*levels)(void *context, const struct search_level *levels, int count);
};

#endif
