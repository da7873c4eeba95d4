/* The progress line of a search: on a terminal only, at most ten times a second, on standard
 * error; erased at the end. */
#ifndef AUTOTUNE_CLI_PROGRESS_H
#define AUTOTUNE_CLI_PROGRESS_H

#include "jobs/sweep/sweep.h"
#include "search/search.h"

struct progress {
    bool shown; /* false: not a terminal, or quiet */
    bool drawn;
    double last_s;
};

void progress_open(struct progress *progress, bool quiet);

/* A search_options.progress; the context is a struct progress. */
void progress_draw(void *context, const struct search_progress *now);

/* "tuning 12/800": how much of it is done. */
void progress_count(struct progress *progress, const char *phase, int64_t done, int64_t total,
                    double seconds);

/* A sweep_options.progress; the context is a struct progress. */
void progress_sweep(void *context, const struct sweep_progress *now);

void progress_close(struct progress *progress);

#endif
