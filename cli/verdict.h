/* Why a tiling is illegal: the answer of `explain`, and of `program` for such a tiling. */
#ifndef AUTOTUNE_CLI_VERDICT_H
#define AUTOTUNE_CLI_VERDICT_H

#include "cli/task.h"

/* Writes the limits that `tiling` breaks, if any, and the nearest legal one. */
void verdict_write(const struct task *task, const struct tiling *tiling, bool json,
                   struct answer *answer);

#endif
