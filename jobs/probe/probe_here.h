/* Procedures on this computer: what its processor does, timed by the protocol of
 * validate/timing.h. */
#ifndef AUTOTUNE_JOBS_PROBE_PROBE_HERE_H
#define AUTOTUNE_JOBS_PROBE_PROBE_HERE_H

#include "jobs/probe/probe.h"
#include "validate/calibrate/stream_rates.h"
#include "validate/loops.h"

/* What the prepare functions may use, and what they fill. */
struct probe_run_here {
    const struct host *host;
    char *memory; /* far more than the caches hold, where there is so much */
    int64_t memory_bytes;
    void (*run)(void *run_here); /* with this struct */
    double times;                /* that it does what the point is about */
    /* What `run` needs, by which one it is. */
    stream_pass *pass;
    int64_t bytes, distance, count; /* pieces of `bytes`, so far apart */
    const struct loop_family *family;
    int loop;
    int64_t calls, steps;
    peak_loop *peak;
    int threads;
};

/* Times all curves of answer->probe's counterpart, which answer->probe becomes; says why where
 * there is none. */
enum status probe_here(struct probe_answer *answer, struct error *error);

#endif
