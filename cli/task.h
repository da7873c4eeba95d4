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
    struct job job; /* open after task_open */
};

/* cli_parse with --op, --shape, --dtype, --space, the options of all operators and the common ones
 * as children of *argp, whose options are a struct that begins with *task. `answers`: with those
 * that only say what an answer adds. */
void task_parse(const struct argp *argp, const char *name, int argc, char **argv, struct task *task,
                bool answers);

/* The parser of commands whose only option is --set, key TASK_KEY_SET. */
enum { TASK_KEY_SET = 2500 };
error_t task_parse_set(int key, char *argument, struct argp_state *state);

/* Sets an option of the job, or death. */
void task_set(struct task *task, const char *name, const char *text);

/* "autotune program --op … --shape … --set …": that command about the same job, as a shell takes
 * it; without a tiling no --set, without a word the main job. To be freed. */
char *task_command(const struct task *task, const char *word, const struct tiling *tiling);

/* Everything from chip to space, or death. */
void task_open(struct task *task);
void task_close(struct task *task);

#endif
