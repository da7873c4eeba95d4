/* Where the answers of tune and validate come from: a store, or searching and measuring, and then
 * they are kept in it. What is simulated and what is measured are two results there: whichever it
 * has is not done again.
 *
 *   tune_find_search(&find, &result)    the model's answer
 *   tune_find_measure(&find, &result)   this machine's, where it is asked for
 *   tune_find_close(&find)              dies where an answer could not be kept */
#ifndef AUTOTUNE_CLI_TUNE_FIND_H
#define AUTOTUNE_CLI_TUNE_FIND_H

#include "cli/task.h"
#include "jobs/tune/host_job.h"
#include "results/tune.h"

/* What is asked of this machine, and what it says. */
struct host_run {
    struct host_question question;
    /* from the store, or measured */
    bool from_store;
    struct host_answer answer;
};

/* Before the search: dies where nothing can be measured. */
void host_run_check(const struct task *task, const struct host_run *run);
void host_run_close(struct host_run *run);

struct tune_find {
    const struct task *task;
    const char *db;       /* the store; NULL: none */
    bool fresh;           /* whatever it has */
    struct job_run how;   /* of a search, but stop, progress and keep_scores */
    struct host_run *run; /* its question's `wanted` is 0 where nothing is to be measured */
    /* after tune_find_search */
    struct store *store;
    bool from_store; /* what the model says */
    enum status kept;
    struct error error; /* what cannot be kept is answered all the same */
};

void tune_find_search(struct tune_find *find, struct job_result *result);
void tune_find_measure(struct tune_find *find, const struct job_result *result);
void tune_find_close(struct tune_find *find);

/* What an answer says of --count calls: their time, and of weights that lie row by row whether they
 * should be brought into blocks once. Adds to answer->details where --count was given and there is
 * a best tiling. Searches, or asks the store; null is what a signal has ended or has no legal
 * tiling. */
void tune_calls_add(struct tune_find *find, struct tune_answer *answer);

#endif
