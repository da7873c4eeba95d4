/* An operator, a shape, a chip and a space from the command line: what tune, program and explain
 * start from. */
#ifndef AUTOTUNE_CLI_TASK_H
#define AUTOTUNE_CLI_TASK_H

#include "cli/options.h"
#include "jobs/tune/job.h"

struct task {
    struct common common; /* first: cli_parse fills it */
    const char *set;
    struct chips *chips;
    struct kernels *kernels;
    struct job job;       /* open after task_open */
    struct space whole;   /* where job.space is that of --set's values alone: that of the problem */
    struct error refused; /* why the kernel has no such space; "": it has, or was not asked */
    struct answer_correction *correction; /* of its answer (cli/correction.h), or NULL; not owned */
};

/* cli_parse with --op, --kernel, --shape, --dtype, --space, the options of all operators, those of
 * the kernel's sizes and those about hardware beside the usage's own; the command's struct begins
 * with *task. `answers`: with those that only say what an answer adds. */
void task_parse(const struct usage *usage, int argc, char **argv, struct task *task, bool answers);

/* Both are option_takers: of an option of the job, and of --set. */
void task_take(const struct cli_option *option, void *task, const char *text);
void task_check_set(const struct cli_option *option, void *task, const char *text);

/* Sets an option of the job, or death. */
void task_set(struct task *task, const char *name, const char *text);

/* "autotune program --op … --shape … --set …": that command about the same job, as a shell takes
 * it; without a tiling no --set, without a word the main job. To be freed. */
char *task_command(const struct task *task, const char *word, const struct tiling *tiling);

/* Everything from chip to space, or death. */
void task_open(struct task *task);
void task_close(struct task *task);

#endif
