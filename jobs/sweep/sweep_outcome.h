/* Internal to sweeps: what comes of one job. */
#ifndef AUTOTUNE_JOBS_SWEEP_SWEEP_OUTCOME_H
#define AUTOTUNE_JOBS_SWEEP_SWEEP_OUTCOME_H

#include "jobs/sweep/sweep.h"
#include "jobs/tune/job_store.h"

struct outcome {
    struct outcome *next;
    int64_t job; /* of the sweep: given */
    enum status status;
    struct error error;
    double search_s; /* searching or measuring, of all its threads */
    bool worth;      /* keeping: record is filled */
    struct job_record record;
};

/* Searches or measures. What was cut short by a signal is not worth keeping: it is done again. */
void sweep_do_job(const struct sweep *sweep, int threads, const volatile sig_atomic_t *stop,
                  struct outcome *outcome);

#endif
