/* What the answers of a sweep come to: how many there are, how long they take, which is slowest. */
#include "jobs/sweep/sweep.h"
#include "jobs/tune/job_store.h"

#include <gsl/gsl_statistics_double.h>
#include <stdlib.h>

static void add_answer(struct sweep_found *found, double *times, int64_t job, double time_ns)
{
    if (found->count == 0 || time_ns > found->slowest_ns) {
        found->slowest = job;
        found->slowest_ns = time_ns;
    }
    times[found->count++] = time_ns;
    found->time_ns += time_ns;
}

enum status sweep_found(const struct sweep *sweep, struct store *store, enum store_kind kind,
                        struct sweep_found *found, struct error *error)
{
    enum status status = STATUS_OK;
    double *times = malloc(((size_t)sweep->job_count + 1) * sizeof *times);
    *found = (struct sweep_found){.infeasible = -1};
    if (!times)
        return error_memory(error);
    for (int64_t j = 0; j < sweep->job_count && status == STATUS_OK; j++) {
        struct store_row row;
        bool there = false;
        if (sweep->jobs[j].key.kind != kind)
            continue;
        status = store_get(store, &sweep->jobs[j].key, &there, &row, error);
        if (status != STATUS_OK || !there)
            continue;
        if (row.time_ns > 0)
            add_answer(found, times, j, row.time_ns);
        else if (found->infeasible < 0)
            found->infeasible = j;
    }
    if (found->count)
        found->median_ns = gsl_stats_median(times, 1, (size_t)found->count);
    free(times);
    return status;
}
