/* One tuning job as text: what a command line or a row of a sweep asks for, and what comes of it.
 *
 *   job_init(&job); job_set(&job, "op", "matmul", &error); job_set(&job, "shape", …) …
 *   job_open(&job, &error)           chip, problem, space; everything is checked
 *   job_key(&job, …)                 what a store knows it by
 *   job_run(&job, &run, &result, &error) or an answer that a store has
 *   job_close(&job)
 *
 * Names are the long options of the main job without their dashes. */
#ifndef AUTOTUNE_JOBS_JOB_H
#define AUTOTUNE_JOBS_JOB_H

#include "core/hardware.h"
#include "kernels/operator.h"
#include "results/store.h"
#include "search/search.h"

enum { JOB_MAX_OPTIONS = 32, JOB_MAX_OVERRIDES = 64 };

/* An option given by name, in the order given; of two of the same name the last counts, but
 * set-hw adds up. Texts are copied. */
struct job_option {
    char *name, *text;
};

struct job {
    int option_count, override_count;
    struct job_option options[JOB_MAX_OPTIONS];
    char *overrides[JOB_MAX_OVERRIDES];
    const char *hw_folders; /* of platform files; not owned, may be NULL */
    /* after job_open */
    struct hardware hw;
    int cores;
    struct problem problem;
    struct space space;
    const char *strategy;
    int top;
    double time_limit_s;
};

void job_init(struct job *job);
void job_close(struct job *job);

/* STATUS_INVALID for a name that no job has ("--colour: expected one of …"). Values are checked by
 * job_open, each error beginning with "--NAME VALUE: ". */
enum status job_set(struct job *job, const char *name, const char *text, struct error *error);
enum status job_open(struct job *job, struct error *error);

/* The key under which a store has its result; texts live in *room. */
struct job_key_room {
    char shape[128], options[256], query[256], fingerprint[40];
};
void job_key(const struct job *job, struct job_key_room *room, struct store_key *key);

/* An estimate of the work of its search, in arbitrary units > 0; the same on every machine. By it
 * sweeps go smallest first and are cut into shards. */
double job_cost(const struct job *job);

/* A result as a store keeps it, and back. The JSON holds no clock and no thread count. */
enum status job_encode(const struct job *job, const struct search_result *result, char **json,
                       struct error *error);
enum status job_decode(const struct job *job, const char *json, struct search_result *result,
                       struct error *error);

#endif
