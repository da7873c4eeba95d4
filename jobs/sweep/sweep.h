/* Many jobs: read from a file, run smallest first, kept as they end, continued after any end.
 *
 *   sweep_read(&source, &sweep, &error)    CSV or libconfig, every row checked
 *   sweep_shard(&sweep, 2, 8, &error)      one machine's share, if there are several
 *   sweep_run(&sweep, store, &options, &counts, &error)
 *   sweep_counts_clear(&counts); sweep_clear(&sweep)
 *
 * docs/sweeps.md describes the files. */
#ifndef AUTOTUNE_JOBS_SWEEP_SWEEP_H
#define AUTOTUNE_JOBS_SWEEP_SWEEP_H

#include "jobs/tune/job.h"

#include <signal.h>

enum { SWEEP_MAX_JOBS = 1000000, SWEEP_FAULT_SIZE = 512 };

/* An option by name; texts of the sweep's memory or the caller's. */
struct sweep_option {
    const char *name, *text;
};

/* A chip that jobs are for. */
struct sweep_chip {
    char fingerprint[FINGERPRINT_SIZE];
    char name[128]; /* the description's, and what is changed in it */
    int cores;      /* that work */
    double buffer_bytes;
};

/* One job: the options as text, what a store knows it by, where it stands. A row that has tilings
 * measured is two jobs, of the kinds simulated and measured. */
struct sweep_job {
    int line; /* of the sweep's file */
    int option_count;
    const struct sweep_option *options;
    struct store_key key;
    int chip; /* index into chips */
    double time_limit_s;
    int64_t cost;     /* job_cost */
    int64_t calls;    /* of all rows that ask for this; */
    int64_t compared; /* of those so many now take baseline_ns together */
    double baseline_ns;
    int64_t position; /* in the order of the file, before anything was sorted */
};

/* A row that cannot be a job, or a job that failed; it does not stop the rest. */
struct sweep_fault {
    int line;
    char text[SWEEP_FAULT_SIZE];
};

struct sweep {
    const char *file; /* of messages; in the sweep's memory */
    int64_t job_count, fault_count, chip_count;
    struct sweep_job *jobs;     /* by kind, cost, then in the order of the file; all keys differ */
    struct sweep_fault *faults; /* by line */
    struct sweep_chip *chips;
    int64_t duplicates; /* rows that ask for what another one asks for */
    bool has_calls;     /* some row says how often, or what a call takes now */
    int64_t total_cost;
    int64_t most_jobs;
    struct chips *loaded;
    struct kernels *kernels;
    struct sweep_memory *memory;
};

struct sweep_source {
    const char *name;           /* a file (NAME.csv, or anything else: libconfig), or a named set */
    const char *hw_folders;     /* of platform files, or NULL */
    const char *kernel_folders; /* or NULL */
    int option_count;           /* given to every job, before its own */
    const struct sweep_option *options;
    int64_t most_jobs; /* 0: SWEEP_MAX_JOBS */
};

/* Reads a sweep. STATUS_INVALID where the file as such is wrong (file:line, what was expected), or
 * has no jobs; STATUS_TOO_LARGE beyond the most jobs, before any is made (of a table that is no
 * pipe: the most rows); STATUS_IO. */
enum status sweep_read(const struct sweep_source *source, struct sweep *sweep, struct error *error);
void sweep_clear(struct sweep *sweep);

/* Calls visit for every named set by the order of their names, with its file and the title there.
 */
typedef void sweep_set_visitor(void *context, const char *name, const char *file,
                               const char *title);
enum status sweep_each_set(sweep_set_visitor *visit, void *context, struct error *error);

/* Opens a job of the sweep; the caller closes it, before the sweep. */
enum status sweep_open_job(const struct sweep *sweep, int64_t index, struct job *job,
                           struct error *error);

/* "matmul 512x512x512 batch=4 on Ascend 310". */
void sweep_title(const struct sweep *sweep, int64_t index, char *text, size_t size);

/* Keeps the jobs of shard `index` of `count` (1 <= index <= count): shards of similar cost, the
 * same on every machine, together all jobs, none in two. Faults stay with the first. */
