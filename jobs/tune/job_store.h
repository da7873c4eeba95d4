/* Results of jobs as a store keeps them, and back. */
#ifndef AUTOTUNE_JOBS_TUNE_JOB_STORE_H
#define AUTOTUNE_JOBS_TUNE_JOB_STORE_H

#include "jobs/tune/job.h"

/* JSON text, to be freed. It holds no clock and no thread count: the same result gives the same
 * text. Scores are not kept. */
enum status job_encode(const struct job *job, const struct job_result *result, char **json,
                       struct error *error);

/* The same result again, but for seconds (0). STATUS_INVALID where the text is no answer to this
 * job. */
enum status job_decode(const struct job *job, const char *json, struct job_result *result,
                       struct error *error);

/* A row that a store can take. */
struct job_record {
    struct job_key_texts texts;
    char fingerprint[FINGERPRINT_SIZE], tiling[TILING_TEXT_SIZE], hardware_name[128];
    char *answer; /* owned */
    struct store_row row;
};

/* What may be kept of a result; `stopped` as in job_is_complete. One that was cut off before any
 * tiling was found says nothing: *worth is false, and there is nothing to clear. The record does
 * not need the job any more. */
enum status job_record(const struct job *job, const struct job_result *result, bool stopped,
                       bool *worth, struct job_record *record, struct error *error);
void job_record_clear(struct job_record *record);

/* Puts a record in, but not one that was cut off over one that says as much. `fresh`: what was
 * measured anew counts, unless less time was allowed for it. */
enum status job_record_put(struct store *store, const struct job_record *record, bool fresh,
                           struct error *error);

/* Of two results of the same key: does `row` say more than `kept`? A proof beats what was cut off,
 * then the longer time limit counts, then the better time. Of two that were measured the one that
 * was allowed more time, then the faster, then the first by its texts: never neither, unless they
 * are equal. */
bool job_row_says_more(const struct store_row *row, const struct store_row *kept);

/* Is what a store has the answer where so much time is allowed (0: without limit)? It is proven, or
 * had as much time; of what is measured, as if without. */
bool job_is_answered(const struct store_row *row, double time_limit_s);

/* Looks the job up; *found is false where the store has no answer. */
enum status job_recall(const struct job *job, struct store *store, bool *found,
                       struct job_result *result, struct error *error);

#endif
