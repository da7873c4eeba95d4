/* What tuning is worth: a job's time by how often it is called, against what these calls take now.
 * Rows that ask for the same add up. */
#include "jobs/sweep/sweep.h"
#include "jobs/tune/job_store.h"

#include <stdlib.h>

/* Falling. */
static int order(double a, double b)
{
    return a > b ? -1 : a < b;
}

static int by_worth(const void *left, const void *right)
{
    const struct sweep_calls *a = left, *b = right;
    int by = order(a->saved_ns, b->saved_ns);
    by = by ? by : order(a->total_ns, b->total_ns);
    return by ? by : (a->job > b->job) - (a->job < b->job);
}

double sweep_saved_ns(const struct sweep_job *job, double time_ns)
{
    return job->baseline_ns - (double)job->compared * time_ns;
}

enum status sweep_calls(const struct sweep *sweep, struct store *store, struct sweep_calls **calls,
                        int64_t *count, struct error *error)
{
    enum status status = STATUS_OK;
    struct sweep_calls *list = malloc(((size_t)sweep->job_count + 1) * sizeof *list);
    *count = 0;
    if (!list)
        return error_memory(error);
    for (int64_t j = 0; j < sweep->job_count && status == STATUS_OK; j++) {
        const struct sweep_job *job = &sweep->jobs[j];
        struct store_row row;
        bool found = false;
        if (job->key.kind != STORE_SIMULATED)
            continue;
        status = store_get(store, &job->key, &found, &row, error);
        if (status == STATUS_OK && found && row.time_ns > 0)
            list[(*count)++] = (struct sweep_calls){
                .job = j,
                .time_ns = row.time_ns,
                .total_ns = (double)job->calls * row.time_ns,
                .saved_ns = sweep_saved_ns(job, row.time_ns),
            };
    }
    if (status == STATUS_OK) {
        qsort(list, (size_t)*count, sizeof *list, by_worth);
        *calls = list;
    } else {
        free(list);
    }
    return status;
}
