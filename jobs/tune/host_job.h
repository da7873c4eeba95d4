/* What a job measures on this machine: the question, its answer, and how a store keeps it; and from
 * a model's order of tilings the one that is fastest.
 *
 *   host_job_check(&job, &question, &error)             can it be measured here?
 *   host_job_recall(…, &found, &answer, &error)         what a store has, or
 *   host_job_measure(…, &answer, &error)                measured now, and for the store
 *   host_job_record(…, &worth, &record, &error)
 *   host_answer_clear(&answer)
 *
 *   search(space, …keep_scores…)                  all legal tilings with the model's times
 *   host_tune_pick or host_tune_sample            which of them to run
 *   host_tune_measure(…, &tune, &error)           runs them (validate/measure.h), sorts, judges
 *   host_tune_clear(&tune)
 *
 * What is picked depends on the space and the seed alone; what is measured varies. */
#ifndef AUTOTUNE_JOBS_TUNE_HOST_JOB_H
#define AUTOTUNE_JOBS_TUNE_HOST_JOB_H

#include "core/measured.h"
#include "jobs/tune/job_store.h"
#include "search/search.h"
#include "validate/measure.h"
#include "validate/model_quality.h"
#include "validate/runner.h"

/* How many a tuning measures where nothing else is asked for, and for how long all together. */
enum { HOST_TUNE_COUNT = 8, HOST_TUNE_MOST = 10000 };
#define HOST_TUNE_BUDGET_S 8.0

/* The functions that measure; tests put others in their place. */
struct host_meter {
    enum status (*measure)(const struct host_runner *runner, const struct space *space,
                           const struct tiling *tilings, const double *predicted_ns, int count,
                           const struct measure_options *options, struct measured *results,
                           struct error *error);
    enum status (*noise)(struct timing_noise *noise, struct error *error);
};
extern const struct host_meter host_meter;

/* The positions in result->scores of `count` tilings worth measuring, ascending, and how many there
 * are: the model's first MODEL_QUALITY_TOP; then, in its order, those whose named values (kernel,
 * packing, order, …) no other has, since near-duplicates share the model's error; then those whose
 * numbers are apart; then any. With budget_s > 0 only as many as can be measured within it, by the
 * model, but at least the first ones. */
int host_tune_pick(const struct space *space, const struct search_result *result, int count,
                   double budget_s, int64_t positions[]);

/* The same of a sample: the model's first MODEL_QUALITY_TOP and `count` others, each equally
 * likely, by a seed. `positions` has room for count + MODEL_QUALITY_TOP. */
enum status host_tune_sample(const struct search_result *result, int count, uint64_t seed,
                             int64_t positions[], int *picked, struct error *error);

/* Runs what was picked. STATUS_INVALID when nothing can be run at all, with the reason. */
enum status host_tune_measure(const struct space *space, const struct search_result *result,
                              const int64_t positions[], int count, const struct host_meter *meter,
                              const struct host_runner *runner,
                              const struct measure_options *options, struct host_tune *tune,
                              struct error *error);
void host_tune_clear(struct host_tune *tune);

/* What the model says of the tiling with this index. */
enum status host_tune_model(const struct space *space, int64_t index, struct host_candidate *item,
                            struct error *error);

/* From the items' ranks and times the rest: how many were measured, the model's quality, the order
 * of the items. host_tune_measure has done it. */
enum status host_tune_judge(struct host_tune *tune, struct error *error);

/* ---- of a job */

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
