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

enum status sweep_shard(struct sweep *sweep, int index, int count, struct error *error)
{
    int64_t *load = calloc((size_t)count, sizeof *load);
    bool *mine = calloc((size_t)sweep->job_count + 1, sizeof *mine);
    int64_t kept = 0;
    if (!load || !mine) {
        free(load);
        free(mine);
        return error_memory(error);
    }
    for (int64_t j = sweep->job_count - 1; j >= 0; j--) {
        int shard = least(load, count);
        load[shard] += sweep->jobs[j].cost;
        mine[j] = shard == index - 1;
    }
    for (int64_t j = 0; j < sweep->job_count; j++)
        if (mine[j])
            sweep->jobs[kept++] = sweep->jobs[j];
    sweep->job_count = kept;
    sweep->total_cost = load[index - 1];
    if (index > 1)
        sweep->fault_count = 0;
    free(load);
    free(mine);
    return STATUS_OK;
}
