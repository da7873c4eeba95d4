/* Costs are estimates that are off by a factor of two as a rule, but alike for jobs that are alike.
 * So jobs are dealt out one by one to the part with the least so far, the costly ones first, and
 * among jobs of similar cost those that are alike one after the other: they end in different parts,
 * and what is wrong about all of them is wrong about all parts. Parts differ by at most the cost of
 * one job, whatever the order. */
#include "jobs/sweep/sweep.h"
#include "results/store.h"

#include <stdlib.h>
#include <string.h>

/* Of similar cost: within a factor of four. */
static int magnitude(int64_t cost)
{
    int digits = 0;
    for (; cost > 0; cost >>= 2)
        digits++;
    return digits;
}

/* All sizes of a shape but the first, in which a search changes least. */
static const char *after_first(const char *shape)
{
    const char *rest = strchr(shape, 'x');
    return rest ? rest + 1 : "";
}

static int by_likeness(const void *left, const void *right)
{
    const struct sweep_job *a = *(const struct sweep_job *const *)left;
    const struct sweep_job *b = *(const struct sweep_job *const *)right;
    const char *rest_a = after_first(a->key.shape), *rest_b = after_first(b->key.shape);
    int order = magnitude(b->cost) - magnitude(a->cost);
    if (!order)
        order =
            store_compare_shapes(NULL, (int)strlen(rest_a), rest_a, (int)strlen(rest_b), rest_b);
    return order ? order : store_compare(&a->key, &b->key);
}

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
    const struct sweep_job **jobs =
        calloc((size_t)sweep->job_count + 1, sizeof(struct sweep_job *));
    if (!load || !jobs) {
        free(load);
        free(jobs);
        return error_memory(error);
    }
    for (int64_t j = 0; j < sweep->job_count; j++)
        jobs[j] = &sweep->jobs[j];
    qsort(jobs, (size_t)sweep->job_count, sizeof(struct sweep_job *), by_likeness);
    for (int64_t j = 0; j < sweep->job_count; j++) {
        int shard = least(load, count);
        load[shard] += jobs[j]->cost;
        shard_of[jobs[j] - sweep->jobs] = shard;
    }
    free(load);
    free(jobs);
    return STATUS_OK;
}

/* Keeps these jobs, which ascend. */
static void keep_jobs(struct sweep *sweep, const int64_t jobs[], int64_t count)
{
    sweep->total_cost = 0;
    for (int64_t i = 0; i < count; i++) {
        sweep->jobs[i] = sweep->jobs[jobs[i]];
        sweep->total_cost += sweep->jobs[i].cost;
    }
    sweep->job_count = count;
}

enum status sweep_shard(struct sweep *sweep, int index, int count, struct error *error)
{
    int *shard_of = calloc((size_t)sweep->job_count + 1, sizeof *shard_of);
    int64_t *kept = calloc((size_t)sweep->job_count + 1, sizeof *kept), kept_count = 0;
    enum status status =
        shard_of && kept ? sweep_shards(sweep, count, shard_of, error) : error_memory(error);
    if (status == STATUS_OK) {
        for (int64_t j = 0; j < sweep->job_count; j++)
            if (shard_of[j] == index - 1)
                kept[kept_count++] = j;
        keep_jobs(sweep, kept, kept_count);
        if (index > 1)
            sweep->fault_count = 0;
    }
    free(shard_of);
    free(kept);
    return status;
}

enum status sweep_drop_answered(struct sweep *sweep, struct store *store, int64_t *dropped,
                                struct error *error)
{
    int64_t *missing, count;
    TRY(sweep_missing(sweep, store, &missing, &count, error));
    *dropped = sweep->job_count - count;
    keep_jobs(sweep, missing, count);
    free(missing);
    return STATUS_OK;
}
