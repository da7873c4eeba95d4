/* What there is to say of one tiling: the answer of `explain`, and of `program` for an illegal one.
 */
#ifndef AUTOTUNE_CLI_TILING_VERDICT_H
#define AUTOTUNE_CLI_TILING_VERDICT_H

#include "cli/answer.h"
#include "cli/task.h"

/* The tiling that --set gives, or the best of those that have its values, or of the space; false
 * when there is none. Where the kernel allows values that its space has not, job.space becomes the
 * one of these values. */
bool verdict_choose(struct task *task, struct tiling *tiling);

/* Can its kernel be written and simulated, whether a search tries it or not? */
bool verdict_is_legal(const struct task *task, const struct tiling *tiling);

/* Says that there is none. */
void verdict_write_none(const struct space *space, bool json, FILE *out);

/* Writes the limits that `tiling` breaks and the nearest legal one; or, of a legal one, its time,
 * what limits it, and how far it is at most from the best; and of both what the kernel looks like,
 * where its space knows. Returns whether it is legal. */
bool verdict_write(const struct task *task, const struct tiling *tiling, bool json,
                   struct answer *answer);

#endif
