/* A sweep on a cluster: a job array of which task i answers shard i of n into a store of its own,
 * and a job that joins the stores. What is lost is found by looking at the stores, never at how
 * tasks ended: a task of a lost node may end in any state, and one that ended well may have been
 * told to stop early.
 *
 *   slurm_partition_check(plan.partition, &error)
 *   slurm_look(&plan, &sweep, &state, &error)      which shards lack answers?
 *   slurm_queued(&plan, &state, &error)            which of them still run or wait?
 *   slurm_array_write(&plan, state.again, out); slurm_merge_write(&plan, out)
 *   slurm_submit(&plan, &state, ids, &error)
 *   slurm_state_clear(&state)
 *
 * docs/cluster.md walks through it. */
#ifndef AUTOTUNE_JOBS_SWEEP_SLURM_H
#define AUTOTUNE_JOBS_SWEEP_SLURM_H

#include "jobs/sweep/sweep.h"

#include <limits.h>
#include <stdio.h>

/* Slurm's own limit of an array, MaxArraySize, is 1001 unless it is configured. */
enum { SLURM_MAX_TASKS = 1000, SLURM_MAX_NODES = 1000, SLURM_ID_SIZE = 32 };

/* Texts are the caller's. Paths may be relative to work_folder and hold any characters. */
struct slurm_plan {
    const char *program;     /* the file of autotune itself */
    const char *work_folder; /* absolute */
    const char *folder;      /* of scripts, stores of shards, what tasks print */
    const char *file;        /* of the sweep */
    const char *db;          /* that all is joined in */
    const char *partition;   /* NULL: the cluster's default */
    int nodes;               /* as many tasks at a time; 0: as many as there are nodes */
    int tasks;               /* n */
    int64_t threads;         /* of a task; 0: all of its node */
    int argument_count;      /* further ones of the sweep, as --hw NAME */
    const char *const *arguments;
};

/* Where the shards stand. Arrays are of plan.tasks, by shard from 0. */
struct slurm_state {
    int64_t *missing; /* jobs without an answer */
    bool *again;      /* to be submitted: misses jobs, is not in the queue */
    int shards_missing, shards_again, shards_queued;
    int64_t jobs_missing;
    int queued_ids; /* arrays that are in the queue */
    char (*ids)[SLURM_ID_SIZE];
};

/* STATUS_INVALID unless it is a list of names that Slurm has: a line of a script is made of it. */
enum status slurm_partition_check(const char *partition, struct error *error);

/* "1-3,7,9-12": which of wanted[0 … count), counted from 1. */
void slurm_ranges(const bool wanted[], int count, FILE *out);

/* The name of the array in the queue: its own for each folder. */
void slurm_name(const struct slurm_plan *plan, char name[SLURM_ID_SIZE]);

/* STATUS_TOO_LARGE for a path that is longer than paths are. Shards count from 1. */
enum status slurm_store_path(const struct slurm_plan *plan, int shard, char path[PATH_MAX],
                             struct error *error);

void slurm_array_write(const struct slurm_plan *plan, const bool wanted[], FILE *out);
void slurm_merge_write(const struct slurm_plan *plan, FILE *out);

/* Reads plan->db and the stores of shards; one that cannot be read has no answers. */
enum status slurm_look(const struct slurm_plan *plan, const struct sweep *sweep,
                       struct slurm_state *state, struct error *error);
void slurm_state_clear(struct slurm_state *state);

/* Asks squeue, and takes what is in the queue out of `again`. STATUS_IO without an answer. */
enum status slurm_queued(const struct slurm_plan *plan, struct slurm_state *state,
                         struct error *error);

/* Lines "ARRAY TASK" as squeue prints them; tasks <= SLURM_MAX_TASKS. */
enum status slurm_queued_read(const char *text, int tasks, struct slurm_state *state,
                              struct error *error);

/* "JOB" or "JOB;CLUSTER" as sbatch --parsable prints it. */
enum status slurm_submitted_read(const char *text, char id[SLURM_ID_SIZE], struct error *error);

/* sbatch of array.sh, then of merge.sh after it and after what is in the queue. */
enum status slurm_submit(const struct slurm_plan *plan, const struct slurm_state *state,
                         char array_id[SLURM_ID_SIZE], char merge_id[SLURM_ID_SIZE],
                         struct error *error);

/* Joins the stores of the shards that there are into plan->db. */
enum status slurm_merge(const struct slurm_plan *plan, struct error *error);

#endif
