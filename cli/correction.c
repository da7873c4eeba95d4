/* Corrected times are no part of a search or a store: the tilings that an answer shows are
 * simulated once more, for their features. */
#include "cli/correction.h"

#include <stdlib.h>

void correction_open(struct answer_correction *c, struct task *task)
{
    struct error error;
    const struct job *job = &task->job;
    if (c->left_out || job->hw->host)
        return;
    cli_require(correcting_open(job->hw, &c->correcting, &error), &error);
    if (*c->correcting.file)
        cli_reads(&task->common, c->correcting.file);
    c->correction = correcting_of(&c->correcting, job->problem.op, job->space.kind);
    task->job.correcting = c->correction ? &c->correcting : NULL;
    c->said.file = c->correcting.file;
    c->said.about = c->correcting.reason;
    if (c->correction) {
        c->said.about = correcting_summary(c->correction, c->about, sizeof c->about);
        c->said.covers = c->correction->covers;
    }
}

static void correct_one(const struct answer_correction *c, const struct job *job,
                        const struct found *found, struct corrected *corrected)
{
    struct error error;
    cli_require(correct_tiling(&c->correcting, &job->problem, &job->space, &found->tiling,
                               corrected, &error),
                &error);
}

void correction_of_answer(struct answer_correction *c, const struct task *task,
                          const struct found *best, struct tune_answer *answer)
{
    const struct search_result *search = answer->search;
    if (!best || (!c->correction && !*c->correcting.reason))
        return;
    answer->correction = &c->said;
    if (!c->correction)
        return;
    correct_one(c, &task->job, best, &c->said.best);
    int count = search ? search->count : 0;
    c->top = cli_require_memory(calloc((size_t)count + 1, sizeof *c->top));
    for (int i = 0; i < count && i < CORRECTED_MOST; i++)
        correct_one(c, &task->job, &search->best[i], &c->top[i]);
    c->said.top = c->top;
}

void correction_close(struct answer_correction *c)
{
    correcting_close(&c->correcting);
    free(c->top);
}
