/* Many jobs: read from a file, run smallest first, kept as they end, continued after any end.
 *
 *   sweep_read(file, &sweep, &error)       CSV or libconfig, every row checked
 *   sweep_run(&sweep, store, &options, &report, &error)
 *   sweep_clear(&sweep) */
#ifndef AUTOTUNE_JOBS_SWEEP_H
#define AUTOTUNE_JOBS_SWEEP_H

#include "jobs/job.h"

#include <signal.h>

enum { SWEEP_MAX_JOBS = 1000000 };

/* One job: the options as text, and where they stand. Opened only while it runs. */
struct sweep_job {
    int line; /* of the sweep's file */
    int option_count;
    const struct job_option *options; /* in the sweep's memory */
    double cost;                      /* job_cost */
};

/* A row that cannot be a job; it does not stop the rest. */
struct sweep_fault {
    int line;
    char text[256];
};

struct sweep {
    int64_t job_count, fault_count;
    struct sweep_job *jobs; /* by cost, then in the order of the file; no two the same */
    struct sweep_fault *faults;
    int64_t duplicates; /* rows that ask for what another one asks for */
    void *memory;
};

/* Reads a sweep: NAME.csv, or libconfig. STATUS_INVALID where the file as such is wrong (file:line,
 * what was expected), STATUS_TOO_LARGE beyond SWEEP_MAX_JOBS before any is made. */
enum status sweep_read(const char *file, struct sweep *sweep, struct error *error);
void sweep_clear(struct sweep *sweep);

/* Keeps the jobs of shard `index` of `count` (1 <= index <= count): shards of similar cost, the
 * same on every machine, together all of them. */
void sweep_shard(struct sweep *sweep, int index, int count);

struct sweep_progress {
    int64_t done, total, from_store, faults;
    double seconds, cost_done, cost_total; /* for the ETA */
};

struct sweep_options {
    int threads;
    bool fresh; /* do again what the store has */
    const volatile sig_atomic_t *stop;
    void (*progress)(void *context, const struct sweep_progress *progress);
    void *context;
};

struct sweep_report {
    int64_t done, from_store, unfinished, infeasible, cut_off, fault_count;
    struct sweep_fault *faults; /* of jobs that failed when opened or run; owned */
};

/* Runs what the store does not have yet; commits at least every second. */
enum status sweep_run(const struct sweep *sweep, struct store *store,
                      const struct sweep_options *options, struct sweep_report *report,
                      struct error *error);
void sweep_report_clear(struct sweep_report *report);

#endif
