/* One tuning job as text: what a command line or a row of a sweep asks for, and what comes of it.
 *
 *   job_init(&job); job_set(&job, "op", "matmul", &error); job_set(&job, "shape", …) …
 *   job_open(&job, chips, &error)    chip, problem, space; everything is checked
 *   job_key(&job, &texts, &key)       what a store knows it by
 *   job_run(&job, &run, &result, &error), or an answer that a store has: job_decode
 *   job_result_clear(&result); job_close(&job)
 *
 * Names are the long options of the main job without their dashes. */
#ifndef AUTOTUNE_JOBS_TUNE_JOB_H
#define AUTOTUNE_JOBS_TUNE_JOB_H

#include "core/operator.h"
#include "core/suggest.h"
#include "jobs/tune/chips.h"
#include "jobs/tune/kernels.h"
#include "jobs/tune/robust.h"
#include "results/store.h"

/* job.validate where it was not given. */
enum { JOB_VALIDATE_DEFAULT = -1 };

struct format; /* results/format.h */

enum { JOB_MAX_OPTIONS = 40, JOB_MAX_OVERRIDES = 64, JOB_MAX_TOP = 100000, JOB_MAX_THREADS = 1024 };
#define JOB_MAX_CALLS       INT64_C(1000000000000)
#define JOB_MAX_BASELINE_US 1e12

/* An option given by name; of two of the same name the last counts, but set-hw adds up. */
struct job_option {
    char *name, *text;
};

struct job {
    int option_count, override_count;
    struct job_option options[JOB_MAX_OPTIONS]; /* owned, as the overrides */
    char *overrides[JOB_MAX_OVERRIDES];
    const struct format *form; /* that a library loads and the answer is written in; NULL: none */
    struct kernels *kernels;   /* where texts come from; NULL: job_open has its own */
    /* after job_open */
    struct chips *chips; /* where the chip is from */
    bool owns_chips, owns_kernels;
    const struct chip *chip;
    const struct hardware *hw; /* the chip's */
    int cores;
    struct problem problem;
    struct space space;
    const char *strategy;
    int top, threads; /* threads = 0: not given */
    double time_limit_s;
    int64_t validate;   /* tilings to be measured, of a processor; or JOB_VALIDATE_DEFAULT */
    int64_t calls;      /* of the problem, and what one takes now, 0: not known. They change no */
    double baseline_ns; /* answer, and say what it is worth (jobs/sweep/sweep_answers.c) */
    bool robust;
    bool corrected; /* the least corrected time is asked for; not with robust */
    /* What was learned of the chip, for worst and corrected times; NULL: nothing. To be set before
     * job_key; lives longer than the job. */
    const struct correcting *correcting;
    bool compare;         /* the answer says what else there is */
    struct corner corner; /* with robust */
};

void job_init(struct job *job);

/* Closes what was opened and forgets the options. */
void job_close(struct job *job);

/* STATUS_INVALID for a name that no job has; behind "kernel" any may be a size of the kernel's.
 * Values are checked by job_open. Texts are copied. */
enum status job_set(struct job *job, const char *name, const char *text, struct error *error);

/* What was set, or NULL. */
const char *job_text(const struct job *job, const char *name);

/* Is it an option that a job may have; does it take a value on a command line? */
bool job_has_option(const char *name);

/* Of the names that it may have, the one that `name`, which it may not, is like. */
struct suggestion job_option_like(const char *name);

/* Each error is about an option and begins with "--NAME VALUE: ", or is the description file's.
 * With chips = NULL the job loads its own, with no platform folders. After a failure the job is as
 * before. */
enum status job_open(struct job *job, struct chips *chips, struct error *error);

/* "Ascend 310, buffers.l1.capacity_bytes=524288": the description's name and what was changed. */
void job_hardware_name(const struct hardware *hw, char *text, size_t size);

/* The key under which a store has its result; texts live in *texts and the job. Options that change
 * nothing of what is kept (threads, time-limit, what an answer adds) are not in it. */
struct job_key_texts {
    char shape[384], options[1024], query[160];
};
void job_key(const struct job *job, struct job_key_texts *texts, struct store_key *key);

struct job_run {
    int threads;
    bool keep_scores, keep_reached, uncounted; /* search_options has these, and the trace */
    const struct search_trace *trace;
    const volatile sig_atomic_t *stop;
    void (*progress)(void *context, const struct search_progress *progress);
    void *context;
};

struct job_result {
    struct search_result search;
    struct robust robust; /* of one that chooses; search.best[0] is what it has chosen */
};

/* Is the answer chosen among the leaders? */
static inline bool job_chooses(const struct job *job)
{
    return job->robust || job->corrected;
}

enum status job_run(const struct job *job, const struct job_run *run, struct job_result *result,
                    struct error *error);
void job_result_clear(struct job_result *result);

/* Is all known that more time could tell? `stopped`: a signal came while it ran. */
bool job_is_complete(const struct job *job, const struct job_result *result, bool stopped);

#endif
