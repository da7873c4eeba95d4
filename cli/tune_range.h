/* The main job for a range of sizes: few tilings, with a regret that is proven for every size. */
#ifndef AUTOTUNE_CLI_TUNE_RANGE_H
#define AUTOTUNE_CLI_TUNE_RANGE_H

#include "cli/task.h"

struct range_asked {
    int64_t tilings;    /* --tilings; 0: not given */
    const char *regret; /* --regret; NULL: not given */
};

/* Does --shape have a range? Dies where it has none and the others are given. Before task_open. */
bool range_is_asked(const struct task *task, const struct range_asked *asked);

/* All of the command but its options, from task_open on. `other` is an option that was given and
 * is about one size, or NULL; `command` is the command line as text. Returns the exit status. */
int tune_range(struct task *task, const struct range_asked *asked, const char *other,
               const char *command);

#endif
