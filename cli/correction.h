/* The learned correction of a task's chip, in its answer.
 *
 *   correction_open(&correction, &task)               notes its file; before cli_check_files
 *   correction_of_answer(&correction, &task, &answer)  once the best tilings are known
 *   correction_close(&correction) */
#ifndef AUTOTUNE_CLI_CORRECTION_H
#define AUTOTUNE_CLI_CORRECTION_H

#include "cli/task.h"
#include "jobs/correct/correct.h"
#include "results/tune.h"

#define NO_CORRECTION_HELP "leave out what was learned of the simulator's error"

struct answer_correction {
    bool left_out;                       /* --no-correction */
    const struct correction *correction; /* NULL: none is used */
    struct correcting correcting;
    char about[256];
    struct corrected *top; /* owned */
    struct tune_correction said;
};

/* Death where the file breaks a rule. */
void correction_open(struct answer_correction *c, struct task *task);

/* Corrects the best tiling, and of the top ones the first CORRECTED_MOST, and has the answer say
 * it; death without memory. */
enum { CORRECTED_MOST = 100 };
void correction_of_answer(struct answer_correction *c, const struct task *task,
                          const struct found *best, struct tune_answer *answer);
void correction_close(struct answer_correction *c);

#endif
