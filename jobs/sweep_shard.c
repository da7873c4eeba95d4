/* Longest processing time first: the costliest job left goes to the shard with the least so far.
 * Shards differ by at most the cost of one job, and with many jobs by far less. */
#include "jobs/sweep.h"

#include <stdlib.h>

/* The first of those with the least. */
static int least(const int64_t load[], int count)
{
    int found = 0;
    for (int i = 1; i < count; i++)
        if (load[i] < load[found])
            found = i;
    return found;
}

enum status sweep_shards(const struct sweep *sweep, int count, int shard_of[], struct error *error)
{
    int64_t *load = calloc((size_t)count, sizeof *load);
    if (!load)
        return error_memory(error);
    for (int64_t j = sweep->job_count - 1; j >= 0; j--) {
        shard_of[j] = least(load, count);
        load[shard_of[j]] += sweep->jobs[j].cost;
    }
    free(load);
    return STATUS_OK;
}

enum status sweep_shard(struct sweep *sweep, int index, int count, struct error *error)
{
    int *shard_of = calloc((size_t)sweep->job_count + 1, sizeof *shard_of);
    int64_t kept = 0;
    if (!shard_of)
        return error_memory(error);
    enum status status = sweep_shards(sweep, count, shard_of, error);
    if (status != STATUS_OK) {
        free(shard_of);
        return status;
    }
    sweep->total_cost = 0;
    for (int64_t j = 0; j < sweep->job_count; j++) {
        if (shard_of[j] != index - 1)
            continue;
        sweep->total_cost += sweep->jobs[j].cost;
        sweep->jobs[kept++] = sweep->jobs[j];
    }
    sweep->job_count = kept;
    if (index > 1)
        sweep->fault_count = 0;
    free(shard_of);
    return STATUS_OK;
}
