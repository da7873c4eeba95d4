/* What is lost: the stores of shards against the jobs of the sweep. */
#include "jobs/sweep/slurm.h"
#include "jobs/sweep/sweep_merge.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void slurm_state_clear(struct slurm_state *state)
{
    free(state->missing);
    free(state->again);
    free(state->ids);
    memset(state, 0, sizeof *state);
}

static bool has_content(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && info.st_size > 0;
}

/* Keeps the jobs that a store has no answer to. One that cannot be read has none: a task that is
 * killed early leaves such a file, and the task that runs again says what is wrong with it. */
static enum status drop_answered(struct sweep *part, const char *path, struct error *error)
{
    struct store *store;
    int64_t *missing, count;
    if (!part->job_count || !has_content(path))
        return STATUS_OK;
    enum status status = store_open(path, STORE_READ, &store, error);
    if (status != STATUS_OK)
        return status == STATUS_NO_MEMORY ? status : STATUS_OK;
    status = sweep_missing(part, store, &missing, &count, error);
    store_close(store);
    if (status != STATUS_OK)
        return status == STATUS_NO_MEMORY ? status : STATUS_OK;
    for (int64_t i = 0; i < count; i++)
        part->jobs[i] = part->jobs[missing[i]];
    part->job_count = count;
    free(missing);
    return STATUS_OK;
}

static enum status look_at(const struct slurm_plan *plan, struct sweep *part, int shard,
                           struct slurm_state *state, struct error *error)
{
    char path[PATH_MAX];
    TRY(slurm_store_path(plan, shard + 1, path, error));
    TRY(drop_answered(part, plan->db, error));
    TRY(drop_answered(part, path, error));
    state->missing[shard] = part->job_count;
    state->jobs_missing += part->job_count;
    state->again[shard] = part->job_count > 0;
    state->shards_missing += part->job_count > 0;
    return STATUS_OK;
}

/* The jobs of each shard in turn. */
static enum status look_at_all(const struct slurm_plan *plan, const struct sweep *sweep,
                               const int shard_of[], struct slurm_state *state, struct error *error)
{
    struct sweep part = *sweep;
    enum status status = STATUS_OK;
    part.jobs = calloc((size_t)sweep->job_count + 1, sizeof *part.jobs);
    if (!part.jobs)
        return error_memory(error);
    for (int shard = 0; shard < plan->tasks && status == STATUS_OK; shard++) {
        part.job_count = 0;
        for (int64_t j = 0; j < sweep->job_count; j++)
            if (shard_of[j] == shard)
                part.jobs[part.job_count++] = sweep->jobs[j];
        status = look_at(plan, &part, shard, state, error);
    }
    free(part.jobs);
    return status;
}

static enum status look(const struct slurm_plan *plan, const struct sweep *sweep, int shard_of[],
                        struct slurm_state *state, struct error *error)
{
    if (!shard_of || !state->missing || !state->again)
        return error_memory(error);
    TRY(sweep_shards(sweep, plan->tasks, shard_of, error));
    return look_at_all(plan, sweep, shard_of, state, error);
}

enum status slurm_look(const struct slurm_plan *plan, const struct sweep *sweep,
                       struct slurm_state *state, struct error *error)
{
    int *shard_of = calloc((size_t)sweep->job_count + 1, sizeof *shard_of);
    memset(state, 0, sizeof *state);
    state->missing = calloc((size_t)plan->tasks, sizeof *state->missing);
    state->again = calloc((size_t)plan->tasks, sizeof *state->again);
    enum status status = look(plan, sweep, shard_of, state, error);
    free(shard_of);
    state->shards_again = state->shards_missing;
    if (status != STATUS_OK)
        slurm_state_clear(state);
    return status;
}

static enum status merge_shards(const struct slurm_plan *plan, char paths[][PATH_MAX],
                                const char *files[], struct error *error)
{
    struct merge_counts counts;
    int count = 0;
    if (!paths || !files)
        return error_memory(error);
    for (int shard = 1; shard <= plan->tasks; shard++) {
        TRY(slurm_store_path(plan, shard, paths[count], error));
        files[count] = paths[count];
        count += has_content(paths[count]);
    }
    return count ? merge_stores(plan->db, files, count, &counts, error) : STATUS_OK;
}

enum status slurm_merge(const struct slurm_plan *plan, struct error *error)
{
    char(*paths)[PATH_MAX] = calloc((size_t)plan->tasks, sizeof *paths);
    const char **files = calloc((size_t)plan->tasks, sizeof *files);
    enum status status = merge_shards(plan, paths, files, error);
    free(files);
    free(paths);
    return status;
}
