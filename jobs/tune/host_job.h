/* What a job measures on this machine: the question, its answer, and how a store keeps it.
 *
 *   host_job_check(&job, &question, &error)             can it be measured here?
 *   host_job_recall(…, &found, &answer, &error)         what a store has, or
 *   host_job_measure(…, &answer, &error)                measured now, and for the store
 *   host_job_record(…, &worth, &record, &error)
 *   host_answer_clear(&answer) */
#ifndef AUTOTUNE_JOBS_TUNE_HOST_JOB_H
#define AUTOTUNE_JOBS_TUNE_HOST_JOB_H

#include "jobs/tune/host_tune.h"
#include "jobs/tune/job_store.h"

/* What a job of its own, as a sweep's, measures by its --validate. */
struct host_question host_job_question(const struct job *job);

/* The key under which a store has the answer: that of the job but for kind and query. */
void host_job_key(const struct job *job, const struct host_question *question,
                  struct job_key_texts *texts, struct store_key *key);

/* STATUS_INVALID where nothing can be measured: of another machine, or of an operator without
 * kernels; the text says what to do. */
enum status host_job_check(const struct job *job, const struct host_question *question,
                           struct error *error);

struct host_control {
    const struct host_meter *meter;    /* NULL: host_meter */
    double spent_s;                    /* of the time limit */
    const volatile sig_atomic_t *stop; /* NULL, or becomes non-zero to end early */
    void (*progress)(void *context, const char *phase, int64_t done, int64_t total); /* or NULL */
    void *context;
};

/* Measures. `search` has the model's scores of all legal tilings; where it has none (NULL, or an
 * answer of a store) the space is scored first. STATUS_INVALID when nothing can be run at all. */
enum status host_job_measure(const struct job *job, const struct host_question *question,
                             const struct search_result *search, const struct host_control *control,
                             struct host_answer *answer, struct error *error);
void host_answer_clear(struct host_answer *answer);

/* What a store may keep: the fastest and all that was measured, or that no tiling is legal. Where
 * none could be measured *worth is false, and there is nothing to clear. */
enum status host_job_record(const struct job *job, const struct host_question *question,
                            const struct host_answer *answer, bool *worth,
                            struct job_record *record, struct error *error);

/* A record's answer again. STATUS_INVALID where the text is no answer to this job. */
enum status host_job_decode(const struct job *job, const char *json, struct host_answer *answer,
                            struct error *error);

/* Looks it up; *found is false where the store has none, or one that was given less time.
 * STATUS_INVALID where what it has is no answer to this question. */
enum status host_job_recall(const struct job *job, const struct host_question *question,
                            struct store *store, bool *found, struct host_answer *answer,
                            struct error *error);

#endif
