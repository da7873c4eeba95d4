/* Results of jobs as rows of a store: which are kept, and which of two counts. */
#include "jobs/tune/job_store.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void job_record_open(const struct job *job, struct job_record *record)
{
    memset(record, 0, sizeof *record);
    job_key(job, &record->texts, &record->row.key);
    strcpy(record->fingerprint, job->chip->fingerprint);
    record->row.key.hardware = record->fingerprint;
    job_hardware_name(job->hw, record->hardware_name, sizeof record->hardware_name);
    record->row.hardware_name = record->hardware_name;
    record->row.tiling = record->tiling;
}

void job_record_best(const struct job *job, const struct tiling *tiling, double time_ns,
                     struct job_record *record)
{
    tiling_text(job->space.axes, job->space.axis_count, tiling, record->tiling,
                sizeof record->tiling);
    record->row.time_ns = time_ns;
}

enum status job_record(const struct job *job, const struct job_result *result, bool stopped,
                       bool *worth, struct job_record *record, struct error *error)
{
    const struct search_result *search = &result->search;
    bool complete = job_is_complete(job, result, stopped);
    *worth = complete || search->count > 0;
    if (!*worth)
        return STATUS_OK;
    job_record_open(job, record);
    if (search->count)
        job_record_best(job, &search->best[0].tiling, found_ns(&search->best[0]), record);
    record->row.optimal = complete;
    record->row.limit_s = complete || stopped ? 0 : job->time_limit_s;
    TRY(job_encode(job, result, &record->answer, error));
    record->row.answer = record->answer;
    return STATUS_OK;
}

void job_record_clear(struct job_record *record)
{
    free(record->answer);
    memset(record, 0, sizeof *record);
}

/* More than 0: a's limit allows more; 0 is none. */
static int compare_limits(const struct store_row *a, const struct store_row *b)
{
    double x = a->limit_s > 0 ? a->limit_s : INFINITY, y = b->limit_s > 0 ? b->limit_s : INFINITY;
    return (x > y) - (x < y);
}

/* Nothing is proven by measuring: more time counts, then the faster. Of equally fast ones always
 * the same, whichever was there first. */
static bool measures_more(const struct store_row *row, const struct store_row *kept)
{
    int order = compare_limits(row, kept);
    if (!order)
        order = (row->time_ns < kept->time_ns) - (row->time_ns > kept->time_ns);
    if (!order)
        order = strcmp(kept->tiling, row->tiling);
    if (!order)
        order = strcmp(kept->answer, row->answer);
    return order > 0;
}

/* A proof beats everything, then the longer limit, then the better time. */
bool job_row_says_more(const struct store_row *row, const struct store_row *kept)
{
    if (row->key.kind == STORE_MEASURED)
        return measures_more(row, kept);
    if (row->optimal || kept->optimal)
        return !kept->optimal;
    if (row->limit_s > kept->limit_s || row->limit_s < kept->limit_s)
        return row->limit_s > kept->limit_s;
    return row->time_ns > 0 && row->time_ns < kept->time_ns;
}

/* A proof is always worth writing: --fresh may mend what is there. What was measured anew counts,
 * unless it was given less time. */
static bool replaces(const struct store_row *row, const struct store_row *kept, bool fresh)
{
    if (fresh && row->key.kind == STORE_MEASURED)
        return compare_limits(row, kept) >= 0;
    return row->optimal || job_row_says_more(row, kept);
}

enum status job_record_put(struct store *store, const struct job_record *record, bool fresh,
                           struct error *error)
{
    struct store_row kept;
    bool found;
    enum status status = store_get(store, &record->row.key, &found, &kept, error);
    if (status != STATUS_OK || (found && !replaces(&record->row, &kept, fresh)))
        return status;
    return store_put(store, &record->row, error);
}

bool job_is_answered(const struct store_row *row, double time_limit_s)
{
    bool unlimited = row->key.kind == STORE_MEASURED && row->limit_s <= 0;
    return row->optimal || unlimited || (time_limit_s > 0 && row->limit_s >= time_limit_s);
}

enum status job_recall(const struct job *job, struct store *store, bool *found,
                       struct job_result *result, struct error *error)
{
    struct job_key_texts texts;
    struct store_key key;
    struct store_row row;
    job_key(job, &texts, &key);
    enum status status = store_get(store, &key, found, &row, error);
    if (status != STATUS_OK || !*found)
        return status;
    *found = job_is_answered(&row, job->time_limit_s);
    return *found ? job_decode(job, row.answer, result, error) : STATUS_OK;
}