enum status sweep_shard(struct sweep *sweep, int index, int count, struct error *error);

/* The same for all shards: shard_of[job] counts from 0. */
enum status sweep_shards(const struct sweep *sweep, int count, int shard_of[], struct error *error);

struct sweep_progress {
    int64_t done, from_store, total, faults; /* done: on disk, those of the store included */
    int64_t cost_done, cost_total;           /* of what the store did not have: for the ETA */
};

struct sweep_options {
    int threads;
    bool fresh;                        /* do again what the store has */
    const volatile sig_atomic_t *stop; /* NULL, or becomes non-zero to end early */
    void (*progress)(void *context, const struct sweep_progress *progress); /* about 10 Hz */
    void *context;
};

struct sweep_counts {
    int64_t searched, measured;  /* now, and on disk */
    int64_t from_store;          /* were there */
    int64_t unfinished;          /* a signal came first */
    int64_t infeasible, cut_off; /* of those before; of what is measured nothing is cut off */
    int64_t fault_count;
    struct sweep_fault *faults; /* of jobs that failed when run, by line; owned */
    double seconds;
    double search_s; /* of all threads together */
    double keep_s;   /* of the caller's thread, beside them: the store and the progress */
};

/* Runs what the store does not have yet, and commits at least every second. Jobs run side by side,
 * one thread each; only the last ones, fewer than threads, one by one on all. What is measured
 * comes after that, one by one. STATUS_IO when the store can take no more: what was committed
 * stays. */
enum status sweep_run(const struct sweep *sweep, struct store *store,
                      const struct sweep_options *options, struct sweep_counts *counts,
                      struct error *error);
void sweep_counts_clear(struct sweep_counts *counts);

/* Which jobs has the store no answer to? missing[0 … *count), ascending; to be freed. */
enum status sweep_missing(const struct sweep *sweep, struct store *store, int64_t **missing,
                          int64_t *count, struct error *error);

/* Leaves out what the store has an answer to: so many jobs. */
enum status sweep_drop_answered(struct sweep *sweep, struct store *store, int64_t *dropped,
                                struct error *error);

/* The answers of one kind that a store has to a sweep. */
struct sweep_found {
    int64_t count; /* with a tiling; the rest is about these */
    double time_ns, median_ns;
    int64_t slowest; /* a job: of equally slow ones the first */
    double slowest_ns;
    int64_t infeasible; /* the first job without a legal tiling, or -1 */
};

enum status sweep_found(const struct sweep *sweep, struct store *store, enum store_kind kind,
                        struct sweep_found *found, struct error *error);

/* What all calls of a job take with what was found, and what that saves of the time that they take
 * now, 0 where no row says that. */
struct sweep_calls {
    int64_t job;
    double time_ns, total_ns, saved_ns;
};

/* Of what is simulated; what saves most comes first, then what takes most. To be freed. */
enum status sweep_calls(const struct sweep *sweep, struct store *store, struct sweep_calls **calls,
                        int64_t *count, struct error *error);

/* What one chip of a sweep takes for all of the sweep's work. */
struct sweep_point {
    int chip;
    int64_t jobs; /* with an answer */
    double buffer_bytes;
    double time_ns; /* of all jobs, one after the other */
    bool complete;  /* all jobs of the largest workload have a legal tiling */
    bool best;      /* no complete other has less of one and no more of the other */
};

/* One point a chip, of what is simulated; by bytes, then time, complete ones first. To be freed. */
enum status sweep_pareto(const struct sweep *sweep, struct store *store,
                         struct sweep_point **points, struct error *error);

/* Adds the sections of a page: how many jobs have which answer, the longest ones or those that save
 * most, its chips. They say what the store has: the same after one run and after two. `points` are
 * of sweep_pareto, or NULL. */
struct report; /* results/report.h */
enum status report_sweep(struct report *report, const struct sweep *sweep, struct store *store,
                         const struct sweep_counts *ran, const struct sweep_point *points,
                         struct error *error);

#endif
